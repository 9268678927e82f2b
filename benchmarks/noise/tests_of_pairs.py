"""Tests of paired differences that could tell a verdict, from the log ratios of each block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Differences = NDArray[np.float64]
TRIMMED = 0.2
"""Of the differences, at each end (Yuen 1974)."""
FEWEST = 4


def paired_t(differences: Differences) -> float:
    """Student's."""
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def trimmed_t(differences: Differences) -> float:
    """Yuen's, of one sample: the trimmed mean, against the deviation of the winsorised ones."""
    n = differences.size
    cut = int(TRIMMED * n)
    kept = n - 2 * cut
    ordered = np.sort(differences)
    middle = ordered[cut : n - cut]
    winsorised = np.clip(ordered, middle[0], middle[-1])
    squares = float(((winsorised - winsorised.mean()) ** 2).sum())
    if squares == 0.0:
        return 1.0
    t = float(middle.mean()) / sqrt(squares / (kept * (kept - 1)))
    return float(2.0 * stats.t.sf(abs(t), kept - 1))


def signed_ranks(differences: Differences) -> float:
    """Wilcoxon's, exact; its estimate is that of Hodges and Lehmann."""
    return float(stats.wilcoxon(differences, method="exact").pvalue)


def permuted_t(differences: Differences) -> float:
    """Student's t with the signs dealt anew, all ways (Fisher)."""
    seen = abs(float(differences.sum()))
    signs = np.array(list(product((1.0, -1.0), repeat=differences.size)))
    return float(np.mean(np.abs(signs @ differences) >= seen * (1.0 - 1e-12)))


TESTS: Mapping[str, Callable[[Differences], float]] = {
    "paired t": paired_t,
    "trimmed t": trimmed_t,
    "signed ranks": signed_ranks,
    "permuted t": permuted_t,
}


def claims(test: Callable[[Differences], float], differences: Differences, level: float) -> bool:
    """Whether a difference is claimed; never of too few blocks."""
    return differences.size >= FEWEST and test(differences) <= level * (1.0 + 1e-9)
