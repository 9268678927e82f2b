"""Finds and reads the references that are shipped as data files."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib import resources

from ruamel.yaml import YAML

from loadstone.errors import WrongInputError
from loadstone.results.references.model import Reference

_SUFFIX = ".yaml"


def list_references() -> list[str]:
    """Names of all shipped references, in alphabetical order."""
    folder = resources.files("loadstone.results.references")
    return sorted(
        entry.name.removesuffix(_SUFFIX)
        for entry in folder.iterdir()
        if entry.name.endswith(_SUFFIX)
    )


@cache
def load_reference(name: str) -> Reference:
    """Reads a shipped reference.

    Args:
        name: One of `list_references`.

    Raises:
        WrongInputError: If there is none of that name.
    """
    names = list_references()
    if name not in names:
        near = get_close_matches(name, names, n=1)
        raise WrongInputError(
            f"there is no reference {name!r}",
            advice=f"did you mean {near[0]}?" if near else f"choose one of {', '.join(names)}",
        )
    file = resources.files("loadstone.results.references") / f"{name}{_SUFFIX}"
    return Reference.model_validate(YAML(typ="safe").load(file.read_text("utf-8")))


def load_ladder(name: str) -> Reference:
    """Reads a shipped reference that a ladder can stand beside.

    Raises:
        WrongInputError: If there is none of that name, or if it is no ladder.
    """
    reference = load_reference(name)
    if reference.kind != "ladder":
        ladders = [each for each in list_references() if load_reference(each).kind == "ladder"]
        raise WrongInputError(
            f"reference {name} is a table, not a ladder",
            advice=f"choose one of {', '.join(ladders)}, or leave it out: results of its workload "
            "have it beside them",
        )
    return reference
