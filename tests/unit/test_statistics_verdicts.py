"""One statistic for p, interval, verdict and what could be found, held against other programs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from loadstone.results.statistics import (
    Comparison,
    Method,
    Verdict,
    fewest_blocks,
    holm,
    judge,
    power_of,
    unpaired,
    within_blocks,
)
from loadstone.results.statistics.power import least_shift
from loadstone.results.statistics.sign_flip import sign_flip_p

Levels = dict[str, dict[int, float]]


def levels_of(figures: NDArray[np.float64]) -> Levels:
    """Names v0, v1 ...: NaN is a trial that is missing."""
    return {
        f"v{column}": {
            block: float(figure)
            for block, figure in enumerate(figures[:, column], start=1)
            if np.isfinite(figure)
        }
        for column in range(figures.shape[1])
    }


def drawn(rng: np.random.Generator, blocks: int, levels: int) -> NDArray[np.float64]:
    """Figures that scatter by 2 % within blocks, and far more between them."""
    logs = rng.normal(size=(blocks, levels)) * 0.02 + rng.normal(size=(blocks, 1))
    figures: NDArray[np.float64] = np.exp(logs)
    return figures


def judged(levels: Mapping[str, Mapping[int, float]], alpha: float = 0.05) -> list[Comparison]:
    """Each against the first."""
    first, *others = levels
    contrasts = [within_blocks(levels, other, first) for other in others]
    return judge(contrasts, higher_is_better=[True] * len(others), alpha=alpha)


def linear_model_p(figures: NDArray[np.float64], column: int) -> float:
    """That of `column` in lm(log y ~ block + variant), of the blocks that have it and the first.

    Written as a textbook has it: treatment contrasts, normal equations, t of the coefficient.
    """
    used = figures[np.isfinite(figures[:, 0]) & np.isfinite(figures[:, column])]
    block, variant = np.nonzero(np.isfinite(used))
    columns = [np.ones(block.size)]
    columns += [(block == each).astype(float) for each in range(1, used.shape[0])]
    columns += [(variant == each).astype(float) for each in range(1, used.shape[1])]
    design, values = np.column_stack(columns), np.log(used[block, variant])
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ values
    residuals = values - design @ coefficients
    freedom = block.size - design.shape[1]
    at = used.shape[0] + column - 1
    error = np.sqrt(residuals @ residuals / freedom * inverse[at, at])
    return float(2 * stats.t.sf(abs(coefficients[at] / error), freedom))


@pytest.mark.parametrize("seed", range(40))
def test_p_is_that_of_a_linear_model_of_blocks_and_levels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    figures = drawn(rng, int(rng.integers(4, 13)), 3)
    if seed % 2:
        figures[rng.integers(figures.shape[0]), rng.integers(3)] = np.nan
    for column, comparison in enumerate(judged(levels_of(figures)), start=1):
        assert comparison.test is Method.BLOCKS
        assert comparison.p_value == pytest.approx(linear_model_p(figures, column), abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_of_two_levels_it_is_the_paired_t_and_the_exact_test_of_signs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    figures = drawn(rng, int(rng.integers(4, 13)), 2)
    (comparison,) = judged(levels_of(figures))
    logs = np.log(figures)
    theirs = stats.ttest_rel(logs[:, 1], logs[:, 0])
    assert comparison.p_value == pytest.approx(theirs.pvalue, abs=1e-12)
    interval = theirs.confidence_interval(0.95)
    assert np.log([comparison.low, comparison.high]) == pytest.approx([*interval], abs=1e-12)
    if figures.shape[0] < 8:
        assert comparison.flip_p is None
    else:
        exact = stats.permutation_test(
            (logs[:, 1], logs[:, 0]),
            lambda a, b, axis: np.mean(a - b, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=np.inf,
        )
        assert comparison.flip_p == pytest.approx(exact.pvalue, abs=1e-12)


def test_signs_are_dealt_exactly_of_many_blocks_too() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(0.3, 1.0, size=40)
    drawn_anew = rng.choice([-1.0, 1.0], size=(20_000, 40)) @ values
    share = float(np.mean(np.abs(drawn_anew) >= abs(values.sum())))
    assert sign_flip_p(list(values)) == pytest.approx(share, abs=0.01)
    assert sign_flip_p([1.0] * 8) == 2 / 2**8
    assert sign_flip_p([0.0] * 8) == 1.0


def test_without_blocks_it_is_the_t_test_of_unequal_variances() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.lognormal(0, 0.02, 5), rng.lognormal(0.05, 0.1, 7)
    (comparison,) = judge([unpaired(a, b)], higher_is_better=[True])
    theirs = stats.ttest_ind(np.log(b), np.log(a), equal_var=False)
    assert comparison.p_value == pytest.approx(theirs.pvalue, abs=1e-12)
    assert comparison.test is Method.UNPAIRED
    assert comparison.flip_p is None


@given(
    seed=st.integers(0, 2**32 - 1),
    blocks=st.integers(3, 8),
    count=st.integers(2, 6),
    size=st.sampled_from([0.0, 0.01, 0.02, 0.04]),
)
def test_a_claim_and_an_interval_that_excludes_1_are_one(
    seed: int, blocks: int, count: int, size: float
) -> None:
    figures = drawn(np.random.default_rng(seed), blocks, count)
    figures[:, 1::2] *= 1 + size
    for comparison in judged(levels_of(figures)):
        claims = comparison.verdict in (Verdict.BETTER, Verdict.WORSE)
        if comparison.verdict is Verdict.TOO_FEW_REPEATS:
            assert comparison.low is None and comparison.detectable is None
            continue
        assert comparison.low is not None and comparison.high is not None
        assert claims == (not comparison.low <= 1.0 <= comparison.high)
        assert claims == (comparison.adjusted_p <= 0.05)
        assert comparison.low <= comparison.ratio <= comparison.high


def test_decisions_one_by_one_are_made_at_the_share_of_each() -> None:
    figures = drawn(np.random.default_rng(3), 6, 2)
    levels = levels_of(figures)
    (alone,) = judged(levels)
    contrast = within_blocks(levels, "v1", "v0")
    (one_of_four,) = judge([contrast], higher_is_better=[True], decided_among=4)
    assert one_of_four.adjusted_p == min(1.0, 4 * alone.p_value)
    assert one_of_four.interval_confidence == pytest.approx(1 - 0.05 / 4)


def test_holm_never_lets_one_fall_below_the_one_before() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_what_drifts_from_block_to_block_hides_nothing() -> None:
    drift = np.exp(np.linspace(0, 3, 5))
    scatter = np.array([0.0, 0.001, -0.001, 0.0005, 0.0])
    levels = levels_of(np.column_stack([drift, drift * 1.01 * np.exp(scatter)]))
    (comparison,) = judged(levels)
    assert comparison.verdict is Verdict.BETTER
    assert comparison.effect_percent == pytest.approx(1.01, abs=0.1)


def test_incomplete_blocks_leave_their_pair_only() -> None:
    figures = drawn(np.random.default_rng(2), 6, 3)
    figures[2, 1] = np.nan
    first, second = judged(levels_of(figures))
    assert (first.n_candidate, second.n_candidate) == (5, 6)
    mean = np.nanmean(np.log(figures[:, 1]) - np.log(figures[:, 0]))
    assert np.log(first.ratio) == pytest.approx(mean, abs=1e-12)


def test_levels_of_other_blocks_lend_no_scatter() -> None:
    """Stages of a ladder that keeps the better: each pair is judged from its own."""
    figures = drawn(np.random.default_rng(2), 10, 3)
    figures[:5, 2] = np.nan
    figures[5:, 0] = np.nan
    contrast = within_blocks(levels_of(figures), "v1", "v0")
    assert (contrast.method, contrast.freedom) == (Method.PAIRED, 4)
    with pytest.raises(ValueError, match="no block in common"):
        within_blocks(levels_of(figures), "v2", "v0")


def test_a_level_that_scatters_far_more_is_held_against_its_own_differences() -> None:
    figures = drawn(np.random.default_rng(4), 6, 5)
    figures[:, 4] *= np.exp(np.random.default_rng(5).normal(0, 0.3, 6))
    *calm, wide = judged(levels_of(figures))
    assert wide.test is Method.PAIRED and wide.freedom == 5
    assert {each.test for each in calm} == {Method.BLOCKS}
    logs = np.log(figures)
    assert wide.p_value == pytest.approx(stats.ttest_rel(logs[:, 4], logs[:, 0]).pvalue)


@pytest.mark.parametrize(("levels", "blocks"), [(2, 4), (3, 3)])
def test_below_the_fewest_blocks_nothing_is_claimed(levels: int, blocks: int) -> None:
    assert fewest_blocks(levels) == blocks
    figures = drawn(np.random.default_rng(0), blocks, levels)
    figures[:, 1:] *= 3.0
    assert {each.verdict for each in judged(levels_of(figures))} == {Verdict.BETTER}
    short = judged(levels_of(figures[:-1]))
    assert {each.verdict for each in short} == {Verdict.TOO_FEW_REPEATS}
    assert {each.repeats_needed for each in short} == {blocks}


def test_one_trial_of_each_has_a_ratio_and_no_more() -> None:
    (comparison,) = judged({"a": {1: 10.0}, "b": {1: 11.0}})
    assert comparison.ratio == pytest.approx(1.1)
    assert (comparison.low, comparison.spread, comparison.detectable) == (None, None, None)
    assert comparison.verdict is Verdict.TOO_FEW_REPEATS


def test_equal_figures_are_no_change_and_none_is_promised() -> None:
    same = dict.fromkeys(range(1, 6), 7.0)
    (comparison,) = judged({"a": same, "b": dict(same)})
    assert comparison.verdict is Verdict.NO_DETECTABLE_CHANGE
    assert (comparison.ratio, comparison.p_value, comparison.detectable) == (1.0, 1.0, None)
    dealt = {1: 3.0, 2: 5.0, 3: 7.0, 4: 9.0}
    (turned,) = judged({"a": dealt, "b": dict(zip(dealt, reversed(dealt.values()), strict=True))})
    assert turned.verdict is Verdict.NO_DETECTABLE_CHANGE


def test_a_change_without_any_scatter_is_one() -> None:
    a, b = dict.fromkeys(range(1, 6), 8.0), dict.fromkeys(range(1, 6), 10.0)
    (comparison,) = judged({"a": a, "b": b})
    assert (comparison.verdict, comparison.p_value) == (Verdict.BETTER, 0.0)
    assert comparison.low == comparison.high == pytest.approx(1.25)


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_figures_of_any_size_are_compared(unit: float) -> None:
    figures = drawn(np.random.default_rng(0), 5, 2)
    (plain,) = judged(levels_of(figures))
    (scaled,) = judged(levels_of(figures * unit))
    assert scaled.ratio == pytest.approx(plain.ratio)
    assert scaled.p_value == pytest.approx(plain.p_value)
    far = {"a": dict.fromkeys(range(4), 1e-300), "b": dict.fromkeys(range(4), 1e300)}
    (comparison,) = judged(far)
    assert np.isfinite([comparison.ratio, comparison.effect_percent]).all()


@pytest.mark.parametrize("figure", [0.0, -1.0, float("nan"), float("inf")])
def test_figures_without_a_logarithm_are_refused(figure: float) -> None:
    with pytest.raises(ValueError, match="finite and above 0"):
        judged({"a": {1: 1.0, 2: 1.0}, "b": {1: 1.0, 2: figure}})


def test_the_least_detectable_difference_is_found_in_80_of_100() -> None:
    rng = np.random.default_rng(7)
    freedom, blocks = 4, 5
    shift = least_shift(freedom, 0.05) * np.sqrt(2 / blocks)
    assert shift == pytest.approx(2.38, abs=0.01), "in standard deviations of a trial"
    differences = rng.normal(shift, np.sqrt(2), size=(20_000, blocks))
    found = stats.ttest_1samp(differences, 0, axis=1).pvalue <= 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.01)
    assert power_of(shift, np.sqrt(2 / blocks), freedom, 0.05) == pytest.approx(0.8, abs=1e-6)


def test_its_range_is_that_of_the_scatter() -> None:
    (comparison,) = judged(levels_of(drawn(np.random.default_rng(1), 5, 2)))
    found = comparison.detectable
    assert found is not None
    shifts = np.log1p(np.array([found.low, found.percent, found.high]) / 100)
    assert shifts / shifts[1] == pytest.approx([0.65, 1, 2.37], abs=0.01)
