"""A variant's figures: each metric over its valid trials, with an interval and its outliers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loadstone.report.model import Figure, MetricInfo
from loadstone.report.reading import RecordedTrial
from loadstone.results.metrics import all_metrics
from loadstone.results.statistics import outliers, summarize


def metric_infos(trials: Iterable[RecordedTrial]) -> list[MetricInfo]:
    """Every metric that any trial has, in the order in which they first appear."""
    found: dict[str, MetricInfo] = {}
    for trial in trials:
        for metric in all_metrics(trial.result):
            found.setdefault(
                metric.name,
                MetricInfo(
                    name=metric.name,
                    label=metric.label or metric.name.replace("_", " "),
                    unit=metric.unit,
                    higher_is_better=metric.higher_is_better,
                ),
            )
    return list(found.values())


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
