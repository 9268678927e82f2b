"""Plain processes of this machine, with two slots, for the suite of all schedulers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from loadstone.schedulers.base import SchedulerSpec


@contextmanager
def bench() -> Iterator[SchedulerSpec]:
    """The spec of a queue of its own; its state goes with the block."""
    with tempfile.TemporaryDirectory(prefix="plain-") as folder:
        yield SchedulerSpec(kind="plain", state=folder, slots=2)
