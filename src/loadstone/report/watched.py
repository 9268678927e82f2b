"""What the execution-time graph of a workload shows."""

from __future__ import annotations

from loadstone.report.model.trials import Watched
from loadstone.targets.happenings import CHECKPOINT
from loadstone.workloads.base import AnyWorkload


def watched(workload: AnyWorkload) -> Watched | None:
    """The groups of clients of the workload, what it is judged by, and its flow.

    Returns:
        None if it names no groups: there is no such graph.
    """
    charts = workload.charts()
    if not charts.lines:
        return None
    flow, slow_after_s = charts.flow, charts.slow_after_s
    return Watched(
        groups={name: list(operations) for name, operations in charts.lines.items()},
        operations=list(charts.judged),
        threshold_ms=None if slow_after_s is None else slow_after_s * 1e3,
        offered=f"{flow.offered}_per_s" if flow else None,
        lost=f"{flow.lost}_per_s" if flow else None,
        backlog=flow.backlog if flow else None,
        marks=[*charts.marks, CHECKPOINT] if charts.marks else [],
    )
