"""What a search found, and how a metric grows with N."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from loadstone.report.model.limits import LimitReport
from loadstone.results.base import Record
from loadstone.results.record import LevelReason, WorstFigure


class LevelReport(Record):
    """A level that a search tried, in the order in which it did."""

    trial: str
    level: float
    kind: Literal["ascent", "soak", "confirm"]
    of: float | None = Field(default=None, description="Confirmation: the level that was found.")
    raised: bool = Field(description="Approached by raising the load of a running trial.")
    counts: bool = Field(
        description="False: the machine moved and the trial was made again, or it told nothing of "
        "the system."
    )
    holds: bool
    reason: str = Field(default="", description="What failed first; empty where it holds.")
    at_s: float | None = Field(default=None, description="When, seconds since the level began.")
    from_s: float = Field(description="Begin of its load on the trial's charts, seconds.")
    duration_s: float
    offered_per_s: float | None
    achieved_per_s: float
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    max_ms: float | None
    reasons: list[LevelReason]
    worst: list[WorstFigure]
    limit: LimitReport | None = Field(
        default=None, description="What limited the system; None of a level that holds."
    )


class SearchReport(Record):
    """What a search found. `level` is None where no level holds."""

    over: Literal["rate", "users"]
    unit: str = Field(description="Of the levels: `users`, `operations/s`.")
    status: Literal[
        "found", "no limit found", "cut short", "no level holds", "not sustained", "unfinished"
    ] = Field(
        description="`cut short`: it ended at a level that told nothing of the system; `level` is "
        "sustained at least."
    )
    level: float | None = Field(description="The highest that is sustained.")
    low: float | None = Field(description="The highest that held in all its trials.")
    high: float | None = Field(description="The lowest above it that failed.")
    text: str = Field(description="The result in a sentence.")
    first_failure: LevelReport | None = Field(
        description="What failed first at the lowest level that failed, or cut the search short."
    )
    remarks: list[str] = Field(description="What else is to be known: levels that contradict.")
    objective: list[str]
    window_s: float
    method: Literal["steps", "bisection"]
    approach: Literal["fresh", "raise"]
    levels: list[LevelReport]


class ScalePoint(Record):
    """The metric at one N."""

    n: float
    variant: str
    median: float
    low: float | None
    high: float | None
    values: list[float]
    trials: list[str]
    fitted: float | None = Field(default=None, description="By the law, at this N.")
    residual_percent: float | None = Field(
        default=None, description="Median against the fitted value."
    )


class CurvePoint(Record):
    """The fitted law at one N, with its band."""

    n: float
    value: float
    low: float
    high: float


class ScaleFit(Record):
    """X(N) = rate N / (1 + contention (N - 1) + coherence N (N - 1)), fitted to the points."""

    rate: float = Field(description="Of one, by the law.")
    contention: float = Field(description="Share of the work that waits for its turn (sigma).")
    coherence: float = Field(description="Cost of agreeing, for each pair (kappa).")
    rate_interval: tuple[float, float]
    contention_interval: tuple[float, float]
    coherence_interval: tuple[float, float]
    peak_n: float | None = Field(description="None: not within the measured range.")
    peak_interval: tuple[float, float] | None
    peak_value: float | None
    peak_value_interval: tuple[float, float] | None
    worst_residual_percent: float
    curve: list[CurvePoint] = Field(description="Within the measured range only.")


class PublishedPoint(Record):
    """A published figure at one N."""

    n: float
    value: float
    ratio: float = Field(description="To that at the least N.")


class PublishedCurve(Record):
    """A published result over the same N: its shape is compared, never its figures."""

    name: str
    title: str
    unit: str
    points: list[PublishedPoint]


class ScaleReport(Record):
    """How a metric grows with N."""

    over: str = Field(description="The factor: `profile.users`, `host.server.cpus`.")
    label: str = Field(description="What N counts: `users`, `processors`.")
    users_each: float | None = Field(
        default=None, description="Users for each one of N; None: as many at every N."
    )
    metric: str
    unit: str
    text: str = Field(description="The result in a sentence.")
    points: list[ScalePoint]
    no_ratio: str = Field(
        default="", description="Why no point may be set in relation to another; empty: it may."
    )
    fit: ScaleFit | None
    problem: str = Field(default="", description="Why there is no fit.")
    published: list[PublishedCurve] = Field(
        default=[], description="Where users are in proportion to N there too."
    )
