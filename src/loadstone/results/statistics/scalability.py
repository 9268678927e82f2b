"""The universal scalability law, fitted to throughput at several N.

X(N) = r N / (1 + s (N - 1) + k N (N - 1)): r is the throughput of one, s the contention, k the
cost of coherence (Gunther 2007, Guerrilla Capacity Planning, Springer, ch. 4-6). Its largest value
is at N* = sqrt((1 - s) / k).

N / X(N) is linear in 1/r, s/r and k/r, so the fit with all three at 0 or more is a non-negative
linear least squares problem, whose minimum is the global one. Rows are weighted by X / N: what is
minimised are relative residuals, for the spread of throughput grows with its level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from loadstone.results.statistics.summary import median_of

FEWEST_POINTS = 6
"""Below it three parameters follow the noise."""
RESAMPLES = 500
CURVE_POINTS = 60

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Law:
    """Parameters of the law."""

    rate: float
    contention: float
    coherence: float

    def at(self, n: float | Vector) -> Vector:
        """Throughput at N."""
        many = np.asarray(n, dtype=np.float64)
        waiting = 1.0 + self.contention * (many - 1.0) + self.coherence * many * (many - 1.0)
        value: Vector = self.rate * (many / waiting)
        return value

    @property
    def peak_n(self) -> float:
        """Where it is largest; infinite if it only grows, 1 if it only falls."""
        if self.contention >= 1.0:
            return 1.0
        return sqrt((1.0 - self.contention) / self.coherence) if self.coherence > 0.0 else inf


@dataclass(frozen=True, slots=True)
class Scalability:
    """The law with its uncertainty; nothing is said of N beyond those measured.

    Attributes:
        law: As fitted to the medians.
        residuals: N: median against the law, as a share.
        rate_interval: Bootstrap interval of the parameter; so are the next two.
        contention_interval: See `rate_interval`.
        coherence_interval: See `rate_interval`.
        peak_n: Where the law is largest; None if that is not within the measured range.
        peak_interval: Its interval, cut off at the ends of the measured range.
        peak_open: The interval was cut off at the upper end.
        peak_value_interval: Of the throughput at the peak.
        curve: N, throughput, and its band, within the measured range.
    """

    law: Law
    residuals: dict[float, float]
    rate_interval: tuple[float, float]
    contention_interval: tuple[float, float]
    coherence_interval: tuple[float, float]
    peak_n: float | None
    peak_interval: tuple[float, float] | None
    peak_open: bool
    peak_value_interval: tuple[float, float] | None
    curve: list[tuple[float, float, float, float]]


def fit_law(n: Sequence[float], x: Sequence[float]) -> Law:
    """Fit the law by weighted least squares, all parameters at 0 or more.

    Args:
        n: Sizes, above 0, three different ones at least.
        x: Throughput at each, above 0.

    Raises:
        ValueError: Too few sizes, or figures that are not above 0.
    """
    sizes, rates = np.asarray(n, dtype=np.float64), np.asarray(x, dtype=np.float64)
    figures = np.concatenate([sizes, rates])
    if np.unique(sizes).size < 3 or not np.all(np.isfinite(figures) & (figures > 0.0)):
        raise ValueError("the law needs throughput above 0 at three different N at least")
    from scipy.optimize import nnls

    unit = float(rates.max())  # nnls takes tiny figures for 0
    weights = rates / unit / sizes
    columns = np.stack([np.ones_like(sizes), sizes - 1.0, sizes * (sizes - 1.0)], axis=1)
    found, _ = nnls(columns * weights[:, None], np.ones_like(sizes))
    if found[0] <= 0.0:
        raise ValueError("the figures do not follow the law: one alone would be infinitely fast")
    first, second, third = (float(each) for each in found)
    return Law(unit / first, second / first, third / first)


def scalability(
    values: Mapping[float, Sequence[float]],
    *,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
    resamples: int = RESAMPLES,
) -> Scalability:
    """Fit the law to trials at several N, with bootstrap intervals.

    The relative residuals of all trials are drawn with replacement and put onto the fitted curve
    (Efron & Tibshirani 1993, An Introduction to the Bootstrap, sec. 9.4), widened for the three
    parameters that were fitted. So one trial at each N is enough, and what the law does not
    describe makes the intervals wider too.

    Args:
        values: N: throughput of each trial at it.
        confidence: Of all intervals.
        rng: Generator or seed.
        resamples: Number of bootstrap samples.

    Raises:
        ValueError: Fewer than `FEWEST_POINTS` different N, one without a trial, or figures that are
            not above 0.
    """
    if any(len(each) == 0 for each in values.values()):
        raise ValueError("every N needs the throughput of one trial at least")
    if len(values) < FEWEST_POINTS:
        raise ValueError(
            f"{len(values)} points are too few for the law: {FEWEST_POINTS} different N at least"
        )
    sizes = np.array(sorted(values), dtype=np.float64)
    medians = np.array([median_of(values[n]) for n in sorted(values)])
    law = fit_law(sizes.tolist(), medians.tolist())
    laws = _resampled(law, sizes, values, np.random.default_rng(rng), resamples)
    tails = [50.0 * (1.0 - confidence), 50.0 * (1.0 + confidence)]
    largest = float(sizes[-1])
    peak = law.peak_n if float(sizes[0]) <= law.peak_n <= largest else None
    peaks = np.array([each.peak_n for each in laws])
    span = _span(np.clip(peaks, sizes[0], largest), tails)
    tops = np.array([float(each.at(min(max(each.peak_n, sizes[0]), largest))) for each in laws])
    return Scalability(
        law=law,
        residuals=dict(zip(sizes.tolist(), (medians / law.at(sizes) - 1.0).tolist(), strict=True)),
        rate_interval=_span(np.array([each.rate for each in laws]), tails),
        contention_interval=_span(np.array([each.contention for each in laws]), tails),
        coherence_interval=_span(np.array([each.coherence for each in laws]), tails),
        peak_n=peak,
        peak_interval=span if peak is not None else None,
        peak_open=peak is not None and float(np.mean(peaks > largest)) > (1.0 - confidence) / 2.0,
        peak_value_interval=_span(tops, tails) if peak is not None else None,
        curve=_curve(law, laws, sizes, tails),
    )


def _resampled(
    law: Law,
    sizes: Vector,
    values: Mapping[float, Sequence[float]],
    generator: np.random.Generator,
    resamples: int,
) -> list[Law]:
    fitted = law.at(sizes)
    shares = [
        np.asarray(values[n]) / expected - 1.0
        for n, expected in zip(sizes.tolist(), fitted, strict=True)
    ]
    residuals = np.concatenate(shares)
    freedom = max(1, residuals.size - 3)
    residuals = (residuals - residuals.mean()) * sqrt(residuals.size / freedom)
    found: list[Law] = []
    for _ in range(resamples):
        drawn = [
            expected
            * max(0.01, 1.0 + float(np.median(generator.choice(residuals, size=share.size))))
            for share, expected in zip(shares, fitted, strict=True)
        ]
        try:
            found.append(fit_law(sizes.tolist(), drawn))
        except ValueError:
            continue
    return found or [law]


def _curve(
    law: Law, laws: Sequence[Law], sizes: Vector, tails: Sequence[float]
) -> list[tuple[float, float, float, float]]:
    n = np.linspace(sizes[0], sizes[-1], CURVE_POINTS)
    band = np.percentile(np.stack([each.at(n) for each in laws]), tails, axis=0)
    columns = (n, law.at(n), band[0], band[1])
    return [(float(a), float(b), float(c), float(d)) for a, b, c, d in zip(*columns, strict=True)]


def _span(values: Vector, tails: Sequence[float]) -> tuple[float, float]:
    low, high = np.percentile(values, tails)
    return float(low), float(high)
