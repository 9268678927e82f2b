"""Compares two results that are there: the statistics, and everything else that differs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from loadstone.cli.console import out, say_document
from loadstone.cli.find import find_result
from loadstone.cli.options import Output
from loadstone.errors import ExitCode, WrongInputError
from loadstone.report.comparisons import comparison_report
from loadstone.report.differences import differences
from loadstone.report.figures import NotComparableError, metric_infos, to_compare
from loadstone.report.model import ComparisonReport, MetricInfo
from loadstone.report.reading import PairRecord, RecordedExperiment, RecordedTrial, read_experiment
from loadstone.report.text import percent, ratio, ratio_interval
from loadstone.results.record import Notice
from loadstone.results.statistics import Method, judge, unpaired, within_blocks
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Variant
from loadstone.spec.problems import near
from loadstone.workloads.registry import workload_of


@dataclass(frozen=True)
class Side:
    """One of the two: the valid trials of one configuration."""

    label: str
    folder: RecordedExperiment
    trials: list[RecordedTrial]


def compare_results(first: str, second: str, output: Output) -> int:
    """Compares the second result with the first, and prints what was found.

    Args:
        first: The baseline: a result, one of its trials, or `RESULT:VARIANT`.
        second: The candidate, likewise.
        output: Where results lie and how to answer.

    Raises:
        WrongInputError: If one is not there, or they have no figure in common.
    """
    baseline, candidate = _side(output, first), _side(output, second)
    report, metric = _compare(baseline, candidate)
    notices = _notices(baseline, candidate, report, metric)
    if output.json:
        document = {
            "version": 1,
            "metric": metric.model_dump(),
            "comparison": report.model_dump(),
            "notices": [notice.model_dump() for notice in notices],
        }
        say_document(json.dumps(document, indent=2))
    else:
        _print(report, metric, notices)
    return ExitCode.OK


def _side(output: Output, text: str) -> Side:
    reference, _, variant = text.partition(":")
    found = find_result(output, reference)
    folder = read_experiment(found.experiment)
    if found.trial is not None:
        trials = [trial for trial in folder.trials if trial.path.name == found.trial.name]
        return Side(text, folder, [trial for trial in trials if trial.counts])
    names = [each.name for each in folder.design.variants]
    if variant and variant not in names:
        raise WrongInputError(f"{reference} has no variant {variant!r}; {near(variant, names)}")
    if not variant and len(names) > 1:
        raise WrongInputError(
            f"{reference} has {len(names)} variants: {', '.join(names)}",
            advice=f"name one: '{reference}:{names[0]}'",
        )
    return Side(text, folder, folder.valid_trials_of(variant or names[0]))


def _compare(baseline: Side, candidate: Side) -> tuple[ComparisonReport, MetricInfo]:
    for side in (baseline, candidate):
        if not side.trials:
            raise WrongInputError(
                f"{side.label} has no valid trial, so there is nothing to compare",
                advice=f"loadstone show {side.folder.path.name} says why",
            )
    metric = _common_metric(baseline, candidate)
    try:
        before, after = (
            to_compare(side.trials, metric, side.label) for side in (baseline, candidate)
        )
    except NotComparableError as error:
        raise WrongInputError(f"{metric.label} cannot be compared: {error}") from error
    together = baseline.folder.path == candidate.folder.path and before.keys() & after.keys()
    levels = {"baseline": before, "candidate": after}
    (comparison,) = judge(
        [
            within_blocks(levels, "candidate", "baseline")
            if together
            else unpaired(list(before.values()), list(after.values()))
        ],
        higher_is_better=[metric.higher_is_better is not False],
        alpha=1.0 - baseline.folder.experiment.confidence,
    )
    nothing = Variant(name="", changes=[], step=[])
    pair = PairRecord(candidate=candidate.label, baseline=baseline.label, role="pair")
    found = differences(baseline.trials, candidate.trials, (nothing, nothing))
    return comparison_report(comparison, pair, metric, found), metric


def _common_metric(baseline: Side, candidate: Side) -> MetricInfo:
    """What the baseline is judged by, or the first figure that both have: `_notices` says so."""
    experiment = baseline.folder.experiment
    theirs = {info.name for info in metric_infos(candidate.trials)}
    shared = {info.name: info for info in metric_infos(baseline.trials) if info.name in theirs}
    if not shared:
        raise WrongInputError(
            f"{baseline.label} and {candidate.label} have no figure in common",
            advice="compare two results of the same workload",
        )
    wanted = _judged_metric(experiment)
    return shared.get(wanted) or next(iter(shared.values()))


def _judged_metric(experiment: Experiment) -> str:
    return experiment.metric or workload_of(experiment.workload).judged_metric()


def _notices(
    baseline: Side, candidate: Side, report: ComparisonReport, metric: MetricInfo
) -> list[Notice]:
    notices = []
    wanted = _judged_metric(baseline.folder.experiment)
    if metric.name != wanted:
        notices.append(
            Notice(
                code="another-figure",
                severity="warning",
                message=f"compared by {metric.name}: the two do not both have {wanted}, by which "
                f"{baseline.label} is judged",
            )
        )
    if report.test == Method.UNPAIRED:
        notices.append(
            Notice(
                code="not-interleaved",
                severity="warning",
                message="the two were made one after the other: what drifted between them, the "
                "machine included, looks like a difference of the two",
                advice="to defend a difference, run both in one experiment: loadstone compare "
                "WORKLOAD --factor NAME --levels A,B",
            )
        )
    unsafe = [
        side.label
        for side in (baseline, candidate)
        if any(trial.result.unsafe for trial in side.trials)
    ]
    if unsafe:
        notices.append(
            Notice(
                code="unsafe-setting",
                severity="warning",
                message=f"unsafe: {', '.join(unsafe)} ran under settings that can lose "
                "acknowledged commits",
            )
        )
    return notices


def _print(report: ComparisonReport, metric: MetricInfo, notices: Sequence[Notice]) -> None:
    console = out()
    console.print(f"{metric.label} ({metric.unit})", style="bold")
    console.print(f"  {report.candidate} against {report.baseline}")
    interval = f" ({span})" if (span := ratio_interval(report.low, report.high)) else ""
    p = f"p {report.p_adjusted:.3g}" if report.p_adjusted is not None else ""
    console.print(
        f"  ratio {ratio(report.ratio, report.low, report.high)}{interval}, "
        f"{percent(report.effect_percent)}, {p}, "
        f"{report.n_candidate} and {report.n_baseline} trials, {report.test}",
        markup=False,
    )
    console.print(f"  {report.verdict}", style="bold")
    if report.verdict == "too few repeats" and report.repeats_needed:
        console.print(f"  at least {report.repeats_needed} trials of each could show a difference")
    console.print("What differs:" if report.differences else "Nothing else differs.")
    for difference in report.differences:
        console.print(f"  {difference}", markup=False)
    for notice in notices:
        console.print(f"{notice.severity}: {notice.message}", markup=False)
        if notice.advice:
            console.print(f"  {notice.advice}", markup=False)
