"""Why it stalled: spikes of the response time beside what happened on the same clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from loadstone.load.totals import MEASURE
from loadstone.probes.marks import Figures, Mark
from loadstone.protocol.frames import Frame, Tick
from loadstone.report.happenings import Happenings
from loadstone.report.model.trials import HappeningReport, KindReport, SpikeReport, StallReport
from loadstone.results.latency import merge, percentiles
from loadstone.results.statistics.coincidence import (
    FEWEST_WINDOWS,
    Flags,
    KindResult,
    Span,
    coincidences,
    runs,
    touched,
    usual_limit,
)
from loadstone.workloads.base import AnyWorkload

MAX_DEVIATIONS, MAX_RATIO = 8.0, 3.0
"""The slowest operation of a window varies more than its 99th percentile."""
SHORTEST_SHARE = 0.5
"""A last tick shorter than this share of the others has too few operations to judge."""
TOLERANCE_SHARE = 0.1
"""Of a tick. A slow operation reaches back to its begin, so that what held it up lies within it."""
MOST_LISTED = 300
"""Spikes, and happenings of one kind, that a report lists."""
_EDGE = 1e-9


@dataclass(frozen=True)
class _Windows:
    """The measured phase in ticks: n + 1 edges, and n figures in seconds (NaN: nothing ended)."""

    edges_s: Figures
    p99_s: Figures
    max_s: Figures


@dataclass(frozen=True)
class _Limits:
    """Above which a window is slow, in seconds; None: that figure is not judged."""

    p99_s: float | None
    max_s: float | None
    own: bool
    """`max_s` is the workload's own, which lies below what stands out."""


def stall_report(
    workload: AnyWorkload, frames: Sequence[Frame], happened: Happenings, origin: float
) -> StallReport | None:
    """Lines up spikes and happenings of the measured phase.

    Args:
        workload: Says whose times are judged, and by what.
        frames: What the driver said.
        happened: In the trial.
        origin: Begin of the charts on the trial's clock.

    Returns:
        None for a trial that is too short for anything to be usual in it.
    """
    ticks = _whole_ticks(frames)
    if len(ticks) < FEWEST_WINDOWS:
        return None
    charts = workload.charts()
    windows = _windows(ticks, charts.judged)
    limits = _limits(windows, charts.slow_after_s)
    slow = _slow(windows, limits)
    marks = happened.within((float(windows.edges_s[0]), float(windows.edges_s[-1])))
    by_kind: dict[str, list[Span]] = {}
    for mark in marks:
        by_kind.setdefault(mark.kind, []).append((mark.from_s, mark.to_s))
    tolerance_s = TOLERANCE_SHARE * float(np.median(np.diff(windows.edges_s)))
    kinds = coincidences(windows.edges_s, slow, by_kind, tolerance_s=tolerance_s)
    covers = {kind: touched(windows.edges_s, by_kind[kind], tolerance_s) for kind in by_kind}
    return StallReport(
        operations=list(charts.judged),
        p99_limit_ms=_milliseconds(limits.p99_s),
        max_limit_ms=_milliseconds(limits.max_s),
        own_rule=limits.own,
        windows=int(slow.size),
        slow_windows=int(slow.sum()),
        spikes=[_spike(run, windows, kinds, covers, origin) for run in runs(slow)][:MOST_LISTED],
        kinds=[_kind(result) for result in kinds],
        happenings=_listed(marks, origin),
    )


# -- spikes ------------------------------------------------------------------------------------
def _whole_ticks(frames: Iterable[Frame]) -> list[Tick]:
    """Ticks of the measured phase in order; late ones hold what ended after it."""
    ticks = [
        frame
        for frame in frames
        if isinstance(frame, Tick) and frame.phase_kind == MEASURE and not frame.late
    ]
    if not ticks:
        return []
    usual_s = sorted(tick.duration_s for tick in ticks)[len(ticks) // 2]
    while ticks and ticks[-1].duration_s < SHORTEST_SHARE * usual_s:
        ticks.pop()
    return ticks


def _windows(ticks: Sequence[Tick], operations: Sequence[str]) -> _Windows:
    p99, longest = [], []
    for tick in ticks:
        texts = [
            operation.response
            for name, operation in tick.operations.items()
            if operation.response and (not operations or name in operations)
        ]
        at = percentiles(merge(texts), (99.0, 100.0))
        p99.append(at.get(99.0, np.nan))
        longest.append(at.get(100.0, np.nan))
    edges = [ticks[0].from_s, *(tick.to_s for tick in ticks)]
    return _Windows(np.array(edges), np.array(p99), np.array(longest))


def _limits(windows: _Windows, own_s: float | None) -> _Limits:
    """What is usual; a limit of the workload's own only ever makes more windows slow."""
    longest = usual_limit(windows.max_s, deviations=MAX_DEVIATIONS, ratio=MAX_RATIO)
    own = own_s is not None and (longest is None or own_s < longest)
    return _Limits(usual_limit(windows.p99_s), own_s if own else longest, own)


def _slow(windows: _Windows, limits: _Limits) -> Flags:
    """Windows with a slow operation, and those through which the slowest one lasted."""
    ended = _above(windows.p99_s, limits.p99_s) | _above(windows.max_s, limits.max_s)
    slow = ended.copy()
    for index in np.flatnonzero(ended):
        begin_s = windows.edges_s[index + 1] - windows.max_s[index]
        slow |= touched(windows.edges_s, [(begin_s, windows.edges_s[index + 1] - _EDGE)])
    return slow


def _above(values: Figures, limit: float | None) -> Flags:
    if limit is None:
        return np.zeros(values.size, dtype=np.bool_)
    return np.nan_to_num(values) > limit


# -- the report's values -----------------------------------------------------------------------
def _spike(
    run: tuple[int, int],
    windows: _Windows,
    kinds: Sequence[KindResult],
    covers: dict[str, Flags],
    origin: float,
) -> SpikeReport:
    first, last = run
    within = slice(first, last + 1)
    return SpikeReport(
        from_s=float(windows.edges_s[first]) - origin,
        to_s=float(windows.edges_s[last + 1]) - origin,
        p99_ms=_highest_ms(windows.p99_s[within]),
        max_ms=_highest_ms(windows.max_s[within]),
        kinds=[each.kind for each in kinds if bool(covers[each.kind][within].any())],
    )


def _kind(result: KindResult) -> KindReport:
    return KindReport(
        kind=result.kind,
        times=result.spans,
        covered=result.covered,
        together=result.together,
        expected=result.expected,
        p_value=result.p_value,
        p_adjusted=result.p_adjusted,
        verdict=result.verdict.value,
    )


def _listed(marks: Sequence[Mark], origin: float) -> list[HappeningReport]:
    counts: dict[str, int] = {}
    listed = []
    for mark in marks:
        counts[mark.kind] = counts.get(mark.kind, 0) + 1
        if counts[mark.kind] <= MOST_LISTED:
            listed.append(
                HappeningReport(
                    kind=mark.kind,
                    from_s=mark.from_s - origin,
                    to_s=mark.to_s - origin,
                    detail=mark.detail,
                )
            )
    return listed


def _highest_ms(values: Figures) -> float | None:
    finite = values[np.isfinite(values)]
    return _milliseconds(float(finite.max())) if finite.size else None


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else float(f"{seconds * 1e3:.5g}")
