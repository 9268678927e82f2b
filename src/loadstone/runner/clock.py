"""The runner's clock: nanoseconds since its start, with their place in the machine's time."""

from __future__ import annotations

import time

SECOND_NS = 1_000_000_000


def to_ns(seconds: float) -> int:
    """Seconds as whole nanoseconds."""
    return round(seconds * SECOND_NS)


def to_s(ns: int) -> float:
    """Nanoseconds as seconds."""
    return ns / SECOND_NS


class Clock:
    """Counts from its making, by CLOCK_MONOTONIC."""

    def __init__(self) -> None:
        self._origin_ns = time.monotonic_ns()
        self._origin_unix_us = time.time_ns() // 1000

    def now_ns(self) -> int:
        """Nanoseconds since the start."""
        return time.monotonic_ns() - self._origin_ns

    def unix_us(self, at_ns: int) -> int:
        """A moment of this clock in microseconds since 1970."""
        return self._origin_unix_us + at_ns // 1000

    @property
    def monotonic_s(self) -> float:
        """CLOCK_MONOTONIC of the machine at the start."""
        return to_s(self._origin_ns)

    def of_monotonic_s(self, monotonic_s: float) -> int:
        """A moment of CLOCK_MONOTONIC on this clock; one before the start is the start."""
        return max(0, to_ns(monotonic_s) - self._origin_ns)
