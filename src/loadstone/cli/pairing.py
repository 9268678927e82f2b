"""Compares two results that are there: the statistics, and everything else that differs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from loadstone.cli.console import out, say_document
from loadstone.cli.find import find_result
from loadstone.cli.options import Output
from loadstone.errors import ExitCode, WrongInputError
from loadstone.report.comparisons import comparison_report
from loadstone.report.differences import differences
from loadstone.report.figures import NotComparableError, metric_infos, to_compare
from loadstone.report.model import ComparisonReport, MetricInfo
from loadstone.report.reading import PairRecord, RecordedExperiment, RecordedTrial, read_experiment
from loadstone.report.text import number, percent, ratio, ratio_interval, verdict
from loadstone.results.metrics import RESPONSE_P95
from loadstone.results.record import Notice
from loadstone.results.statistics import Contrast, Method, judge, unpaired, within_blocks
from loadstone.spec.model import MOST_MARGIN_PERCENT, Experiment
from loadstone.spec.plans import Variant
from loadstone.spec.problems import near
from loadstone.units import parse_percent
from loadstone.workloads.judging import answers_to_rate, judged_metrics


@dataclass(frozen=True)
class Side:
    """One of the two: the valid trials of one configuration."""

    label: str
    folder: RecordedExperiment
    trials: list[RecordedTrial]


def compare_results(
    first: str,
    second: str,
    output: Output,
    metrics: Sequence[str] = (),
    margin: str | None = None,
) -> int:
    """Compares the second result with the first, and prints what was found.

    Args:
        first: The baseline: a result, one of its trials, or `RESULT:VARIANT`.
        second: The candidate, likewise.
        output: Where results lie and how to answer.
        metrics: What is compared; none: what the baseline is judged by.
        margin: The largest change that does not matter, as `3%`; default: the baseline's.

    Raises:
        WrongInputError: If one is not there, or they have no figure in common.
    """
    baseline, candidate = _side(output, first), _side(output, second)
    wanted = list(metrics) or _judged_metrics(baseline.folder.experiment)
    shared = _shared_metrics(baseline, candidate)
    if unknown := [name for name in metrics if name not in shared]:
        other = near(unknown[0], list(shared))
        raise WrongInputError(f"--metric {unknown[0]!r}: the two do not both have it; {other}")
    common = [shared[name] for name in wanted if name in shared]
    compared = _compare(
        baseline, candidate, common or [next(iter(shared.values()))], _margin(margin, baseline)
    )
    notices = _notices(baseline, candidate, compared, wanted)
    if output.json:
        told = [
            {"metric": metric.model_dump(), "comparison": report.model_dump()}
            for metric, report in compared
        ]
        document = {
            "version": 1,
            **told[0],
            "further": told[1:],
            "notices": [notice.model_dump() for notice in notices],
        }
        say_document(json.dumps(document, indent=2))
    else:
        _print(compared, notices)
    return ExitCode.OK


def _margin(text: str | None, baseline: Side) -> float | None:
    if text is None:
        return baseline.folder.experiment.margin
    try:
        margin = parse_percent(text)
    except ValueError as error:
        raise WrongInputError(f"--margin: {error}") from None
    if not 0.0 < margin <= MOST_MARGIN_PERCENT:
        raise WrongInputError(
            f"--margin {text!r}: above 0%, and {MOST_MARGIN_PERCENT:g}% at most, is wanted"
        )
    return margin


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


def _compare(
    baseline: Side, candidate: Side, metrics: Sequence[MetricInfo], margin: float | None
) -> list[tuple[MetricInfo, ComparisonReport]]:
    judged = judge(
        [_contrast(baseline, candidate, metric) for metric in metrics],
        higher_is_better=[metric.higher_is_better is not False for metric in metrics],
        alpha=1.0 - baseline.folder.experiment.confidence,
        margin_percent=margin,
    )
    nothing = Variant(name="", changes=[], step=[])
    pair = PairRecord(candidate=candidate.label, baseline=baseline.label, role="pair")
    found = differences(baseline.trials, candidate.trials, (nothing, nothing))
    return [
        (metric, comparison_report(comparison, pair, metric, found, margin))
        for metric, comparison in zip(metrics, judged, strict=True)
    ]


def _contrast(baseline: Side, candidate: Side, metric: MetricInfo) -> Contrast:
    try:
        before, after = (
            to_compare(side.trials, metric, side.label) for side in (baseline, candidate)
        )
    except NotComparableError as error:
        raise WrongInputError(f"{metric.label} cannot be compared: {error}") from error
    if baseline.folder.path == candidate.folder.path and before.keys() & after.keys():
        levels = {"baseline": before, "candidate": after}
        return within_blocks(levels, "candidate", "baseline")
    return unpaired(list(before.values()), list(after.values()))


def _shared_metrics(baseline: Side, candidate: Side) -> dict[str, MetricInfo]:
    """The figures that both have, by name."""
    for side in (baseline, candidate):
        if not side.trials:
            raise WrongInputError(
                f"{side.label} has no valid trial, so there is nothing to compare",
                advice=f"loadstone show {side.folder.path.name} says why",
            )
    theirs = {info.name for info in metric_infos(candidate.trials)}
    shared = {info.name: info for info in metric_infos(baseline.trials) if info.name in theirs}
    if not shared:
        raise WrongInputError(
            f"{baseline.label} and {candidate.label} have no figure in common",
            advice="compare two results of the same workload",
        )
    return shared


def _judged_metrics(experiment: Experiment) -> list[str]:
    """A single run has no verdicts, and is judged by response time here if load has a rate."""
    if not experiment.named_metrics and answers_to_rate(experiment):
        return [RESPONSE_P95]
    return judged_metrics(experiment)


def _notices(
    baseline: Side,
    candidate: Side,
    compared: Sequence[tuple[MetricInfo, ComparisonReport]],
    wanted: Sequence[str],
) -> list[Notice]:
    notices = []
    names = [metric.name for metric, _ in compared]
    if missing := [name for name in wanted if name not in names]:
        notices.append(
            Notice(
                code="another-figure",
                severity="warning",
                message=f"compared by {', '.join(names)}: the two do not both have "
                f"{', '.join(missing)}",
            )
        )
    if any(report.test == Method.UNPAIRED for _, report in compared):
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


def _print(
    compared: Sequence[tuple[MetricInfo, ComparisonReport]], notices: Sequence[Notice]
) -> None:
    console = out()
    for metric, report in compared:
        _print_comparison(console, metric, report)
    _, first = compared[0]
    console.print("What differs:" if first.differences else "Nothing else differs.")
    for difference in first.differences:
        console.print(f"  {difference}", markup=False)
    for notice in notices:
        console.print(f"{notice.severity}: {notice.message}", markup=False)
        if notice.advice:
            console.print(f"  {notice.advice}", markup=False)


def _print_comparison(console: Console, metric: MetricInfo, report: ComparisonReport) -> None:
    console.print(f"{metric.label} ({metric.unit})", style="bold")
    means = ""
    if report.candidate_mean is not None and report.baseline_mean is not None:
        means = f": {number(report.candidate_mean)} against {number(report.baseline_mean)}"
    console.print(f"  {report.candidate} against {report.baseline}{means}", markup=False)
    interval = f" ({span})" if (span := ratio_interval(report.low, report.high)) else ""
    p = f"p {report.p_adjusted:.3g}" if report.p_adjusted is not None else ""
    console.print(
        f"  ratio {ratio(report.ratio, report.low, report.high)}{interval}, "
        f"{percent(report.effect_percent)}, {p}, "
        f"{report.n_candidate} and {report.n_baseline} trials, {report.test}",
        markup=False,
    )
    console.print(f"  {verdict(report)}", style="bold")
    if report.verdict == "too few repeats" and report.repeats_needed:
        console.print(f"  at least {report.repeats_needed} trials of each could show a difference")
