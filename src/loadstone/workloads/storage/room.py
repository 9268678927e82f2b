"""Whether tests can be made where they are to run, found before anything is written there."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from loadstone.errors import TargetError, WrongInputError
from loadstone.spec.target import TargetSpec
from loadstone.units import format_size

_READ_BY_FIO = re.compile(r"\$\{|\$(?:pagesize|mb_memory|ncpus)|[\x00-\x1f\x7f]")


def unfit(place: str) -> str | None:
    """Why fio cannot be told a folder, a path or an address; None if it can.

    fio puts variables and keywords into any value, hands what has a keyword to a shell, and takes a
    new line for another option (its init.c); it knows no escape for them.
    """
    found = _READ_BY_FIO.search(place)
    return None if found is None else f"{place!r} has {found[0]!r} in it, which fio would not keep"


def examine_named_place(target: TargetSpec) -> None:
    """Whether fio can be told the place that a user named.

    Raises:
        WrongInputError: If not.
    """
    said = [target.data or "", target.server, *target.storage.named.values()]
    problem = next(filter(None, map(unfit, said)), None)
    if problem is not None:
        raise WrongInputError(problem, advice="choose or mount it under a plain name")


def examine_job_file(target: TargetSpec, names: Sequence[str], needed_bytes: int) -> None:
    """What a job file names and needs, in the folder where it is to run.

    By the name of a file or of a job fio opens whatever is called so: a link, a device, data.

    Args:
        target: On which it runs.
        names: Of its files and jobs.
        needed_bytes: Of all its files.

    Raises:
        WrongInputError: If something of that name is there, or there is no room.
    """
    folder = _folder_of(target)
    if folder is None:
        return
    for path in (folder / name for name in names):
        if path.is_symlink() or path.exists():
            leads = f", which leads to {path.resolve()}" if path.is_symlink() else ""
            raise WrongInputError(
                f"the job file names {path.name!r}, and {path} is there{leads}",
                advice="Loadstone measures files that it writes itself: choose a name that is free",
            )
    free_bytes = shutil.disk_usage(folder).free
    if needed_bytes > free_bytes:
        raise WrongInputError(
            f"the files of the job file take {format_size(needed_bytes)}, and "
            f"{format_size(free_bytes)} are free in {folder}",
            advice="write a smaller size, or fewer jobs",
        )


def fit(needed_bytes: int, disk_bytes: int | None) -> None:
    """That a disk holds what is measured: fio would measure less, and not say so.

    Args:
        needed_bytes: Of the largest test file, which begins where the disk does.
        disk_bytes: None where test files are files.

    Raises:
        TargetError: If it does not.
    """
    if disk_bytes is not None and needed_bytes > disk_bytes:
        raise TargetError(
            f"the tests take {format_size(needed_bytes)}, and the disk has "
            f"{format_size(disk_bytes)}",
            advice="write a smaller file_size",
        )


def _folder_of(target: TargetSpec) -> Path | None:
    """The folder that a user named; a placement has one of its own."""
    if target.engine != "folder" or target.data is None or target.storage.named:
        return None
    return Path(target.data)
