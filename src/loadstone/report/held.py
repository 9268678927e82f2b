"""What each configuration held of its users: figures in the form in which they are published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import TypeVar

from loadstone.load.totals import MEASURE
from loadstone.report.figures import values_of
from loadstone.report.model.held import HeldReport, HeldRow, TierFigures, TransactionFigures
from loadstone.report.model.variants import MetricInfo
from loadstone.report.processors import host_cpu_percent, processors_of
from loadstone.report.reading import RecordedExperiment, RecordedTrial
from loadstone.results.record import OperationSummary
from loadstone.results.usage import PartUsage
from loadstone.spec.design import ScaleDesign, SearchDesign
from loadstone.workloads.base import AnyWorkload

_Value = TypeVar("_Value")


def held_report(folder: RecordedExperiment, metrics: Sequence[MetricInfo]) -> HeldReport | None:
    """The configurations of closed users, each with users, rate, response, errors and parts.

    Args:
        folder: Of the experiment.
        metrics: Of its trials.

    Returns:
        None where these figures say nothing more than others do: of a search, and of a system
        without parts, of which neither a curve nor power or height is known.
    """
    experiment = folder.experiment
    valid = [trial for trial in folder.trials if trial.counts]
    workload = next((trial.workload for trial in valid), None)
    asked = (
        experiment.system is not None
        or isinstance(experiment.design, ScaleDesign)
        or any(trial.result.parts for trial in valid)
    )
    if workload is None or not asked or isinstance(experiment.design, SearchDesign):
        return None
    headline = workload.judged_metric()
    info = next((each for each in metrics if each.name == headline), None)
    rows = [
        row
        for variant in folder.design.variants
        if (row := _row(folder, variant.name, headline)) is not None
    ]
    if not rows:
        return None
    return HeldReport(
        label=info.label if info else headline, unit=info.unit if info else "", rows=rows
    )


def _row(folder: RecordedExperiment, variant: str, headline: str) -> HeldRow | None:
    """Of a configuration; None of one without valid trials, or whose users nobody chose."""
    trials = folder.valid_trials_of(variant)
    users = {count for trial in trials if (count := users_of(trial)) is not None}
    workload = next((trial.workload for trial in trials), None)
    if len(users) != 1 or workload is None:
        return None
    rates, _ = values_of(trials, headline)
    judged = [_judged(trial, workload) for trial in trials]
    responses = [mean for each in judged if (mean := _mean_ms(each)) is not None]
    (held,) = users
    return HeldRow(
        variant=variant,
        trials=len(trials),
        users=held,
        rate=median(rates) if rates else None,
        response_mean_ms=median(responses) if responses else None,
        errors_before=sum(_errors(trial, measured=False) for trial in trials),
        errors_measured=sum(_errors(trial, measured=True) for trial in trials),
        host_cpu_percent=host_cpu_percent(trials),
        tiers=_tiers(trials),
        transactions=_transactions(trials, judged),
    )


def users_of(trial: RecordedTrial) -> int | None:
    """Its closed users; None of an open load, of steps, and of a workload that decides them."""
    workload = trial.workload
    if workload is None or workload.is_stepwise or "users" in workload.decides:
        return None
    profile = workload.loaded(trial.plan.profile)
    return profile.most_users if profile.load == "closed" else None


def _judged(trial: RecordedTrial, workload: AnyWorkload) -> list[OperationSummary]:
    """The operations that the workload is judged by, of those that ended well."""
    names = workload.charts().judged
    return [
        each
        for each in trial.result.operations
        if each.response is not None and each.count and (not names or each.name in names)
    ]


def _mean_ms(operations: Sequence[OperationSummary]) -> float | None:
    counted = [(each.response.mean_s, each.count) for each in operations if each.response]
    total = sum(count for _, count in counted)
    return 1e3 * sum(mean_s * count for mean_s, count in counted) / total if total else None


def _errors(trial: RecordedTrial, *, measured: bool) -> int:
    """Operations that failed in the measured phases, or in those before the first of them."""
    phases = trial.result.phases
    first = next((at for at, each in enumerate(phases) if each.kind == MEASURE), len(phases))
    chosen = [each for each in phases if each.kind == MEASURE] if measured else phases[:first]
    return sum(sum(each.errors.values()) for each in chosen)


def _transactions(
    trials: Sequence[RecordedTrial], judged: Sequence[Sequence[OperationSummary]]
) -> list[TransactionFigures]:
    """Each operation that is judged, of the trials in which it ended well."""
    made: dict[str, list[tuple[float, OperationSummary]]] = {}
    for trial, operations in zip(trials, judged, strict=True):
        seconds = sum(
            phase.to_s - phase.from_s for phase in trial.result.phases if phase.kind == MEASURE
        )
        for each in operations if seconds > 0 else ():
            made.setdefault(each.name, []).append((each.count / seconds, each))
    return [
        TransactionFigures(
            operation=name,
            per_s=median(rate for rate, _ in own),
            mean_ms=1e3 * median(each.response.mean_s for _, each in own if each.response),
            p95_ms=1e3 * median(each.response.p95_s for _, each in own if each.response),
        )
        for name, own in made.items()
    ]


def _tiers(trials: Sequence[RecordedTrial]) -> list[TierFigures]:
    """The parts of the system, without the parts of those."""
    made: dict[str, list[tuple[float | None, PartUsage]]] = {}
    for trial in trials:
        for usage in trial.result.parts:
            if "." not in usage.name:
                processors = processors_of(trial, usage)
                made.setdefault(usage.name, []).append((processors, usage))
    return [
        TierFigures(
            part=name,
            cpu_percent=_median(own, lambda at: at[1].cpu_percent / at[0] if at[0] else None),
            processors=_median(own, lambda at: at[0]),
            memory_bytes=_median(own, lambda at: at[1].memory_bytes),
        )
        for name, own in made.items()
    ]


def _median(of: Sequence[_Value], figure: Callable[[_Value], float | None]) -> float | None:
    found = [value for value in map(figure, of) if value is not None]
    return median(found) if found else None
