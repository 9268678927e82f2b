"""The figures of the archive and how they are made from what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from hdrh.histogram import HdrHistogram

from loadstone.protocol.frames import Event, Tick
from loadstone.results.latency import count_above, merge, summarize_latency
from loadstone.results.record import LatencySummary, MetricValue
from loadstone.workloads.archive.parameters import INSERT, VISIBLE
from loadstone.workloads.measured import Measured, MetricSpec

HEADLINE = "events_stored_per_s"
SWITCHED, CLOSED = "segment-switch", "segment-close"
AROUND_S = 5.0
"""So long before and after a switch its effect on bulk inserts is looked for."""

METRICS = (
    MetricSpec(HEADLINE, "events stored", "events/s", True, follows_rate=True),
    MetricSpec("events_offered_per_s", "events offered", "events/s", True, follows_rate=True),
    MetricSpec(
        "events_accepted_per_s", "events accepted into buffers", "events/s", True, follows_rate=True
    ),
    MetricSpec("events_lost_per_s", "events lost at full buffers", "events/s", False),
    MetricSpec("insert_p50_ms", "bulk insert, median", "ms", False),
    MetricSpec("insert_p95_ms", "bulk insert, 95 %", "ms", False),
    MetricSpec("insert_p99_ms", "bulk insert, 99 %", "ms", False),
    MetricSpec("insert_max_ms", "bulk insert, longest", "ms", False),
    MetricSpec("inserts_over_threshold", "bulk inserts over the threshold", "inserts", False),
    MetricSpec("deepest_buffer", "deepest buffer of a station", "events", False),
    MetricSpec("visible_p99_ms", "from commit to visible, 99 %", "ms", False),
    MetricSpec("segment_switches", "segment switches", "switches", True),
    MetricSpec("switch_median_ms", "segment switch, median", "ms", False),
    MetricSpec("switch_max_ms", "segment switch, longest", "ms", False),
    MetricSpec("insert_before_switch_p99_ms", "bulk insert 5 s before a switch, 99 %", "ms", False),
    MetricSpec("insert_at_switch_p99_ms", "bulk insert during a switch, 99 %", "ms", False),
    MetricSpec("insert_after_switch_p99_ms", "bulk insert 5 s after a switch, 99 %", "ms", False),
    MetricSpec("close_median_ms", "closing a segment, median", "ms", False),
    MetricSpec("close_max_ms", "closing a segment, longest", "ms", False),
    MetricSpec("bytes_per_event", "database per event", "bytes", False),
    MetricSpec("log_bytes_per_event", "log per event", "bytes", False),
    MetricSpec("server_cpu_us", "server CPU per event", "us", False),
    MetricSpec("driver_cpu_us", "driver CPU per event", "us", False),
)


def metric_values(measured: Measured, threshold_s: float) -> list[MetricValue]:
    """The figures of a measured phase; one that has no meaning there is left out.

    Args:
        measured: Of a trial.
        threshold_s: A bulk insert that takes longer, from when it was due, counts as buffering.
    """
    values = {
        f"events_{name}_per_s": measured.counters[f"events_{name}"] / measured.duration_s
        for name in ("offered", "accepted", "stored", "lost")
        if f"events_{name}" in measured.counters
    }
    values |= _inserts(measured, threshold_s) | _switches(measured)
    values |= _closes(measured) | _per_event(measured)
    return [spec.of(values[spec.name]) for spec in METRICS if spec.name in values]


def _inserts(measured: Measured, threshold_s: float) -> dict[str, float]:
    values: dict[str, float] = {}
    inserts = _merged(measured.ticks, INSERT)
    if insert := summarize_latency(inserts):
        values |= {
            "inserts_over_threshold": count_above(inserts, threshold_s),
            "insert_p50_ms": insert.p50_s * 1e3,
            "insert_p95_ms": insert.p95_s * 1e3,
            "insert_p99_ms": insert.p99_s * 1e3,
            "insert_max_ms": insert.max_s * 1e3,
        }
    if visible := _response(measured.ticks, VISIBLE):
        values["visible_p99_ms"] = visible.p99_s * 1e3
    if "deepest_buffer" in measured.gauges:
        values["deepest_buffer"] = measured.gauges["deepest_buffer"]
    return values


def _switches(measured: Measured) -> dict[str, float]:
    """Switches of the measured phase, and bulk inserts around them."""
    if not measured.ticks:
        return {}
    told = _told(measured, SWITCHED)
    values: dict[str, float] = {"segment_switches": len(told)}
    if not told:
        return values
    lengths_s = [_length_s(event) for event in told]
    values |= _median_and_max("switch", lengths_s)
    spans = [(event.t_s - _length_s(event), event.t_s) for event in told]
    intervals = {
        "insert_before_switch_p99_ms": [(begin - AROUND_S, begin) for begin, _ in spans],
        "insert_at_switch_p99_ms": spans,
        "insert_after_switch_p99_ms": [(end, end + AROUND_S) for _, end in spans],
    }
    at = _within(measured.ticks, spans)
    for name, interval in intervals.items():
        ticks = _within(measured.ticks, interval)
        chosen = at if interval is spans else [tick for tick in ticks if tick not in at]
        if response := _response(chosen, INSERT):
            values[name] = response.p99_s * 1e3
    return values


def _closes(measured: Measured) -> dict[str, float]:
    """Segments that were closed in the measured phase."""
    lengths_s = [float(event.data["close_s"]) for event in _told(measured, CLOSED)]
    return _median_and_max("close", lengths_s) if lengths_s else {}


def _told(measured: Measured, name: str) -> list[Event]:
    """What was told by that name in the measured phase."""
    if not measured.ticks:
        return []
    begin_s, end_s = measured.ticks[0].from_s, max(tick.to_s for tick in measured.ticks)
    return [
        event for event in measured.events if event.name == name and begin_s <= event.t_s < end_s
    ]


def _median_and_max(name: str, lengths_s: Sequence[float]) -> dict[str, float]:
    return {f"{name}_median_ms": median(lengths_s) * 1e3, f"{name}_max_ms": max(lengths_s) * 1e3}


def _per_event(measured: Measured) -> dict[str, float]:
    values: dict[str, float] = {}
    stored = measured.counters.get("events_stored", 0)
    if stored:
        values["driver_cpu_us"] = measured.driver_cpu_s / stored * 1e6
        # After a restart of the server its counters begin anew.
        if measured.server_cpu_s is not None and measured.server_cpu_s > 0:
            values["server_cpu_us"] = measured.server_cpu_s / stored * 1e6
        written = _rise(measured.begin.counters, measured.end.counters, "log_bytes")
        if written is not None and written > 0:
            values["log_bytes_per_event"] = written / stored
    grown = _rise(measured.before, measured.after, "size_bytes")
    events = _rise(measured.before, measured.after, "events")
    if grown is not None and events:
        values["bytes_per_event"] = grown / events
    return values


def _rise(before: Mapping[str, float], after: Mapping[str, float], name: str) -> float | None:
    if name not in before or name not in after:
        return None
    return after[name] - before[name]


def _length_s(event: Event) -> float:
    """Making the segment counts where that was done at the switch."""
    return sum(float(event.data.get(name, 0.0)) for name in ("create_s", "switch_s"))


def _within(ticks: Sequence[Tick], intervals: Iterable[tuple[float, float]]) -> list[Tick]:
    """The ticks that overlap one of the intervals."""
    spans = list(intervals)
    return [
        tick
        for tick in ticks
        if any(tick.from_s <= end and begin < tick.to_s for begin, end in spans)
    ]


def _response(ticks: Iterable[Tick], operation: str) -> LatencySummary | None:
    return summarize_latency(_merged(ticks, operation))


def _merged(ticks: Iterable[Tick], operation: str) -> HdrHistogram:
    parts = [tick.operations[operation] for tick in ticks if operation in tick.operations]
    return merge(part.response for part in parts if part.response)
