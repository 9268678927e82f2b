"""Processes that stand still for a while, and go on by the journal if nobody else lets them."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from typing import Any

import psutil

from loadstone.errors import TargetError
from loadstone.host.processes import signal_all, wait_stopped
from loadstone.journal import Journal, undoes

_ROUNDS = 3
_STOP_S = 5.0


@contextlib.contextmanager
def paused(name: str, find: Callable[[], list[psutil.Process]], journal: Journal) -> Iterator[None]:
    """Has all of them stand still for as long as the block lasts.

    Args:
        name: Whose they are, for people.
        find: Finds those that there are now, the one that starts the others first.
        journal: Told before.

    Raises:
        TargetError: If one of them goes on.
    """
    found = find()
    entry = journal.before(
        f"pause {name}",
        "server-resume",
        processes=[[each.pid, each.create_time()] for each in found],
    )
    try:
        for _ in range(_ROUNDS):  # until none is left that was started meanwhile
            found = find()
            signal_all(found, signal.SIGSTOP)
        if not wait_stopped(found, _STOP_S):
            raise TargetError(f"{name} did not stand still within {_STOP_S:g} s of SIGSTOP")
        yield
    finally:
        signal_all(find(), signal.SIGCONT)
        journal.undone(entry)


@undoes("server-resume")
def _resume(data: dict[str, Any]) -> None:
    for pid, created in data["processes"]:
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            if process.create_time() == created:
                process.send_signal(signal.SIGCONT)
