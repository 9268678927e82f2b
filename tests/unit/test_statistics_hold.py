"""Does something rise? Planted rises are found, what only scatters is left alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.results.statistics.hold import FEWEST_TICKS, rise_of

RUNS = 400


def white(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(100.0, 30.0, n)


def spiky(rng: np.random.Generator, n: int) -> np.ndarray:
    """Mostly one level; now and then a tick is ten times as slow."""
    return rng.lognormal(np.log(100.0), 0.3, n) * np.where(rng.random(n) < 0.05, 10.0, 1.0)


def lasting(rng: np.random.Generator, n: int) -> np.ndarray:
    """Neighbours are alike, as response times under checkpoints are."""
    values, state = np.empty(n), 0.0
    for place in range(n):
        state = 0.6 * state + rng.normal(0.0, 24.0)
        values[place] = 100.0 + state
    return values


def queue(rng: np.random.Generator, n: int) -> np.ndarray:
    """The length of a queue at 90 % of its capacity, each second: stable, and far from constant."""
    moved = np.cumsum(rng.poisson(9.0, 10 * (n + 50)) - rng.poisson(10.0, 10 * (n + 50)))
    waiting = moved - np.minimum(0, np.minimum.accumulate(moved))
    return waiting[9::10][50:].astype(float)


def flat(_: np.random.Generator, n: int) -> np.ndarray:
    return np.full(n, 7.0)


@pytest.mark.parametrize("ticks", [10, 30, 120])
@pytest.mark.parametrize("series", [white, spiky, lasting, flat])
def test_what_only_scatters_seldom_rises(
    series: Callable[[np.random.Generator, int], np.ndarray], ticks: int
):
    rng = np.random.default_rng(7)
    found = sum(rise_of(series(rng, ticks).tolist(), 20.0).rising for _ in range(RUNS))
    assert found <= 0.04 * RUNS


@pytest.mark.parametrize("ticks", [10, 30, 120])
def test_a_stable_queue_seldom_rises(ticks: int):
    rng = np.random.default_rng(8)
    found = sum(rise_of(queue(rng, ticks).tolist(), 5.0).rising for _ in range(RUNS))
    assert found <= 0.04 * RUNS


@pytest.mark.parametrize(("ticks", "power"), [(10, 0.6), (30, 0.97), (120, 0.99), (3600, 0.99)])
def test_a_rise_by_half_is_found_in_noise_of_a_tenth(ticks: int, power: float):
    rng = np.random.default_rng(9)
    rising = 100.0 * np.linspace(1.0, 1.5, ticks)
    found = [
        rise_of((rising + rng.normal(0.0, 10.0, ticks)).tolist(), 20.0)
        for _ in range(RUNS if ticks < 1000 else 20)
    ]
    assert np.mean([each.rising for each in found]) >= power
    assert np.median([each.rise for each in found]) == pytest.approx(50.0, rel=0.2)


def test_a_backlog_above_the_capacity_is_found():
    rng = np.random.default_rng(10)
    found = 0
    for _ in range(100):
        waiting = np.cumsum(rng.poisson(510, 60) - 500.0)
        found += rise_of(np.maximum(waiting, 0.0).tolist(), 25.0).rising
    assert found >= 90


def test_a_rise_that_begins_late_is_found_with_its_begin():
    rng = np.random.default_rng(11)
    series = 10.0 + np.maximum(0.0, np.arange(120) - 60) * 0.2 + rng.normal(0.0, 0.3, 120)
    found = rise_of(series.tolist(), 2.0)
    assert found.rising
    assert found.from_index is not None
    assert 60 <= found.from_index <= 75


def test_a_significant_rise_that_does_not_matter_is_none():
    series = (100.0 + np.linspace(0.0, 1.0, 600)).tolist()
    found = rise_of(series, 20.0)
    assert found.p < 1e-6
    assert not found.rising
    assert found.from_index is None


def test_a_fall_is_no_rise():
    found = rise_of(np.linspace(100.0, 10.0, 60).tolist(), 1.0)
    assert not found.rising
    assert found.p > 0.99


@given(st.lists(st.floats(0, 1e6), max_size=FEWEST_TICKS - 1))
def test_few_ticks_say_nothing(series: list[float]):
    assert not rise_of(series, 1.0).rising


@pytest.mark.parametrize(("series", "least"), [([1.0, float("nan")], 1.0), ([1.0], 0.0)])
def test_figures_that_are_none_are_refused(series: list[float], least: float):
    with pytest.raises(ValueError, match="expected finite figures"):
        rise_of(series, least)


@given(st.lists(st.floats(-1.79e308, 1.79e308), min_size=FEWEST_TICKS, max_size=40))
def test_a_rise_is_finite_whatever_the_figures(series: list[float]):
    found = rise_of(series, 1.0)
    assert np.isfinite(found.rise)
    assert 0.0 <= found.p <= 1.0
