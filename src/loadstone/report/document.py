"""From an experiment's folder to the report document."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import loadstone
from loadstone.errors import WrongInputError
from loadstone.protocol.frames import Tick
from loadstone.report.baselines import baseline_report
from loadstone.report.beside import beside_reports
from loadstone.report.comparisons import comparisons
from loadstone.report.contents import Contents, contents_of
from loadstone.report.density import density_report
from loadstone.report.depths import depth_curves
from loadstone.report.figures import metric_infos, with_compared
from loadstone.report.gantt import gantt_report
from loadstone.report.graduated import graduated_report, level_metrics, overall_said
from loadstone.report.happenings import Happenings
from loadstone.report.headline import headline
from loadstone.report.held import held_report
from loadstone.report.jobs import jobs_report
from loadstone.report.limiting import limit_reports, trial_limits
from loadstone.report.load_series import (
    curves,
    group_series,
    load_series,
    origin_s,
    phase_spans,
    workload_series,
)
from loadstone.report.marks import marks
from loadstone.report.memory import memory_report
from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.searching import ScaleReport, SearchReport
from loadstone.report.model.trials import TrialReport
from loadstone.report.model.variants import MetricInfo
from loadstone.report.notices import notices
from loadstone.report.parts import part_rows, parts_series
from loadstone.report.power import power_rows, power_series
from loadstone.report.probe_series import host_series, target_series
from loadstone.report.published import published_reports
from loadstone.report.reading import (
    RecordedExperiment,
    RecordedTrial,
    expected_trials,
    read_experiment,
)
from loadstone.report.reference import reference_report
from loadstone.report.requests import request_rows
from loadstone.report.scaling import scale_report
from loadstone.report.searching import search_report
from loadstone.report.stalls import stall_report
from loadstone.report.steps import best_said, step_reports, steps_report
from loadstone.report.taken import disagreement, with_other_trials
from loadstone.report.text import around, loading, price
from loadstone.report.variants import variant_reports
from loadstone.report.watched import watched
from loadstone.results.record import Status
from loadstone.spec.design import LadderDesign
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan
from loadstone.targets.registry import target_for
from loadstone.workloads.judging import judged_metrics
from loadstone.workloads.registry import workload_of


def build_document(experiment_dir: Path) -> ReportDocument:
    """Builds the report of an experiment, also of a partial one or one whose trials failed.

    Args:
        experiment_dir: `results/<experiment>`.

    Raises:
        WrongInputError: If it is no folder of an experiment.
    """
    return document_of(read_experiment(experiment_dir))


def document_of(folder: RecordedExperiment) -> ReportDocument:
    """Builds the report of what was read.

    Args:
        folder: Of an experiment; what is found wrong with it is added to its notices.
    """
    experiment = folder.experiment
    metrics = metric_infos(folder.trials)
    judged = _judged(experiment, metrics)
    metric = judged[0]
    compared, uncompared = comparisons(folder, judged)
    compared = with_other_trials(folder, judged, compared)
    steps = steps_report(folder, metrics)
    variants = with_compared(
        variant_reports(folder, metrics), [*compared, *(steps.comparisons if steps else [])]
    )
    if steps is not None:
        steps = steps.model_copy(update={"depths": depth_curves(steps.steps, variants)})
    design = folder.experiment.design
    reference = design.reference if isinstance(design, LadderDesign) else None
    search, scale = search_report(folder), scale_report(folder, metric)
    graduated = graduated_report(folder, compared)
    levels = level_metrics(graduated.variants) if graduated else {}
    jobs = jobs_report(folder, [each.name for each in judged], compared)
    told = [each for each in judged if each.name not in levels] or judged
    beside = beside_reports(folder, next((each.workload for each in folder.trials), None))
    trials = []
    for trial in folder.all_trials:
        contents = contents_of(trial)
        folder.notices.extend(contents.notices)
        trials.append(_trial_report(trial, contents))
    return ReportDocument(
        loadstone=loadstone.__version__,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        name=folder.path.name,
        title=experiment.title or folder.path.name,
        design=design.kind,
        status="partial" if _is_partial(folder, search, compared) else "complete",
        workload=experiment.workload.model_dump(mode="json"),
        target=experiment.target.model_dump(mode="json"),
        profile=experiment.profile.model_dump(mode="json"),
        load=_load(folder),
        price=price(experiment.price) if experiment.price else "",
        command=folder.design.command,
        seed=experiment.seed,
        confidence=experiment.confidence,
        headline=_found(search, scale)
        or best_said(steps, variants)
        or overall_said(graduated)
        or " ".join(
            filter(
                None,
                (disagreement(compared), headline(design.kind, told, variants, compared)),
            )
        ),
        metric=metric.name,
        judged=[each.name for each in told],
        metrics=metrics,
        variants=variants,
        skipped=folder.design.skipped,
        comparisons=compared,
        trials=trials,
        notices=notices(folder, variants, compared, uncompared, metric.name),
        unsafe=any(variant.unsafe for variant in variants),
        inventory=_inventory(folder.trials),
        reference=reference_report(reference) if reference else None,
        published=published_reports(
            folder, variants, {each.name: each.unit for each in metrics}, graduated, jobs
        ),
        beside=beside,
        steps=steps,
        requests=request_rows(folder),
        parts=part_rows(folder),
        held=held_report(folder, metrics),
        power=power_rows(folder),
        density=density_report(folder, metrics, graduated),
        graduated=graduated,
        jobs=jobs,
        limits=limit_reports(folder),
        search=search,
        scale=scale,
        baseline=baseline_report(folder, metric),
    )


def _load(folder: RecordedExperiment) -> str:
    """The load of the experiment, and the factors by which that of its trials differs from it.

    Where the design gives every trial a load of its own, it is that of the first.
    Empty for a workload that this Loadstone cannot read: of another release, for instance. So it
    is for a system that it cannot run: what was imported had a load of its own.
    """
    base = folder.experiment
    try:
        target_for(base.target)
        text = _arrival(base)
        arrivals = [_arrival(trial.plan) for trial in folder.trials]
    except WrongInputError:
        return ""
    if arrivals and text not in arrivals:
        text = arrivals[0]
    differing = [
        trial.plan
        for trial, arrival in zip(folder.trials, arrivals, strict=True)
        if arrival != text
    ]
    factors = {change.factor for plan in differing for change in plan.variant.changes}
    varied = sorted(factor for factor in factors if factor.startswith(("profile.", "workload.")))
    return f"{text}; varied: {', '.join(varied)}" if varied else text


def _arrival(of: Experiment | TrialPlan) -> str:
    return workload_of(of.workload).arrival(of.profile)


def _found(search: SearchReport | None, scale: ScaleReport | None) -> str:
    """What a search or a curve says in a sentence; empty of other designs."""
    return search.text if search else scale.text if scale else ""


def _judged(experiment: Experiment, metrics: Sequence[MetricInfo]) -> list[MetricInfo]:
    """What the verdicts are about, the headline first; one at least."""
    known = {metric.name: metric for metric in metrics}
    try:
        names = judged_metrics(experiment)
    except WrongInputError:
        names = experiment.named_metrics or [next(iter(known), "")]
    return [
        known.get(name)
        or MetricInfo(name=name, label=name.replace("_", " "), unit="", higher_is_better=True)
        for name in names
    ]


def _is_partial(
    folder: RecordedExperiment,
    search: SearchReport | None,
    compared: Sequence[ComparisonReport],
) -> bool:
    """Whether the run ended before its last trial: too few trials of a variant, or one cut off."""
    if search is not None:
        return search.status == "unfinished"
    if any(comparison.verdict == "not decided yet" for comparison in compared):
        return True
    measured, crashes = expected_trials(folder.experiment)
    for variant in folder.design.variants:
        ended = [
            trial
            for trial in folder.trials_of(variant.name)
            if trial.result.status not in (Status.RUNNING, Status.INTERRUPTED)
        ]
        crashed = sum(trial.is_crash for trial in ended)
        if crashed < crashes or len(ended) - crashed < measured:
            return True
    return not folder.trials


def _trial_report(trial: RecordedTrial, contents: Contents) -> TrialReport:
    frames, samples = contents.frames, contents.samples
    ticks = [frame for frame in frames if isinstance(frame, Tick)]
    workload = trial.workload
    watch = watched(workload) if workload else None
    origin = origin_s(trial.result.phases, ticks)
    phases = phase_spans(trial.result.phases, ticks, origin)
    end_s = origin + max((phase.to_s for phase in phases), default=0.0)
    happened = Happenings(trial, frames, samples)
    return TrialReport(
        result=trial.result,
        loading=loading(trial.result.data),
        around=around(trial.result.took),
        phases=phases,
        load=load_series(ticks, origin),
        groups=group_series(ticks, origin, watch.groups if watch else {}),
        workload=workload_series(ticks, origin),
        marks=marks(happened, (origin, end_s)),
        watched=watch,
        host=host_series(samples, origin),
        target=target_series(samples, origin),
        parts=parts_series(samples, origin),
        power=power_series(samples, trial.result.power, origin),
        curves=curves(ticks),
        steps=step_reports(frames, origin),
        gantt=gantt_report(trial.result.jobs, origin),
        limits=trial_limits(trial.result),
        memory=memory_report(ticks, samples, phases, origin),
        stalls=(
            stall_report(workload, frames, happened, origin)
            if workload and not workload.is_stepwise and not trial.is_crash
            else None
        ),
    )


def _inventory(trials: Sequence[RecordedTrial]) -> dict[str, Any]:
    """The first trial's inventory: what differs in others is said by the comparisons."""
    return next((trial.inventory for trial in trials if trial.inventory), {})
