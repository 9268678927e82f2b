"""Comparisons, Holm and power, against scipy, the literature and their own laws."""

import math
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from loadstone.results.statistics import (
    Comparison,
    IntervalKind,
    Method,
    Verdict,
    compare,
    holm,
    judge,
    least_detectable_difference,
    least_p,
    pooled_spread,
    power_of,
    repeats_for,
    repeats_needed,
)
from loadstone.results.statistics.permutation import (
    EXACT_LIMIT,
    arrangements,
    mann_whitney_cdf,
    permutation_p,
    rank_p,
)

CLAIMS = (Verdict.BETTER, Verdict.WORSE)
figures = st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=6)
methods = st.sampled_from(list(Method))


def rates(baseline: list[float], candidate: list[float], **options: object) -> Comparison:
    return compare(baseline, candidate, higher_is_better=True, rng=7, **options)  # type: ignore[arg-type]


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """For verdicts by the thousand: they follow the p-value, and no interval is looked at."""
    module = import_module("loadstone.results.statistics.compare")
    monkeypatch.setattr(module, "BOOTSTRAP_SAMPLES", 99)


@pytest.mark.parametrize(("n", "p"), [(3, 2 / 20), (4, 2 / 70), (5, 2 / 252), (8, 2 / 12870)])
@pytest.mark.parametrize("method", list(Method))
def test_groups_that_do_not_overlap_reach_the_least_p(n: int, p: float, method: Method) -> None:
    low, high = [100.0 + i for i in range(n)], [200.0 + i for i in range(n)]
    comparison = rates(low, high, test=method)
    assert comparison.p_value == pytest.approx(p)
    assert comparison.least_p == pytest.approx(p)


def test_three_repeats_cannot_show_anything() -> None:
    comparison = rates([1.0, 1.1, 1.2], [100.0, 110.0, 120.0])
    assert comparison.p_value == pytest.approx(0.1)
    assert comparison.verdict is Verdict.TOO_FEW_REPEATS
    assert comparison.repeats_needed == 4
    assert comparison.least_detectable_percent is None


def test_up_is_better_for_rates_and_worse_for_times() -> None:
    a, b = [10.0, 10.1, 10.2, 10.3], [12.0, 12.1, 12.2, 12.3]
    assert compare(a, b, higher_is_better=True, rng=1).verdict is Verdict.BETTER
    assert compare(a, b, higher_is_better=False, rng=1).verdict is Verdict.WORSE
    assert compare(b, a, higher_is_better=False, rng=1).verdict is Verdict.BETTER


def test_one_trial_each_gives_a_ratio_and_nothing_else() -> None:
    comparison = rates([100.0], [105.0])
    assert comparison.effect_percent == pytest.approx(5.0)
    assert (comparison.low, comparison.high, comparison.spread) == (None, None, None)
    assert comparison.interval is IntervalKind.NONE
    assert comparison.p_value == 1.0
    assert comparison.verdict is Verdict.TOO_FEW_REPEATS


@pytest.mark.parametrize("bad", [[], [1.0, 0.0], [1.0, -2.0], [1.0, math.nan], [math.inf]])
def test_figures_that_have_no_logarithm_are_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="candidate"):
        rates([1.0, 2.0], bad)


@given(figures, figures, methods)
def test_the_interval_holds_the_ratio(a: list[float], b: list[float], method: Method) -> None:
    comparison = rates(a, b, test=method)
    if comparison.low is not None and comparison.high is not None:
        assert comparison.low <= comparison.ratio <= comparison.high
    assert 0.0 < comparison.p_value <= 1.0
    assert comparison.p_value >= comparison.least_p - 1e-12


@given(figures, methods)
def test_a_sample_never_differs_from_itself(values: list[float], method: Method) -> None:
    comparison = rates(values, values, test=method)
    assert comparison.verdict not in CLAIMS
    assert comparison.ratio == pytest.approx(1.0)


@given(figures, figures, st.floats(1e-6, 1e6), methods)
def test_the_unit_does_not_matter(
    a: list[float], b: list[float], factor: float, method: Method
) -> None:
    first = rates(a, b, test=method)
    scaled = rates([factor * x for x in a], [factor * x for x in b], test=method)
    assert scaled.ratio == pytest.approx(first.ratio, rel=1e-6)
    if first.low is not None:
        assert scaled.low == pytest.approx(first.low, rel=1e-6)
        assert scaled.high == pytest.approx(first.high, rel=1e-6)
    if method is Method.PERMUTATION:
        assert scaled.p_value == pytest.approx(first.p_value)


@given(figures, figures, methods)
def test_swapping_the_levels_inverts_the_ratio(
    a: list[float], b: list[float], method: Method
) -> None:
    there, back = rates(a, b, test=method), rates(b, a, test=method)
    assert there.ratio * back.ratio == pytest.approx(1.0, rel=1e-9)
    assert there.p_value == pytest.approx(back.p_value)


@given(st.lists(st.integers(1, 10**6), min_size=4, max_size=12, unique=True), st.data())
def test_the_rank_test_agrees_with_scipy(values: list[int], data: st.DataObject) -> None:
    cut = data.draw(st.integers(2, len(values) - 2))
    a, b = np.array(values[:cut], dtype=float), np.array(values[cut:], dtype=float)
    expected = stats.mannwhitneyu(a, b, method="exact").pvalue
    assert rank_p(a, b, 1) == pytest.approx(expected)


def test_the_permutation_test_agrees_with_scipy() -> None:
    rng = np.random.default_rng(3)
    for n, m in ((3, 5), (6, 6), (4, 7)):
        a, b = rng.normal(0, 1, n), rng.normal(0.8, 1, m)
        expected = stats.permutation_test(
            (b, a), lambda x, y: x.mean() - y.mean(), n_resamples=np.inf
        ).pvalue
        assert permutation_p(a, b, 1) == pytest.approx(expected)


def test_sampled_arrangements_come_close_to_the_exact_p() -> None:
    rng = np.random.default_rng(11)
    a, b = rng.normal(0, 1, 9), rng.normal(1, 1, 9)
    assert arrangements(9, 9) > EXACT_LIMIT
    exact = stats.permutation_test(
        (b, a), lambda x, y, axis: x.mean(axis) - y.mean(axis), n_resamples=np.inf, vectorized=True
    ).pvalue
    assert permutation_p(a, b, 5) == pytest.approx(exact, abs=4 * math.sqrt(exact / 99_999) * 1.5)


def test_a_rank_test_by_hand() -> None:
    """The 6 of the first group beats 4 and 5: U = 2, and P(U <= 2) = (1 + 1 + 2) / 126."""
    a, b = np.array([1.0, 2.0, 3.0, 6.0]), np.array([4.0, 5.0, 7.0, 8.0, 9.0])
    assert rank_p(a, b, 0) == pytest.approx(2 * 4 / 126)


def test_mann_whitney_distribution() -> None:
    """Counts of U for 3 against 2: 1 1 2 2 2 1 1 of 10 (Mann & Whitney 1947)."""
    expected = np.cumsum([1, 1, 2, 2, 2, 1, 1]) / 10
    assert mann_whitney_cdf(3, 2) == pytest.approx(expected)
    assert mann_whitney_cdf(60, 60)[-1] == 1.0


def test_the_rank_interval_inverts_the_rank_test() -> None:
    """Bauer 1972: for 5 against 5 at 95 % the 3rd and the 23rd of the 25 pairwise ratios."""
    a, b = [100.0, 103.0, 99.0, 104.0, 101.5], [110.0, 108.0, 107.5, 112.0, 109.0]
    ratios = sorted(y / x for x in a for y in b)
    comparison = rates(a, b, test=Method.RANK)
    assert comparison.interval is IntervalKind.EXACT
    assert comparison.low == pytest.approx(ratios[2])
    assert comparison.high == pytest.approx(ratios[-3])
    assert comparison.ratio == pytest.approx(ratios[12])


def test_too_few_for_an_exact_interval_says_range() -> None:
    comparison = rates([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], test=Method.RANK)
    assert comparison.interval is IntervalKind.RANGE


def test_holm_by_hand() -> None:
    """0.005 x 4, 0.01 x 3, 0.03 x 2, and 0.04 x 1 raised to the one before it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0.0, 1.0), max_size=12))
def test_holm_keeps_the_order_and_never_lowers_a_p(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= q <= 1.0 for p, q in zip(p_values, adjusted, strict=True))
    for p, q in zip(p_values, adjusted, strict=True):
        assert all(
            q <= other_q for other_p, other_q in zip(p_values, adjusted, strict=True) if other_p > p
        )


def test_a_ladder_of_three_needs_five_repeats() -> None:
    """2 / 70 = 0.029 does not survive division of 5 % by 3, 2 / 252 = 0.008 does."""
    assert repeats_needed(0.05, 1) == 4
    assert repeats_needed(0.05, 3) == 5
    rungs = [rates([1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 2.2, 2.3]) for _ in range(3)]
    assert rungs[0].verdict is Verdict.BETTER
    judged = judge(rungs)
    assert {rung.verdict for rung in judged} == {Verdict.TOO_FEW_REPEATS}
    assert judged[0].repeats_needed == 5
    assert judged[0].adjusted_p == pytest.approx(3 * 2 / 70)


def test_judging_one_comparison_changes_nothing() -> None:
    comparison = rates([1.0, 1.1, 1.2, 1.3, 1.25], [1.1, 1.3, 1.2, 1.35, 1.2])
    assert judge([comparison]) == [comparison]


def test_repeats_out_of_reach_are_refused() -> None:
    with pytest.raises(ValueError, match="out of reach"):
        repeats_needed(0.05, 10_000)


def test_least_p_of_many_trials_is_that_of_the_samples() -> None:
    assert least_p(30, 30) == pytest.approx(2 / 100_000)


def test_power_agrees_with_cohens_table() -> None:
    """Cohen 1988, table 2.3.5 and 2.4.1: d = 0.8, two-sided 5 %, n = 26 gives a power of 0.80."""
    difference_percent = 100 * math.expm1(0.8 * 0.02)
    assert power_of(difference_percent, 0.02, 26, 26, 0.05) == pytest.approx(0.807, abs=0.001)
    assert repeats_for(difference_percent, 0.02) == 26


@pytest.mark.usefixtures("few_resamples")
def test_power_of_the_real_test_is_as_promised() -> None:
    """5 against 5, spread 2 %, true difference 4 %: theory and 400 simulated experiments."""
    rng = np.random.default_rng(20)
    found = sum(
        rates(
            list(np.exp(rng.normal(0, 0.02, 5))), list(1.04 * np.exp(rng.normal(0, 0.02, 5)))
        ).verdict
        is Verdict.BETTER
        for _ in range(400)
    )
    assert found / 400 == pytest.approx(power_of(4.0, 0.02, 5, 5, 0.05), abs=0.06)


@given(st.floats(1e-4, 0.3), st.integers(4, 40))
def test_the_least_detectable_difference_has_the_power_asked(spread: float, n: int) -> None:
    percent = least_detectable_difference(spread, n)
    assert percent is not None
    assert power_of(percent, spread, n, n, 0.05) == pytest.approx(0.8, abs=1e-3)
    assert repeats_for(percent * 1.001, spread) <= n


def test_spread_is_pooled_within_levels() -> None:
    assert pooled_spread([1.0, math.e**2], [5.0]) == pytest.approx(math.sqrt(2.0))
    assert pooled_spread([1.0], [5.0]) is None
    assert least_detectable_difference(0.0, 5) == 0.0
    with pytest.raises(ValueError, match="not 0"):
        repeats_for(0.0, 0.02)
    with pytest.raises(ValueError, match="takes more"):
        repeats_for(0.001, 0.5)


@pytest.mark.usefixtures("few_resamples")
@pytest.mark.parametrize("method", list(Method))
def test_a_against_a_claims_a_difference_at_most_as_often_as_alpha_says(method: Method) -> None:
    """1,000 seeded A/A comparisons of 6 against 6, half of them with a heavy tail."""
    rng = np.random.default_rng(99)
    claims = 0
    for i in range(1000):
        noise = rng.normal(0, 0.03, 12) if i % 2 else 0.02 * rng.standard_t(3, 12)
        values = list(100 * np.exp(noise))
        claims += rates(values[:6], values[6:], test=method).verdict in CLAIMS
    assert 20 <= claims <= 70


@pytest.mark.usefixtures("few_resamples")
def test_a_ladder_of_five_rungs_without_effect_rarely_claims_any() -> None:
    rng = np.random.default_rng(5)
    claims = 0
    for _ in range(200):
        levels = [list(np.exp(rng.normal(0, 0.02, 6))) for _ in range(6)]
        rungs = [rates(levels[i], levels[i + 1]) for i in range(5)]
        claims += any(rung.verdict in CLAIMS for rung in judge(rungs))
    assert claims <= 20


def test_the_bootstrap_interval_covers_the_true_ratio() -> None:
    """500 seeded experiments of 5 against 5: at least 92 % of the 95 % intervals hold 1.05."""
    rng = np.random.default_rng(31)
    held = 0
    for i in range(500):
        a, b = np.exp(rng.normal(0, 0.02, 5)), 1.05 * np.exp(rng.normal(0, 0.02, 5))
        comparison = compare(list(a), list(b), higher_is_better=True, rng=i)
        assert comparison.low is not None
        assert comparison.high is not None
        held += comparison.low <= 1.05 <= comparison.high
    assert held >= 460
