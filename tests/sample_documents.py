"""Report documents of designs and workloads whose results are known: for tests of the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sample_archive
from sample_traces import trace, traces
from sample_trials import plan_of

from loadstone.experiments.searching import reason_text
from loadstone.protocol.frames import Tick, parse_frame
from loadstone.protocol.traces import Traces
from loadstone.report.happenings import Happenings
from loadstone.report.load_series import group_series, load_series, phase_spans, workload_series
from loadstone.report.marks import marks
from loadstone.report.model.baselines import (
    BaselineReport,
    PlacementReport,
    RankedDatabase,
    RankedTest,
)
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.held import HeldReport, HeldRow, TierFigures, TransactionFigures
from loadstone.report.model.power import DensityReport, DensityRow
from loadstone.report.model.requests import RequestFigures, RequestRow
from loadstone.report.model.searching import (
    CurvePoint,
    LevelReport,
    PublishedCurve,
    PublishedPoint,
    ScaleFit,
    ScalePoint,
    ScaleReport,
    SearchReport,
)
from loadstone.report.model.trials import Mark, Series
from loadstone.report.model.variants import Figure, MetricInfo
from loadstone.report.reading import RecordedTrial
from loadstone.results.record import (
    LatencySummary,
    LevelReason,
    PhaseTiming,
    RequestSummary,
    WorstFigure,
)

FOUND = 142_000.0
CAPACITY = 146_500.0
"""Levels above it fail."""
FAILS_AFTER_S = 31.0
_CHECKPOINT_S = (5.0, 38.4)
_ORIGIN_S = 0.25


def searched(base: ReportDocument) -> ReportDocument:
    """A search for a rate with all there can be: a repeated trial, a soak, confirmations.

    Args:
        base: A report with at least a trial for each level; they become those of the levels.
    """
    ascent = [10e3, 20e3, 40e3, 80e3, 160e3, 160e3, 95e3, 110e3, 125e3, 140e3, 155e3, 141e3, 142e3]
    plain = [(level, "ascent", None) for level in [*ascent, 147e3, 147e3]]
    confirm = [(FOUND * share, "confirm", FOUND) for share in (1.0, 1.05, 0.95) * 3]
    tried: list[tuple[float, Any, float | None]] = [*plain, (FOUND, "soak", None), *confirm]
    levels = [_level(base, place, each) for place, each in enumerate(tried)]
    levels[7] = levels[7].model_copy(update={"counts": False, "holds": False})
    failed = [each for each in levels if each.counts and not each.holds]
    first = min(failed, key=lambda each: each.level)
    text = (
        "142,000 events/s hold (interval 142,000 to 147,000). What failed first above: "
        f"{first.reason}."
    )
    search = SearchReport(
        over="rate", unit="events/s", status="found", level=FOUND, low=FOUND, high=147e3,
        text=text, first_failure=first, remarks=["160,000 events/s failed twice, as it must."],
        objective=["p99 < 1000 ms", "loss = 0"], window_s=10.0, method="steps", approach="fresh",
        levels=levels,
    )  # fmt: skip
    return base.model_copy(update={"design": "search", "headline": text, "search": search})


def _level(base: ReportDocument, place: int, tried: tuple[float, Any, float | None]) -> LevelReport:
    level, kind, of = tried
    holds = level <= CAPACITY
    p99_ms = 180.0 + level / 400 if holds else 1740.0
    reasons = [
        LevelReason(cause="objective", at_s=FAILS_AFTER_S, text="p99 < 1000 ms: was 1740 ms"),
        LevelReason(cause="backlog", at_s=44.0, text="the backlog grew by 3,100 events a second"),
    ]
    return LevelReport(
        trial=base.trials[place % len(base.trials)].result.trial,
        level=level, kind=kind, of=of, raised=False, counts=True, holds=holds,
        reason="" if holds else reason_text(reasons[0]), at_s=None if holds else FAILS_AFTER_S,
        from_s=5.0, duration_s=3600.0 if kind == "soak" else 60.0,
        offered_per_s=level, achieved_per_s=level if holds else CAPACITY,
        p50_ms=42.0, p95_ms=120.0, p99_ms=p99_ms, max_ms=2 * p99_ms,
        reasons=[] if holds else reasons,
        worst=[WorstFigure(term="p99 < 1000 ms", value=p99_ms, unit="ms", at_s=30.0)],
    )  # fmt: skip


RATE, CONTENTION, COHERENCE = 118.0, 0.06, 0.004
"""Of the law behind the planted points: its peak is within the range that is measured."""


def law(n: float) -> float:
    """X(N) of the planted law, in transactions a second."""
    return RATE * n / (1 + CONTENTION * (n - 1) + COHERENCE * n * (n - 1))


def scaled(base: ReportDocument) -> ReportDocument:
    """An experiment over users with a peak.

    Args:
        base: Whose trials are shown.
    """
    peak = ((1 - CONTENTION) / COHERENCE) ** 0.5
    fit = ScaleFit(
        rate=RATE, contention=CONTENTION, coherence=COHERENCE, rate_interval=(112.0, 124.0),
        contention_interval=(0.041, 0.079), coherence_interval=(0.0031, 0.0049),
        peak_n=peak, peak_interval=(13.6, 17.4), peak_value=law(peak),
        peak_value_interval=(640.0, 680.0), worst_residual_percent=-4.1,
        curve=[
            CurvePoint(n=n, value=law(n), low=0.96 * law(n), high=1.04 * law(n))
            for n in (1 + 31 * step / 100 for step in range(101))
        ],
    )  # fmt: skip
    text = f"Throughput peaks at {peak:.3g} users (interval 13.6 to 17.4)."
    scale = ScaleReport(
        over="profile.users", label="users", metric="transactions_per_s", unit="transactions/s",
        text=text, points=[_point(n) for n in (1, 2, 4, 8, 16, 24, 32)], fit=fit,
    )  # fmt: skip
    return base.model_copy(update={"design": "scale", "headline": text, "scale": scale})


def held(base: ReportDocument) -> ReportDocument:
    """Nodes with users in proportion, whose parts were watched, beside a published result.

    Args:
        base: Its first two variants become one and two nodes; their trials get series of parts.
    """
    names = [variant.name for variant in base.variants[:2]]
    series = {
        "cpu_percent:nodes": [24.0, 25.0] * 12,
        "cpu_percent:nodes.1": [24.0, 25.0] * 12,
        "cpu_percent:database": [12.0, 9.0] * 12,
    }
    watched = Series(t_s=[0.5 + second for second in range(24)], columns=dict(series))
    rows = [
        HeldRow(
            variant=name, trials=6, users=40 * n, rate=4.1 * n, response_mean_ms=210.5,
            errors_before=3, errors_measured=0, host_cpu_percent=61.2,
            tiers=[
                TierFigures(part="database", cpu_percent=5.25, processors=2.0, memory_bytes=9e7),
                TierFigures(
                    part="nodes", cpu_percent=98.0, processors=0.25 * n, memory_bytes=None
                ),
            ],
            transactions=[
                TransactionFigures(operation=each, per_s=2.0 * n, mean_ms=at, p95_ms=2 * at)
                for each, at in (("list", 120.0), ("open", 2531.0))
            ],
        )
        for n, name in enumerate(names, start=1)
    ]  # fmt: skip
    published = PublishedCurve(
        name="oracle", title="dashboard users elsewhere", unit="transactions/s",
        points=[PublishedPoint(n=n, value=155 * at, ratio=at) for n, at in ((1, 1), (8, 6.65))],
    )  # fmt: skip
    document = unfitted(base)
    assert document.scale is not None
    scale = document.scale.model_copy(update={"users_each": 40.0, "published": [published]})
    trials = [trial.model_copy(update={"parts": watched}) for trial in base.trials]
    report = HeldReport(label="transactions", unit="transactions/s", rows=rows)
    stated = DensityReport(
        label="transactions", unit="transactions/s", hours=8760.0, graduated=False,
        rows=[_stated(names[-1])], remarks=["Watts are stated by the owner, not measured."],
    )  # fmt: skip
    update = {"scale": scale, "held": report, "trials": trials, "density": stated}
    return document.model_copy(update=update)


def _stated(variant: str) -> DensityRow:
    """Two nodes whose owner says what they draw and take up."""
    return DensityRow(
        variant=variant, rate=8.2, users=80, price=None, rate_per_price=None, watts=120.0,
        watts_from="stated", watts_of="two nodes", rate_per_watt=8.2 / 120,
        users_per_watt=80 / 120, rack_units=1.0, rate_per_rack_unit=8.2, users_per_rack_unit=80.0,
        kwh_per_year=1051.2, energy_cost_per_year=None,
    )  # fmt: skip


def predicted(base: ReportDocument) -> ReportDocument:
    """Placements measured themselves: a test that predicts, one that misleads, one without order.

    Args:
        base: Its variants become those on the placements, one of which has no valid baseline.
    """
    speeds = {"Log": [4.0, 3.0, 2.0, 1.0], "Pages": [1.0, 3.0, 2.0, 4.0], "Flat": [7.0] * 4}
    names = [variant.name for variant in base.variants]
    places = [f"loop:ext4,commit={at}" for at in range(len(names))]
    placements = [
        PlacementReport(
            placement=place,
            trials=[],
            missing="" if at < 4 else "no valid baseline",
            figures=[
                Figure(metric=test, n=1, median=own[at], low=None, high=None, values=[own[at]],
                       trials=["s01"])
                for test, own in speeds.items()
                if at < 4
            ],
        )
        for at, place in enumerate(places)
    ]  # fmt: skip
    tests = [
        RankedTest(metric="Log", tau=1.0, p_value=0.083, p_adjusted=0.17, low=0.67, high=1.0,
                   by_block=[1.0, 0.67], behind=False),
        RankedTest(metric="Pages", tau=-0.33, p_value=0.75, p_adjusted=0.75, low=-1.0, high=0.33,
                   by_block=[-0.33, -0.33], behind=True),
        RankedTest(metric="Flat", tau=None, p_value=None, p_adjusted=None, low=None, high=None,
                   by_block=[], behind=False),
    ]  # fmt: skip
    system = RankedDatabase(
        name="", variants=dict(zip(places, names, strict=True)), placements=places[:4],
        tests=tests, leader="Log", shown=False, apart=False,
        text="No test is shown to predict its rank.",
    )  # fmt: skip
    infos = [
        MetricInfo(name=each, label=each, unit="MB/s", higher_is_better=True) for each in speeds
    ]
    baseline = BaselineReport(
        about="3 tests", metric=base.metric, tests=infos, placements=placements,
        databases=[system], fewest_placements=5,
    )  # fmt: skip
    return base.model_copy(update={"baseline": baseline})


REQUESTS = {"new-order": ["order form with a long name", "price list"], "payment": ["receipt"]}
FAILED = {"status_500": 12, "connect_refused": 3}


def requested(base: ReportDocument) -> ReportDocument:
    """Operations that are made of requests, some of which fail, and users who leave.

    Args:
        base: Its first operations become those of the requests; its last variant has none.
    """
    rows = [
        RequestRow(
            operation=operation,
            request=request,
            figures=[
                RequestFigures(
                    variant=variant.name, trials=6, count=12_345, rate_per_s=617.25,
                    errors=FAILED if at == 1 else {}, resent={"closed": 4} if at == 1 else {},
                    mean_ms=4.1 + at, p50_ms=3.2 + at, p95_ms=11.0, p99_ms=1234.5, max_ms=2000.0,
                )
                for at, variant in enumerate(base.variants[:-1])
            ],
        )
        for operation, requests in REQUESTS.items()
        for request in requests
    ]  # fmt: skip
    trials = [
        trial.model_copy(
            update={
                "result": trial.result.model_copy(
                    update={
                        "operations": [
                            each.model_copy(update={"requests": _made(REQUESTS.get(each.name, []))})
                            for each in trial.result.operations
                        ],
                        "traces": {
                            name: Traces.model_validate(told) for name, told in TRACES.items()
                        },
                        "phases": [*trial.result.phases, LEAVING],
                    }
                )
            }
        )
        for trial in base.trials
    ]
    return base.model_copy(update={"requests": rows, "trials": trials})


TRACES = {"new-order": traces(), "payment": {"slowest": trace(0.2), "sample": [trace(0.1)]}}
LEAVING = PhaseTiming(
    name="drain", kind="drain", from_s=25.25, to_s=85.25, count=1234, errors={"status_503": 7}
)


def _made(names: list[str]) -> list[RequestSummary]:
    at = LatencySummary(
        count=400, mean_s=0.004, p50_s=0.003, p90_s=0.009, p95_s=0.011, p99_s=0.02, p999_s=0.1,
        max_s=0.2,
    )  # fmt: skip
    return [
        RequestSummary(
            name=name, count=400, rate_per_s=20.0, service=at, errors=FAILED, resent={"closed": 4}
        )
        for name in names
    ]


def unfitted(base: ReportDocument) -> ReportDocument:
    """Too few points for a law."""
    document = scaled(base)
    assert document.scale is not None
    points = [
        point.model_copy(update={"fitted": None, "residual_percent": None})
        for point in document.scale.points[:2]
    ]
    problem = "no law is fitted: 2 points are too few for the law: 6 different N at least"
    scale = document.scale.model_copy(update={"points": points, "fit": None, "problem": problem})
    return document.model_copy(update={"scale": scale})


def _point(n: int) -> ScalePoint:
    off = {8: 1.03, 16: 0.981, 32: 0.959}.get(n, 1.0)
    median = law(n) * off
    return ScalePoint(
        n=n, variant=f"users={n}", median=median, low=0.97 * median, high=1.03 * median,
        values=[0.98 * median, median, 1.015 * median], trials=[f"users={n}-{k}" for k in "123"],
        fitted=law(n), residual_percent=100 * (off - 1),
    )  # fmt: skip


def archived(base: ReportDocument) -> ReportDocument:
    """A trial of an event archive whose server was paused once; the others stay as they are.

    Args:
        base: Whose first valid trial becomes it.
    """
    frames = [parse_frame(frame) for frame in sample_archive.frames()]
    ticks = [frame for frame in frames if isinstance(frame, Tick)]
    place = next(n for n, each in enumerate(base.trials) if each.result.status == "valid")
    result = base.trials[place].result.model_copy(update={"outages": [sample_archive.PAUSE]})
    checkpoints = [Mark(t_s=t_s, kind="checkpoint", data={"cause": "wal"}) for t_s in _CHECKPOINT_S]
    happened = Happenings(RecordedTrial(Path(), plan_of(), result, {}), frames, None)
    told = marks(happened, (_ORIGIN_S, ticks[-1].to_s))
    trial = base.trials[place].model_copy(
        update={
            "result": result,
            "phases": phase_spans([], ticks, _ORIGIN_S),
            "load": load_series(ticks, _ORIGIN_S),
            "groups": group_series(ticks, _ORIGIN_S, sample_archive.GROUPS),
            "workload": workload_series(ticks, _ORIGIN_S),
            "marks": sorted([*told, *checkpoints], key=lambda mark: mark.t_s),
            "watched": sample_archive.WATCHED,
        }
    )
    trials = [*base.trials[:place], trial, *base.trials[place + 1 :]]
    return base.model_copy(update={"trials": trials})
