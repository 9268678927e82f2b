"""Compares two results that are there: the statistics, and everything else that differs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from loadstone.cli.console import out, plain_table, say_document
from loadstone.cli.find import find_result
from loadstone.cli.options import Output
from loadstone.cli.pairing_notices import notices_of, notices_of_hosts, notices_of_power
from loadstone.errors import ExitCode, WrongInputError
from loadstone.report.comparisons import comparison_report
from loadstone.report.differences import differences
from loadstone.report.figures import NotComparableError, metric_infos, to_compare
from loadstone.report.hosts import are_two_hosts, host_differences
from loadstone.report.model.comparisons import ComparisonReport, HostDifference
from loadstone.report.model.variants import MetricInfo
from loadstone.report.power_scopes import is_of_power, why_apart
from loadstone.report.reading import PairRecord, RecordedExperiment, RecordedTrial, read_experiment
from loadstone.report.text import number, p_value, percent, ratio, ratio_interval, verdict
from loadstone.results.metrics import RESPONSE_P95
from loadstone.results.record import Notice
from loadstone.results.statistics import Contrast, judge, unpaired, within_blocks
from loadstone.spec.model import MOST_MARGIN_PERCENT, Experiment
from loadstone.spec.plans import Variant
from loadstone.spec.problems import near
from loadstone.units import parse_percent
from loadstone.workloads.judging import answers_to_rate, judged_metrics
from loadstone.workloads.registry import workload_of

_FEWEST_FOR_TABLE = 4
_HOST_FACTS = (
    *("host.processor.", "host.memory_bytes.", "host.disks.", "host.mitigations.", "host.kernel"),
    *("host.system", "host.virtualisation", "host.memory_modules", "host.firmware"),
)
"""How the facts begin that `Two hosts` tells of, or that follow from the processor."""


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
    apart = why_apart(baseline.trials, candidate.trials)
    shared = _shared_metrics(baseline, candidate, with_power=not apart)
    for name in (name for name in metrics if name not in shared):
        if apart and is_of_power(name):
            raise WrongInputError(
                f"--metric {name!r}: {apart}",
                advice="compare results whose experiment's meters have the same scope",
            )
        other = near(name, list(shared))
        raise WrongInputError(f"--metric {name!r}: the two do not both have it; {other}")
    left_out = [name for name in wanted if apart and is_of_power(name)]
    wanted = [name for name in wanted if name not in left_out]
    common = [shared[name] for name in wanted if name in shared]
    compared = _compare(
        baseline, candidate, common or [next(iter(shared.values()))], _margin(margin, baseline)
    )
    hosts = host_differences(baseline.trials, candidate.trials)
    sides = {side.label: side.trials for side in (baseline, candidate)}
    notices = notices_of(sides, compared, wanted) + notices_of_hosts(hosts)
    notices += notices_of_power(apart, compared, left_out)
    if output.json:
        told = [
            {"metric": metric.model_dump(), "comparison": report.model_dump()}
            for metric, report in compared
        ]
        document = {
            "version": 1,
            **told[0],
            "further": told[1:],
            "hosts": [each.model_dump() for each in hosts],
            "notices": [notice.model_dump() for notice in notices],
        }
        say_document(json.dumps(document, indent=2))
    else:
        _print(compared, hosts, notices)
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


def _shared_metrics(baseline: Side, candidate: Side, *, with_power: bool) -> dict[str, MetricInfo]:
    """The figures that both have, by name; without those of power where scopes differ."""
    for side in (baseline, candidate):
        if not side.trials:
            raise WrongInputError(
                f"{side.label} has no valid trial, so there is nothing to compare",
                advice=f"loadstone show {side.folder.path.name} says why",
            )
    theirs = {
        info.name
        for info in metric_infos(candidate.trials)
        if with_power or not is_of_power(info.name)
    }
    shared = {info.name: info for info in metric_infos(baseline.trials) if info.name in theirs}
    if not shared:
        raise WrongInputError(
            f"{baseline.label} and {candidate.label} have no figure in common",
            advice="compare two results of the same workload",
        )
    return shared


def _judged_metrics(experiment: Experiment) -> list[str]:
    """A single run has no verdicts, and is judged by response time here if load has a rate.

    A baseline is judged by each of its tests, all together.
    """
    if experiment.named_metrics:
        return experiment.named_metrics
    if answers_to_rate(experiment):
        return [RESPONSE_P95]
    tests = [step.metric for step in workload_of(experiment.workload).steps() if step.column]
    return tests or judged_metrics(experiment)


def _print(
    compared: Sequence[tuple[MetricInfo, ComparisonReport]],
    hosts: Sequence[HostDifference],
    notices: Sequence[Notice],
) -> None:
    console = out()
    if len(compared) >= _FEWEST_FOR_TABLE:
        console.print(_table(compared))
    else:
        for metric, report in compared:
            _print_comparison(console, metric, report)
    _, first = compared[0]
    if hosts:
        title = "Two hosts" if are_two_hosts(hosts) else "One host"
        table = plain_table("", first.baseline, first.candidate, title=title, whole=("",))
        for each in hosts:
            table.add_row(each.fact, each.baseline, each.candidate)
        console.print(table)
    shown, rest = _without_hosts(first.differences) if hosts else (first.differences, "")
    console.print(
        ("What else differs:" if hosts else "What differs:") if shown else "Nothing else differs."
    )
    for difference in shown:
        console.print(f"  {difference}", markup=False)
    if rest:
        console.print(f"  {rest}", markup=False)
    for notice in notices:
        console.print(f"{notice.severity}: {notice.message}", markup=False)
        if notice.advice:
            console.print(f"  {notice.advice}", markup=False)


def _without_hosts(differences: Sequence[str]) -> tuple[list[str], str]:
    """What differs beside the facts of the hosts, and how many of those there are."""
    shown = [each for each in differences if not each.startswith(_HOST_FACTS)]
    count = len(differences) - len(shown)
    rest = (
        f"and {count} facts of processor, memory, disks, firmware and mitigations: --json has them"
    )
    return shown, rest if count else ""


def _table(compared: Sequence[tuple[MetricInfo, ComparisonReport]]) -> Table:
    """A row for each metric: of many, a block each is too much to read."""
    _, first = compared[0]
    unit = {metric.unit for metric, _ in compared}
    title = f"{first.candidate} against {first.baseline}, {', '.join(sorted(unit))}"
    table = plain_table(
        "", "first", "second", "ratio", "interval", "p", "verdict", title=title, whole=("",)
    )
    for metric, report in compared:
        means = (report.baseline_mean, report.candidate_mean)
        table.add_row(
            metric.name.removesuffix(" mb_per_s"),
            *("" if mean is None else number(mean) for mean in means),
            ratio(report.ratio, report.low, report.high),
            ratio_interval(report.low, report.high),
            p_value(report.p_adjusted).removeprefix("p "),
            verdict(report),
        )
    return table


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
