"""A load that goes through levels: what an experiment says of it, and what the driver is told."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from loadstone.load.graduated import calibrated_rate, calibrating, is_settled, through_levels
from loadstone.load.profiles import phases_of
from loadstone.spec.graduated import GraduatedLoad, level_name
from loadstone.spec.model import Experiment
from loadstone.spec.profile import ProfileSpec

TENTHS = [100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 0]


def graduated(**fields: Any) -> ProfileSpec:
    return ProfileSpec.model_validate({"load": "open", "graduated": fields})


@pytest.mark.parametrize(("form", "minutes"), [("short", 4), ("full", 72)])
def test_fourteen_stretches_take_so_long(form: str, minutes: int) -> None:
    profile = graduated(form=form)
    assert [phase.share for phase in profile.measured] == [each / 100 for each in TENTHS]
    whole_s = profile.measured_s + profile.around_s
    assert whole_s == pytest.approx(60 * minutes, rel=0.01)


def test_a_form_with_other_lengths_or_levels_is_the_experiments_own() -> None:
    assert GraduatedLoad().form_told == "short"
    assert GraduatedLoad(levels=[100, 0]).form_told == "own"
    assert GraduatedLoad.model_validate({"form": "full", "measure": "2min"}).form_told == "own"


def test_levels_have_names() -> None:
    assert [level_name(each) for each in (100, 12.5, 0)] == ["100 %", "12.5 %", "active idle"]


@pytest.mark.parametrize(
    ("profile", "said"),
    [
        ({"levels": [50, 50]}, "the level 50 is there twice"),
        ({"levels": [0]}, "there is no load"),
        ({"levels": [101]}, "less than or equal to 100"),
        ({"calibrations": 5, "most_calibrations": 4}, "most_calibrations is 4"),
        ({"ramp": "0.1ms"}, "too short"),
    ],
)
def test_what_is_no_level_is_refused(profile: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        graduated(**profile)


def test_users_who_never_wait_have_no_fractions() -> None:
    with pytest.raises(ValidationError, match="closed users who never wait have no fractions"):
        ProfileSpec.model_validate({"graduated": {}})
    ProfileSpec.model_validate({"graduated": {}, "think_time": "1s"})


def test_phases_beside_levels_are_refused() -> None:
    phases = [{"name": "a"}]
    with pytest.raises(ValidationError, match="leave phases out"):
        ProfileSpec.model_validate({"load": "open", "graduated": {}, "phases": phases})


# -- the load ----------------------------------------------------------------------------------
def test_the_load_is_calibrated_by_users_who_never_wait() -> None:
    profile = graduated(measure="2s", delay="0s", ramp="500ms", most_calibrations=4)
    assert profile.calibrates
    found = phases_of(calibrating(profile))
    measured = [each for each in found if each["kind"] == "measure"]
    assert [each["name"] for each in measured] == [f"calibration {n}" for n in (1, 2, 3, 4)]
    users = {"from": profile.sessions, "to": profile.sessions}
    assert all(each["load"] == {"model": "closed", "users": users} for each in measured)


def test_levels_are_fractions_of_the_rate() -> None:
    profile = through_levels(graduated(levels=[100, 25, 0], delay="1s"), 400.0, seed=1)
    found = phases_of(profile)
    rates = {
        each["name"]: each["load"]["rate_per_s"]["to"]
        for each in found
        if each["kind"] != "warm-up"
    }
    assert rates == {
        "100 %: delay": 0.0,
        "100 %: ramp": 400.0,
        "100 %": 400.0,
        "100 %: ramp down": 400.0,
        "25 %: delay": 0.0,
        "25 %: ramp": 100.0,
        "25 %": 100.0,
        "25 %: ramp down": 100.0,
        "active idle: delay": 0.0,
        "active idle: ramp": 0.0,
        "active idle": 0.0,
        "active idle: ramp down": 0.0,
    }


def test_levels_are_fractions_of_the_users() -> None:
    profile = ProfileSpec.model_validate(
        {"users": 40, "think_time": "1s", "graduated": {"levels": [100, 50, 0]}}
    )
    assert not profile.calibrates
    found = phases_of(through_levels(profile, None, seed=1))
    users = {
        each["name"]: each["load"]["users"]["to"] for each in found if each["kind"] == "measure"
    }
    assert users == {"100 %": 40, "50 %": 20, "active idle": 0}


def test_a_given_rate_is_not_measured() -> None:
    profile = ProfileSpec.model_validate({"load": "open", "rate_per_s": 10, "graduated": {}})
    assert not profile.calibrates


@pytest.mark.parametrize(("order", "first", "last"), [("down", 1.0, 0.0), ("up", 0.0, 1.0)])
def test_levels_run_in_order(order: str, first: float, last: float) -> None:
    phases = through_levels(graduated(order=order), 1.0, seed=1).phases
    assert (phases[0].share, phases[-1].share) == (first, last)


def test_a_random_order_is_of_the_seed_and_ends_with_idle() -> None:
    orders = [
        [each.name for each in through_levels(graduated(order="random"), 1.0, seed).phases]
        for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert {order[-1] for order in orders} == {"active idle"}
    assert {frozenset(order) for order in orders} == {frozenset(map(level_name, TENTHS))}


# -- when it is calibrated ---------------------------------------------------------------------
@pytest.mark.parametrize(
    ("rates", "settled"),
    [
        ([100, 101], False),
        ([90, 100, 101], False),
        ([101, 100, 101], True),
        ([90, 100, 103], False),
        ([99, 100, 101.5], False),
        ([101.5, 100, 99], True),
        ([90, 100, 103, 102], True),
        ([0, 0, 0], False),
    ],
)
def test_calibration_ends_when_two_agree_and_three_do_not_rise(
    rates: list[float], settled: bool
) -> None:
    assert is_settled(rates, least=3) is settled


def test_the_rate_is_the_mean_of_the_last_two() -> None:
    assert calibrated_rate([1, 100, 102]) == 101


# -- the design --------------------------------------------------------------------------------
def experiment(**fields: Any) -> Experiment:
    base = {"name": "a", "workload": {"name": "noop"}, "target": {"engine": "none"}}
    return Experiment.model_validate(base | {"design": {"kind": "graduate"}} | fields)


def test_the_design_has_an_open_load_unless_users_think() -> None:
    assert experiment().profile.calibrates
    thinking = experiment(profile={"think_time": "1s"}).profile
    assert (thinking.load, thinking.graduated) == ("closed", GraduatedLoad())
