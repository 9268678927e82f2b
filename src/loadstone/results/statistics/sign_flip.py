"""The exact test of differences within blocks: their signs are dealt anew.

If a change has no effect, the order within a block alone decided which trial was called the
candidate, and each difference could as well have had the other sign. The p-value is the share of
those deals whose mean is at least as far from 0 as the one that was seen (Fisher 1935, The Design
of Experiments, sec. 21; Edgington & Onghena 2007, Randomization Tests, 4th ed., ch. 6).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FEWEST_TO_FLIP = 8
"""Of fewer differences, the smallest p-value is 2 / 2^n: too coarse to check anything."""
MOST_TO_FLIP = 40
"""Half of so many differences have a million deals, which are in memory at once."""

TOLERANCE = 1e-10
"""Sums that are closer than this share of the largest count as equal."""


def sign_flip_p(differences: Sequence[float]) -> float:
    """The exact two-sided p-value.

    Args:
        differences: One for each block, of any unit, shape (blocks,), at most `MOST_TO_FLIP`.
    """
    values = np.abs(np.asarray(differences, dtype=np.float64))
    largest = float(values.sum())
    if largest == 0.0:
        return 1.0
    observed = abs(float(np.sum(differences))) - TOLERANCE * largest
    half = values.size // 2
    first, second = _sums(values[:half]), np.sort(_sums(values[half:]))
    above = second.size - np.searchsorted(second, observed - first, side="left")
    below = np.searchsorted(second, -observed - first, side="right")
    # A sum on both sides, where the observed one is 0, is one deal.
    return min(1.0, float(above.sum() + below.sum()) / (first.size * second.size))


def _sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of every deal of signs, shape (2^n,)."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums
