"""References of the user's own: figures of other programs, kept beside the results."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from loadstone.errors import WrongInputError
from loadstone.results.references.model import Reference

FOLDER = "references"
"""In the folder of results; it holds no experiment."""


def keep_reference(results: Path, reference: Reference) -> Path:
    """Writes a reference, and returns its file.

    Args:
        results: Folder of the results beside which it is shown.
        reference: Whose name is its file's.

    Raises:
        WrongInputError: If there is one of that name, or it cannot be written.
    """
    path = results / FOLDER / f"{reference.name}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(reference.model_dump_json(indent=1))
    except FileExistsError:
        raise WrongInputError(
            f"there is a reference {reference.name!r} in {path.parent}",
            advice="give --name another one, or remove that file",
        ) from None
    except OSError as error:
        raise WrongInputError(f"{path} cannot be written: {error.strerror}") from None
    return path


def imported_references(results: Path) -> tuple[list[Reference], list[str]]:
    """The references of a folder of results by name, and what is wrong with those left out."""
    found, broken = [], []
    for path in sorted((results / FOLDER).glob("*.json")):
        try:
            found.append(Reference.model_validate_json(path.read_bytes()))
        except (OSError, ValidationError):
            broken.append(f"{path} is damaged, or not of this release")
    return found, broken
