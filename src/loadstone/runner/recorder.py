"""What is counted and timed between two ticks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from hdrh.histogram import HdrHistogram

_DIGITS = 3
_LONGEST_NS = 86_400 * 10**9
"""A longer time is told as this: the package's histograms do not grow."""


@dataclass(frozen=True)
class Times:
    """When an operation was due, begun and done, in nanoseconds since the runner's start."""

    intended_ns: int
    sent_ns: int
    done_ns: int

    def since(self, moment_ns: int | None) -> Times:
        """As if it had been due and begun at a moment, if one is given."""
        return self if moment_ns is None else Times(moment_ns, moment_ns, self.done_ns)

    def at_latest(self, moment_ns: int | None) -> Times:
        """As if it had been due and begun at a moment, if one is given and it was not before."""
        if moment_ns is None:
            return self
        return Times(min(moment_ns, self.intended_ns), min(moment_ns, self.sent_ns), self.done_ns)

    def until(self, moment_ns: int | None) -> Times:
        """As if it had been done at a moment, if one is given."""
        if moment_ns is None:
            return self
        return Times(self.intended_ns, self.sent_ns, moment_ns)


@dataclass
class Tally:
    """What is known of one operation; times are kept as they are until they are told."""

    errors: Counter[str] = field(default_factory=Counter)
    retries: Counter[str] = field(default_factory=Counter)
    response_ns: list[int] = field(default_factory=list)
    service_ns: list[int] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Operations that ended well."""
        return len(self.response_ns)

    def done(self, times: Times) -> None:
        """Notes an operation that ended well."""
        self.response_ns.append(max(0, times.done_ns - times.intended_ns))
        self.service_ns.append(max(0, times.done_ns - times.sent_ns))


class Recorder:
    """Everything that is counted and timed of one phase since the last tick."""

    def __init__(self, operations: Sequence[str]) -> None:
        self.operations = {name: Tally() for name in operations}
        self.lag_ns: list[int] = []
        self.late_starts = 0
        self.due = 0
        self.dropped = 0
        self.reconnects = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was noted."""
        tallies = self.operations.values()
        noted = any(tally.count or tally.errors or tally.retries for tally in tallies)
        return not (noted or self.lag_ns or self.late_starts or self.due or self.reconnects)


class Encoder:
    """Encodes times as HdrHistogram V2; one histogram serves all, as making one is dear."""

    def __init__(self) -> None:
        self._histogram = HdrHistogram(1, _LONGEST_NS, _DIGITS)

    def encode(self, times_ns: Sequence[int]) -> str | None:
        """The times, deflated and as base64; None if there are none."""
        if not times_ns:
            return None
        self._histogram.reset()
        for time_ns in times_ns:
            self._histogram.record_value(min(time_ns, _LONGEST_NS))
        encoded: bytes = self._histogram.encode()
        return encoded.decode()
