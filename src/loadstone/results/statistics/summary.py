"""What the trials of one level say: median, interval, range, and which of them stand out."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import comb, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

MODIFIED_Z_LIMIT = 3.5
"""Modified z-score from which a value is called an outlier (Iglewicz & Hoaglin 1993, p. 11)."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One figure over the trials of one level; ``values`` and all figures in the same unit.

    Attributes:
        n: Number of trials.
        median: Median over trials.
        low: Lower end of the interval of the median; None for a single trial.
        high: Upper end; None for a single trial.
        coverage: Probability with which the interval holds the true median, or None.
        interval_is_range: The trials are too few for the confidence asked: ``low`` and ``high`` are
            the smallest and the largest value, and ``coverage`` says how little that is.
        mean: Arithmetic mean.
        minimum: Smallest value.
        maximum: Largest value.
        values: The values, in the order of the trials.
    """

    n: int
    median: float
    low: float | None
    high: float | None
    coverage: float | None
    interval_is_range: bool
    mean: float
    minimum: float
    maximum: float
    values: tuple[float, ...]


def _median_coverages(n: int) -> list[float]:
    """Probability that two values enclose the median, each of rank 1, 2 ... from its end."""
    below = accumulate(comb(n, at) for at in range((n + 1) // 2))
    return [1.0 - 2.0 * many / 2**n for many in below]


def summarize(values: Sequence[float], *, confidence: float = 0.95) -> Summary:
    """Summarise one figure over trials.

    The interval of the median runs between two order statistics, chosen by the binomial
    distribution: the narrowest pair that holds the true median with at least ``confidence``,
    whatever the distribution of the values (David & Nagaraja 2003, Order Statistics, sec. 7.1). At
    95 % it exists from 6 trials on. A bootstrap of a median of few values only ever returns those
    values too, without the guarantee, so none is made.

    Args:
        values: One figure per trial, any unit, at least one.
        confidence: Probability with which the interval should hold the median.

    Returns:
        The summary. With 2 to 5 trials (at 95 %) the interval is the range and says so.

    Raises:
        ValueError: No value, or one that is not finite.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0 or not np.all(np.isfinite(array)):
        raise ValueError(f"expected at least one finite figure per trial, got {list(values)}")
    n = int(array.size)
    ordered = np.sort(array)
    coverages = _median_coverages(n)
    rank = max(1, sum(each >= confidence for each in coverages))
    coverage = coverages[rank - 1] if n > 1 else None
    return Summary(
        n=n,
        median=median_of(array),
        low=float(ordered[rank - 1]) if n > 1 else None,
        high=float(ordered[n - rank]) if n > 1 else None,
        coverage=coverage,
        interval_is_range=coverage is not None and coverage < confidence,
        mean=min(max(float((array / n).sum()), float(ordered[0])), float(ordered[-1])),
        minimum=float(ordered[0]),
        maximum=float(ordered[-1]),
        values=tuple(float(value) for value in array),
    )


def median_of(values: Sequence[float] | NDArray[np.float64]) -> float:
    """The median, also where the sum of the two in the middle is beyond all numbers."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    below, above = float(ordered[(ordered.size - 1) // 2]), float(ordered[ordered.size // 2])
    return below if below == above else below / 2.0 + above / 2.0


def outliers(values: Sequence[float]) -> list[int]:
    """Name the values that stand far from the rest. They are to be marked, never dropped.

    Modified z-score 0.6745 (x - median) / MAD above 3.5 (Iglewicz & Hoaglin 1993, How to Detect and
    Handle Outliers, p. 11). When more than half of the values are equal the MAD is 0; then the
    mean absolute deviation takes its place, scaled by sqrt(pi / 2) as for a normal distribution.
    Fewer than four values name no outlier: no two of three can say which one is wrong.

    Args:
        values: Figures of any unit.

    Returns:
        Positions in ``values``, ascending.

    Raises:
        ValueError: A value that is not finite.
    """
    array = np.asarray(values, dtype=np.float64)
    if not np.all(np.isfinite(array)):
        raise ValueError(f"expected finite figures, got {list(values)}")
    if array.size < 4:
        return []
    array = array / (np.abs(array).max() or 1.0)  # no sum is beyond all numbers
    deviations = np.abs(array - np.median(array))
    scale = float(np.median(deviations)) / NormalDist().inv_cdf(0.75)
    if scale == 0.0:
        scale = float(deviations.mean()) * sqrt(np.pi / 2.0)
    if scale == 0.0:
        return []
    return [int(i) for i in np.flatnonzero(deviations > MODIFIED_Z_LIMIT * scale)]
