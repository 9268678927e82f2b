"""How long each step of a trial takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from loadstone.results.record import StepTime

_LEAST_S = 0.001
"""What took less was nothing: data that is kept already need not be loaded."""


class StepClock:
    """Adds up the time of steps by their names, in the order in which they first came."""

    def __init__(self) -> None:
        self._took_s: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """The block is that step, or more of it."""
        begin = monotonic()
        try:
            yield
        finally:
            self._took_s[name] = self._took_s.get(name, 0.0) + monotonic() - begin

    def took(self) -> list[StepTime]:
        """All steps so far."""
        return [
            StepTime(name=name, seconds=seconds)
            for name, seconds in self._took_s.items()
            if seconds >= _LEAST_S
        ]
