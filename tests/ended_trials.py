"""Records of trials that came to their end, made of the ticks of their load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sample_frames import phase

from loadstone.experiments.designs import stages_of
from loadstone.experiments.outcome import ProbeFindings, Reading, TrialOutcome
from loadstone.experiments.record import record_of
from loadstone.protocol.frames import parse_frame
from loadstone.results.record import TrialResult
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan
from loadstone.workloads.measured import Observation
from loadstone.workloads.registry import WORKLOADS, workload_of


def plan_for(name: str, parameters: dict[str, Any], **fields: Any) -> TrialPlan:
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


def ended(
    plan: TrialPlan, folder: Path, ticks: list[dict[str, Any]], watched: ProbeFindings | None = None
) -> TrialResult:
    """The record of a trial whose measured phase had these ticks."""
    outcome = TrialOutcome(plan, workload_of(plan.workload), folder, "2026-11-23T00:00:00Z")
    if watched is not None:
        outcome.load.watched = watched
    frames = [phase("begin", "measure", 0.0), *ticks, phase("end", "measure", float(len(ticks)))]
    for frame in frames:
        outcome.load.log.add(parse_frame(frame))
    outcome.load.begins["measure"] = Reading(Observation(0.0, {}), None)
    outcome.load.ends["measure"] = Reading(Observation(float(len(ticks)), {}), None)
    return record_of(outcome, [])
