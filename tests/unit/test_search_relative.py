"""A search that holds each level against the first: `throughput >= 0.9 of reference`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sample_trials import rate_of
from test_search_design import outcome, search

from loadstone.errors import WrongInputError
from loadstone.experiments.designs import DESIGNS, design_of
from loadstone.experiments.designs.search import rules_of
from loadstone.experiments.outcome import TrialOutcome
from loadstone.experiments.relative import reference_of, relative_reasons
from loadstone.experiments.searching import outcome_of
from loadstone.load.objective import parse_term
from loadstone.results.record import MetricValue, TrialResult
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan
from loadstone.workloads.measured import Measured, Observation
from loadstone.workloads.registry import workload_of

TERM = "throughput >= 0.9 of reference"
SLOWDOWN = 0.018
"""Each further user costs every one so much: 6 users have 0.91 of what one has, 7 have 0.89."""


def of_users(**design: Any) -> Experiment:
    fields = {"over": "users", "from": 1, "objective": [TERM], "confirm": 1, **design}
    return search({"load": "closed"}, **fields)


def figure(plan: TrialPlan, drift: float = 1.0) -> float:
    assert plan.level is not None
    return 100.0 * drift * (1.0 - SLOWDOWN * (plan.level.level - 1))


def made(given: Experiment, drift: float = 1.0) -> tuple[list[TrialPlan], list[TrialResult]]:
    """All trials of a search whose machine grows slower by `drift` from trial to trial."""
    stages = design_of(given).stages(given)
    plans: list[TrialPlan] = []
    results: list[TrialResult] = []
    while stage := stages.next(results):
        for plan in stage:
            assert plan.level is not None
            value = figure(plan, drift ** len(results))
            reference = plan.level.reference
            holds = reference is None or value >= 0.9 * reference
            plans.append(plan)
            result = outcome(plan, holds=holds)
            results.append(result.model_copy(update={"metrics": [rate_of(value)]}))
    return plans, results


def levels(plans: list[TrialPlan]) -> list[float]:
    return [plan.level.level for plan in plans if plan.level is not None]


# -- the term ----------------------------------------------------------------------------------
def test_a_relative_term_is_read() -> None:
    term = parse_term("throughput  >=  0.95 of  reference")
    assert (term.figure, term.relation, term.limit, term.unit) == (
        "throughput",
        ">=",
        0.95,
        "of reference",
    )
    assert term.is_relative
    assert (term.holds(0.95), term.holds(0.949)) == (True, False)
    assert parse_term(term.text) == term


@pytest.mark.parametrize(
    "text",
    [
        "throughput >= 0.9",
        "throughput < 0.9 of reference",
        "p99 >= 5 ms",
        "errors < 1 of reference",
        "flow.throughput >= 0.9 of reference",
    ],
)
def test_halves_of_a_relative_term_are_refused(text: str) -> None:
    with pytest.raises(WrongInputError, match=r"belong together|of the whole trial"):
        parse_term(text)


# -- the stages --------------------------------------------------------------------------------
def test_the_first_level_is_measured_before_each_stage_and_is_the_reference() -> None:
    given = of_users()
    plans, _ = made(given)
    assert levels(plans)[:5] == [1, 2, 1, 4, 1]
    for plan in plans:
        assert plan.level is not None
        assert (plan.level.reference is None) == (plan.level.level == 1)
        if plan.level.reference is not None:
            assert plan.level.reference == pytest.approx(100.0)
    assert len(plans) <= DESIGNS["search"].trials_planned(given)
    assert len({plan.trial for plan in plans}) == len(plans)


def test_the_most_users_that_hold_the_share_are_found() -> None:
    given = of_users()
    _, results = made(given)
    found = outcome_of(rules_of(given), results)
    assert (found.status, found.level) == ("found", 6)


def test_a_machine_that_grows_slower_moves_the_reference_too() -> None:
    plans, _ = made(of_users(), drift=0.999)
    told = [plan.level.reference for plan in plans if plan.level and plan.level.reference]
    assert told == sorted(told, reverse=True)
    assert told[-1] < told[0]


def test_other_searches_have_no_reference() -> None:
    given = of_users(objective=["p99 < 5 ms"])
    plan = design_of(given).stages(given).next([])[0]
    assert plan.level is not None
    assert plan.level.reference is None


def test_a_load_that_is_raised_has_no_whole_trials() -> None:
    (problem,) = DESIGNS["search"].problems(of_users(approach="raise"))
    assert problem.path == ("design", "approach")


def test_trials_of_other_levels_and_those_that_failed_are_no_reference() -> None:
    plans, results = made(of_users())
    first = results[0]
    (level,) = first.levels
    failed = first.model_copy(update={"levels": [level.model_copy(update={"holds": False})]})
    assert reference_of([failed], 1, "operations_per_s") is None
    assert reference_of(results[:2], 1, "operations_per_s") == pytest.approx(100)
    assert reference_of(results, 1, "another") is None
    assert len(plans) == len(results)


# -- a trial -----------------------------------------------------------------------------------
class Told(TrialOutcome):
    """A trial that measured one figure."""

    def measured(self, phase: str | None = None) -> Measured | None:
        nothing = Observation(0.0, {})
        return Measured(nothing, nothing, 10.0, {}, {}, 0, 0, 0.0, None, {}, {}, 0)


def told(plan: TrialPlan, value: float | None, monkeypatch: pytest.MonkeyPatch) -> TrialOutcome:
    workload = workload_of(plan.workload)
    figures: list[MetricValue] = [] if value is None else [rate_of(value)]
    monkeypatch.setattr(type(workload), "measure", lambda _self, _measured: figures)
    return Told(plan, workload, Path(), "2026-01-01T00:00:00+00:00")


@pytest.mark.parametrize(
    ("value", "no_ratio", "said"),
    [
        (95.0, "", []),
        (85.0, "", [("objective", f"{TERM}: was 0.85")]),
        (None, "", [("failed", "there is no operations per s of it")]),
        (95.0, "4 asked, 2 ran at a time", [("achieved", "4 asked, 2 ran at a time")]),
    ],
)
def test_a_level_is_held_against_the_reference(
    value: float | None,
    no_ratio: str,
    said: list[tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plans, _ = made(of_users())
    plan = next(each for each in plans if each.level and each.level.level == 2)
    reasons, figures = relative_reasons(told(plan, value, monkeypatch), no_ratio)
    assert [(reason.cause, reason.text) for reason in reasons] == said
    assert [each.value for each in figures] == ([value / 100] if value and not no_ratio else [])


def test_the_first_level_is_held_against_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    plans, _ = made(of_users())
    assert relative_reasons(told(plans[0], 5.0, monkeypatch), "") == ([], [])
