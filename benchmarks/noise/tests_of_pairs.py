"""Tests of paired differences that could tell a verdict, from the log ratios of each block."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.noise.rules import Pair
from loadstone.results.statistics import Contrast, judge, within_blocks

Differences = NDArray[np.float64]
TRIMMED = 0.2
"""Of the differences, at each end (Yuen 1974)."""


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
    t = float(middle.mean()) / math.sqrt(squares / (kept * (kept - 1)))
    return float(2.0 * stats.t.sf(abs(t), kept - 1))


def signed_ranks(differences: Differences) -> float:
    """Wilcoxon's, exact; its estimate is that of Hodges and Lehmann."""
    return float(stats.wilcoxon(differences, method="exact").pvalue)


def permuted_t(differences: Differences) -> float:
    """Student's t with the signs dealt anew, all ways (Fisher)."""
    seen = abs(float(differences.sum()))
    signs = np.array(list(product((1.0, -1.0), repeat=differences.size)))
    return float(np.mean(np.abs(signs @ differences) >= seen * (1.0 - 1e-12)))


def claims(pair: Pair, name: str) -> bool:
    """Whether a test of a name claims a difference; none does of too few blocks."""
    differences = pair.differences()
    if differences.size < FEWEST_BLOCKS:
        return False
    return TESTS[name](pair, differences) <= LEVEL


def _adjusted(pair: Pair, _differences: Differences) -> float:
    """As the product judges: for what other guests of the host took."""
    return _judged(within_blocks(pair.levels(), "b", "a", pair.stolen()))


def _by_probe(figure: str) -> Callable[[Pair, Differences], float]:
    """Student's, with the probe before and after a trial as the covariate."""

    def test(pair: Pair, differences: Differences) -> float:
        first, second = pair.trials
        shared = sorted(first.keys() & second.keys())
        both = [[each[block] for block in shared] for each in (first, second)]
        speeds = [
            [math.log(trial.before[figure] * trial.after[figure]) / 2.0 for trial in own]
            for own in both
            if all(trial.before and trial.after for trial in own)
        ]
        if len(speeds) < 2:
            return paired_t(differences)
        apart = np.subtract(speeds[1], speeds[0])
        design = np.column_stack([np.ones_like(apart), apart])
        fitted, *_ = np.linalg.lstsq(design, differences)
        freedom = differences.size - 2
        squares = float(((differences - design @ fitted) ** 2).sum()) / freedom
        error = math.sqrt(squares * np.linalg.inv(design.T @ design)[0, 0])
        return float(2.0 * stats.t.sf(abs(fitted[0]) / error, freedom))

    return test


def _judged(contrast: Contrast) -> float:
    (found,) = judge([contrast], higher_is_better=[True])
    return 1.0 if found.p_value is None else found.p_value


LEVEL = 0.05
FEWEST_BLOCKS = 4
TESTS: Mapping[str, Callable[[Pair, Differences], float]] = {
    "paired t": lambda _, differences: paired_t(differences),
    "adjusted for stolen time": _adjusted,
    "adjusted for the CPU probe": _by_probe("cpu_work_us"),
    "adjusted for the memory probe": _by_probe("memory_read_us"),
    "trimmed t": lambda _, differences: trimmed_t(differences),
    "signed ranks": lambda _, differences: signed_ranks(differences),
    "permuted t": lambda _, differences: permuted_t(differences),
}
