"""What happened during a trial, as its probes saw it: spans with the name of their kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loadstone.results.statistics.coincidence import Span, runs, usual_limit

Figures = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Mark:
    """Something that happened, on the trial's clock; a moment has equal times."""

    kind: str
    from_s: float
    to_s: float
    detail: str = ""


@dataclass(frozen=True)
class Samples:
    """One series: a value at each time, ascending. Each stands for the time since the one before.

    Of a counter that is read once a second this is what it did in that second.
    """

    t_s: Figures
    values: Figures

    def __len__(self) -> int:
        return int(self.t_s.size)

    def spans(self, flags: Flags) -> list[Span]:
        """Intervals of flagged samples, each from the sample before it."""
        if not len(self):
            return []
        begins = np.concatenate(([self.t_s[0] - _interval_s(self.t_s)], self.t_s[:-1]))
        return [(float(begins[a]), float(self.t_s[b])) for a, b in runs(flags)]

    def above(self, limit: float) -> list[Span]:
        """Where it was above a limit."""
        return self.spans(self.values > limit)

    def unusual(self, floor: float) -> list[Span]:
        """Where it stood out from the rest of the trial, and above a floor below which it is noise.

        Too short a series has nothing that is usual, so nothing stands out.
        """
        limit = usual_limit(self.values)
        return [] if limit is None else self.above(max(limit, floor))

    def between(self, from_s: float, to_s: float) -> Samples:
        """The part within an interval of time."""
        kept = (self.t_s >= from_s) & (self.t_s <= to_s)
        return Samples(self.t_s[kept], self.values[kept])


EMPTY = Samples(np.empty(0), np.empty(0))


class SampleTable:
    """The samples of a trial by metric."""

    def __init__(self, series: Mapping[str, Samples]) -> None:
        self._series = dict(series)

    @classmethod
    def of(cls, rows: Iterable[tuple[float, str, float]]) -> SampleTable:
        """Sorts rows of time, metric and value by metric and time."""
        found: dict[str, list[tuple[float, float]]] = {}
        for t_s, metric, value in rows:
            if np.isfinite(value):
                found.setdefault(metric, []).append((t_s, value))
        return cls({metric: _samples(pairs) for metric, pairs in found.items()})

    def __getitem__(self, metric: str) -> Samples:
        """The series of a metric; an empty one for a metric that nobody sampled."""
        return self._series.get(metric, EMPTY)

    def first_of(self, *metrics: str) -> Samples:
        """The series of the first of these metrics that was sampled."""
        return next((self._series[name] for name in metrics if name in self._series), EMPTY)

    def named(self, prefix: str) -> dict[str, Samples]:
        """All series whose metric begins so, by the rest of the name."""
        return {
            metric.removeprefix(prefix): series
            for metric, series in self._series.items()
            if metric.startswith(prefix)
        }

    def below(self, prefix: str) -> SampleTable:
        """The series whose metric begins so, under the rest of the name."""
        return SampleTable(self.named(prefix))

    def between(self, from_s: float, to_s: float) -> SampleTable:
        """The part within an interval of time, such as the measured phase."""
        return SampleTable(
            {name: series.between(from_s, to_s) for name, series in self._series.items()}
        )


def marks(kind: str, spans: Iterable[Span], detail: str = "") -> list[Mark]:
    """Spans as marks of one kind."""
    return [Mark(kind, from_s, to_s, detail) for from_s, to_s in spans]


def _samples(pairs: list[tuple[float, float]]) -> Samples:
    pairs.sort()
    return Samples(np.array([t for t, _ in pairs]), np.array([value for _, value in pairs]))


def _interval_s(t_s: Figures) -> float:
    return float(np.median(np.diff(t_s))) if t_s.size > 1 else 1.0
