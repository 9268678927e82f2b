"""The driver's ticks as columns over time and as latency distributions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from loadstone.protocol.frames import Tick
from loadstone.report.model.trials import Curve, PhaseSpan, Series
from loadstone.results.latency import merge, percentile_curve, percentiles
from loadstone.results.record import PhaseTiming

MOST_POINTS = 600
"""Points of a chart over time; longer trials are drawn with several ticks a point."""

_SHORTEST_SHARE = 0.5
"""A tick shorter than this share of the usual one is drawn together with its neighbour."""

_SHOWN_PERCENTILES = (50.0, 95.0, 99.0)
_GROUP_PERCENTILES = {50.0: "p50_ms", 99.0: "p99_ms", 100.0: "max_ms"}


def origin_s(phases: Sequence[PhaseTiming], ticks: Sequence[Tick]) -> float:
    """Begin of the first phase, seconds since the driver's start: zero of all charts."""
    if phases:
        return phases[0].from_s
    return ticks[0].from_s if ticks else 0.0


def phase_spans(
    phases: Sequence[PhaseTiming], ticks: Sequence[Tick], origin: float
) -> list[PhaseSpan]:
    """Phases on the time axis; of a trial that did not end, as far as its ticks tell."""
    if phases:
        return [
            PhaseSpan(name=p.name, kind=p.kind, from_s=p.from_s - origin, to_s=p.to_s - origin)
            for p in phases
        ]
    spans: list[PhaseSpan] = []
    for tick in ticks:
        begin = tick.from_s - origin
        if spans and spans[-1].name == tick.phase:
            begin = spans.pop().from_s
        elif any(span.name == tick.phase for span in spans):
            continue  # what an earlier phase left to be done
        spans.append(
            PhaseSpan(name=tick.phase, kind=tick.phase_kind, from_s=begin, to_s=tick.to_s - origin)
        )
    return spans


def load_series(ticks: Sequence[Tick], origin: float) -> Series:
    """Throughput, errors, response-time percentiles and the generator's health over time.

    Percentiles of several ticks are read from their merged histograms, never averaged.

    Args:
        ticks: Of the trial, in order.
        origin: Zero of the charts, seconds since the driver's start.
    """
    intervals = _intervals(ticks)
    return _series(intervals, [_row(interval) for interval in intervals], origin)


def group_series(
    ticks: Sequence[Tick], origin: float, groups: Mapping[str, Sequence[str]]
) -> Series:
    """Response times of each group of clients over time: median, 99th percentile and longest.

    Args:
        ticks: Of the trial, in order.
        origin: Zero of the charts, seconds since the driver's start.
        groups: Name: its operations, whose histograms are merged.
    """
    intervals = _intervals(ticks) if groups else []
    return _series(intervals, [_group_row(interval, groups) for interval in intervals], origin)


def workload_series(ticks: Sequence[Tick], origin: float) -> Series:
    """What the workload itself tells: its counters as rates, its gauges at their highest."""
    intervals = [interval for interval in _intervals(ticks) if interval.tells]
    return _series(intervals, [_own_row(interval) for interval in intervals], origin)


def _series(
    intervals: Sequence[_Interval], rows: Sequence[Mapping[str, float]], origin: float
) -> Series:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return Series(
        t_s=[_short((each.from_s + each.to_s) / 2 - origin) for each in intervals],
        columns={name: [_optional(row.get(name)) for row in rows] for name in names},
    )


def curves(ticks: Iterable[Tick]) -> list[Curve]:
    """Latency distributions of the measured phase: response and service time per operation."""
    encoded: dict[str, tuple[list[str], list[str]]] = {}
    for tick in ticks:
        if tick.phase_kind != "measure":
            continue
        for name, operation in tick.operations.items():
            response, service = encoded.setdefault(name, ([], []))
            if operation.response:
                response.append(operation.response)
            if operation.service:
                service.append(operation.service)
    found: list[Curve] = []
    for name, (response, service) in encoded.items():
        points = _points(response)
        if points:
            found.append(Curve(operation=name, kind="response", points=points))
        points = _points(service)
        if points:
            found.append(Curve(operation=name, kind="service", points=points))
    return found


def _points(encoded: Sequence[str]) -> list[tuple[float, float]]:
    curve = percentile_curve(merge(encoded))
    return [(round(percentile, 5), _short(value_s * 1000)) for percentile, value_s in curve]


@dataclass(frozen=True)
class _Interval:
    """Ticks that are drawn as one point."""

    ticks: list[Tick]

    @property
    def from_s(self) -> float:
        return self.ticks[0].from_s

    @property
    def to_s(self) -> float:
        return self.ticks[-1].to_s

    @property
    def duration_s(self) -> float:
        return self.to_s - self.from_s

    @property
    def phase(self) -> str:
        return self.ticks[0].phase

    @property
    def tells(self) -> bool:
        """Whether the workload said anything of its own."""
        return any(tick.counters or tick.gauges for tick in self.ticks)


def _intervals(ticks: Sequence[Tick]) -> list[_Interval]:
    """One per point: of one phase, and not too short to give a rate."""
    seconds = _same_time(ticks)
    if not seconds:
        return []
    usual_s = sorted(second.duration_s for second in seconds)[len(seconds) // 2]
    wanted_s = usual_s * ceil(len(seconds) / MOST_POINTS)
    joined: list[_Interval] = []
    for second in seconds:
        last = joined[-1] if joined else None
        if last is not None and last.phase == second.phase:
            is_short = min(last.duration_s, second.duration_s) < _SHORTEST_SHARE * usual_s
            if last.duration_s + second.duration_s <= wanted_s * 1.01 or is_short:
                last.ticks.extend(second.ticks)
                continue
        joined.append(second)
    return joined


def _same_time(ticks: Sequence[Tick]) -> list[_Interval]:
    """Ticks of the same second together.

    Operations that were due in one phase and done in the next come in a tick of their own, of the
    old phase over the new one's time: without this they would look like a second of silence.
    """
    together: list[_Interval] = []
    for tick in ticks:
        if together and tick.from_s < together[-1].to_s:
            together[-1].ticks.append(tick)
        elif tick.duration_s > 0:
            together.append(_Interval([tick]))
    return together


def _row(interval: _Interval) -> dict[str, float]:
    group, duration_s = interval.ticks, interval.duration_s
    done = errors = 0
    by_operation: dict[str, list[str]] = {}
    for tick in group:
        for name, operation in tick.operations.items():
            done += operation.count
            errors += sum(operation.errors.values())
            if operation.response:
                by_operation.setdefault(name, []).append(operation.response)
    row = {"throughput_per_s": done / duration_s, "errors_per_s": errors / duration_s}
    everything = [text for texts in by_operation.values() for text in texts]
    for percentile, value_s in percentiles(merge(everything), _SHOWN_PERCENTILES).items():
        row[f"p{percentile:g}_ms"] = value_s * 1000
    row["users"] = max(tick.users for tick in group)
    row["queued"] = max(tick.queued for tick in group)
    lag = percentiles(merge(tick.lag for tick in group if tick.lag), (99.0,))
    if lag:
        row["lag_p99_ms"] = lag[99.0] * 1000
    cpu_s = sum(tick.cpu_user_s + tick.cpu_system_s for tick in group)
    engine_cpu_s = sum(tick.engine_cpu_s or 0.0 for tick in group)
    row["driver_cpu_percent"] = 100 * max(0.0, cpu_s - engine_cpu_s) / duration_s
    if any(tick.engine_cpu_s is not None for tick in group):
        row["engine_cpu_percent"] = 100 * engine_cpu_s / duration_s
    if len(by_operation) > 1:
        for name, texts in by_operation.items():
            for value_s in percentiles(merge(texts), (95.0,)).values():
                row[f"{name} p95_ms"] = value_s * 1000
    return row


def _group_row(interval: _Interval, groups: Mapping[str, Sequence[str]]) -> dict[str, float]:
    row = {}
    for name, operations in groups.items():
        texts = [
            text
            for tick in interval.ticks
            for operation in operations
            if operation in tick.operations and (text := tick.operations[operation].response)
        ]
        for percentile, value_s in percentiles(merge(texts), tuple(_GROUP_PERCENTILES)).items():
            row[f"{name} {_GROUP_PERCENTILES[percentile]}"] = value_s * 1000
    return row


def _own_row(interval: _Interval) -> dict[str, float]:
    counted: Counter[str] = Counter()
    row: dict[str, float] = {}
    for tick in interval.ticks:
        counted.update(tick.counters)
        for name, value in tick.gauges.items():
            row[name] = max(value, row.get(name, value))
    return row | {f"{name}_per_s": count / interval.duration_s for name, count in counted.items()}


def _short(value: float) -> float:
    """Five digits: all that a chart can show, and a report half the size."""
    return float(f"{value:.5g}")


def _optional(value: float | None) -> float | None:
    return None if value is None else _short(value)
