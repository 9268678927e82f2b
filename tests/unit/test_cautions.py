"""What is said of long loads before they run, and of their trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sample_frames import hello, tick

from loadstone.experiments.designs import design_of, stages_of
from loadstone.experiments.outcome import TrialOutcome
from loadstone.experiments.preflight.cautions import cautions
from loadstone.experiments.record import record_of
from loadstone.host.cgroup import Bounds
from loadstone.protocol.frames import parse_frame
from loadstone.spec.model import Experiment
from loadstone.workloads.registry import workload_of


@pytest.fixture(autouse=True)
def unbounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever machine the tests run on, and whatever else runs on it."""
    monkeypatch.setattr("loadstone.experiments.preflight.cautions.bounds_of", Bounds)
    monkeypatch.setattr("loadstone.experiments.preflight.cautions.other_runs", list)


def experiment(
    measure: str = "10min", design: dict[str, Any] | None = None, **target: Any
) -> Experiment:
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "x",
            "workload": {"name": "oltp"},
            "target": {"engine": "postgresql", **target},
            "profile": {"measure": measure},
            "design": design or {"kind": "run"},
        }
    )


def codes(of: Experiment) -> list[str]:
    return [notice.code for notice in cautions(of, design_of(of).variants(of))]


def test_a_long_load_without_autovacuum_is_warned_of() -> None:
    assert codes(experiment()) == ["autovacuum-off"]
    assert codes(experiment("1h", settings={"autovacuum": "no"})) == ["autovacuum-off"]


@pytest.mark.parametrize(
    "given",
    [
        experiment("599s"),
        experiment(settings={"autovacuum": True}),
        experiment(settings={"AutoVacuum": "on"}),
        experiment(server="postgresql://me@db/x"),
        experiment(engine="sqlite"),
    ],
)
def test_others_are_not(given: Experiment) -> None:
    assert codes(given) == []


def test_a_soak_is_long_however_short_the_samples_are() -> None:
    assert codes(experiment("10s", {"kind": "search", "soak": "10min"})) == ["autovacuum-off"]
    assert codes(experiment("10s", {"kind": "search"})) == []


def test_two_variants_say_it_once() -> None:
    compare = {"kind": "compare", "factor": "target.work_mem", "levels": ["4MB", "8MB"]}
    assert codes(experiment(design=compare)) == ["autovacuum-off"]


@pytest.mark.parametrize(("measure", "expected"), [("10min", True), ("9min", False)])
def test_a_trial_that_measured_so_long_says_it_in_its_record(
    tmp_path: Path, measure: str, expected: bool
) -> None:
    plan = stages_of(experiment(measure)).next([])[0]
    outcome = TrialOutcome(plan, workload_of(plan.workload), tmp_path, "2026-11-23T00:00:00Z")
    phase = {"phase": "measure", "phase_kind": "measure"}
    for frame in (
        hello(),
        {"frame": "event", "t_s": 0.0, "kind": "phase-begin", **phase},
        tick([], 0),
        {"frame": "event", "t_s": 1.0, "kind": "phase-end", **phase},
    ):
        outcome.load.log.add(parse_frame(frame))
    found = {notice.code for notice in record_of(outcome, []).notices}
    assert ("autovacuum-off" in found) == expected
