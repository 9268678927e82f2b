"""What happened at a moment of a trial, as marks on its charts."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from loadstone.load.frames import Event
from loadstone.report.model import Mark
from loadstone.report.probe_series import is_host

CHECKPOINT = "checkpoint"
"""Kind of the marks of a target's checkpoints."""

_TOLD = "workload"
"""Kind of the events that a workload's sessions tell."""

_CHECKPOINTS = "^checkpoints_.*_count$"
"""Metrics of targets that count the checkpoints since the last sample."""


def marks(events: Iterable[Event], samples: pa.Table | None, origin: float) -> list[Mark]:
    """Marks in order of time: what the workload told, and the checkpoints of the target.

    Args:
        events: Of the driver.
        samples: Of the probes: `t_s`, `probe`, `metric`, `value`.
        origin: Zero of the charts, seconds since the driver's start.
    """
    told = [
        Mark(t_s=_short(event.t_s - origin), kind=event.name, data=dict(event.data))
        for event in events
        if event.kind == _TOLD
    ]
    return sorted(told + _checkpoints(samples, origin), key=lambda mark: mark.t_s)


def _checkpoints(samples: pa.Table | None, origin: float) -> list[Mark]:
    """One for each sample in whose interval a checkpoint began."""
    if samples is None:
        return []
    is_count = pc.match_substring_regex(samples["metric"], _CHECKPOINTS)
    counted = samples.filter(pc.and_(is_count, pc.greater(samples["value"], 0)))
    times = {
        row["t_s"]: row["metric"].removeprefix("checkpoints_").removesuffix("_count")
        for row in counted.to_pylist()
        if not is_host(row["probe"])
    }
    return [
        Mark(t_s=_short(t_s - origin), kind=CHECKPOINT, data={"cause": cause})
        for t_s, cause in times.items()
    ]


def _short(t_s: float) -> float:
    """To the millisecond."""
    return round(t_s, 3)
