"""Within one trial: had the system settled, and how much do its ticks really say?

Ticks inside a trial follow each other and are correlated. They are used here to judge the trial,
never to compare it with another one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Series = NDArray[np.float64]

MSER_BATCH = 5
"""Ticks in a batch of MSER-5."""

END_ERRORS = 3.0
"""A beginning or an end is more than noise this many standard errors away from the rest."""

FEWEST_TICKS = 20
"""Below this a trend and a warm-up cannot be told from noise."""

TREND_BATCHES = 20
"""A trend is tested on about 20 to 39 batch means."""


@dataclass(frozen=True, slots=True)
class End:
    """What MSER-5 would cut from one end of a series, at most half of it.

    Noise alone makes it cut something now and then: read the length with what follows.

    Attributes:
        length_s: How much.
        bias_percent: By how much it moves the mean of all ticks, relative to that mean.
        real: It differs from the rest by more than noise does.
    """

    length_s: float
    bias_percent: float
    real: bool

    def said(self, which: str) -> str:
        """What it does to the mean; empty if it is noise."""
        if not self.real:
            return ""
        return (
            f"; the {which} {self.length_s:g} s differ from the rest and move the mean by "
            f"{self.bias_percent:+.1f} %"
        )


@dataclass(frozen=True, slots=True)
class SteadyState:
    """Whether the measured phase of a trial was steady.

    Attributes:
        trend_percent_per_minute: Slope (Theil-Sen) relative to the mean of the series.
        trend_p: Two-sided p-value of the slope (Mann-Kendall, corrected for autocorrelation).
        change_percent: The slope over the whole series.
        warm_up: The beginning.
        decline: The end: what stops before the measured phase is over.
        autocorrelation: Of neighbouring ticks, in [-1, 1].
        effective_n: How many independent ticks these ticks are worth.
        n: Number of ticks.
        steady: No trend, no left-over warm-up and no decline moves the figure by more than the
            limit. None: too few ticks to tell, and the figures before say nothing.
    """

    trend_percent_per_minute: float
    trend_p: float
    change_percent: float
    warm_up: End
    decline: End
    autocorrelation: float
    effective_n: float
    n: int
    steady: bool | None

    @property
    def detail(self) -> str:
        """The state in one sentence, with its figures."""
        if self.steady is None:
            return f"{self.n} ticks are too few to tell (at least {FEWEST_TICKS})"
        trend = f"moves {self.change_percent:+.1f} % over the phase (p {self.trend_p:.2g})"
        return f"{trend}{self.warm_up.said('first')}{self.decline.said('last')}"


def steady_state(
    series: Sequence[float],
    interval_s: float,
    *,
    limit_percent: float = 2.0,
    alpha: float = 0.01,
) -> SteadyState:
    """Judge whether a series of ticks of one measured phase is steady.

    A trend counts against the trial when it is both significant and moves the figure by more than
    ``limit_percent`` between the first and the last tick. So does a beginning or an end that MSER-5
    cuts off when it differs from the rest by more than three standard errors and moves the mean by
    more than half the limit. Long series make harmless changes significant and short ones make
    noise look like a change, so each needs both conditions.

    Args:
        series: One figure per tick (a rate or a time), equally spaced, in order.
        interval_s: Distance of ticks in seconds, above 0.
        limit_percent: The largest change over the phase that is still called steady.
        alpha: Level of the trend test.

    Raises:
        ValueError: Figures that are not finite, or an interval that is not above 0.
    """
    values = np.asarray(series, dtype=np.float64)
    if values.ndim != 1 or not np.all(np.isfinite(values)) or not interval_s > 0.0:
        raise ValueError(f"expected finite figures every interval_s > 0 s, got {interval_s} s")
    n = int(values.size)
    if np.any(values):
        values = values / np.abs(values).max()  # no square or sum is beyond all numbers
    correlations = _autocorrelations(values)
    lag_1 = float(correlations[1]) if correlations.size > 1 else 0.0
    if n < FEWEST_TICKS:
        worth, nothing = effective_size(values), End(0.0, 0.0, False)
        return SteadyState(0.0, 1.0, 0.0, nothing, nothing, lag_1, worth, n, None)
    batch = max(1, n // TREND_BATCHES)
    means = batch_means(values, batch)
    slope = theil_sen(means) / batch
    trend_p = mann_kendall_p(means)
    relative = 100.0 * slope / _level(values)
    change = relative * n
    ends = [_end(each, interval_s) for each in (values, values[::-1])]
    trending = trend_p < alpha and abs(change) > limit_percent
    ending = any(end.real and abs(end.bias_percent) > limit_percent / 2.0 for end in ends)
    return SteadyState(
        trend_percent_per_minute=60.0 * relative / interval_s,
        trend_p=trend_p,
        change_percent=change,
        warm_up=ends[0],
        decline=ends[1],
        autocorrelation=lag_1,
        effective_n=effective_size(values),
        n=n,
        steady=not trending and not ending,
    )


def _level(values: Series) -> float:
    """What changes are held against: the mean size of the ticks. A median can be 0."""
    return float(np.abs(values).mean()) or 1.0


def batch_means(values: Series, size: int) -> Series:
    """Average ``size`` neighbours each; an incomplete batch at the beginning is left out."""
    whole = values.size // size * size
    means: Series = values[values.size - whole :].reshape(-1, size).mean(axis=1)
    return means


def mser(values: Series, batch: int = MSER_BATCH) -> int:
    """Give the number of ticks to cut from the beginning (MSER-5).

    Of the series of b batch means, the cut d is chosen that minimises the squared standard error of
    the rest, sum((y - mean)^2) / (b - d)^2 over y[d:] (White 1997, Simulation 69:323; White, Cobb &
    Spratt 2000, WSC). Only cuts in the first half are tried: near the end the error of a few
    batches is small by chance (Hoad, Robinson & Davies 2010, J. Oper. Res. Soc. 61:1389).

    Args:
        values: Figures per tick, shape (n,).
        batch: Ticks per batch.

    Returns:
        Ticks, a multiple of ``batch``, at most half of them.
    """
    whole = values.size // batch
    if whole < 2:
        return 0
    means = values[: whole * batch].reshape(whole, batch).mean(axis=1)
    errors = [float(means[d:].var()) / (whole - d) for d in range(whole // 2 + 1)]
    rounding = (1e-12 * float(np.abs(means).max())) ** 2
    cut = next(d for d, error in enumerate(errors) if error <= min(errors) + rounding)
    return cut * batch


def _end(values: Series, interval_s: float) -> End:
    """What MSER-5 cuts from the beginning of a series; from the end of one that is turned round."""
    cut = mser(values)
    first, rest = values[:cut], values[cut:]
    if cut == 0:
        return End(0.0, 0.0, False)
    mean = float(rest.mean())
    worth = effective_size(rest) / rest.size
    error = float(rest.std(ddof=1)) * sqrt((1.0 / first.size + 1.0 / rest.size) / worth)
    real = abs(float(first.mean()) - mean) > END_ERRORS * error
    bias = 100.0 * (float(values.mean()) - mean) / _level(values)
    return End(cut * interval_s, bias, real)


def _autocorrelations(values: Series) -> Series:
    """Sample autocorrelations of lag 0 ... n - 1 (Box & Jenkins 1976, sec. 2.1); 0 if constant."""
    if values.size == 0:
        return np.zeros(0)
    centred = values - values.mean()
    variance = float(centred @ centred)
    if variance <= 1e-24 * float(values @ values):
        return np.concatenate([[1.0], np.zeros(values.size - 1)])
    covariances: Series = np.correlate(centred, centred, mode="full")[values.size - 1 :]
    return covariances / variance


def effective_size(values: Series) -> float:
    """Give how many independent values a correlated series is worth, for its mean.

    n / (1 + 2 sum of autocorrelations), summed while pairs of neighbouring lags stay positive
    (Geyer 1992, Practical Markov Chain Monte Carlo, Stat. Sci. 7:473), between 1 and n.
    """
    correlations = _autocorrelations(values)
    total = 0.0
    for lag in range(1, correlations.size - 1, 2):
        pair = float(correlations[lag] + correlations[lag + 1])
        if pair <= 0.0:
            break
        total += pair
    return max(min(1.0, float(values.size)), values.size / (1.0 + 2.0 * total))


def theil_sen(values: Series) -> float:
    """Give the median of the slopes of all pairs of values (Sen 1968, JASA 63:1379).

    Args:
        values: Shape (n,), equally spaced, at least two.
    """
    first, later = np.triu_indices(values.size, k=1)
    return float(np.median((values[later] - values[first]) / (later - first)))


def mann_kendall_p(values: Series) -> float:
    """Test a series for a monotone trend; two-sided.

    Mann-Kendall test with the variance for ties and, as Hamed & Rao (1998, J. Hydrology 204:182)
    have it, enlarged for the significant autocorrelations of the ranks after the trend was taken
    out. A variance that would shrink is left alone, which errs on the side of no trend.

    Args:
        values: Shape (n,), in order of time.
    """
    n = values.size
    if n < 4:
        return 1.0
    upper = np.triu_indices(n, k=1)
    score = float(np.sign(values[upper[1]] - values[upper[0]]).sum())
    _, ties = np.unique(values, return_counts=True)
    tied = float((ties * (ties - 1) * (2 * ties + 5)).sum())
    variance = (n * (n - 1) * (2 * n + 5) - tied) / 18.0
    if variance <= 0.0:
        return 1.0
    z = max(0.0, abs(score) - 1.0) / sqrt(variance * _variance_inflation(values))
    return erfc(z / sqrt(2.0))


def _variance_inflation(values: Series) -> float:
    n = values.size
    ranks = _mid_ranks(values - theil_sen(values) * np.arange(n))
    correlations = _autocorrelations(ranks)[1:]
    lags = np.arange(1, n)
    weights = (n - lags) * (n - lags - 1) * (n - lags - 2)
    counted = np.abs(correlations) > NormalDist().inv_cdf(0.975) / sqrt(n)
    extra = float((weights * correlations)[counted].sum())
    return max(1.0, 1.0 + 2.0 * extra / (n * (n - 1) * (n - 2)))


def _mid_ranks(values: Series) -> Series:
    """Rank values from 1 on; equal ones share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Series = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks
