"""A trial without the figure that it is judged by is not valid, whatever the workload is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sample_frames import phase, tick

from loadstone.cli.progress import trial_line
from loadstone.experiments.designs import stages_of
from loadstone.experiments.outcome import Reading, TrialOutcome
from loadstone.experiments.record import record_of
from loadstone.protocol.frames import parse_frame
from loadstone.results.record import Status, TrialResult
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan
from loadstone.workloads.measured import Observation
from loadstone.workloads.registry import WORKLOADS, workload_of

WITHOUT: dict[str, tuple[dict[str, Any], ...]] = {
    "dss": ({"streams": 0}, {"refreshes": False}, {"streams": 0, "refreshes": False}),
    "cube": ({"cycles": 0},),
}
"""Workload: parameters that choose another headline."""


def experiments() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in WORKLOADS:
        for parameters in ({}, *WITHOUT.get(name, ())):
            yield name, parameters


def plan_of(name: str, parameters: dict[str, Any], **fields: Any) -> TrialPlan:
    experiment = Experiment.model_validate(
        {
            "version": 1,
            "name": "judged",
            "workload": {"name": name, "parameters": parameters},
            "target": {"engine": WORKLOADS[name].usual_engine},
            **fields,
        }
    )
    return stages_of(experiment, allow_unsafe=False).next([])[0]


def ended(plan: TrialPlan, folder: Path, ticks: list[dict[str, Any]]) -> TrialResult:
    """The record of a trial whose measured phase had these ticks."""
    outcome = TrialOutcome(plan, workload_of(plan.workload), folder, "2026-11-23T00:00:00Z")
    frames = [phase("begin", "measure", 0.0), *ticks, phase("end", "measure", float(len(ticks)))]
    for frame in frames:
        outcome.load.log.add(parse_frame(frame))
    outcome.load.begins["measure"] = Reading(Observation(0.0, {}), None)
    outcome.load.ends["measure"] = Reading(Observation(float(len(ticks)), {}), None)
    return record_of(outcome, [], 20.0)


@pytest.mark.parametrize("ticks", [0, 1])
@pytest.mark.parametrize(("name", "parameters"), list(experiments()))
def test_a_trial_that_measured_nothing_is_invalid(
    name: str, parameters: dict[str, Any], ticks: int, tmp_path: Path
) -> None:
    plan = plan_of(name, parameters)
    result = ended(plan, tmp_path, [tick([], at) for at in range(ticks)])
    assert result.status is Status.INVALID
    assert "no-figure" in {notice.code for notice in result.notices}
    assert result.judged_by == workload_of(plan.workload).judged_metric()


def test_another_figure_never_stands_for_the_one_that_is_missing(tmp_path: Path) -> None:
    plan = plan_of("oltp", {}, metric="delivery p99")
    result = ended(plan, tmp_path, [tick([("new-order", 10**6, 10, None)], 0)])
    assert result.metric("transactions_per_s") is not None
    assert result.status is Status.INVALID
    line = trial_line(result)
    assert line == f"{plan.trial}  invalid: this trial has no figure of what it is judged by: " + (
        "delivery p99"
    )


@pytest.mark.parametrize("metric", [None, "transactions_per_s", "new-order p95"])
def test_the_line_of_a_trial_has_the_figure_that_it_is_judged_by(
    metric: str | None, tmp_path: Path
) -> None:
    plan = plan_of("oltp", {}, metric=metric)
    result = ended(plan, tmp_path, [tick([("new-order", 10**6, 10, None)] * 3, 0)])
    assert result.status is Status.VALID, result.notices
    unit = {None: "new-orders/min", "transactions_per_s": "transactions/s"}.get(metric, "ms")
    assert f" {unit}  valid" in trial_line(result)
