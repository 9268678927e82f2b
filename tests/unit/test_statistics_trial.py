"""One level and one trial: summaries, outliers, steady state, machine drift."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import SLOW
from scipy import stats

from loadstone.results.statistics import moved_percent, outliers, steady_state, summarize
from loadstone.results.statistics.steady import effective_size, mann_kendall_p, mser

finite = st.floats(-1e9, 1e9)


@given(st.lists(finite, min_size=1, max_size=40))
def test_a_summary_is_ordered_and_complete(values: list[float]) -> None:
    summary = summarize(values)
    assert summary.n == len(values)
    assert summary.values == tuple(values)
    assert summary.minimum <= summary.median <= summary.maximum
    assert summary.minimum <= summary.mean <= summary.maximum
    if summary.low is not None and summary.high is not None:
        assert summary.minimum <= summary.low <= summary.median <= summary.high <= summary.maximum


@pytest.mark.parametrize(
    ("n", "rank", "coverage"),
    [(6, 1, 0.96875), (9, 2, 0.9609), (10, 2, 0.9785), (15, 4, 0.9648), (20, 6, 0.9586)],
)
def test_order_statistic_intervals_of_the_median(n: int, rank: int, coverage: float) -> None:
    """Ranks and coverages of the sign interval (Conover 1999, sec. 3.2), from the binomial."""
    summary = summarize([float(i) for i in range(1, n + 1)])
    assert (summary.low, summary.high) == (rank, n + 1 - rank)
    assert summary.coverage == pytest.approx(coverage, abs=1e-4)
    assert not summary.interval_is_range


def test_few_trials_give_the_range_and_say_so() -> None:
    summary = summarize([3.0, 1.0, 2.0])
    assert (summary.low, summary.high, summary.interval_is_range) == (1.0, 3.0, True)
    assert summary.coverage == pytest.approx(0.75)
    single = summarize([3.0])
    assert (single.low, single.high, single.coverage) == (None, None, None)
    assert not single.interval_is_range


def test_no_figure_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        summarize([])
    with pytest.raises(ValueError, match="finite"):
        summarize([1.0, float("nan")])


def test_a_wild_trial_is_named() -> None:
    assert outliers([100.0, 101.0, 99.0, 100.5, 70.0, 100.2]) == [4]
    assert outliers([100.0, 101.0, 99.0, 100.5, 98.5]) == []


def test_an_outlier_among_equal_values_is_named() -> None:
    """MAD is 0; mean absolute deviation 2, scaled 2.507, so 10 is 3.99 of them away."""
    assert outliers([5.0, 5.0, 5.0, 5.0, 15.0]) == [4]
    assert outliers([5.0] * 6) == []
    assert outliers([1.0, 1.0, 100.0]) == []


def test_iglewicz_and_hoaglin_threshold() -> None:
    """MAD 1, median 0: 0.6745 x / 1 = 3.5 at x = 5.19."""
    base = [-2.0, -1.0, -1.0, 0.0, 1.0, 1.0]
    assert outliers([*base, 5.18]) == []
    assert outliers([*base, 5.20]) == [6]


@given(st.lists(st.floats(1, 1e6), min_size=4, max_size=20))
def test_outliers_do_not_depend_on_order(values: list[float]) -> None:
    named = {values[i] for i in outliers(values)}
    backwards = values[::-1]
    assert named == {backwards[i] for i in outliers(backwards)}


def noise(n: int, phi: float, seed: int, spread: float = 0.02) -> np.ndarray:
    """An autoregressive series around 1,000."""
    rng = np.random.default_rng(seed)
    x = np.zeros(n + 50)
    for i in range(1, n + 50):
        x[i] = phi * x[i - 1] + rng.normal(0, np.sqrt(1 - phi**2))
    return 1000.0 * (1.0 + spread * x[50:])


def test_noise_is_steady() -> None:
    states = [steady_state(list(noise(120, 0.3, seed)), 1.0) for seed in range(100)]
    assert sum(state.steady is True for state in states) >= 95


def test_a_planted_warm_up_is_found() -> None:
    cuts_s = []
    for seed in range(20):
        series = noise(120, 0.2, seed)
        series[:20] *= np.linspace(0.5, 0.95, 20)
        state = steady_state(list(series), 1.0)
        assert state.steady is False
        assert state.warm_up.real
        assert state.warm_up.length_s >= 15.0
        assert state.warm_up.bias_percent < -1.0
        assert "first" in state.detail
        cuts_s.append(state.warm_up.length_s)
    assert np.median(cuts_s) == pytest.approx(20.0, abs=5.0)


def test_mser_by_hand() -> None:
    """Variance / number of batches: 10.9 / 8 with the first value, 0.0057 / 7 without it."""
    values = np.array([0.0, 10.0, 10.1, 9.9, 10.0, 10.0, 10.1, 9.9])
    assert mser(values, batch=1) == 1
    assert mser(np.repeat(values, 5)) == 5
    assert mser(np.full(50, 7.0)) == 0


def test_a_planted_trend_is_found() -> None:
    series = noise(180, 0.3, 4) * np.linspace(1.0, 0.9, 180)
    state = steady_state(list(series), 1.0)
    assert state.steady is False
    assert state.trend_p < 0.001
    assert state.trend_percent_per_minute == pytest.approx(-3.5, abs=0.7)
    assert state.change_percent == pytest.approx(-10.5, abs=2.0)


def test_a_tiny_trend_of_a_long_trial_does_no_harm() -> None:
    series = noise(1200, 0.0, 6, spread=0.005) * np.linspace(1.0, 1.01, 1200)
    state = steady_state(list(series), 1.0)
    assert state.trend_p < 0.001
    assert state.steady is True


def test_few_ticks_are_too_few_to_tell() -> None:
    state = steady_state([100.0] * 10, 1.0)
    assert state.steady is None
    assert "too few" in state.detail
    assert steady_state([], 1.0).steady is None


@pytest.mark.parametrize("value", [0.0, 5.0])
def test_a_constant_series_is_steady(value: float) -> None:
    state = steady_state([value] * 60, 0.5)
    assert state.steady is True
    assert (state.trend_percent_per_minute, state.autocorrelation) == (0.0, 0.0)
    assert state.effective_n == 60


def test_the_interval_scales_times_and_slopes() -> None:
    series = list(noise(60, 0.0, 1) * np.linspace(0.8, 1.0, 60))
    one, half = steady_state(series, 1.0), steady_state(series, 0.5)
    assert half.trend_percent_per_minute == pytest.approx(2 * one.trend_percent_per_minute)
    assert half.warm_up.length_s == pytest.approx(one.warm_up.length_s / 2)
    with pytest.raises(ValueError, match="interval_s"):
        steady_state(series, 0.0)


def test_mann_kendall_without_correlation_agrees_with_kendalls_tau() -> None:
    rng = np.random.default_rng(12)
    values = rng.permutation(25).astype(float)
    expected = stats.kendalltau(np.arange(25), values, method="asymptotic").pvalue
    assert mann_kendall_p(values) == pytest.approx(expected, abs=0.03)


def test_autocorrelation_does_not_pass_for_a_trend() -> None:
    """AR(1) with 0.5, 300 ticks: the corrected test at 5 % is wrong in no more than 10 %."""
    wrong = sum(steady_state(list(noise(300, 0.5, s)), 1.0).trend_p < 0.05 for s in range(200))
    assert wrong <= 20


def test_effective_size_of_an_autoregressive_series() -> None:
    """n (1 - phi) / (1 + phi) (Geyer 1992): 8,000 values with 0.6 are worth 2,000."""
    assert effective_size(noise(8000, 0.6, 2)) == pytest.approx(2000, rel=0.15)
    assert effective_size(noise(2000, 0.0, 3)) == pytest.approx(2000, rel=0.15)


def test_the_largest_move_of_the_machine_is_told() -> None:
    quiet = {"cpu": 100.0, "disk": 50.0}
    probes = [quiet, {"cpu": 101.0, "disk": 49.0}, {"cpu": 99.0}]
    assert moved_percent([quiet, {"cpu": 80.0, "disk": 50.0}], probes) == pytest.approx(-20.0)
    assert moved_percent([{}], probes) == 0.0
    with pytest.raises(ValueError, match="'net'"):
        moved_percent([{"net": 1.0}], probes)


def test_a_move_is_of_figures() -> None:
    for figure in (float("nan"), float("inf"), 0.0, -1.0):
        with pytest.raises(ValueError, match="'cpu' needs figures above 0"):
            moved_percent([{"cpu": figure}], [{"cpu": 100.0}])
    with pytest.raises(ValueError, match="a usual figure"):
        moved_percent([{"cpu": 100.0}], [{"cpu": float("nan")}])
    assert np.isfinite(moved_percent([{"cpu": 1e300}], [{"cpu": 1e-10}]))


# -- what ends before the load does -----------------------------------------------------------
@pytest.mark.parametrize("n", [20, 60, 300])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_a_trial_that_dies_is_not_steady(n: int, share: float) -> None:
    for seed in range(3):
        series = noise(n, 0.3, seed)
        series[round(n * (1.0 - share)) :] = 0.0
        state = steady_state(list(series), 1.0)
        assert state.steady is False
        if share == 0.1:
            assert state.decline.real
            assert "the last" in state.detail
        assert "inf" not in state.detail
        assert "nan" not in state.detail


def test_ticks_whose_median_is_0_are_held_against_their_mean() -> None:
    growing = [0.0] * 70 + [float(tick) for tick in range(50)]
    assert steady_state(growing, 1.0).steady is False


sizes = st.floats(0, 1.79e308) | st.sampled_from([0.0, 5e-324, 1.79e308])


@given(st.lists(sizes, min_size=1, max_size=40))
@SLOW
def test_a_state_is_finite_whatever_the_figures(series: list[float]) -> None:
    state = steady_state(series, 1.0)
    figures = [state.trend_percent_per_minute, state.trend_p, state.change_percent]
    for end in (state.warm_up, state.decline):
        figures += [end.length_s, end.bias_percent]
    assert np.all(np.isfinite([*figures, state.autocorrelation, state.effective_n]))


@given(st.lists(st.floats(1, 1e3), min_size=20, max_size=40), st.sampled_from([1e-290, 1e290]))
@SLOW
def test_a_state_does_not_depend_on_the_unit(series: list[float], unit: float) -> None:
    one, other = steady_state(series, 1.0), steady_state([unit * each for each in series], 1.0)
    assert other.change_percent == pytest.approx(one.change_percent, rel=1e-6, abs=1e-6)


@given(st.lists(st.floats(-1.79e308, 1.79e308), min_size=1, max_size=20))
def test_a_summary_is_finite_whatever_the_figures(values: list[float]) -> None:
    summary = summarize(values)
    assert np.all(np.isfinite([summary.median, summary.mean]))
    assert summary.minimum <= summary.median <= summary.maximum
    assert summary.minimum <= summary.mean <= summary.maximum
    outliers(values)


def test_means_near_the_largest_number_are_right() -> None:
    summary = summarize([1.6e308, 1.7e308, 1.7e308, 1.6e308])
    assert summary.mean == pytest.approx(1.65e308)
    assert summary.median == pytest.approx(1.65e308)
    assert outliers([1.6e308, 1.61e308, 1.59e308, 1.6e308, -1.7e308]) == [4]
    with pytest.raises(ValueError, match="finite"):
        outliers([1.0, 2.0, 3.0, float("nan")])
