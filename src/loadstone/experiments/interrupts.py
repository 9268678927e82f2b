"""Ctrl-C and SIGTERM: the first ends the trial cleanly, the second ends it at once.

While things are put back neither does anything: the way out is always the same one.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from loadstone.errors import InterruptedTrialError

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Holds the process's signal handlers for as long as an experiment runs."""

    def __init__(self) -> None:
        self.requested = False
        self._gently: Callable[[], None] | None = None
        self._shielded = False

    @contextmanager
    def installed(self) -> Iterator[Interrupts]:
        """Takes the signals, and gives them back at the end. Main thread only."""
        before = {number: signal.signal(number, self._handle) for number in _SIGNALS}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def gently(self, stop: Callable[[], None]) -> Iterator[None]:
        """Within, the first signal calls `stop`; what runs is expected to end by itself then."""
        self._gently = stop
        try:
            yield
        finally:
            self._gently = None

    @contextmanager
    def shielded(self) -> Iterator[None]:
        """Within, signals are noted and otherwise ignored: something is being put back."""
        before, self._shielded = self._shielded, True
        try:
            yield
        finally:
            self._shielded = before

    def check(self) -> None:
        """Ends what runs now if a signal came.

        Raises:
            InterruptedTrialError: If one came.
        """
        if self.requested:
            raise InterruptedTrialError("interrupted")

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        again, self.requested = self.requested, True
        if self._shielded:
            print("loadstone: putting things back, one moment", file=sys.stderr, flush=True)
        elif self._gently is not None and not again:
            self._gently()
        else:
            raise InterruptedTrialError("interrupted")
