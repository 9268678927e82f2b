"""Takes a slot of this node for a rank: a control group with the slot's part of the processors.

A rank that has one gets the same processor time however many other ranks run beside it. It holds a
lock on the group's file as long as it lives, so no two ranks are in one slot.
"""

from __future__ import annotations

import errno
import fcntl
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

_WAIT_S = 10.0
"""Until ranks of a job that was cancelled are gone."""
_LOOK_S = 0.05


class Slot:
    """One that this process is in, with all that it starts from now on."""

    def __init__(self, number: int, lock: IO[str]) -> None:
        self.number = number
        """From 1."""
        self._lock = lock


def take_slot(members: Sequence[str], wait_s: float = _WAIT_S) -> Slot:
    """Moves this process into the first slot that nobody has.

    Args:
        members: Of each slot of this node the file that lists the processes of its group.
        wait_s: So long it is waited for one.

    Raises:
        OSError: If all stay taken, or this user may not enter one.
    """
    deadline = time.monotonic() + wait_s
    while True:
        for number, path in enumerate(members, start=1):
            lock = _locked(Path(path))
            if lock is not None:
                lock.write("0")
                lock.flush()
                return Slot(number, lock)
        if time.monotonic() > deadline:
            raise OSError(errno.EBUSY, f"all {len(members)} slots of this node are taken")
        time.sleep(_LOOK_S)


def _locked(path: Path) -> IO[str] | None:
    """The open file, if nobody else has its lock."""
    file = path.open("r+", encoding="ascii")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file
