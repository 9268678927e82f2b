"""The design `search` as stages of trials, and its outcome made again from their records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Literal

import pytest

from loadstone.experiments.designs import DESIGNS, design_of, stages_of
from loadstone.experiments.designs.search import SearchStages, rules_of
from loadstone.experiments.searching import SearchOutcome, outcome_of
from loadstone.results.record import (
    LatencySummary,
    LevelReason,
    LevelRecord,
    OperationSummary,
    Status,
    TrialResult,
)
from loadstone.spec.model import Experiment, WorkloadSpec
from loadstone.spec.plans import LevelPlan, TrialPlan

Cause = Literal["failed", "generator"]
OPEN = {"load": "open", "rate_per_s": 100}
Truth = Callable[[LevelPlan], bool | Cause]
"""Whether a level holds, or what kept it away that is not the system."""


def search(profile: dict[str, Any] | None = None, **design: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "x",
            "workload": {"name": "noop"},
            "target": {"engine": "none"},
            "profile": OPEN if profile is None else profile,
            "design": {"kind": "search", **design},
        }
    )


def outcome(plan: TrialPlan, *, holds: bool | Cause, status: Status = Status.VALID) -> TrialResult:
    level = plan.level
    assert level is not None
    reason = LevelReason(cause="objective", at_s=10.0, text="p99 < 50 ms: was 80 ms")
    if isinstance(holds, str):
        reason = LevelReason(cause=holds, text="Can't create more than 16382 statements")
    record = LevelRecord(
        over=level.over, unit=level.unit, level=level.level, kind=level.kind, of=level.of,
        from_s=6.0, duration_s=plan.profile.measure, holds=holds is True,
        reasons=[] if holds is True else [reason],
        achieved_per_s=level.level, windows=1,
    )  # fmt: skip
    return TrialResult(
        experiment="x", trial=plan.trial, variant=plan.variant.name, block=plan.block,
        order=plan.order, status=status, started_at="2026-01-01T00:00:00+00:00", levels=[record],
    )  # fmt: skip


def made(
    given: Experiment, truth: Truth, most: int | None = None
) -> tuple[list[TrialPlan], list[TrialResult]]:
    stages = design_of(given).stages(given)
    plans: list[TrialPlan] = []
    results: list[TrialResult] = []
    while stage := stages.next(results):
        for plan in stage:
            assert plan.level is not None
            plans.append(plan)
            results.append(outcome(plan, holds=truth(plan.level)))
            if len(results) == most:
                return plans, results
    return plans, results


def found(given: Experiment, results: list[TrialResult]) -> SearchOutcome:
    return outcome_of(rules_of(given), results)


def test_a_rate_is_found_and_confirmed_in_blocks_of_random_order():
    given = search()
    plans, results = made(given, lambda level: level.level <= 1000)
    assert len(plans) <= DESIGNS["search"].trials_planned(given)
    assert [plan.order for plan in plans] == list(range(1, len(plans) + 1))
    assert len({plan.trial for plan in plans}) == len(plans)
    for plan in plans:
        assert plan.level is not None
        assert plan.profile.rate_per_s == plan.level.level
    confirmed = [plan for plan in plans if plan.level and plan.level.kind == "confirm"]
    assert len(confirmed) == 9
    blocks = Counter(plan.block for plan in confirmed)
    assert list(blocks.values()) == [3, 3, 3]
    orders = {
        tuple(p.level.level for p in confirmed if p.level and p.block == block) for block in blocks
    }
    assert len({frozenset(order) for order in orders}) == 1
    assert len(orders) > 1
    seen = found(given, results)
    assert (seen.status, seen.level, seen.low, seen.high) == ("found", 1000, 1000, 1012)
    assert seen.text == (
        "1,000 operations/s is sustained (between 1,000 and 1,012). "
        "At 1,012: p99 < 50 ms: was 80 ms (from 10 s on)."
    )
    assert seen.first_failure is not None
    assert seen.first_failure[1].level == 1012


def test_samples_lengthen_from_the_first_to_the_longest():
    given = search({**OPEN, "measure": "10s"}, longest="40s", confirm=1)
    plans, _ = made(given, lambda level: level.level <= 1000)
    lengths = [plan.profile.measure for plan in plans]
    assert lengths[0] == 10
    assert lengths[-1] == 40
    assert 10 < lengths[-4] <= 40


def test_no_limit_below_the_highest_allowed():
    given = search(at_most=700)
    _, results = made(given, lambda _: True)
    seen = found(given, results)
    assert (seen.status, seen.level, seen.high) == ("no limit found", 700, None)
    assert seen.text.startswith("At least 700 operations/s is sustained: no limit was found")


def test_no_level_holds():
    given = search({"users": 4})
    _, results = made(given, lambda _: False)
    seen = found(given, results)
    assert (seen.status, seen.level, seen.low, seen.high) == ("no level holds", None, None, 1)
    assert "At 1: p99 < 50 ms" in seen.text


@pytest.mark.parametrize("crashes", [{}, {"durability": "kill"}])
@pytest.mark.parametrize(("status", "again"), [(Status.VALID, False), (Status.DISTURBED, True)])
def test_a_level_that_was_disturbed_is_tried_again(
    status: Status, again: bool, crashes: dict[str, str]
):
    stages = stages_of(search().model_copy(update=crashes))
    (plan,) = stages.next([])
    result = outcome(plan, holds=False, status=status)
    assert stages.makes_again(result) is again
    following = stages.next([result])[0].level
    assert following is not None
    assert following.level == 100


def test_what_degrades_is_caught_by_the_soak():
    given = search(soak="1h")
    plans, results = made(given, lambda level: level.kind != "soak" and level.level <= 1000)
    soaks = [plan for plan in plans if plan.level and plan.level.kind == "soak"]
    assert [plan.profile.measure for plan in soaks] == [3600] * 3
    seen = found(given, results)
    assert (seen.status, seen.level) == ("not sustained", None)
    assert "1,000 operations/s held in short trials, and no soak held" in seen.text


@pytest.mark.parametrize(
    ("design", "remarked"),
    [
        ({}, "not soaked: soak is 0, and 1,000 operations/s held for 2min at most"),
        ({"longest": "90s"}, "not soaked: soak is 0, and 1,000 operations/s held for 1min 30s"),
        ({"soak": "10min"}, ""),
    ],
)
def test_a_level_that_was_not_soaked_is_said_to_be_so(design: dict[str, Any], remarked: str):
    given = search(**design)
    _, results = made(given, lambda level: level.level <= 1000)
    seen = found(given, results)
    assert seen.level == 1000
    soaked = [each for each in seen.remarks if "soak" in each]
    assert [remarked in each for each in soaked] == ([True] if remarked else [])


@pytest.mark.parametrize(("service_s", "is_told"), [(0.0625, True), (0.005, False)])
def test_a_limit_that_may_be_the_sessions_is_said_to_be_one(service_s: float, is_told: bool):
    given = search({**OPEN, "sessions": 64}, confirm=0)
    _, results = made(given, lambda level: level.level <= 1000)
    of_each = {"p50_s": 1, "p90_s": 1, "p95_s": 1, "p99_s": 1, "p999_s": 1, "max_s": 1}
    worked = []
    for result in results:
        (record,) = result.levels
        count = round(record.level * record.duration_s)
        service = LatencySummary(count=count, mean_s=service_s, **of_each)
        summary = OperationSummary(name="noop", count=count, service=service)
        worked.append(result.model_copy(update={"operations": [summary]}))
    told = [each for each in found(given, worked).remarks if "sessions of the load" in each]
    assert bool(told) == is_told
    assert not is_told or "all 64 sessions of the load were at work at 1,0" in told[0]


@pytest.mark.parametrize(("longest", "tested"), [("7s", False), ("8s", True)])
def test_samples_too_short_to_see_a_rise_are_named(longest: str, tested: bool):
    given = search({**OPEN, "measure": "5s"}, longest=longest)
    _, results = made(given, lambda level: level.level <= 1000)
    remarked = [each for each in found(given, results).remarks if "rises" in each]
    assert (remarked == []) == tested
    if not tested:
        assert "takes samples of 8s or more" in remarked[0]


def test_an_archive_is_soaked_unless_the_design_says_otherwise():
    archive = search({}).model_copy(update={"workload": WorkloadSpec(name="archive")})
    assert rules_of(archive).soak_s == 600
    for soak, seconds in (("0s", 0), ("1h", 3600)):
        design = search({}, soak=soak).design
        assert rules_of(archive.model_copy(update={"design": design})).soak_s == seconds
    assert rules_of(search()).soak_s == 0


def test_the_time_at_most_has_all_soaks():
    design = DESIGNS["search"]
    short, long = design.load_s(search(confirm=0)), design.load_s(search(confirm=0, soak="1h"))
    assert short is not None
    assert long is not None
    assert long - short > 3 * 3600


@pytest.mark.parametrize("most", [1, 4, 9, 14])
def test_a_search_that_was_cut_off_is_unfinished_and_says_how_far_it_came(most: int):
    given = search()
    _, results = made(given, lambda level: level.level <= 1000, most)
    interrupted = results[-1].model_copy(update={"status": Status.INTERRUPTED, "levels": []})
    seen = found(given, [*results[:-1], interrupted])
    assert seen.status == "unfinished"
    assert seen.text.startswith("The search did not end")
    held = [level.level for each in results[:-1] for level in each.levels if level.holds]
    assert seen.level == max(held, default=None)


def test_a_disturbed_trial_counts_only_if_it_was_not_made_again():
    given = search(confirm=0)
    stages = design_of(given).stages(given)
    (first,) = stages.next([])
    disturbed = outcome(first, holds=False, status=Status.DISTURBED)
    again = outcome(first.model_copy(update={"trial": f"{first.trial}-again2"}), holds=True)
    (second,) = stages.next([disturbed, again])
    assert second.level is not None
    assert second.level.level == 200
    alone = SearchStages(given).next([disturbed])[0]
    assert alone.level is not None
    assert alone.level.level == 100


def test_users_are_whole_numbers_and_change_the_profile():
    given = search({"think_time": "1s"})
    plans, results = made(given, lambda level: level.level <= 13)
    assert {type(plan.profile.users) for plan in plans} == {int}
    seen = found(given, results)
    assert (seen.level, seen.high) == (13, 14)
    assert seen.text.startswith("13 users are sustained (between 13 and 14).")


def test_the_profile_says_where_to_begin_unless_the_design_does():
    assert rules_of(search()).ascent.increments.first == 100
    assert rules_of(search({"users": 7})).ascent.increments.first == 7
    assert rules_of(search({"users": 7}, **{"from": 3})).ascent.increments.first == 3
    assert rules_of(search({})).ascent.increments.first == 1
    assert rules_of(search({})).over == "users"


def test_the_rate_of_an_archive_says_where_to_begin_unless_the_design_does():
    def first(parameters: dict[str, Any], **design: Any) -> float:
        given = search({}, **design)
        workload = WorkloadSpec(name="archive", parameters=parameters)
        return rules_of(given.model_copy(update={"workload": workload})).ascent.increments.first

    assert first({"rate": 100_000}) == 100_000
    assert first({"rate": 100_000}, **{"from": 30_000}) == 30_000
    assert first({}) == 15_000


def test_errors_have_a_limit_even_where_nobody_names_one():
    assert rules_of(search(objective=["p99 < 5 ms"])).objective == ("p99 < 5 ms", "errors < 1 %")
    assert rules_of(search(objective=["errors = 0"])).objective == ("errors = 0",)


@pytest.mark.parametrize(
    ("profile", "design", "path"),
    [
        ({}, {"objective": ["p99"]}, ("design", "objective", 0)),
        (OPEN, {"over": "users"}, ("design", "over")),
        ({}, {"over": "rate"}, ("design", "over")),
        (OPEN, {"at_most": 50}, ("design", "at_most")),
        (OPEN, {"method": "steps", "coarse": 10, "fine": 20}, ("design", "fine")),
        (OPEN, {"method": "bisection", "coarse": 10}, ("design", "method")),
        (OPEN, {"longest": "1s"}, ("design", "longest")),
        ({}, {"from": 2.5}, ("design", "from")),
    ],
)
def test_what_cannot_be_searched_is_named(
    profile: dict[str, Any], design: dict[str, Any], path: tuple[str, ...]
):
    problems = DESIGNS["search"].problems(search(profile, **design))
    assert [problem.path for problem in problems] == [path]


# -- what is not the system's doing -------------------------------------------------------------


def barred(from_level: float, limit: float = 1e9, cause: Cause = "failed") -> Truth:
    """Levels from one up cannot be tried; those above the limit do not hold."""
    return lambda plan: cause if plan.level >= from_level else plan.level <= limit


@pytest.mark.parametrize("cause", ["failed", "generator"])
@pytest.mark.parametrize("failures", [1, 2])
def test_a_level_that_could_not_be_tried_is_no_bound_of_the_answer(cause: Cause, failures: int):
    given = search({"users": 16}, failures=failures, confirm=1, precision=0.1)
    _, results = made(given, barred(494, cause=cause))
    seen = found(given, results)
    assert (seen.status, seen.level, seen.high) == ("cut short", 493, None)
    assert seen.text == (
        "At least 493 users are sustained: the search ended at 494 users. At 494: Can't create "
        "more than 16382 statements. This is not what the system sustains."
    )
    assert seen.first_failure is not None
    assert seen.first_failure[1].level == 494
    tries = Counter(level.level for each in results for level in each.levels if level.reasons)
    assert tries[494.0] >= 2


def test_a_limit_of_the_system_below_what_could_not_be_tried_is_found():
    given = search({"users": 16}, precision=0.1)
    _, results = made(given, barred(500, limit=300))
    seen = found(given, results)
    assert (seen.status, seen.level, seen.high) == ("found", 300, 301)


def test_nothing_is_said_where_no_level_could_be_tried():
    given = search({"users": 16})
    for most in (2, None):
        _, results = made(given, barred(1), most)
        seen = found(given, results)
        assert (seen.status, seen.level, seen.high) == ("cut short", None, None)
        assert seen.text.startswith("No answer: the search ended at ")
        assert "nothing of what the system sustains" in seen.text


@pytest.mark.parametrize("kind", ["ascent", "soak", "confirm"])
@pytest.mark.parametrize("failures", [1, 2])
def test_a_trial_that_broke_off_is_made_again(kind: str, failures: int):
    """A crash in one trial of a level changes nothing of the answer."""
    seen = set[tuple[str, float]]()

    def truth(plan: LevelPlan) -> bool | Cause:
        first = (plan.kind, plan.level) not in seen
        seen.add((plan.kind, plan.level))
        return "failed" if first and plan.kind == kind else plan.level <= 1000

    given = search(soak="10min", failures=failures)
    _, results = made(given, truth)
    outcome = found(given, results)
    assert (outcome.status, outcome.level, outcome.high) == ("found", 1000, 1012)
    held = [
        level.holds for each in results for level in each.levels
        if level.kind == "confirm" and level.level == 1000 and level.of_system
    ]  # fmt: skip
    assert held == [True] * 3


@pytest.mark.parametrize("kind", ["soak", "confirm"])
def test_a_soak_or_confirmation_that_cannot_be_made_ends_the_search(kind: str):
    given = search(soak="10min")
    _, results = made(given, lambda plan: "failed" if plan.kind == kind else plan.level <= 1000)
    seen = found(given, results)
    assert (seen.status, seen.level) == ("cut short", 1000)
    assert seen.text.startswith("At least 1,000 operations/s is sustained: the search ended at ")
