"""The time that a statement may take."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Limit:
    """Breaks off what takes longer, from its making until it is lifted, and nothing later."""

    def __init__(self, after_s: float, interrupt: Callable[[], None]) -> None:
        self.is_late = threading.Event()
        """Whether it was reached."""
        self._interrupt = interrupt
        self._lock = threading.Lock()
        self._is_lifted = False
        self._timer = threading.Timer(after_s, self._reach)
        self._timer.daemon = True
        self._timer.start()

    def lift(self) -> None:
        """It holds no more; an interrupt that is on its way to the engine has arrived by then."""
        self._timer.cancel()
        with self._lock:
            self._is_lifted = True

    def _reach(self) -> None:
        with self._lock:
            if not self._is_lifted:
                self.is_late.set()
                self._interrupt()
