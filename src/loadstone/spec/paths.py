"""Paths that people write: those in a file are relative to that file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from loadstone.spec.problems import Path as Way

REFERENCE = "file:"
"""How a reference to a file with a secret begins."""


def whole(path: str, folder: Path) -> str:
    """A path, or a reference to a file, that does not depend on the present folder any more.

    Args:
        path: As it was written; `~` is the user's own folder.
        folder: It is relative to that.
    """
    if path.startswith(REFERENCE):
        return REFERENCE + whole(path.removeprefix(REFERENCE), folder)
    if not path:
        return path
    try:
        return str((folder / Path(path).expanduser()).absolute())
    except RuntimeError:  # nobody of that name has a folder: who reads it says so
        return path


def place(data: Any, ways: Iterable[Way], folder: Path) -> None:
    """Makes paths whole where they stand.

    Args:
        data: Mappings and lists, in which each way leads to a text; changed in place.
        ways: To the paths.
        folder: They are relative to that.
    """
    for way in ways:
        here = data
        for part in way[:-1]:
            here = here[part]
        here[way[-1]] = whole(here[way[-1]], folder)
