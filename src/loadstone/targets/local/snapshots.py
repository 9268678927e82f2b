"""Snapshots of an owned server: folders beside its data, one for each key."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from loadstone.errors import TargetError, WrongInputError
from loadstone.placements import limits

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def folder_of(snapshots: Path, key: str) -> Path:
    """Where the snapshot of that key lies, or would lie."""
    name = key if _PLAIN.fullmatch(key) else hashlib.sha256(key.encode()).hexdigest()[:32]
    return snapshots / name


def existing(snapshots: Path, key: str) -> Path:
    """Where the snapshot of that key lies.

    Raises:
        WrongInputError: If there is none.
    """
    folder = folder_of(snapshots, key)
    if not folder.is_dir():
        raise WrongInputError(f"there is no snapshot {key!r} to restore")
    return folder


@contextlib.contextmanager
def copying(to: Path) -> Iterator[None]:
    """Turns what the file system says while data are copied into an error of the target."""
    try:
        yield
    except OSError as error:
        raise TargetError(
            f"the data could not be copied to {to}: {limits.said(error, to.parent)}",
            advice="free some space, or name another data folder",
        ) from error
