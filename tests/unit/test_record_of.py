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
from loadstone.protocol.frames import parse_frame
from loadstone.results.record import FactorReading, Fingerprint, Status
from loadstone.results.statistics import steady_state
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


@pytest.mark.parametrize("design", ["search", "run"])
@pytest.mark.parametrize("stolen_percent", [10.0, 30.0])
def test_a_level_that_fails_while_others_take_the_processors_is_disturbed(
    tmp_path: Path, design: str, stolen_percent: float
) -> None:
    plan = plan_of(design={"kind": design})
    outcome = TrialOutcome(plan, workload_of(plan.workload), tmp_path, "2026-11-23T00:00:00Z")
    outcome.load.watched = ProbeFindings({}, [], stolen_percent)
    result = record_of(outcome, [], 20.0)
    assert [level.holds for level in result.levels] == ([False] if design == "search" else [])
    is_disturbed = design == "search" and stolen_percent > 20.0
    assert (result.status is Status.DISTURBED) == is_disturbed
    assert ("machine-moved" in {notice.code for notice in result.notices}) == is_disturbed


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
    assert record_of(outcome, [], 20.0).unsafe == ["sync=lazy"]


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
    parameters = record_of(outcome, [], 20.0).parameters
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
    result = record_of(outcome, [], 20.0)
    assert [phase.name for phase in result.measured] == ["100 %", "50 %"]
    told = [each.message for each in result.notices if each.code == "not-steady"]
    assert told == [
        f"phase {name!r}: throughput was not steady while it was measured: {rising.detail}"
        for name in ("100 %", "50 %")
    ]
