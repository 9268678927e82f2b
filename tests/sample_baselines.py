"""Writes results of placements and the database on them, with orders that are known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from loadstone.experiments.designs import stages_of
from loadstone.results.record import MeasuredPhaseRecord, MetricValue, Status, TrialResult
from loadstone.results.trial_files import empty_result
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan
from loadstone.workloads.registry import workload_of

PLACES = ["default", "loop:ext4", "loop:xfs", "nfs:ext4", "iscsi:ext4", "nbd:ext4", "zram:ext4"]
LOG = "Log 8K sync write"
Speeds = Mapping[str, float]


def placed(places: Sequence[str] = PLACES, repeats: int = 5, **fields: object) -> Experiment:
    """Order entry on several placements, each measured itself."""
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "placed",
            "workload": {"name": "oltp"},
            "target": {"engine": "sqlite"},
            "baseline": {"passes": 1},
            "design": {"kind": "compare", "factor": "storage.data", "levels": list(places)},
            "repeats": repeats,
            **fields,
        }
    )


def write_placed(
    root: Path,
    spec: Experiment,
    speeds: Speeds,
    *,
    misled: Speeds | None = None,
    failed: Sequence[str] = (),
) -> Path:
    """Writes `root/<experiment>` and returns it.

    Args:
        root: Folder of all results.
        spec: The experiment.
        speeds: Placement: what the database does there, and the log of its baseline.
        misled: Placement: what every other test says.
        failed: Trials that failed, by name.
    """
    folder = root / spec.name
    folder.mkdir(parents=True)
    stages = stages_of(spec, allow_unsafe=True)
    plans = stages.next([])
    (folder / "experiment.json").write_text(spec.model_dump_json())
    variants = [variant.model_dump(mode="json") for variant in stages.variants]
    pairs = [
        {"candidate": p.candidate, "baseline": p.baseline, "role": p.role} for p in stages.pairs
    ]
    (folder / "design.json").write_text(json.dumps({"variants": variants, "pairs": pairs}))
    for order, plan in enumerate(plans, start=1):
        plan = plan.model_copy(update={"order": order})  # noqa: PLW2901
        status = Status.FAILED if plan.trial in failed else Status.VALID
        trial = folder / plan.trial
        trial.mkdir()
        (trial / "plan.json").write_text(plan.model_dump_json())
        result = _result(plan, status, speeds, misled or speeds)
        (trial / "result.json").write_text(result.model_dump_json())
    return folder


def _result(plan: TrialPlan, status: Status, speeds: Speeds, misled: Speeds) -> TrialResult:
    place = str(plan.variant.changes[-1].level)
    noise = 1 + plan.block / 1000
    counts = status is Status.VALID
    figures = [_rate("new_orders_per_min", "new-orders/min", 100 * noise * speeds[place])]
    measured = [
        MeasuredPhaseRecord(
            name=test.title + f" {test.column}",
            duration_s=1.0,
            metrics=[_rate("mb_per_s", "MB/s", noise * of[place])],
        )
        for test in workload_of(plan.workload).steps()
        if counts and test.column
        for of in [speeds if test.metric.startswith(LOG) else misled]
    ]
    result = empty_result(plan, status, f"2026-11-27T10:{plan.order % 60:02}:00Z")
    metrics = figures if counts and plan.baseline_of is None else []
    return result.model_copy(update={"metrics": metrics, "measured": measured})


def _rate(name: str, unit: str, value: float) -> MetricValue:
    return MetricValue(name=name, value=value, unit=unit, higher_is_better=True)
