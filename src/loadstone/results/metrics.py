"""All figures of a trial by name: of its workload, operations and measured phases."""

from __future__ import annotations

from collections.abc import Iterable

from loadstone.results.record import (
    MeasuredPhaseRecord,
    MetricValue,
    OperationSummary,
    TrialResult,
)

RESPONSE_P50, RESPONSE_P95, RESPONSE_P99 = (f"response_{p}_ms" for p in ("p50", "p95", "p99"))
"""Response times of the operations that a workload is judged by, of all of them together."""
_PERCENTILES = (("p50", "p50_s"), ("p95", "p95_s"), ("p99", "p99_s"), ("p99.9", "p999_s"))


def all_metrics(result: TrialResult) -> list[MetricValue]:
    """A trial's metrics, then those of each measured phase, if it has several.

    Percentiles of response time per operation are added where they are missing.
    """
    return figures_of(result.metrics, result.operations, result.measured)


def figures_of(
    metrics: Iterable[MetricValue],
    operations: Iterable[OperationSummary],
    phases: Iterable[MeasuredPhaseRecord],
) -> list[MetricValue]:
    """As `all_metrics`, of a trial that has no record yet."""
    own = list(metrics)
    known = {metric.name for metric in own}
    for operation in operations:
        own.extend(value for value in _latencies(operation) if value.name not in known)
    own.extend(_of_phase(phase.name, metric) for phase in phases for metric in phase.metrics)
    return own


def _of_phase(phase: str, metric: MetricValue) -> MetricValue:
    label = f"{phase}, {metric.label or metric.name}"
    return metric.model_copy(update={"name": f"{phase} {metric.name}", "label": label})


def _latencies(operation: OperationSummary) -> list[MetricValue]:
    if operation.response is None:
        return []
    return [
        MetricValue(
            name=f"{operation.name} {short}",
            value=getattr(operation.response, field) * 1000,
            unit="ms",
            higher_is_better=False,
            label=f"{operation.name}, response time {short}",
        )
        for short, field in _PERCENTILES
    ]
