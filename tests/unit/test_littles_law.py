"""Little's law: loads that obey it, and loads that do not."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from sample_frames import tick

from loadstone.load.littles_law import law_notices, littles_law
from loadstone.load.moments import Moments, constant, mixed, moments_of, moments_of_wait
from loadstone.load.totals import add_up
from loadstone.protocol.frames import Tick, parse_frame
from loadstone.spec.profile import ProfileSpec
from loadstone.workloads.base import NO_WAITS

USERS = 50
SECONDS = 40
MS = 1_000_000
EXPONENTIAL = {"distribution": "negative-exponential", "mean_s": 0.5, "cap": 10.0}
SPECIFIED = ProfileSpec(users=USERS, think_time="specified")


def pacing(think: dict[str, Any], keying_s: float = 0.0) -> dict[str, Any]:
    return {"default": {"keying_s": keying_s, "think": think}}


def drawn(think: dict[str, Any], numbers: random.Random) -> float:
    match think["distribution"]:
        case "constant":
            return float(think["mean_s"])
        case "uniform":
            return numbers.uniform(think["from_s"], think["to_s"])
        case _:
            mean_s = think["mean_s"]
            return min(numbers.expovariate(1 / mean_s), think["cap"] * mean_s)


def simulated(
    think: dict[str, Any], response_s: float, *, seed: int = 1, busy: int = USERS
) -> list[Tick]:
    """The ticks of users who think and wait, after a warm-up of 20 s."""
    numbers, seconds = random.Random(seed), [list[tuple[Any, ...]]() for _ in range(SECONDS)]
    for _ in range(busy):
        now_s = -20.0
        while True:
            took_s = numbers.expovariate(1 / response_s)
            now_s += drawn(think, numbers) + took_s
            if now_s >= SECONDS:
                break
            if now_s >= 0:
                seconds[int(now_s)].append(("page", round(took_s * 1e9), 1, None))
    return [parsed(tick(ended, at, users=USERS)) for at, ended in enumerate(seconds)]


def parsed(value: dict[str, Any]) -> Tick:
    frame = parse_frame(value)
    assert isinstance(frame, Tick)
    return frame


def notices(ticks: list[Tick], think: dict[str, Any]) -> list[str]:
    found = law_notices(SPECIFIED, pacing(think), add_up(ticks), ticks)
    return [f"{each.message}; {each.advice}" for each in found]


@pytest.mark.parametrize(
    "think",
    [
        {"distribution": "constant", "mean_s": 0.5},
        {"distribution": "uniform", "from_s": 0.1, "to_s": 0.9},
        EXPONENTIAL,
    ],
    ids=lambda think: think["distribution"],
)
@pytest.mark.parametrize("seed", range(3))
def test_users_who_think_and_wait_obey_it(think: dict[str, Any], seed: int):
    assert notices(simulated(think, 0.1, seed=seed), think) == []


def test_users_who_do_neither_break_it():
    (said,) = notices(simulated(EXPONENTIAL, 0.1, busy=35), EXPONENTIAL)
    assert "50 users took part" in said
    assert "users neither thought nor got an answer" in said


def test_longer_waits_than_planned_break_it():
    slow = {**EXPONENTIAL, "mean_s": 0.7}
    assert notices(simulated(slow, 0.1), EXPONENTIAL)


def test_more_than_so_many_users_can_do():
    quick = {**EXPONENTIAL, "mean_s": 0.3}
    (said,) = notices(simulated(quick, 0.1), EXPONENTIAL)
    assert "more was done than so many users can do" in said


def test_a_ramp_in_the_measured_time_is_named():
    ticks = simulated(EXPONENTIAL, 0.1, busy=25)
    ticks[0] = parsed(tick([], 0, users=USERS - 1))
    (said,) = notices(ticks, EXPONENTIAL)
    assert "let the ramp end before" in said


def test_long_answers_widen_what_is_chance():
    """Of an answer that takes seconds half is often before the measured time, or after it."""
    short = littles_law(SPECIFIED, pacing(EXPONENTIAL), *of(simulated(EXPONENTIAL, 0.01)))
    long = littles_law(SPECIFIED, pacing(EXPONENTIAL), *of(simulated(EXPONENTIAL, 4.0)))
    assert short is not None
    assert long is not None
    assert short.tolerance < long.tolerance
    assert short.holds
    assert long.holds


def of(ticks: list[Tick]) -> tuple[Any, list[Tick]]:
    return add_up(ticks), ticks


@pytest.mark.parametrize(
    "profile",
    [ProfileSpec(load="open", rate_per_s=10), ProfileSpec(users=USERS, think_time="none")],
    ids=["open", "no think time: far more would be done"],
)
def test_other_loads(profile: ProfileSpec):
    ticks = simulated(EXPONENTIAL, 0.1)
    found = littles_law(profile, pacing(EXPONENTIAL), *of(ticks))
    assert found is None if profile.load == "open" else found is not None and not found.holds


def test_nothing_is_said_of_what_is_not_known():
    assert littles_law(SPECIFIED, pacing(EXPONENTIAL), *of([])) is None
    assert littles_law(SPECIFIED, pacing(EXPONENTIAL), *of([parsed(tick([], 0))])) is None
    failed = [parsed(tick([("page", MS, 1, None)] * 20 + [("page", MS, 1, "check")], 0, users=5))]
    assert littles_law(SPECIFIED, pacing(EXPONENTIAL), *of(failed)) is None
    grid = {"default": {**NO_WAITS, "every_s": 1.0}}
    assert littles_law(SPECIFIED, grid, *of(simulated(EXPONENTIAL, 0.1))) is None
    few = [parsed(tick([("page", MS, 1, None)], 0, users=1))]
    assert littles_law(SPECIFIED, pacing(EXPONENTIAL), *of(few)) is None


def test_each_operation_has_its_own_wait_and_some_are_followed_at_once():
    waits = {
        **pacing({"distribution": "none"}),
        "operations": {
            "page": {"keying_s": 0.0, "think": {"distribution": "constant", "mean_s": 1.0}},
            "log-in": {"keying_s": 0.0, "think": {"distribution": "constant", "mean_s": 9.0}},
        },
    }
    some = [("page", MS, 1, None)] * 30 + [("log-in", MS, 1, None)] * 10
    ticks = [parsed(tick(some, at, users=40)) for at in range(100)]
    waited = littles_law(SPECIFIED, waits, *of(ticks))
    at_once = littles_law(SPECIFIED, waits, *of(ticks), hurried={"log-in"})
    assert waited is not None
    assert at_once is not None
    assert (waited.think_s, at_once.think_s) == (3.0, 0.75)
    # Who was not let in held off for a time that the plan does not tell.
    some = [*some[1:], ("log-in", MS, 1, "status_403")]
    ticks = [parsed(tick(some if at == 0 else some[:-1], at, users=40)) for at in range(100)]
    assert littles_law(SPECIFIED, waits, *of(ticks)) is not None
    assert littles_law(SPECIFIED, waits, *of(ticks), hurried={"log-in"}) is None


# -- moments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "think",
    [
        {"distribution": "none"},
        {"distribution": "constant", "mean_s": 0.5},
        {"distribution": "uniform", "from_s": 0.1, "to_s": 0.9},
        EXPONENTIAL,
        {**EXPONENTIAL, "cap": 1.5},
    ],
)
def test_moments_are_those_of_what_is_drawn(think: dict[str, Any]):
    numbers, count = random.Random(7), 20_000
    waits = [
        0.25 + (drawn(think, numbers) if think["distribution"] != "none" else 0.0)
        for _ in range(count)
    ]
    found = moments_of_wait({"keying_s": 0.25, "think": think})
    assert found is not None
    for power, moment in enumerate((found.mean_s, found.square_s2, found.cube_s3), start=1):
        drawn_mean = sum(wait**power for wait in waits) / count
        assert moment == pytest.approx(drawn_mean, rel=0.05)


def test_moments_of_a_histogram():
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    assert moments_of(histogram) == Moments()
    for value in (1_000_000_000, 3_000_000_000):
        histogram.record_value(value)
    found = moments_of(histogram)
    assert (found.mean_s, found.square_s2) == pytest.approx((2.0, 5.0), rel=0.01)
    assert found.cube_s3 == pytest.approx(14.0, rel=0.01)


def test_a_wait_that_nobody_knows():
    assert moments_of_wait({"keying_s": 0.0, "think": {"distribution": "other"}}) is None
    assert moments_of_wait({**NO_WAITS, "every_s": 1.0}) is None


def test_the_age_of_a_constant_time_is_spread_evenly_over_it():
    assert constant(6.0).age_variance_s2 == pytest.approx(3.0)
    assert Moments().age_variance_s2 == 0.0
    assert mixed([(constant(1.0), 1), (constant(3.0), 3)]).mean_s == 2.5
