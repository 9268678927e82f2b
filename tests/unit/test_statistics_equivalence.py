"""That no change is larger than a margin: two one-sided tests, held against SciPy's."""

from __future__ import annotations

from math import exp, log, log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from loadstone.results.statistics import Comparison, Verdict, holm, judge, within_blocks
from loadstone.results.statistics.equivalence import p_beyond

Differences = NDArray[np.float64]


def pairs(
    *drawn: Differences, margin: float | None = 3.0, among: int | None = None
) -> list[Comparison]:
    """Comparisons whose log differences within blocks are given, judged together."""
    contrasts = []
    for own in drawn:
        blocks = range(1, own.size + 1)
        levels = {
            "a": dict.fromkeys(blocks, 100.0),
            "b": {block: 100.0 * exp(each) for block, each in zip(blocks, own, strict=True)},
        }
        contrasts.append(within_blocks(levels, "b", "a"))
    up = [True] * len(drawn)
    return judge(contrasts, higher_is_better=up, margin_percent=margin, decided_among=among)


def one_sided(own: Differences, margin: float) -> float:
    reach = log1p(margin / 100)
    return max(
        stats.ttest_1samp(own, -reach, alternative="greater").pvalue,
        stats.ttest_1samp(own, reach, alternative="less").pvalue,
    )


@pytest.mark.parametrize("seed", range(20))
def test_p_is_that_of_two_one_sided_tests(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = [rng.normal(0.01, 0.02, size=int(rng.integers(4, 13))) for _ in range(3)]
    expected = [one_sided(own, 3.0) for own in drawn]
    for found, p in zip(pairs(*drawn), holm(expected), strict=True):
        assert found.p_beyond == pytest.approx(p, abs=1e-9)
        assert found.within == (p <= 0.05)


@given(
    shift=st.floats(-0.08, 0.08),
    scatter=st.floats(1e-4, 0.05),
    blocks=st.integers(2, 10),
    seed=st.integers(0, 2**32 - 1),
)
def test_claims_never_contradict_each_other(
    shift: float, scatter: float, blocks: int, seed: int
) -> None:
    own = np.random.default_rng(seed).normal(shift, scatter, size=blocks)
    (found,) = pairs(own)
    (without,) = pairs(own, margin=None)
    claims_change = found.verdict in (Verdict.BETTER, Verdict.WORSE)
    if found.verdict is Verdict.EQUIVALENT:
        assert found.within
        assert without.verdict is Verdict.NO_DETECTABLE_CHANGE
    else:
        assert found.verdict is without.verdict
    if found.within:
        assert 1 / 1.03 < found.ratio < 1.03
        assert claims_change or found.verdict is Verdict.EQUIVALENT
    assert (found.p_value, found.low, found.high) == (without.p_value, without.low, without.high)
    if blocks >= 4:
        error = float(own.std(ddof=1)) / blocks**0.5
        reach = float(stats.t.ppf(0.95, blocks - 1)) * error
        inside = abs(float(own.mean())) + reach <= log(1.03) + 1e-12
        assert found.within == inside


def test_a_small_change_that_is_sure_is_both() -> None:
    own = np.random.default_rng(3).normal(0.01, 0.001, size=6)
    (found,) = pairs(own)
    assert found.verdict is Verdict.BETTER
    assert found.within


def test_too_few_repeats_claim_nothing() -> None:
    (found,) = pairs(np.array([1e-6, -1e-6, 2e-6]))
    assert found.verdict is Verdict.TOO_FEW_REPEATS
    assert not found.within


def test_figures_that_do_not_scatter() -> None:
    inside, outside = pairs(np.zeros(5), np.full(5, 0.05))
    assert inside.verdict is Verdict.EQUIVALENT
    assert (outside.verdict, outside.within) == (Verdict.BETTER, False)


def test_those_that_are_decided_one_by_one_share_the_level() -> None:
    own = np.random.default_rng(5).normal(0.0, 0.02, size=6)
    (alone,) = pairs(own, among=1)
    (among,) = pairs(own, among=4)
    assert alone.p_beyond is not None
    assert among.p_beyond == pytest.approx(min(1.0, 4 * alone.p_beyond))


@pytest.mark.parametrize("shift", [log(1.03), -log(1.03)])
def test_a_change_as_large_as_the_margin_is_seldom_called_smaller(shift: float) -> None:
    rng = np.random.default_rng(11)
    runs, wrong = 2000, 0
    for _ in range(runs):
        blocks = {block: exp(own) for block, own in enumerate(rng.normal(shift, 0.01, size=6))}
        contrast = within_blocks({"a": dict.fromkeys(blocks, 1.0), "b": blocks}, "b", "a")
        wrong += p_beyond(contrast, 3.0) <= 0.05
    assert stats.binomtest(wrong, runs, 0.05).pvalue > 0.001
