"""Think times as they are drawn, and what is left of one when a user begins."""

from __future__ import annotations

import random
from collections import Counter
from math import exp
from statistics import fmean

import pytest

from loadstone.runner.pacing import Pace
from loadstone.runner.plan import Pacing, Think, Waits
from loadstone.runner.think import left_s, think_s

DRAWS = 40_000
UNIFORM = Think(distribution="uniform", from_s=1.0, to_s=3.0)
EXPONENTIAL = Think(distribution="negative-exponential", mean_s=2.0, cap=1.5)
CONSTANT = Think(distribution="constant", mean_s=2.0)


@pytest.mark.parametrize(
    ("think", "mean_s", "least_s", "most_s"),
    [
        (Think(), 0.0, 0.0, 0.0),
        (CONSTANT, 2.0, 2.0, 2.0),
        (UNIFORM, 2.0, 1.0, 3.0),
        (EXPONENTIAL, 2.0 * (1.0 - exp(-1.5)), 0.0, 3.0),
    ],
)
def test_think_times_have_the_mean_and_the_ends_of_their_distribution(
    think: Think, mean_s: float, least_s: float, most_s: float
) -> None:
    draw = random.Random(7)
    drawn = [think_s(think, draw) for _ in range(DRAWS)]
    assert fmean(drawn) == pytest.approx(mean_s, abs=0.02)
    assert least_s <= min(drawn)
    assert max(drawn) <= most_s


@pytest.mark.parametrize(
    "waits",
    [
        Waits(think=CONSTANT),
        Waits(think=UNIFORM),
        Waits(think=EXPONENTIAL),
        Waits(think=Think(distribution="uniform", to_s=4.0)),
        Waits(keying_s=1.5),
        Waits(keying_s=1.5, think=CONSTANT),
        Waits(keying_s=1.5, think=UNIFORM),
        Waits(keying_s=1.5, think=EXPONENTIAL),
    ],
)
def test_what_is_left_has_the_density_of_renewal_theory(waits: Waits) -> None:
    """The chance of more than t is E(X - t, if positive) / E(X), of the waits as they are drawn."""
    draw = random.Random(11)
    whole = [waits.keying_s + think_s(waits.think, draw) for _ in range(DRAWS)]
    left = [left_s(waits, draw) for _ in range(DRAWS)]
    assert min(left) >= 0.0
    assert max(left) <= max(whole)
    for part in (0.1, 0.3, 0.5, 0.7, 0.9):
        at_s = part * max(whole)
        expected = fmean(max(0.0, value - at_s) for value in whole) / fmean(whole)
        seen = sum(value > at_s for value in left) / DRAWS
        assert seen == pytest.approx(expected, abs=0.015)


def test_without_waits_nothing_is_left() -> None:
    assert left_s(Waits(), random.Random(1)) == 0.0


def test_ten_thousand_users_who_begin_together_do_not_act_together() -> None:
    """With a constant think time they would all act at its end, again and again."""
    pacing = Pacing(default=Waits(think=Think(distribution="constant", mean_s=10.0)))
    pace = Pace(pacing, ("work",))
    users, seconds = 10_000, Counter[int]()
    for user in range(users):
        draw = random.Random(user)
        at_ns = pace.gap_ns(None, "work", draw)
        while at_ns < 60 * 10**9:
            seconds[at_ns // 10**9] += 1
            at_ns += pace.gap_ns("work", "work", draw)
    mean = users / 10.0
    assert len(seconds) == 60
    assert max(seconds.values()) <= 1.3 * mean
    assert min(seconds.values()) >= 0.7 * mean
