"""Tests that change what the machine has only once do so one after the other."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

ON_THE_HOST = pytest.mark.xdist_group("host")
"""Of tests that change the host: one process runs them all, and no other waits for its turn."""


def host_to_itself() -> AbstractContextManager[None]:
    """Waits until no other test of this machine changes the host."""
    return _turn("host")


def zram_to_itself() -> AbstractContextManager[None]:
    """Waits until no other test of this machine uses compressed memory.

    Of two devices of one size, made one after the other with the same number, nobody can tell which
    is whose.
    """
    return _turn("zram")


@contextmanager
def _turn(name: str) -> Iterator[None]:
    with (Path(tempfile.gettempdir()) / f"loadstone-tests-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
