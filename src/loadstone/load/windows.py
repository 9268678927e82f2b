"""Windows of an interval of measured load: each is judged by itself.

A figure over the whole interval hides a bad ten seconds behind five good minutes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadstone.load.health import system_errors
from loadstone.load.objective import SECONDS, Term
from loadstone.load.totals import LoadTotals, add_up
from loadstone.protocol.frames import Tick
from loadstone.results.latency import merge, percentiles, summarize_latency
from loadstone.results.record import LatencySummary
from loadstone.workloads.charts import Flow

_LEAST_OF_A_WINDOW = 0.5
"""A rest shorter than this share of a window belongs to the one before it."""


@dataclass(frozen=True)
class LoadInterval:
    """Load of one level: from its begin to the end of its arrivals, on the trial's clock."""

    ticks: Sequence[Tick]
    """Of the measured phase; those after the end hold what was due before it."""
    from_s: float
    to_s: float
    discarded: int = 0
    """Operations that were due and were given up at its end."""

    @property
    def duration_s(self) -> float:
        """Its length."""
        return self.to_s - self.from_s

    @property
    def timed(self) -> list[Tick]:
        """Ticks within it, without what was done after its end."""
        return [tick for tick in self.ticks if not tick.late and tick.from_s < self.to_s - 1e-3]


@dataclass(frozen=True)
class Window:
    """A part of an interval."""

    from_s: float
    """Seconds since the begin of the interval."""
    duration_s: float
    load: LoadTotals
    counters: Mapping[str, float]
    """What the workload itself counted in it."""
    discarded: int = 0

    def value(self, term: Term, judged: Sequence[str], flow: Flow | None) -> float | None:
        """The figure that a term is about, in its unit; None if there is nothing to judge.

        Args:
            term: Of the objective.
            judged: Operations that a term without a name is about; none: all.
            flow: Where offered and lost items are counted, if the workload does.
        """
        names = [term.operation] if term.operation else list(judged or self.load.operations)
        if term.is_relative:
            return None  # of the whole trial, not of a window
        if term.figure == "errors":
            return self._share(term, self._errors(names), self._ended(names))
        if term.figure == "loss":
            return self._share(term, self.lost(flow), self.offered(flow))
        histogram = merge(
            text
            for name in names
            if name in self.load.operations
            for text in self.load.operations[name].response
        )
        if term.percentile is not None:
            found_s = percentiles(histogram, [term.percentile]).get(term.percentile)
        else:
            summary = summarize_latency(histogram)
            found_s = summary.mean_s if summary else None
        return None if found_s is None else found_s / SECONDS[term.unit]

    def offered(self, flow: Flow | None) -> float:
        """Items that became due."""
        return float(self.load.due) if flow is None else self.counters.get(flow.offered, 0.0)

    def achieved(self, flow: Flow | None) -> float:
        """Items that were done."""
        if flow is None:
            return float(self.load.count + self.load.errors)
        return self.counters.get(flow.stored, 0.0)

    def lost(self, flow: Flow | None) -> float:
        """Items that were due and never will be done."""
        if flow is None:
            return float(self.load.dropped + self.discarded)
        return self.counters.get(flow.lost, 0.0)

    def _errors(self, names: Sequence[str]) -> float:
        """Without those of the generator's own: they say nothing of the system."""
        known = self.load.operations
        return float(sum(system_errors(known[name].errors) for name in names if name in known))

    def _ended(self, names: Sequence[str]) -> float:
        known = self.load.operations
        return self._errors(names) + sum(known[name].count for name in names if name in known)

    def _share(self, term: Term, part: float, whole: float) -> float | None:
        if term.unit != "%":
            return part
        return 100.0 * part / whole if whole else None


def windows_of(interval: LoadInterval, window_s: float) -> list[Window]:
    """Cuts an interval into windows of that length; the last takes a rest of less than half of one.

    A tick belongs to the window in which its middle lies. What was done after the end of the
    arrivals was due in the interval, at the latest in its last window, and counts there.

    Args:
        interval: The load.
        window_s: Length of a window, above 0.
    """
    whole, rest = divmod(interval.duration_s + 1e-9, window_s)
    count = max(1, int(whole) + (1 if rest >= _LEAST_OF_A_WINDOW * window_s else 0))
    parts: list[list[Tick]] = [[] for _ in range(count)]
    for tick in interval.ticks:
        middle_s = (tick.from_s + tick.to_s) / 2 - interval.from_s
        place = count - 1 if tick.late else min(count - 1, max(0, int(middle_s // window_s)))
        parts[place].append(tick)
    return [
        Window(
            from_s=place * window_s,
            duration_s=(interval.duration_s if place == count - 1 else (place + 1) * window_s)
            - place * window_s,
            load=add_up(ticks),
            counters=_counters(ticks),
            discarded=interval.discarded if place == count - 1 else 0,
        )
        for place, ticks in enumerate(parts)
    ]


def judged_response(windows: Sequence[Window], judged: Sequence[str]) -> LatencySummary | None:
    """Response times of the judged operations over all windows, together."""
    return summarize_latency(
        merge(
            text
            for window in windows
            for name, operation in window.load.operations.items()
            if not judged or name in judged
            for text in operation.response
        )
    )


def median_s(tick: Tick, judged: Sequence[str]) -> float | None:
    """Median response time of the judged operations in a tick; None if none ended well."""
    texts = (
        operation.response
        for name, operation in tick.operations.items()
        if operation.response and (not judged or name in judged)
    )
    return percentiles(merge(text for text in texts if text), [50.0]).get(50.0)


def _counters(ticks: Sequence[Tick]) -> dict[str, float]:
    total: dict[str, float] = {}
    for tick in ticks:
        for name, count in tick.counters.items():
            total[name] = total.get(name, 0.0) + count
    return total
