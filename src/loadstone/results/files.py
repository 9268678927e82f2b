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
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with full_disk_said(path):
        try:
            with temporary.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Makes the new name durable; file systems that cannot do this are left alone."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)
