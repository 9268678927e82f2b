"""Does something rise while a level is held? A backlog or a response time that does will not last.

Ticks of one trial follow each other and are correlated. They judge that trial and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from sys import float_info

import numpy as np

from loadstone.results.statistics.steady import batch_means, mann_kendall_p, theil_sen

FEWEST_TICKS = 8
"""Below it nothing can be said of a trend."""
MOST_BATCHES = 20
"""Longer series are tested as 10 to 20 means of neighbours, which are less correlated."""
ALPHA = 0.005
"""Chance to call a series rising that only scatters, before the least rise is asked for.

Planted in tests: ticks that are correlated by 0.6, or the queue of a server that is busy for 90 %
of the time, are called rising in 1 to 3 % of the trials. A rise by half in noise of a tenth is
found in 70 % of the trials of 10 ticks, and in all of 30.
"""


@dataclass(frozen=True, slots=True)
class Rise:
    """How much a series rises.

    Attributes:
        rise: Slope (Theil-Sen) times the length of the series, in its unit.
        p: One-sided p-value of an upward trend (Mann-Kendall, corrected for autocorrelation).
        from_index: Where the series leaves its level for good; None if it does not.
        rising: The trend is significant, and the rise is at least the least that matters.
    """

    rise: float
    p: float
    from_index: int | None
    rising: bool


def rise_of(series: Sequence[float], least_rise: float, *, alpha: float = ALPHA) -> Rise:
    """Judge whether a series rises by so much that it matters.

    A long series makes a harmless rise significant and a short one makes noise look like a rise, so
    both are asked for: significance, and a least rise.

    Args:
        series: A figure per tick, equally spaced, in order.
        least_rise: Over the whole series, in its unit, above 0.
        alpha: Level of the one-sided test.

    Raises:
        ValueError: Figures that are not finite, or a least rise that is not above 0.
    """
    values = np.asarray(series, dtype=np.float64)
    if values.ndim != 1 or not np.all(np.isfinite(values)) or not least_rise > 0.0:
        raise ValueError(f"expected finite figures and a least rise above 0, got {least_rise}")
    if values.size < FEWEST_TICKS:
        return Rise(0.0, 1.0, None, False)
    size = -(-values.size // MOST_BATCHES)
    unit = float(np.abs(values).max()) or 1.0  # no sum or difference is beyond all numbers
    means, least = batch_means(values / unit, size), least_rise / unit
    slope = theil_sen(means)
    rise = slope * means.size
    p_both = mann_kendall_p(means)
    p = p_both / 2 if slope > 0.0 else 1.0 - p_both / 2
    rising = p < alpha and rise >= least
    in_unit = max(-float_info.max, min(rise * unit, float_info.max))
    return Rise(in_unit, p, _leaves(means, size, least) if rising else None, rising)


def _leaves(means: np.ndarray, size: int, least_rise: float) -> int:
    """The first tick from which on all batches lie above the first quarter by half the least."""
    level = float(np.median(means[: max(2, means.size // 4)]))
    below = np.flatnonzero(means <= level + least_rise / 2)
    first = int(below[-1]) + 1 if below.size else 0
    return min(first, means.size - 1) * size
