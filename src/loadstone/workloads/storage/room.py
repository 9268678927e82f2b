"""Whether tests can be made where they are to run, found before anything is written there."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.host.block import size_of
from loadstone.spec.target import TargetSpec
from loadstone.units import format_size


def examine_room(target: TargetSpec, needed_bytes: int, names: Collection[str]) -> None:
    """Looks at a folder or device that is there; a placement is looked at by others.

    Args:
        target: On which they run.
        needed_bytes: Of all test files.
        names: Files and jobs that a job file names.

    Raises:
        WrongInputError: If it is not there, has not enough room, or holds what a name means.
    """
    if target.storage.named or target.data is None or target.engine not in ("folder", "device"):
        return
    place = Path(target.data)
    device_bytes = size_of(place)
    if device_bytes is None and not place.is_dir():
        raise WrongInputError(
            f"there is no folder {target.data}", advice="make it, or name another"
        )
    free_bytes = shutil.disk_usage(place).free if device_bytes is None else device_bytes
    if needed_bytes > free_bytes:
        what = "are free" if device_bytes is None else "is its size"
        raise WrongInputError(
            f"the test files take {format_size(needed_bytes)}, and {format_size(free_bytes)} "
            f"{what} in {target.data}",
            advice="name a larger place, or write smaller files (file_size; size in a job file)",
        )
    if device_bytes is None:
        _refuse_what_is_there(place, names)


def _refuse_what_is_there(folder: Path, names: Collection[str]) -> None:
    """By a name of a file or of a job fio would open what has that name: a link, a device, data."""
    for name in names:
        path = folder / name
        if path.is_symlink() or path.exists():
            leads = f", which leads to {path.resolve()}" if path.is_symlink() else ""
            raise WrongInputError(
                f"the job file names {name!r}, and {path} is there{leads}",
                advice="Loadstone measures files that it writes itself: choose a name that is free",
            )
