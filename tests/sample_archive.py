"""Frames of a made-up trial of an event archive: grid-paced inserts, switches, a stall, a loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hdrh.histogram import HdrHistogram

from loadstone.report.model.trials import Watched
from loadstone.results.record import OutageRecord

OFFERED_PER_S = (20_000, 35_000)
"""Events offered in the first half of the measured phase, and in the second."""
SWITCHES_S = (14.2, 31.4, 45.8)
"""When segments were switched, on the driver's clock."""
STALL_S = (31.0, 35.0)
"""Between these inserts take seconds, and buffers fill."""
LOST_EVENTS = 4_321
THRESHOLD_MS = 1000.0
GROUPS = {
    "stations": ["insert"],
    "operators": ["element-window", "group-last", "minute"],
    "attendants": ["switch", "preallocate", "close", "visible"],
}
PAUSE = OutageRecord(kind="pause", from_s=STALL_S[0], to_s=STALL_S[1] - 0.2, back_s=0.2)
"""Why inserts stall."""
WATCHED = Watched(
    groups=GROUPS,
    operations=["insert"],
    threshold_ms=THRESHOLD_MS,
    offered="events_offered_per_s",
    lost="events_lost_per_s",
    backlog="events_buffered",
    marks=["segment-switch", "checkpoint"],
)

_BEGIN_S, _WARM_UP_S, _MEASURE_S = 0.25, 5.0, 50.0


def frames() -> list[dict[str, Any]]:
    """All frames, as the driver writes them; the same at every call."""
    rng = np.random.default_rng(4)
    hello = {
        "frame": "hello", "t_s": 0.0, "version": 4, "driver": "0.1.0", "pid": 4711, "threads": 1,
        "workload": "archive", "operations": ["insert", "minute", "visible"], "unix_time_s": 1.79e9,
        "monotonic_s": 100.0, "nofile": 65536, "clock_resolution_ns": 1,
    }  # fmt: skip
    seconds = [_tick(second, rng) for second in range(int(_WARM_UP_S + _MEASURE_S))]
    told = [event for n, t_s in enumerate(SWITCHES_S, 2) for event in _switch(n, t_s)]
    return [hello, *sorted([*seconds, *told], key=lambda frame: frame["t_s"])]


def _switch(number: int, t_s: float) -> list[dict[str, Any]]:
    common = {"frame": "event", "kind": "workload"}
    create = {"number": number, "create_s": 0.031}
    switch = {"number": number, "switch_s": 0.012, "create_s": 0.0, "preallocated": 1}
    close = {"number": number - 1, "close_s": 1.9, "index_s": 0.0, "analyse_s": 1.9}
    return [
        {**common, "t_s": t_s - 3.0, "name": "segment-create", "data": create},
        {**common, "t_s": t_s, "name": "segment-switch", "data": switch},
        {**common, "t_s": t_s + 7.5, "name": "segment-close", "data": close},
    ]


def _tick(second: int, rng: np.random.Generator) -> dict[str, Any]:
    from_s = _BEGIN_S + second
    phase = "warm-up" if second < _WARM_UP_S else "measure"
    offered = OFFERED_PER_S[second >= _WARM_UP_S + _MEASURE_S / 2]
    stalled = STALL_S[0] <= from_s < STALL_S[1]
    near_switch = any(abs(from_s - t_s) < 1.5 for t_s in SWITCHES_S)
    median_ms = 2600.0 if stalled else 95.0 if near_switch else 42.0
    times_ms = rng.lognormal(math.log(median_ms), 0.25, 35)
    waited = max(0.0, min(from_s, STALL_S[1]) - STALL_S[0]) if from_s < STALL_S[1] + 2 else 0.0
    lost = LOST_EVENTS if STALL_S[1] - 1 <= from_s < STALL_S[1] else 0
    operations = {"insert": _operation(times_ms)}
    if not stalled:
        operations["minute"] = _operation(rng.lognormal(math.log(6.0), 0.4, 8))
        operations["visible"] = _operation(rng.lognormal(math.log(1.5), 0.3, 1))
    return {
        "frame": "tick", "t_s": from_s + 1, "seq": second, "phase": phase, "phase_kind": phase,
        "from_s": from_s, "to_s": from_s + 1, "operations": operations, "lag": None,
        "late_starts": 0, "dropped": 0, "due": 35, "users": 37, "in_flight": 1, "queued": 0,
        "reconnects": 0, "cpu_user_s": 0.01, "cpu_system_s": 0.004, "rss_bytes": 9_000_000,
        "counters": {
            "events_offered": offered, "events_accepted": offered - lost,
            "events_stored": 0 if stalled else offered, "events_lost": lost,
            "inserts_over_threshold": int((times_ms > THRESHOLD_MS).sum()),
            "bytes_sent": 45 * offered,
        },
        "gauges": {
            "events_buffered": 0.04 * offered + waited * offered,
            "deepest_buffer": 60_000 if lost else 0.002 * offered,
        },
    }  # fmt: skip


def _operation(times_ms: np.ndarray) -> dict[str, Any]:
    return {
        "count": len(times_ms), "rolled_back": 0, "errors": {}, "retries": {},
        "response": histogram(times_ms), "service": histogram(times_ms),
    }  # fmt: skip


def histogram(times_ms: np.ndarray) -> str:
    """The times as HdrHistogram V2, base64, in nanoseconds."""
    made = HdrHistogram(1, 60_000_000_000, 3)
    for time_ms in times_ms:
        made.record_value(int(time_ms * 1e6))
    return str(made.encode().decode())
