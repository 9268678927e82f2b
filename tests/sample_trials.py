"""Plans of trials, and results folders of the smallest kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from loadstone.results.folder import ExperimentFolder, read_result
from loadstone.results.record import DurabilityRecord, MetricValue, Status, TrialResult
from loadstone.spec.model import Experiment, WorkloadSpec
from loadstone.spec.plans import TrialPlan, Variant
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec


def rate_of(value: float) -> MetricValue:
    """The headline of `noop`."""
    return MetricValue(
        name="operations_per_s", value=value, unit="operations/s", higher_is_better=True
    )


def result_of(
    plan: TrialPlan,
    metrics: Sequence[MetricValue],
    status: Status = Status.VALID,
    durability: DurabilityRecord | None = None,
) -> TrialResult:
    """What became of a trial that was never made."""
    return TrialResult(
        experiment="x",
        trial=plan.trial,
        variant=plan.variant.name,
        block=plan.block,
        order=plan.order,
        status=status,
        started_at="2026-01-01T00:00:00+00:00",
        metrics=list(metrics),
        durability=durability,
    )


def plan_of(
    trial: str = "b01-1-base",
    experiment: str = "demo",
    *,
    order: int = 1,
    workload: str = "noop",
    engine: str = "none",
) -> TrialPlan:
    return TrialPlan(
        experiment=experiment,
        trial=trial,
        variant=Variant(name="base", changes=[], step=[]),
        block=1,
        order=order,
        seed=1,
        data_seed=1,
        workload=WorkloadSpec(name=workload),
        target=TargetSpec(engine=engine),
        profile=ProfileSpec(),
        cache="warm",
    )


def make_experiment(
    results: Path,
    name: str = "demo",
    workload: str = "noop",
    trials: dict[str, Status] | None = None,
    value: float = 5.0,
) -> ExperimentFolder:
    """Writes an experiment with trials of the given status, each with one metric."""
    folder = ExperimentFolder.create(results, name)
    folder.write_experiment(
        Experiment(
            name=name, workload=WorkloadSpec(name=workload), target=TargetSpec(engine="none")
        )
    )
    for order, (trial, status) in enumerate((trials or {"b01-1-base": Status.VALID}).items(), 1):
        plan = plan_of(trial, folder.name, order=order, workload=workload)
        with folder.trial(plan) as running:
            result = read_result(running.path)
            metric = MetricValue(name="operations_per_s", value=value, unit="operations/s")
            running.write_result(result.model_copy(update={"status": status, "metrics": [metric]}))
    return folder
