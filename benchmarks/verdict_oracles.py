"""The product's p-values beside those of statsmodels and SciPy, on data that are drawn.

statsmodels is no part of the project: `uv run --with statsmodels python -m benchmarks.verdicts
oracles`. It fits log y ~ block + level, as R's `lm` does.
"""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.table import Aim, Report
from loadstone.results.statistics import Blocks, Comparison, Method, judge, within_blocks

LIMIT = 1e-6
MISSING = 0.1
"""Share of the trials of levels but the first that are left out, in every third data set, after
two blocks."""

Figures = NDArray[np.float64]
"""Shape (blocks, levels); NaN where a trial is missing."""


@dataclass(frozen=True)
class Difference:
    """A p-value of the product beside that of another program."""

    oracle: str
    difference: float


def beside_others(sets: int, seed: int) -> Report:
    """Compares all pairs of so many data sets."""
    largest: dict[str, float] = defaultdict(float)
    count: dict[str, int] = defaultdict(int)
    for number in range(sets):
        for each in _differences(np.random.default_rng([seed, number]), number):
            largest[each.oracle] = max(largest[each.oracle], each.difference)
            count[each.oracle] += 1
    worst = max(largest.values())
    return Report(
        title="Verdicts beside statsmodels and SciPy",
        how=f"{sets:,} drawn data sets of 2 to 6 levels in 3 to 12 blocks, every third with trials "
        "missing, every fourth with a level that scatters five times as much; p-values of each "
        "pair. `uv run --with statsmodels python -m benchmarks.verdicts oracles`."
        + ("" if _has_statsmodels() else " statsmodels was not there: its row is missing."),
        header=("oracle", "p-values", "largest difference"),
        rows=[(name, f"{count[name]:,}", f"{largest[name]:.1g}") for name in sorted(count)],
        aims=(Aim("largest difference of p", worst, "", f"<= {LIMIT:g}", worst <= LIMIT),),
    )


def _has_statsmodels() -> bool:
    return importlib.util.find_spec("statsmodels") is not None


def _differences(rng: np.random.Generator, number: int) -> Iterator[Difference]:
    figures = _drawn(rng, number)
    levels = _levels_of(figures)
    names = [name for name in levels if name != "0"]
    found = judge(
        [within_blocks(levels, name, "0") for name in names],
        higher_is_better=[True] * len(names),
    )
    for name, comparison in zip(names, found, strict=True):
        yield from _of_pair(figures, int(name), comparison)


def _drawn(rng: np.random.Generator, number: int) -> Figures:
    blocks, levels = int(rng.integers(3, 13)), int(rng.integers(2, 7))
    logs = rng.normal(0.0, 0.02, (blocks, levels)) + rng.normal(0.0, 0.05, (blocks, 1))
    logs += rng.choice([0.0, 0.02, 0.05], size=levels)
    if number % 4 == 0:
        logs[:, -1] += rng.normal(0.0, 0.1, blocks)
    if number % 3 == 0:
        logs[2:, 1:][rng.random((blocks - 2, levels - 1)) < MISSING] = np.nan
    figures: Figures = np.exp(logs) * 10.0 ** rng.uniform(-3, 6)
    return figures


def _levels_of(figures: Figures) -> dict[str, Blocks]:
    return {
        str(level): {
            block: float(each) for block, each in enumerate(figures[:, level]) if np.isfinite(each)
        }
        for level in range(figures.shape[1])
    }


def _of_pair(figures: Figures, level: int, comparison: Comparison) -> Iterator[Difference]:
    shared = np.isfinite(figures[:, 0]) & np.isfinite(figures[:, level])
    logs = np.log(figures[shared])
    a, b = logs[:, 0], logs[:, level]
    if comparison.test is Method.PAIRED:
        theirs = float(stats.ttest_rel(b, a).pvalue)
        yield Difference("scipy.stats.ttest_rel", abs(comparison.p_value - theirs))
    elif _has_statsmodels():
        theirs = _linear_model_p(logs, level)
        yield Difference("statsmodels, log y ~ block + level", abs(comparison.p_value - theirs))
    if comparison.flip_p is not None:
        exact: Any = stats.permutation_test(
            (b, a),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=np.inf,
        )
        yield Difference(
            "scipy.stats.permutation_test, samples", abs(comparison.flip_p - float(exact.pvalue))
        )


def _linear_model_p(logs: Figures, level: int) -> float:
    """The p-value of the level's coefficient; its baseline is level 0."""
    import pandas
    import statsmodels.formula.api as models

    block, column = np.nonzero(np.isfinite(logs))
    data = pandas.DataFrame({"y": logs[block, column], "block": block, "level": column})
    fit: Any = models.ols("y ~ C(block) + C(level)", data).fit()
    return float(fit.pvalues[f"C(level)[T.{level}]"])
