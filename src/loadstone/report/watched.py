"""What the execution-time graph of a workload shows."""

from __future__ import annotations

from loadstone.errors import WrongInputError
from loadstone.experiments.model import WorkloadSpec
from loadstone.report.marks import CHECKPOINT
from loadstone.report.model import Watched
from loadstone.workloads.registry import workload_of


def watched(spec: WorkloadSpec) -> Watched | None:
    """The operations that the workload is judged by, their threshold, and its flow.

    Returns:
        None if it is judged by no operations of its own, or this Loadstone does not know it.
    """
    try:
        workload = workload_of(spec)
    except WrongInputError:
        return None
    operations = workload.judged_by()
    if not operations:
        return None
    flow, slow_after_s = workload.flow(), workload.slow_after_s()
    marks = workload.marks()
    return Watched(
        operations=list(operations),
        threshold_ms=None if slow_after_s is None else slow_after_s * 1e3,
        offered=f"{flow.offered}_per_s" if flow else None,
        lost=f"{flow.lost}_per_s" if flow else None,
        backlog=flow.backlog if flow else None,
        marks=[*marks, CHECKPOINT] if marks else [],
    )
