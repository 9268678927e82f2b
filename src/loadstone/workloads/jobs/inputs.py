"""Input files and references of applications: made once, kept, and put where the nodes see them."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.applications.base import AnyApplication, InputFile, sha256_of
from loadstone.cache import MANIFEST, cache_folder, locked, made_once, refuse_altered
from loadstone.errors import WrongInputError
from loadstone.job.task import COPY, LINK

_GIVEN, _REFERENCE = "given", "reference"
_ON_DESK = "inputs"
_EDITION = 1
"""Of what is kept: another one when it is made otherwise."""


@dataclass(frozen=True)
class Inputs:
    """What an application is given, and what its results are compared with."""

    given: Path
    reference: Path | None
    files: tuple[InputFile, ...]
    sums: Mapping[str, str]
    size_bytes: int


def provide(application: AnyApplication, seed: int, cache: Path | None = None) -> Inputs:
    """The inputs of an application; made if they are not there, or if a file of the user changed.

    Args:
        application: With its parameters.
        seed: Of the data.
        cache: Folder of all data; default: that of the user.

    Raises:
        WrongInputError: If a file of the user cannot be used, or a file that was made was altered.
        LoadstoneError: If the reference cannot be made.
    """
    base = (cache or cache_folder()) / "jobs"
    base.mkdir(parents=True, exist_ok=True)
    of = {"data": application.data_key(), "seed": seed, "edition": _EDITION}
    text = json.dumps(of, sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    folder = base / f"{application.name}-{digest}"
    told: dict[str, object] = {"application": application.name, "digest": digest}
    with locked(base / "lock"):
        if (folder / MANIFEST).is_file() and _users_files_changed(folder):
            shutil.rmtree(folder)
        made_once(folder, lambda rough: _make(application, rough, seed), told)
        refuse_altered(folder, told)
    return _read(folder)


def staged(inputs: Inputs, desk: Path, application: str, how: str) -> list[dict[str, str]]:
    """What a job finds in its working folder: the files, put on the desk first.

    Args:
        inputs: Of the application.
        desk: Which all nodes see.
        application: By name.
        how: `separate`: each job has copies. `shared`: all jobs read the same files.

    Raises:
        WrongInputError: If there is no space for them.
    """
    folder = desk / _ON_DESK / application
    for file in inputs.files:
        target = folder / file.name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.path, target)
        except OSError as error:
            raise WrongInputError(
                f"{file.name} cannot be put on the desk {desk}: {error.strerror}",
                advice="give a folder with space that all nodes see (target: data)",
            ) from error
    word = LINK if how == "shared" else COPY
    return [
        {"from": str(folder / file.name), "to": file.name, "how": word} for file in inputs.files
    ]


def put_away(desk: Path) -> None:
    """Takes the files from the desk when no job reads them any more; those in the cache stay."""
    shutil.rmtree(desk / _ON_DESK, ignore_errors=True)


def sums_of_users_files(application: AnyApplication) -> Iterator[tuple[str, str]]:
    """Of each file that a parameter names: `APPLICATION PARAMETER`, and its SHA-256.

    Raises:
        WrongInputError: If one cannot be read.
    """
    for name in application.path_parameters:
        given = getattr(application.parameters, name, None)
        if not given or not Path(str(given)).is_file():
            continue
        try:
            yield f"{application.name} {name}", sha256_of(Path(str(given)))
        except OSError as error:
            raise WrongInputError(f"{given} cannot be read: {error.strerror}") from error


def _make(application: AnyApplication, rough: Path, seed: int) -> dict[str, object]:
    """Makes the input and, where there is one, the reference; returns what the manifest has."""
    given = rough / _GIVEN
    given.mkdir()
    facts = application.make_input(given, seed)
    if application.has_reference:
        reference = rough / _REFERENCE
        reference.mkdir()
        application.make_reference(given, reference, sys.executable)
    return {
        "files": [{"name": each.name, "path": _kept_as(each.path, rough)} for each in facts.files],
        "sums": dict(facts.sums),
        "size_bytes": facts.size_bytes,
    }


def _kept_as(path: Path, rough: Path) -> str:
    """Relative to the folder, which gets another name; a file of the user's stays where it is."""
    return str(path.relative_to(rough)) if path.is_relative_to(rough) else str(path.resolve())


def _read(folder: Path) -> Inputs:
    manifest = _manifest(folder)
    files = tuple(InputFile(folder / each["path"], each["name"]) for each in manifest["files"])
    reference = folder / _REFERENCE
    return Inputs(
        given=folder / _GIVEN,
        reference=reference if reference.is_dir() else None,
        files=files,
        sums=manifest["sums"],
        size_bytes=int(manifest["size_bytes"]),
    )


def _users_files_changed(folder: Path) -> bool:
    """Whether a file outside of what is kept is not what it was when the reference was made."""
    manifest = _manifest(folder)
    for each in manifest.get("files", []):
        path = Path(each["path"])
        if path.is_absolute() and (
            not path.is_file() or sha256_of(path) != manifest["sums"].get(each["name"])
        ):
            return True
    return False


def _manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    return found
