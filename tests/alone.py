"""Tests that change the host do so one after the other."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ON_THE_HOST = pytest.mark.xdist_group("host")
"""Of tests that change the host: one process runs them all, and no other waits for its turn."""


@contextmanager
def host_to_itself() -> Iterator[None]:
    """Waits until no other test of this machine changes the host."""
    with (Path(tempfile.gettempdir()) / "loadstone-tests-host.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
