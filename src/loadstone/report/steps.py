"""The steps of a workload that goes step by step: as they went, and which of them moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log
from pathlib import Path
from statistics import fmean

from loadstone.errors import WrongInputError
from loadstone.protocol.frames import Event, Frame
from loadstone.protocol.steps import PLANS, SHAPES, StepRun, steps_of
from loadstone.report.comparisons import (
    best_of_column,
    comparisons_of_column,
    comparisons_of_pairs,
)
from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.model.steps import (
    BestReport,
    CycleReport,
    PlanChange,
    StepPlan,
    StepsReport,
    StepTitle,
)
from loadstone.report.model.trials import StepReport
from loadstone.report.model.variants import MetricInfo, VariantReport
from loadstone.report.reading import PairRecord, RecordedExperiment, RecordedTrial
from loadstone.report.text import percent
from loadstone.results.frames import parsed_frames
from loadstone.workloads.base import StepInfo
from loadstone.workloads.registry import workload_of

_MOST_NAMES = 6


def step_reports(frames: Iterable[Frame], origin: float) -> list[StepReport]:
    """The steps of a trial, in the order in which they ended.

    Args:
        frames: Of the trial.
        origin: Zero of its charts, on the trial's clock.
    """
    events = [frame for frame in frames if isinstance(frame, Event)]
    return [_step(step, origin) for step in steps_of(events)]


def _step(step: StepRun, origin: float) -> StepReport:
    return StepReport(
        stream=step.stream,
        operation=step.operation,
        kind=step.kind,
        from_s=step.from_s - origin,
        to_s=step.to_s - origin,
        rows=step.rows,
        error=None if step.ended_well else f"{step.error_class}: {step.error}",
        cpu_s=step.cpu_s,
        parser_cpu_s=step.parser_cpu_s,
        peak_bytes=step.peak_bytes,
        read_bytes=step.read_bytes,
        written_bytes=step.written_bytes,
        spilled_bytes=step.spilled_bytes,
        spilled_beside_bytes=step.spilled_beside_bytes,
    )


def steps_report(folder: RecordedExperiment, metrics: Sequence[MetricInfo]) -> StepsReport | None:
    """The steps of all trials, compared pair by pair.

    Returns:
        None if the workload does not go step by step, or this Loadstone cannot read it.
    """
    try:
        steps = workload_of(folder.experiment.workload).steps()
    except WrongInputError:
        return None
    if not steps:
        return None
    compared = list(_compared(folder, metrics, steps))
    return StepsReport(
        steps=[
            StepTitle(
                operation=step.operation,
                title=step.title,
                metric=step.metric,
                column=step.column,
                facts=dict(step.facts),
                figures=dict(step.figures),
            )
            for step in steps
        ],
        comparisons=compared,
        best=list(_best(folder, metrics, steps)),
        moved=list(moved_steps(compared, steps)),
        plans=list(_plans(folder, steps)),
        plan_changes=[
            change
            for pair in folder.design.pairs
            if pair.role != "baseline"
            for change in _changes(folder, pair, steps)
        ],
        cycles=list(_cycles(folder)),
    )


def _compared(
    folder: RecordedExperiment, metrics: Sequence[MetricInfo], steps: Sequence[StepInfo]
) -> Iterator[ComparisonReport]:
    """Steps of a family of a pair are judged together; of a test, all pairs."""
    tests = {step.metric for step in steps if step.column}
    family = {step.metric: step.family for step in steps if not step.column}
    for name in dict.fromkeys(family.values()):
        of_family = [each for each in metrics if family.get(each.name) == name]
        yield from comparisons_of_pairs(folder, of_family)
    for metric in metrics:
        if metric.name in tests:
            yield from comparisons_of_column(folder, metric)


def _best(
    folder: RecordedExperiment, metrics: Sequence[MetricInfo], steps: Sequence[StepInfo]
) -> Iterator[BestReport]:
    """Of each test, where the variants stand beside each other; those of a ladder do not."""
    if folder.experiment.design.kind not in ("compare", "sweep"):
        return
    tests = {step.metric for step in steps if step.column}
    for metric in metrics:
        best = best_of_column(folder, metric) if metric.name in tests else None
        if best is not None:
            yield best


def _cycles(folder: RecordedExperiment) -> Iterator[CycleReport]:
    """The cycles of each variant: the works of a trial, which come again in each of them."""
    for variant in folder.design.variants:
        times_s: dict[int, dict[str, list[float]]] = {}
        for trial in folder.valid_trials_of(variant.name):
            made: Counter[str] = Counter()
            for step in _works(trial):
                made[step.operation] += 1
                cycle = times_s.setdefault(made[step.operation], {})
                cycle.setdefault(step.operation, []).append(step.seconds)
        for number, cycle in times_s.items():
            means = {operation: fmean(own) for operation, own in cycle.items()}
            yield CycleReport(variant=variant.name, cycle=number, times_s=means)


def _works(trial: RecordedTrial) -> list[StepRun]:
    events = (frame for frame in parsed_frames(trial.path) if isinstance(frame, Event))
    return [step for step in steps_of(events) if step.kind == "work" and step.ended_well]


def moved_steps(compared: Sequence[ComparisonReport], steps: Sequence[StepInfo]) -> Iterator[str]:
    """Which steps of each pair moved, the furthest first: a sentence for each direction.

    The first rung of a ladder is compared with the baseline in two roles, and told of in one.
    """
    names = {step.metric: step.operation for step in steps}
    noun = "tests" if any(step.column for step in steps) else "steps"
    for pair in dict.fromkeys((each.candidate, each.baseline) for each in compared):
        of_pair = [each for each in compared if (each.candidate, each.baseline) == pair]
        own = [each for each in of_pair if each.role == of_pair[0].role]
        for verdict, word in (("better", "faster"), ("worse", "slower")):
            moved = [each for each in own if each.verdict == verdict]
            moved.sort(key=lambda each: abs(log(each.ratio)), reverse=True)
            if moved:
                told = [f"{names[c.metric]} {percent(c.effect_percent)}" for c in moved]
                more = len(told) - _MOST_NAMES
                rest = [f"{more} more"] if more > 0 else []
                yield (
                    f'"{pair[0]}" is {word} than "{pair[1]}" in {len(told)} of {len(own)} {noun}: '
                    f"{', '.join([*told[:_MOST_NAMES], *rest])}."
                )


def best_said(report: StepsReport | None, variants: Sequence[VariantReport]) -> str:
    """Which configuration is best in which tests, in a sentence; empty where none were judged.

    Args:
        report: The tests.
        variants: Of the experiment, for what is unsafe among them.
    """
    if report is None or not report.best:
        return ""
    names = {step.metric: f"{step.title} {step.column}" for step in report.steps}
    said = []
    for variant in variants:
        won = [
            names[each.metric]
            for each in report.best
            if (each.variant, each.shown) == (variant.name, True)
        ]
        if won:
            more = [f"{len(won) - _MOST_NAMES} more"] if len(won) > _MOST_NAMES else []
            unsafe = ", which is unsafe," if variant.unsafe else ""
            said.append(
                f'"{variant.name}"{unsafe} is shown to be the best in {len(won)} of '
                f"{len(report.best)} tests: {', '.join([*won[:_MOST_NAMES], *more])}."
            )
    rest = sum(not each.shown for each in report.best)
    if rest:
        which = f"{rest} of {len(report.best)} tests"
        said.append(f"In {which} no configuration is shown to be better than all others.")
    return " ".join(said)


def _plans(folder: RecordedExperiment, steps: Sequence[StepInfo]) -> Iterator[StepPlan]:
    """The plan of each step, of the first trial of each variant that has it."""
    for variant in folder.design.variants:
        for step in steps:
            trial = _planned(folder, variant.name, step, PLANS)
            if trial is not None:
                yield StepPlan(
                    variant=variant.name,
                    trial=trial.result.trial,
                    operation=step.operation,
                    text=_file(trial, step, PLANS).read_text(encoding="utf-8"),
                )


def _changes(
    folder: RecordedExperiment, pair: PairRecord, steps: Sequence[StepInfo]
) -> Iterator[PlanChange]:
    for step in steps:
        before = _planned(folder, pair.baseline, step, SHAPES)
        after = _planned(folder, pair.candidate, step, SHAPES)
        if before is None or after is None:
            continue
        if before.plan.target.engine != after.plan.target.engine:
            continue  # each engine has plans of its own
        if _file(before, step, SHAPES).read_text() != _file(after, step, SHAPES).read_text():
            yield PlanChange(
                operation=step.operation, candidate=pair.candidate, baseline=pair.baseline
            )


def _planned(
    folder: RecordedExperiment, variant: str, step: StepInfo, kind: str
) -> RecordedTrial | None:
    trials = folder.trials_of(variant)
    return next((trial for trial in trials if _file(trial, step, kind).is_file()), None)


def _file(trial: RecordedTrial, step: StepInfo, kind: str) -> Path:
    return trial.path / kind / f"{step.operation}.txt"
