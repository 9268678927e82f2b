"""Agreement of ranks, against scipy and against every order of few places."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import kendalltau, permutation_test

from loadstone.results.statistics.ranks import fewest_places, least_p, predict

PLACES = "abcdefgh"


def once(values: list[float]) -> dict[str, dict[int, float]]:
    """Each place measured once."""
    return {place: {1: value} for place, value in zip(PLACES, values, strict=False)}


def blocks(rows: list[list[float]]) -> dict[str, dict[int, float]]:
    """A row for each block."""
    return {
        place: {block: row[at] for block, row in enumerate(rows, start=1)}
        for at, place in enumerate(PLACES[: len(rows[0])])
    }


@pytest.mark.parametrize("places", [3, 4, 5, 6, 8])
def test_a_perfect_order_has_the_smallest_p_that_so_many_places_allow(places: int) -> None:
    rising = [float(at) for at in range(places)]
    found = predict(once(rising), {"same": once(rising), "reverse": once(rising[::-1])})
    assert found.agreements["same"].tau == 1.0
    assert found.agreements["reverse"].tau == -1.0
    least = 2 / math.factorial(places)
    for each in found.agreements.values():
        assert each.p_value == pytest.approx(least)
        assert each.adjusted_p == pytest.approx(2 * least)
    assert least_p(places) == pytest.approx(least)


def test_tau_and_p_are_those_of_scipy_over_all_orders_of_five() -> None:
    target = [1.0, 2.0, 3.0, 4.0, 5.0]
    for order in list(permutations(target))[::7]:
        own = found = predict(once(target), {"x": once(list(order))}).agreements["x"]
        expected = kendalltau(target, order, method="exact")
        assert own.tau == pytest.approx(expected.statistic)
        assert found.p_value == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("own", [[1.0, 1.0, 2.0, 3.0], [2.0, 1.0, 2.0, 2.0]])
def test_with_ties_all_orders_are_looked_at(own: list[float]) -> None:
    target = [1.0, 2.0, 3.0, 4.0]
    found = predict(once(target), {"x": once(own)}).agreements["x"]
    assert found.tau == pytest.approx(kendalltau(target, own).statistic)
    expected = permutation_test(
        (target,), lambda dealt: kendalltau(dealt, own).statistic,
        permutation_type="pairings", n_resamples=np.inf,
    )  # fmt: skip
    assert found.p_value == pytest.approx(expected.pvalue)


def test_a_figure_without_any_order_predicts_nothing() -> None:
    found = predict(once([1.0, 2.0, 3.0]), {"flat": once([7.0, 7.0, 7.0])})
    assert found.agreements["flat"].tau is None
    assert found.agreements["flat"].p_value is None
    assert found.leader is None
    assert not found.shown


def test_a_place_without_a_figure_is_left_out_for_all() -> None:
    target = once([1.0, 2.0, 3.0, 4.0])
    short = {place: own for place, own in once([1.0, 2.0, 3.0, 0.5]).items() if place != "d"}
    found = predict(target, {"short": short, "whole": once([1.0, 2.0, 3.0, 0.5])})
    assert found.places == ("a", "b", "c")
    assert found.agreements["whole"].tau == 1.0


def test_two_places_have_no_ranks() -> None:
    with pytest.raises(ValueError, match="2 places"):
        predict(once([1.0, 2.0]), {"x": once([1.0, 2.0])})


def test_blocks_drawn_anew_tell_how_far_noise_moves_the_ranks() -> None:
    rng = np.random.default_rng(1)
    base = np.array([10.0, 20.0, 30.0, 40.0, 50.0, 60.0])
    target = [list(base * rng.normal(1.0, 0.01, 6)) for _ in range(8)]
    steady = [list(base * rng.normal(1.0, 0.01, 6)) for _ in range(8)]
    noise = [list(rng.permutation(base)) for _ in range(8)]
    found = predict(blocks(target), {"steady": blocks(steady), "noise": blocks(noise)})
    good, bad = found.agreements["steady"], found.agreements["noise"]
    assert good.interval == (1.0, 1.0)
    assert good.by_block == (1.0,) * 8
    assert bad.interval is not None
    assert bad.interval[1] - bad.interval[0] > 0.3
    assert (found.leader, found.shown, found.apart) == ("steady", True, True)
    assert bad.behind


def test_two_that_agree_equally_are_not_told_apart() -> None:
    rows = [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]] * 5
    found = predict(blocks(rows), {"one": blocks(rows), "other": blocks(rows)})
    assert found.shown
    assert not found.apart


def test_one_block_tells_nothing_of_noise() -> None:
    rising = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    found = predict(once(rising), {"one": once(rising), "other": once(rising[::-1])})
    assert found.agreements["one"].interval is None
    assert found.shown
    assert not found.apart


def test_tests_that_rank_at_random_are_seldom_said_to_predict() -> None:
    rng = np.random.default_rng(7)
    rising = blocks([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]] * 5)
    claims = 0
    for _ in range(400):
        orders = {
            str(test): blocks([list(rng.permutation(6.0 + np.arange(6)))]) for test in range(5)
        }
        claims += predict(rising, orders, resamples=1).shown
    assert claims <= 20  # 10 are expected at most; more than 20 in one of 1,000 such tests


def test_four_places_can_show_nothing() -> None:
    rising = [1.0, 2.0, 3.0, 4.0]
    found = predict(once(rising), {"one": once(rising)})
    assert found.agreements["one"].p_value == pytest.approx(2 / 24)
    assert not found.shown


def test_a_reverse_order_predicts_nothing_however_sure_it_is() -> None:
    rising = [1.0, 2.0, 3.0, 4.0, 5.0]
    found = predict(once(rising), {"one": once(rising[::-1])})
    assert found.agreements["one"].p_value == pytest.approx(2 / 120)
    assert not found.shown


@pytest.mark.parametrize(("tests", "places"), [(1, 5), (3, 5), (4, 6), (5, 6), (8, 6), (19, 7)])
def test_more_tests_need_more_places(tests: int, places: int) -> None:
    assert fewest_places(tests, 0.05) == places
