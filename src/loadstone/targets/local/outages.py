"""An owned server out of service for a while, and back again, while load goes on.

A paused server keeps its connections and answers nobody. A killed one is started again. A full disk
is that of a placement: a file takes all of its space, and is removed again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from loadstone.errors import TargetError
from loadstone.host.processes import signal_all, wait_stopped
from loadstone.journal import Journal, undoes
from loadstone.spec.model import OutageKind
from loadstone.targets.local.places import Places

_ROUNDS = 3
_STOP_S = 5.0
_BALLAST = "loadstone-ballast"
_LEAST_STEP_BYTES = 4096


@dataclass(frozen=True)
class Service:
    """A server that can be out of service."""

    name: str
    """For the journal: `PostgreSQL in /var/tmp/...`."""
    journal: Journal
    places: Places
    processes: Callable[[], list[psutil.Process]]
    """Finds all that there are now, the one that starts the others first."""
    kill: Callable[[], None]
    start: Callable[[], None]
    """Does nothing if it runs."""

    @contextlib.contextmanager
    def outage(self, kind: OutageKind) -> Iterator[None]:
        """Puts it out of service for as long as the block lasts; it answers again afterwards.

        Raises:
            TargetError: If it cannot be, or does not come back.
        """
        how = {"pause": self._paused, "kill": self._killed, "full-disk": self._full_disk}
        with how[kind]():
            yield

    @contextlib.contextmanager
    def _paused(self) -> Iterator[None]:
        found = self.processes()
        entry = self.journal.before(
            f"pause {self.name}",
            "server-resume",
            processes=[[each.pid, each.create_time()] for each in found],
        )
        try:
            for _ in range(_ROUNDS):  # until none is left that was started meanwhile
                found = self.processes()
                signal_all(found, signal.SIGSTOP)
            if not wait_stopped(found, _STOP_S):
                raise TargetError(
                    f"{self.name} did not stand still within {_STOP_S:g} s of SIGSTOP"
                )
            yield
        finally:
            signal_all(self.processes(), signal.SIGCONT)
            self.journal.undone(entry)

    @contextlib.contextmanager
    def _killed(self) -> Iterator[None]:
        self.kill()
        try:
            yield
        finally:
            self.start()

    @contextlib.contextmanager
    def _full_disk(self) -> Iterator[None]:
        root = self.places.own_file_system()
        ballast = root / _BALLAST
        try:
            _fill(ballast)
            yield
        finally:
            ballast.unlink(missing_ok=True)
            self.start()


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


@undoes("server-resume")
def _resume(data: dict[str, Any]) -> None:
    for pid, created in data["processes"]:
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            if process.create_time() == created:
                process.send_signal(signal.SIGCONT)
