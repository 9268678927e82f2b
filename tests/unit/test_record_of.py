"""What a trial is recorded as, from what its steps returned."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sample_frames import hello, tick

from loadstone.errors import RefusedError
from loadstone.experiments import record
from loadstone.experiments.designs import stages_of
from loadstone.experiments.outcome import (
    ProbeFindings,
    Reading,
    RestoredTarget,
    StartState,
    TrialOutcome,
)
from loadstone.experiments.record import record_of
from loadstone.experiments.taking import taken_within
from loadstone.protocol.frames import parse_frame
from loadstone.results.record import FactorReading, Fingerprint, Status
from loadstone.results.standing import judged
from loadstone.results.statistics import steady_state
from loadstone.results.taken import Taken
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan
from loadstone.workloads.measured import Observation
from loadstone.workloads.registry import workload_of

NOOP: dict[str, Any] = {
    "version": 1,
    "name": "findings",
    "workload": {"name": "noop"},
    "target": {"engine": "none"},
    "profile": {"load": "open", "rate_per_s": 100},
}


def plan_of(**fields: Any) -> TrialPlan:
    experiment = Experiment.model_validate({**NOOP, **fields})
    return stages_of(experiment, allow_unsafe=False).next([])[0]


def stolen(share: float, from_s: float = 0.0, to_s: float = 1e9) -> ProbeFindings:
    """Other guests take so much between two times, and nothing else."""

    def within(begin_s: float, end_s: float) -> list[Taken]:
        seconds = max(0.0, min(end_s, to_s) - max(begin_s, from_s))
        found = share * seconds / max(end_s - begin_s, 1e-9) if end_s > begin_s else share
        return [Taken(cause="steal", share=found, evidence="other guests used a lot")]

    return ProbeFindings({}, [], within)


@pytest.mark.parametrize("design", ["search", "run"])
@pytest.mark.parametrize("share", [0.01, 0.6])
def test_a_level_that_fails_while_others_take_the_processors_is_tried_again(
    tmp_path: Path, design: str, share: float
) -> None:
    plan = plan_of(design={"kind": design})
    outcome = TrialOutcome(plan, workload_of(plan.workload), tmp_path, "2026-11-23T00:00:00Z")
    outcome.load.watched = stolen(share)
    (result,) = judged([record_of(outcome, [])])
    assert [level.holds for level in result.levels] == ([False] if design == "search" else [])
    is_disturbed = design == "search" and share > 0.5
    assert (result.status is Status.DISTURBED) == is_disturbed


def test_a_burst_in_a_long_level_is_seen(tmp_path: Path) -> None:
    outcome = measured_outcome(plan_of(), tmp_path)
    outcome.load.watched = stolen(0.8, 300.0, 330.0)
    (within,) = taken_within(outcome, 0.0, 3600.0)
    assert within.share == pytest.approx(0.8)
    (after,) = taken_within(outcome, 400.0, 3600.0)
    assert after.share == 0.0


def test_what_nobody_watched_is_not_told(tmp_path: Path) -> None:
    assert record_of(measured_outcome(plan_of(), tmp_path), []).taken is None


@pytest.mark.parametrize("allowed", [False, True])
def test_a_level_that_the_system_made_unsafe_is_refused_before_the_load(
    tmp_path: Path, allowed: bool
) -> None:
    plan = plan_of().model_copy(update={"allow_unsafe": allowed})
    outcome = TrialOutcome(plan, workload_of(plan.workload), tmp_path, "2026-11-23T00:00:00Z")
    reading = FactorReading(
        factor="target.sync", requested="lazy", read_back="off", unsafe=True, how="restart"
    )
    outcome.restored = RestoredTarget([reading], {})
    if allowed:
        outcome.refuse_unsafe()
    else:
        with pytest.raises(RefusedError, match="unsafe: sync=lazy"):
            outcome.refuse_unsafe()
    assert record_of(outcome, []).unsafe == ["sync=lazy"]


def test_the_workload_is_told_the_fingerprint(tmp_path: Path) -> None:
    plan = plan_of()
    outcome = TrialOutcome(plan, workload_of(plan.workload), tmp_path, "2026-11-23T00:00:00Z")
    border = Reading(Observation(0.0, {}), None)
    outcome.load.begins["measure"] = outcome.load.ends["measure"] = border
    fingerprint = Fingerprint(rows={"orders": 3}, sums={}, size_bytes=1, digest="d")
    outcome.start = StartState(fingerprint, {})
    measured = outcome.measured()
    assert measured is not None
    assert measured.loaded == fingerprint


def test_the_record_says_what_the_defaults_were_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(
        workload={"name": "cube", "parameters": {"load_threads": 3}},
        target={"engine": "duckdb"},
        profile={},
    )
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: range(5))
    outcome = TrialOutcome(plan, workload_of(plan.workload), tmp_path, "2026-11-23T00:00:00Z")
    parameters = record_of(outcome, []).parameters
    assert (parameters["load_threads"], parameters["calc_threads"]) == (3, 5)
    assert plan.workload.parameters == {"load_threads": 3}


def test_a_phase_that_was_not_steady_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rising = replace(steady_state([], 1.0), steady=False)
    monkeypatch.setattr(record, "steady_state", lambda *_: rising)
    phases = [{"name": "100 %"}, {"name": "50 %", "share": 0.5}]
    plan = plan_of(profile={**NOOP["profile"], "phases": phases})
    outcome = TrialOutcome(plan, workload_of(plan.workload), tmp_path, "2026-11-23T00:00:00Z")
    outcome.load.log.add(parse_frame(hello()))
    for second, name in enumerate(("100 %", "50 %")):
        of = {"phase": name, "phase_kind": "measure"}
        for frame in (
            {"frame": "event", "t_s": float(second), "kind": "phase-begin", **of},
            {**tick([], second), **of},
            {"frame": "event", "t_s": second + 1.0, "kind": "phase-end", **of},
        ):
            outcome.load.log.add(parse_frame(frame))
        border = Reading(Observation(float(second), {}), None)
        outcome.load.begins[name] = outcome.load.ends[name] = border
    result = record_of(outcome, [])
    assert [phase.name for phase in result.measured] == ["100 %", "50 %"]
    told = [each.message for each in result.notices if each.code == "not-steady"]
    assert told == [
        f"phase {name!r}: throughput was not steady while it was measured: {rising.detail}"
        for name in ("100 %", "50 %")
    ]


def stalled(count: int) -> dict[str, Any]:
    return {
        "frame": "event",
        "t_s": 20.0,
        "kind": "stalled",
        "detail": f"{count} operations did not end within 10 s and are not counted",
    }


def measured_outcome(plan: TrialPlan, folder: Path, *given_up: int) -> TrialOutcome:
    """A second of 99 operations; each process gave up so many at the end."""
    outcome = TrialOutcome(plan, workload_of(plan.workload), folder, "2026-11-23T00:00:00Z")
    of = {"phase": "measure", "phase_kind": "measure"}
    for frame in (
        hello(),
        {"frame": "event", "t_s": 0.0, "kind": "phase-begin", **of},
        tick([("new-order", 10_000_000, 1, None)] * 99, 0),
        {"frame": "event", "t_s": 1.0, "kind": "phase-end", **of},
        *map(stalled, given_up),
    ):
        outcome.load.log.add(parse_frame(frame))
    return outcome


@pytest.mark.parametrize(
    ("given_up", "severity"), [((), None), ((1,), "warning"), ((1, 1), "error")]
)
def test_operations_without_an_answer_are_told(
    tmp_path: Path, given_up: tuple[int, ...], severity: str | None
) -> None:
    """A server that stops to answer would have excellent figures otherwise."""
    result = record_of(measured_outcome(plan_of(), tmp_path, *given_up), [])
    told = [each for each in result.notices if each.code == "operations-given-up"]
    assert [each.severity for each in told] == ([severity] if severity else [])
    if severity == "error":
        assert result.status is Status.INVALID
        assert told[0].message.startswith("2 operations had no answer yet")


@pytest.mark.parametrize(("given_up", "holds"), [(0, True), (2, False)])
def test_a_level_with_operations_without_an_answer_does_not_hold(
    tmp_path: Path, given_up: int, holds: bool
) -> None:
    plan = plan_of(design={"kind": "search", "over": "users"}, profile={"load": "closed"})
    outcome = measured_outcome(plan, tmp_path, given_up)
    reasons = [
        reason
        for level in record_of(outcome, []).levels
        for reason in level.reasons
        if "no answer" in reason.text
    ]
    assert bool(reasons) != holds
    assert all(reason.cause == "response time" for reason in reasons)


def test_a_term_about_an_operation_that_nobody_makes_fails_the_level(tmp_path: Path) -> None:
    """It would hold whatever happens: nothing is ever in it."""
    plan = plan_of(design={"kind": "search", "objective": ["payment.p99 < 9 s"]})
    level = plan.level
    assert level is not None
    for operation, reasons in (("payment", []), ("paymend", ["no operation 'paymend'"])):
        objective = [f"{operation}.p99 < 9 s"]
        planned = plan.model_copy(
            update={"level": level.model_copy(update={"objective": objective})}
        )
        (found,) = record_of(measured_outcome(planned, tmp_path), []).levels
        said = [each for each in found.reasons if "there is no operation" in each.text]
        assert [each.cause for each in said] == ["failed"] * len(reasons)
        assert all(reason in each.text for each, reason in zip(said, reasons, strict=True))
