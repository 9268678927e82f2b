"""A variant's figures: each metric over its valid trials, with an interval and its outliers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from sys import float_info

from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.model.variants import Figure, MetricInfo, VariantReport
from loadstone.report.reading import RecordedTrial
from loadstone.results.by_block import means_by_block
from loadstone.results.metrics import all_metrics, marked
from loadstone.results.record import MetricValue
from loadstone.results.statistics import outliers, summarize
from loadstone.results.statistics.verdicts import ratio_of


def metric_infos(trials: Iterable[RecordedTrial]) -> list[MetricInfo]:
    """Every metric that any trial has, in the order in which they first appear."""
    first: dict[str, MetricValue] = {}
    marks: dict[str, dict[str, None]] = {}
    for trial in trials:
        for metric in all_metrics(trial.result):
            first.setdefault(metric.name, metric)
            if metric.mark:
                marks.setdefault(metric.name, {})[metric.mark] = None
    return [_info(metric, ", ".join(marks.get(name, {}))) for name, metric in first.items()]


def _info(metric: MetricValue, mark: str) -> MetricInfo:
    return MetricInfo(
        name=metric.name,
        label=metric.label or metric.name.replace("_", " "),
        unit=marked(metric.unit, mark),
        higher_is_better=metric.higher_is_better,
        mark=mark,
    )


def values_of(trials: Sequence[RecordedTrial], metric: str) -> tuple[list[float], list[str]]:
    """The metric's values and the trials that they are of, same order."""
    values: list[float] = []
    names: list[str] = []
    for trial in trials:
        for found in all_metrics(trial.result):
            if found.name == metric:
                values.append(found.value)
                names.append(trial.result.trial)
    return values, names


class NotComparableError(Exception):
    """Trials have no figures that a ratio can be made of; the message says so to people."""

    advice = "run the experiment again, with more repeats if trials keep failing"


class NoRatioError(NotComparableError):
    """The trials themselves say that no ratio is to be made of their figures."""

    advice = "the figures stand by themselves; change the load, or what makes them no measure"


def to_compare(trials: Sequence[RecordedTrial], metric: MetricInfo, of: str) -> dict[int, float]:
    """Block: the metric's value in it, for a comparison by ratio.

    Of a trial and the one that was made in its place, where both count, it is the geometric mean.

    Args:
        trials: Those that count. One of whose figures no ratio may be made (a load that was not
            reached) is left out.
        metric: What is compared.
        of: Whose trials they are, for the message.

    Raises:
        NotComparableError: If there is no value, or one that is not above 0.
    """
    if not trials:
        raise NotComparableError(f"{of} has no valid trial")
    refused = [trial.result.no_ratio for trial in trials if trial.result.no_ratio]
    if len(refused) == len(trials):
        raise NoRatioError(f"{of}: {refused[0]}")
    trials = [trial for trial in trials if not trial.result.no_ratio]
    values, names = values_of(trials, metric.name)
    blocks = {trial.result.trial: trial.result.block for trial in trials}
    if not values:
        raise NotComparableError(f"no valid trial of {of} has a figure of {metric.label}")
    for value, name in zip(values, names, strict=True):
        if not (math.isfinite(value) and value > 0):
            raise NotComparableError(
                f"{metric.label} of {name} is {value:g} {metric.unit}".rstrip()
                + ": a ratio needs figures above 0"
            )
    return means_by_block((blocks[name], value) for value, name in zip(values, names, strict=True))


def with_compared(
    variants: Sequence[VariantReport], comparisons: Sequence[ComparisonReport]
) -> list[VariantReport]:
    """The variants with what verdicts are about, so that it agrees with the change beside it.

    That of the first is the geometric mean of its trials. That of another is its baseline's times
    the ratio of the two, which is of their common blocks only.

    Args:
        variants: In the design's order.
        comparisons: On any metrics; of a ladder, those with the rung before come first.
    """
    by_metric: dict[str, list[ComparisonReport]] = {}
    for comparison in comparisons:
        by_metric.setdefault(comparison.metric, []).append(comparison)
    means = {metric: _means(variants, own, metric) for metric, own in by_metric.items()}

    def told(figure: Figure, variant: str) -> Figure:
        mean = means.get(figure.metric, {}).get(variant)
        return figure if mean is None else figure.model_copy(update={"compared": mean})

    return [
        variant.model_copy(
            update={"figures": [told(each, variant.name) for each in variant.figures]}
        )
        for variant in variants
    ]


def _means(
    variants: Sequence[VariantReport], comparisons: Sequence[ComparisonReport], metric: str
) -> dict[str, float]:
    logs: dict[str, float] = {}  # their sum is never beyond all numbers
    held = {each.candidate for each in comparisons}
    for variant in sorted(variants, key=lambda each: each.name in held):  # references first
        own = next((each for each in comparisons if each.candidate == variant.name), None)
        figure = next((each for each in variant.figures if each.metric == metric), None)
        if own is not None and own.baseline in logs:
            logs[variant.name] = logs[own.baseline] + math.log(max(own.ratio, float_info.min))
        elif figure is not None and min(figure.values) > 0:
            logs[variant.name] = math.fsum(map(math.log, figure.values)) / figure.n
    return {name: ratio_of(log) for name, log in logs.items()}


def own_means(
    comparison: ComparisonReport, baseline: Figure | None, candidate: Figure | None
) -> tuple[float, float] | None:
    """The two means that a change is of, where those shown for the two would contradict it.

    Where trials are missing, or stages were made at other times, a rung may be above the baseline
    by way of the rungs between and below it in the blocks that have both.

    Args:
        comparison: Whose change is shown.
        baseline: What is shown of its baseline.
        candidate: What is shown of its candidate.

    Returns:
        Baseline and candidate; None if what is shown agrees with the change.
    """
    shown = [each.compared for each in (baseline, candidate) if each and each.compared is not None]
    own = comparison.baseline_mean, comparison.candidate_mean
    if len(shown) < 2 or own[0] is None or own[1] is None:
        return None
    contradicts = (shown[1] - shown[0]) * (comparison.ratio - 1.0) < 0.0
    return (own[0], own[1]) if contradicts else None


def figures(
    valid_trials: Sequence[RecordedTrial], metrics: Sequence[MetricInfo], confidence: float
) -> list[Figure]:
    """Medians with intervals of all metrics that these trials have.

    Args:
        valid_trials: Trials of one variant whose figures count.
        metrics: Metrics of the experiment.
        confidence: Of the interval, 0 to 1.
    """
    found: list[Figure] = []
    for metric in metrics:
        values, names = values_of(valid_trials, metric.name)
        if not values:
            continue
        summary = summarize(values, confidence=confidence)
        found.append(
            Figure(
                metric=metric.name,
                n=summary.n,
                median=summary.median,
                low=summary.low,
                high=summary.high,
                interval_is_range=summary.interval_is_range,
                values=values,
                trials=names,
                outliers=[names[position] for position in outliers(values)],
            )
        )
    return found
