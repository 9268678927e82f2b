"""Writing files so that a reader sees the old or the new one, and a full disk is said clearly."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from loadstone.errors import DiskFullError

_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextlib.contextmanager
def full_disk_said(path: Path) -> Iterator[None]:
    """Turns "no space left" within the block into one clear error.

    Args:
        path: What is being written.

    Raises:
        DiskFullError: If the disk or the quota is full.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise DiskFullError(
            f"no space left on the disk while writing {path}; what was written before is kept",
            advice=f"make room on the disk of {path.parent}; `loadstone reindex` then finishes "
            "the record of the trial from what was kept",
        ) from error


def write_atomically(path: Path, text: str) -> None:
    """Replaces a file as a whole: a reader, or a crash, finds the old text or the new one.

    Raises:
        DiskFullError: If there is no space; the old file stays as it was.
    """
    with full_disk_said(path), whole_file(path) as draft, draft.open("w", encoding="utf-8") as file:
        file.write(text)


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A draft to write to, which takes the place of a file when the block has ended well.

    What is no regular file (a terminal, a pipe, `/dev/null`) is written to itself: nobody may
    put a file in its place. Of a symbolic link the file that it leads to is replaced.
    """
    place = path.resolve()
    if place.exists() and not place.is_file():
        yield place
        return
    draft = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        yield draft
        with draft.open("rb") as written:
            os.fsync(written)
        draft.replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    _sync_folder(place.parent)


def _sync_folder(folder: Path) -> None:
    """Makes the new name durable; file systems that cannot do this are left alone."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)
