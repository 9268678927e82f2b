"""The law of scalability: what was planted is found, and nothing is said beyond the data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.results.statistics.scalability import Law, fit_law, scalability

SIZES = [1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0, 20.0, 24.0, 32.0]


def trials(
    law: Law, noise: float, seed: int, sizes: list[float] = SIZES, repeats: int = 3
) -> dict[float, list[float]]:
    rng = np.random.default_rng(seed)
    return {
        n: [float(law.at(n)) * (1 + rng.normal(0, noise)) for _ in range(repeats)] for n in sizes
    }


@given(
    rate=st.floats(1, 1e6),
    contention=st.floats(0, 0.9),
    coherence=st.floats(0, 0.1),
)
def test_exact_figures_give_the_law_back(rate: float, contention: float, coherence: float):
    law = Law(rate, contention, coherence)
    found = fit_law(SIZES, law.at(np.array(SIZES)).tolist())
    assert found.rate == pytest.approx(rate, rel=1e-4)
    assert found.contention == pytest.approx(contention, abs=1e-4)
    assert found.coherence == pytest.approx(coherence, abs=1e-5)


def test_intervals_cover_what_was_planted():
    law = Law(1000.0, 0.05, 0.004)
    covered = np.zeros(4)
    runs = 40
    for seed in range(runs):
        found = scalability(trials(law, 0.03, seed), rng=seed, resamples=80)
        assert found.peak_interval is not None
        for place, (span, truth) in enumerate(
            [
                (found.rate_interval, law.rate),
                (found.contention_interval, law.contention),
                (found.coherence_interval, law.coherence),
                (found.peak_interval, law.peak_n),
            ]
        ):
            covered[place] += span[0] <= truth <= span[1]
    assert (covered >= 0.85 * runs).all()


def test_a_peak_within_the_range_has_an_interval_and_a_value():
    found = scalability(trials(Law(500.0, 0.05, 0.004), 0.01, 1))
    assert found.peak_n == pytest.approx(15.4, abs=1.0)
    assert found.peak_interval is not None
    assert found.peak_interval[0] < found.peak_n < found.peak_interval[1]
    assert found.peak_value_interval is not None
    assert not found.peak_open


@pytest.mark.parametrize("law", [Law(100.0, 0.05, 0.0002), Law(100.0, 0.1, 0.0)])
def test_a_peak_beyond_the_data_is_not_told(law: Law):
    found = scalability(trials(law, 0.01, 2))
    assert found.peak_n is None
    assert found.peak_interval is None
    assert max(point[0] for point in found.curve) == SIZES[-1]


def test_an_interval_that_reaches_beyond_the_data_says_so():
    peak_near_the_end = Law(100.0, 0.05, 0.95 / 29.0**2)
    open_ones = [
        scalability(trials(peak_near_the_end, 0.05, seed), resamples=200) for seed in range(6)
    ]
    told = [found for found in open_ones if found.peak_n is not None]
    assert told
    assert any(found.peak_open for found in told)
    assert all(found.peak_interval[1] <= SIZES[-1] for found in told if found.peak_interval)


def test_superlinear_figures_keep_the_parameters_at_their_bounds():
    values = {n: [n**1.2] for n in SIZES}
    found = scalability(values)
    assert found.law.contention == found.law.coherence == 0.0
    assert max(map(abs, found.residuals.values())) > 0.1


def test_residuals_are_shares_of_the_law():
    values = trials(Law(100.0, 0.05, 0.001), 0.0, 3)
    values[8.0] = [value * 1.1 for value in values[8.0]]
    found = scalability(values)
    assert max(found.residuals, key=lambda n: found.residuals[n]) == 8.0


def test_the_same_seed_gives_the_same_intervals():
    values = trials(Law(100.0, 0.05, 0.001), 0.05, 4)
    assert scalability(values, rng=5) == scalability(values, rng=5)


def test_five_points_are_too_few():
    with pytest.raises(ValueError, match="5 points are too few"):
        scalability({float(n): [float(n)] for n in range(1, 6)})


def test_figures_at_0_are_refused():
    with pytest.raises(ValueError, match="above 0"):
        fit_law([1.0, 2.0, 3.0], [1.0, 0.0, 3.0])


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_the_law_does_not_depend_on_the_unit(unit: float):
    values = trials(Law(1000.0, 0.05, 0.004), 0.01, 1)
    one = scalability(values, resamples=20)
    other = scalability(
        {n: [unit * each for each in own] for n, own in values.items()}, resamples=20
    )
    assert other.law.rate / unit == pytest.approx(one.law.rate, rel=1e-6)
    assert other.law.contention == pytest.approx(one.law.contention, rel=1e-6)
    assert other.peak_n == pytest.approx(one.peak_n, rel=1e-6)


@pytest.mark.parametrize("figure", [float("nan"), float("inf"), -1.0])
def test_figures_that_are_none_are_refused(figure: float):
    with pytest.raises(ValueError, match="above 0"):
        fit_law([1.0, 2.0, 3.0], [1.0, figure, 3.0])


def test_a_size_without_a_trial_is_refused():
    with pytest.raises(ValueError, match="one trial at least"):
        scalability({n: [n] if n > 1 else [] for n in SIZES})
