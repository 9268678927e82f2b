"""The gate: the jobs of a closed load wait until all of them have arrived, or no more will come."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from loadstone.runner.jobs.parameters import Gate

GATE_FILE = "gate"
_SPARE_S = 60.0
"""A job waits longer than the lab: only where the lab is gone its own limit counts."""


class GateKeeper:
    """Opens the gate once, for good. Its methods may be called by any thread."""

    def __init__(
        self,
        desk: Path,
        jobs: int,
        timeout_s: float,
        clock: Callable[[], float],
        submission_s: float = 0.0,
    ) -> None:
        """The gate is shut.

        Args:
            desk: Where it is.
            jobs: That are waited for.
            timeout_s: After the last submission; then it opens for those that are there.
            clock: Seconds.
            submission_s: Seconds that each submission may take.
        """
        self._file = desk / GATE_FILE
        self._awaited = set(range(jobs))
        self._unsubmitted = set(range(jobs))
        self._timeout_s = timeout_s
        self._submissions_s = jobs * submission_s
        self._clock = clock
        self._lock = threading.Lock()
        self._last_s: float | None = None
        self._opened_s: float | None = None

    @property
    def told(self) -> Gate:
        """What jobs are told of it."""
        longest_s = self._submissions_s + 2 * self._timeout_s + _SPARE_S
        return Gate(file=str(self._file), timeout_s=longest_s)

    @property
    def opened_s(self) -> float | None:
        """When it was opened, on the clock; None: it is shut."""
        return self._opened_s

    def submitted(self, user: int) -> None:
        """The job of a user was sent."""
        with self._lock:
            self._unsubmitted.discard(user)
            if not self._unsubmitted and self._last_s is None:
                self._last_s = self._clock()

    def arrived(self, user: int) -> None:
        """The job of a user waits at the gate, or will never come."""
        self.submitted(user)
        with self._lock:
            self._awaited.discard(user)
            if not self._awaited:
                self._open()

    def look(self) -> None:
        """Opens it if the others have been waited for long enough."""
        with self._lock:
            if self._last_s is not None and self._clock() - self._last_s > self._timeout_s:
                self._open()

    def _open(self) -> None:
        if self._opened_s is None:
            self._opened_s = self._clock()
            self._file.touch()
