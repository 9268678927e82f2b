"""Folders whose names an engine misreads are refused before anything is begun."""

from __future__ import annotations

from pathlib import Path

from loadstone.cache import cache_folder
from loadstone.errors import WrongInputError
from loadstone.placements.tree import DEFAULT_PARENT
from loadstone.spec.target import TargetSpec


def refuse_unfit_folders(spec: TargetSpec, title: str, signs: str) -> None:
    """Looks at the folders of the data and of the cache.

    Args:
        spec: Of a target that Loadstone starts.
        title: Of its engine, for people.
        signs: That mean something else to the engine, each.

    Raises:
        WrongInputError: If one of them is in the name of a folder.
    """
    for place, cure in (
        (Path(spec.data or DEFAULT_PARENT), "name another one with data (--data)"),
        (cache_folder(), "name another one with LOADSTONE_CACHE"),
    ):
        if found := [sign for sign in signs if sign in str(place.resolve())]:
            raise WrongInputError(
                f"{title} cannot use a folder with {' '.join(found)} in its name: {place}",
                advice=cure,
            )
