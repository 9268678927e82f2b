"""What happened at a moment of a trial, as marks on its charts."""

from __future__ import annotations

from loadstone.report.happenings import Happenings
from loadstone.report.model.trials import Mark
from loadstone.results.statistics.coincidence import Span
from loadstone.targets.happenings import CHECKPOINT

_TOLD = "workload"
"""Kind of the events that a workload's sessions tell."""


def marks(happened: Happenings, span: Span) -> list[Mark]:
    """Marks in order of time: what the workload told, outages, and the target's checkpoints.

    Args:
        happened: In the trial.
        span: What the charts show of it; they begin at 0. A checkpoint that was going on then is
            marked there.
    """
    origin = span[0]
    told = [
        Mark(t_s=_short(event.t_s - origin), kind=event.name, data=dict(event.data))
        for event in happened.events
        if event.kind == _TOLD
    ]
    outages = [
        Mark(t_s=_short(each.from_s - origin), to_s=_short(each.to_s - origin), kind=each.kind)
        for each in happened.outages
    ]
    checkpoints = [
        Mark(
            t_s=_short(max(0.0, each.from_s - origin)),
            kind=each.kind,
            data={"cause": each.detail} if each.detail else {},
        )
        for each in happened.of_engine(span)
        if each.kind == CHECKPOINT
    ]
    return sorted([*told, *outages, *checkpoints], key=lambda mark: mark.t_s)


def _short(t_s: float) -> float:
    """To the millisecond."""
    return round(t_s, 3)
