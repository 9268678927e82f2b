"""A disk without free space: a file takes all of it, and is removed again."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from loadstone.errors import TargetError

_BALLAST = "loadstone-ballast"
_LEAST_STEP_BYTES = 4096


@contextlib.contextmanager
def filled(root: Path) -> Iterator[None]:
    """Keeps a file system full for as long as the block lasts.

    Args:
        root: Of a file system that is Loadstone's own.

    Raises:
        TargetError: If it cannot be filled.
    """
    ballast = root / _BALLAST
    try:
        _fill(ballast)
        yield
    finally:
        ballast.unlink(missing_ok=True)


def _fill(path: Path) -> None:
    """Makes a file that takes all the space there is; what is reserved for root too, if it may."""
    with path.open("wb", buffering=0) as file:
        size = 0
        step = 1 << 40
        while step >= _LEAST_STEP_BYTES:
            try:
                os.posix_fallocate(file.fileno(), size, step)
                size += step
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EFBIG):
                    raise TargetError(f"{path} cannot be made: {error.strerror}") from error
                step //= 2
