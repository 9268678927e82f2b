"""All figures of a trial by name: of its workload, operations and measured phases."""

from __future__ import annotations

from collections.abc import Iterable

from loadstone.results.power import PowerRecord
from loadstone.results.record import (
    MeasuredPhaseRecord,
    MetricValue,
    OperationSummary,
    RequestSummary,
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


def marked(unit: str, mark: str) -> str:
    """A unit with what marks the figures before it: `W (simulated)`."""
    return f"{unit} ({mark})".lstrip() if mark else unit


def power_metrics(result: TrialResult) -> list[MetricValue]:
    """What each meter read, over the trial and over each of its measured phases.

    Like the figures of requests they are for tables of all figures: nothing is compared by them.
    Names are `power pdu/wall watts`, those of a phase with its name before.
    """
    return [
        *_of_meters("", result.power),
        *(
            value
            for phase in result.measured
            for value in _of_meters(f"{phase.name} ", phase.power)
        ),
    ]


def _of_meters(before: str, records: Iterable[PowerRecord]) -> list[MetricValue]:
    figures: list[tuple[PowerRecord, str, float | None, str]] = [
        (record, what, value, unit)
        for record in records
        for what, value, unit in (
            ("watts", record.watts, "W"),
            ("joules", record.joules, "J"),
            ("covered", 100 * record.covered, "%"),
        )
    ]
    return [
        MetricValue(
            name=f"{before}power {record.meter}/{record.channel} {what}",
            value=value,
            unit=unit,
            label=f"{before}{record.meter}, {record.scope}: {what}",
            mark=mark_of([record]),
        )
        for record, what, value, unit in figures
        if value is not None
    ]


def mark_of(records: Iterable[PowerRecord]) -> str:
    """What stands behind each figure that is of these: `simulated`, `estimated`, or both."""
    own = list(records)
    marks = {
        "simulated": any(record.simulated for record in own),
        "estimated": any(record.estimated for record in own),
    }
    return ", ".join(mark for mark, holds in marks.items() if holds)


def level_metrics(result: TrialResult) -> list[MetricValue]:
    """What each level of a graduated load did, for tables of all figures."""
    graduated = result.graduated
    if graduated is None:
        return []
    return [
        MetricValue(
            name=f"level {level.name} {what}",
            value=value,
            unit=unit,
            higher_is_better=better,
            mark=graduated.mark if of_power else "",
        )
        for level in graduated.levels
        for what, value, unit, better, of_power in (
            ("achieved", level.achieved_per_s, graduated.unit, True, False),
            ("watts", level.watts, "W", False, True),
            ("per watt", level.per_watt, f"{graduated.unit} per W", True, True),
            ("per operation", level.joules_per_operation, "J", False, True),
            ("p50", _milliseconds(level.p50_s), "ms", False, False),
            ("p95", _milliseconds(level.p95_s), "ms", False, False),
            ("p99", _milliseconds(level.p99_s), "ms", False, False),
        )
        if value is not None
    ]


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else 1e3 * seconds


def request_metrics(result: TrialResult) -> list[MetricValue]:
    """Figures of the requests that a trial's operations are made of, for tables of all figures.

    They are not among its metrics: nothing is compared by them.
    """
    return [
        value
        for operation in result.operations
        for request in operation.requests
        for value in _of_request(f"{operation.name}/{request.name}", request)
    ]


def _of_request(name: str, request: RequestSummary) -> list[MetricValue]:
    figures: list[tuple[str, float | None, str, bool | None]] = [
        ("count", float(request.count), "requests", None),
        ("rate", request.rate_per_s, "requests/s", True),
        ("errors", float(sum(request.errors.values())), "requests", False),
        *((f"errors {kind}", float(n), "requests", False) for kind, n in request.errors.items()),
        ("resent", float(sum(request.resent.values())), "requests", False),
        *((f"resent {kind}", float(n), "requests", False) for kind, n in request.resent.items()),
        *((f"retried {kind}", float(n), "tries", False) for kind, n in request.retried.items()),
        *((f"mark {mark}", float(n), "requests", None) for mark, n in request.marks.items()),
    ]
    if request.service is not None:
        times = (("mean", "mean_s"), *_PERCENTILES[:3], ("max", "max_s"))
        figures += [
            (short, getattr(request.service, field) * 1000, "ms", False) for short, field in times
        ]
    return [
        MetricValue(name=f"{name} {what}", value=value, unit=unit, higher_is_better=better)
        for what, value, unit, better in figures
        if value is not None
    ]


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
