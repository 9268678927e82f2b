"""The immutable record of a trial: what `result.json` holds."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from loadstone.protocol.traces import Traces
from loadstone.results.base import Record
from loadstone.results.generator import GeneratorHealth
from loadstone.results.graduated import GraduatedRecord
from loadstone.results.jobs import JobsRecord
from loadstone.results.machine_state import DriftRecord, LabCost, ProcessorStates, Temperature
from loadstone.results.power import PowerRecord
from loadstone.results.taken import Taken
from loadstone.results.usage import PartUsage, ResourceUse
from loadstone.spec.base import Level
from loadstone.spec.model import OutageKind


class Status(StrEnum):
    """What a trial's figures are worth."""

    RUNNING = "running"
    VALID = "valid"
    DISTURBED = "disturbed"
    INVALID = "invalid"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class Notice(Record):
    """A warning, as a value: reports choose the words around it."""

    code: str = Field(description="Short and stable: `generator-saturated`, `unsafe-setting`.")
    severity: Literal["info", "warning", "error"]
    message: str = Field(description="What was seen, with its figure.")
    advice: str = Field(default="", description="What to do about it.")


NO_MORE_SESSIONS = "no-more-sessions"
"""Code of the notice that the server let no more sessions of the load in."""


class MetricValue(Record):
    """A figure of a trial. `unit` is written as people read it: `new-orders/min`, `ms`, `us`."""

    name: str
    value: float
    unit: str
    higher_is_better: bool | None = None
    label: str = ""
    mark: str = Field(
        default="",
        description="Of a figure from a meter that is none: `simulated` (read below another root, "
        "or from a mock), `estimated` (from a stated model), or both.",
    )


class LatencySummary(Record):
    """Percentiles of one histogram, in seconds."""

    count: int
    mean_s: float
    p50_s: float
    p90_s: float
    p95_s: float
    p99_s: float
    p999_s: float
    max_s: float


class RequestSummary(Record):
    """A request that an operation is made of, during the measured phase."""

    name: str
    count: int = Field(description="Those that ended well.")
    errors: dict[str, int] = Field(default={}, description="By class.")
    resent: dict[str, int] = Field(
        default={}, description="Sent once more, by what was wrong with the connection."
    )
    retried: dict[str, int] = Field(
        default={}, description="Further tries, by the class of the error that caused each."
    )
    marks: dict[str, int] = Field(
        default={}, description="Of those that ended well, how many answers had each mark."
    )
    rate_per_s: float | None = Field(default=None, description="Of those that ended well.")
    service: LatencySummary | None = None


class OperationSummary(Record):
    """One operation during the measured phase."""

    name: str
    count: int
    rolled_back: int = 0
    errors: dict[str, int] = {}
    retries: dict[str, int] = {}
    response: LatencySummary | None = None
    service: LatencySummary | None = None
    requests: list[RequestSummary] = Field(
        default=[], description="That it is made of, if they have figures of their own."
    )


class Wait(Record):
    """One line of the top-waits table: samples in which a session was found in this wait."""

    part: str = Field(
        default="", description="Of a system of several parts, the one it was seen in."
    )
    kind: str
    event: str
    samples: int
    share: float = Field(description="Of all samples of active sessions, 0 to 1.")


class CheckResult(Record):
    """A test of the data after the trial."""

    name: str
    passed: bool
    detail: str = Field(description="What was compared and what came out.")
    source: str = Field(default="", description="Clause of the specification.")
    claim: str = Field(
        default="", description="What it holds, and over what; empty in older results."
    )


class FactorReading(Record):
    """A factor that was set, and what the system said afterwards."""

    factor: str
    requested: Level
    read_back: Level
    before: Level | None = None
    unsafe: bool = False
    how: str = Field(default="", description="`reload`, `restart`, `plan`.")


class SkippedRung(Record):
    """A rung of a ladder that this machine cannot climb; the later ones build on the rest."""

    name: str
    change: dict[str, Level]
    reason: str = Field(description="Which factor, absent or denied, and what says so.")

    def notice(self) -> Notice:
        """What is said of it, on the terminal and in reports."""
        return Notice(
            code="rung-skipped",
            severity="warning",
            message=f'rung "{self.name}" was skipped: {self.reason}',
            advice="the rungs after it build on those before it; loadstone list host shows what "
            "this machine allows",
        )


class LevelBound(Record):
    """The highest level of a search whose load can be made here: no higher one is tried."""

    level: float
    unit: str
    reason: str = Field(description="Why no higher one can be made.")
    filled: str = Field(
        default="",
        description="What the level fills of the system under test, as a clause; empty: it is this "
        "machine that can make no higher one.",
    )


class Fingerprint(Record):
    """What a start state is. Trials that are compared have the same digest."""

    digest: str = Field(description="Of all that must be the same, as the workload sees it.")
    rows: dict[str, int] = Field(
        default={}, description="Part of the data (a table, a file): how much is in it."
    )
    sums: dict[str, str] = Field(default={}, description="Part: checksum.")
    size_bytes: int = 0


class PhaseTiming(Record):
    """A phase as it ran; seconds since the driver's start."""

    name: str
    kind: str
    from_s: float
    to_s: float
    drained: int = 0
    discarded: int = 0
    count: int = Field(
        default=0, description="Operations of it that ended well; 0 in older results."
    )
    errors: dict[str, int] = Field(
        default={}, description="Operations of it that failed, by class; empty in older results."
    )
    drain_s: float = Field(
        default=0.0,
        description="How long after the end of the arrivals it ended; 0 in older results.",
    )

    @property
    def loaded_to_s(self) -> float:
        """The end of the arrivals: what comes after it works a backlog off."""
        return max(self.from_s, self.to_s - self.drain_s)


class StepTime(Record):
    """What a step of a trial took."""

    name: str
    seconds: float


class SteadyStateRecord(Record):
    """The check for a steady state within the measured phase."""

    steady: bool | None = Field(description="None: too few ticks to tell.")
    trend_percent_per_min: float
    trend_p: float
    warm_up_left_s: float
    detail: str = ""


class MeasuredPhaseRecord(Record):
    """A measured phase of a trial that has several, with its own figures."""

    name: str
    duration_s: float
    metrics: list[MetricValue] = []
    operations: list[OperationSummary] = []
    waits: list[Wait] = []
    parts: list[PartUsage] = Field(
        default=[], description="Of a system of several parts: what each took."
    )
    limits: list[ResourceUse] = Field(
        default=[], description="As of a trial, over this phase; empty in older results."
    )
    steady_state: SteadyStateRecord | None = None
    generator: GeneratorHealth | None = None
    power: list[PowerRecord] = Field(
        default=[], description="What each meter read, over this phase without its drain."
    )
    lab: LabCost | None = Field(
        default=None, description="What the lab itself took; None in older results."
    )
    processors: ProcessorStates | None = Field(
        default=None, description="With meters: clocks and idle states of the processors."
    )
    temperatures: list[Temperature] = Field(default=[], description="With meters: each sensor.")


class DurabilityRecord(Record):
    """What a crash under load left of the commits that the server had acknowledged."""

    failure: Literal["kill", "power-loss"]
    crashed_at_s: float = Field(description="Time of the failure, on the trial's clock.")
    acknowledged: int = Field(description="Commits acknowledged before the failure.")
    lost: int = Field(default=0, description="Those of them that are not in the data any more.")
    lost_span_s: float | None = Field(
        default=None, description="From the earliest lost commit's acknowledgement to the failure."
    )
    in_doubt: int = Field(
        default=0, description="Operations under way at the failure: they may be there or not."
    )
    recovery_s: float | None = Field(
        default=None,
        description="From the start of the server to its first answer; None: it did not recover.",
    )
    conditions_failed: list[str] = Field(
        default=[], description="Consistency conditions that do not hold after the recovery."
    )
    examples: list[str] = Field(default=[], description="The first lost commits, with their time.")
    problem: str = Field(
        default="", description="Why the server did not recover, or its data cannot be read."
    )
    storage: str = Field(default="", description="Where the data lay, for a power loss.")

    @property
    def outcome(self) -> Literal["survived", "lost commits", "corrupt", "did not recover"]:
        """The gravest thing that was found."""
        if self.recovery_s is None:
            return "did not recover"
        if self.conditions_failed or self.problem:
            return "corrupt"
        return "lost commits" if self.lost else "survived"


class LevelReason(Record):
    """One reason why a level does not hold."""

    cause: Literal[
        "objective", "achieved", "backlog", "response time", "generator", "checks", "failed"
    ] = Field(description="`failed`: the trial could not begin, or broke off.")
    at_s: float | None = Field(
        default=None, description="When it was first seen, seconds since the level began."
    )
    text: str = Field(description="What was seen, with its figure.")


class WorstFigure(Record):
    """A term of the objective in the window in which it was worst."""

    term: str
    value: float = Field(description="In the unit of the term.")
    unit: str
    at_s: float = Field(description="Begin of that window, seconds since the level began.")


class LevelRecord(Record):
    """What a trial says of a level of a search: whether it holds, and why not."""

    over: Literal["rate", "users"]
    unit: str
    level: float
    kind: Literal["ascent", "soak", "confirm"]
    of: float | None = Field(default=None, description="Confirmation: the level that was found.")
    raised: bool = Field(
        default=False, description="The load was raised to it in a trial that was running."
    )
    from_s: float = Field(description="Begin of its load, on the trial's clock.")
    duration_s: float
    holds: bool
    reasons: list[LevelReason] = Field(default=[], description="What failed first comes first.")
    offered_per_s: float | None = Field(default=None, description="None: closed users.")
    achieved_per_s: float
    windows: int = Field(description="In each of them the objective was judged.")
    worst: list[WorstFigure] = []
    response: LatencySummary | None = Field(
        default=None, description="Of the operations that are judged, together."
    )
    limits: list[ResourceUse] = Field(
        default=[],
        description="As of a trial, over a level that does not hold; empty in older results.",
    )
    taken: list[Taken] = Field(
        default=[],
        description="What others, or the machine, took of its time: of a level that does not hold.",
    )

    @property
    def of_system(self) -> bool:
        """Whether it tells of the system: not where something else kept the level away."""
        return all(reason.cause not in {"failed", "generator"} for reason in self.reasons)


class OutageRecord(Record):
    """The server was out of service for a while, because the experiment asked for it."""

    kind: OutageKind
    part: str = Field(
        default="", description="Of a system of several parts, the one that was; empty: all of it."
    )
    from_s: float = Field(description="On the trial's clock.")
    to_s: float = Field(description="When it was let back, killed ones started again.")
    back_s: float = Field(description="Until it answered then: recovery, if there was any.")

    @property
    def state(self) -> str:
        """What the server was meanwhile."""
        states = {"pause": "paused", "stop": "stopped", "kill": "killed", "full-disk": "disk full"}
        return states[self.kind]

    @property
    def restarted(self) -> bool:
        """Whether the server may have been started again."""
        return self.kind != "pause"

    def notice(self, begin_s: float) -> Notice:
        """For the reader of the figures.

        Args:
            begin_s: Of the load on the trial's clock; the charts begin there too.
        """
        done = "had a full disk" if self.kind == "full-disk" else f"was {self.state}"
        return Notice(
            code="outage",
            severity="info",
            message=f"{self.part or 'the server'} {done} {self.from_s - begin_s:.1f} s after the "
            f"load began, for {self.to_s - self.from_s:.1f} s, and answered {self.back_s:.1f} s "
            "later",
        )


class TrialResult(Record):
    """The record of one trial."""

    version: Literal[1] = 1
    experiment: str
    trial: str
    variant: str
    block: int
    order: int
    status: Status
    notices: list[Notice] = []
    unsafe: list[str] = Field(default=[], description="Unsafe settings under which it ran.")
    parameters: dict[str, Any] = Field(
        default={},
        description="Of the workload: those given, and the defaults that held on this machine.",
    )
    baseline_of: str | None = Field(
        default=None,
        description="The placement that was measured itself, for those trials of the experiment "
        "that are made on it.",
    )
    started_at: str = Field(description="ISO 8601, UTC.")
    finished_at: str | None = None
    metrics: list[MetricValue] = []
    operations: list[OperationSummary] = []
    traces: dict[str, Traces] = Field(
        default={},
        description="Operation: whole transactions of it, if they are made of requests. The first "
        "of a sample is the one nearest to the median.",
    )
    phases: list[PhaseTiming] = []
    measured: list[MeasuredPhaseRecord] = Field(
        default=[],
        description="Of a trial with several measured phases: the figures of each. Those of the "
        "trial are about all of them.",
    )
    waits: list[Wait] = []
    parts: list[PartUsage] = Field(
        default=[],
        description="Of a system of several parts, and of a server with a quota: what each took "
        "over all measured phases.",
    )
    limits: list[ResourceUse] = Field(
        default=[],
        description="What was looked at for what limits the system, the likeliest limit first; "
        "none is `full`: not found. Of a trial with several measured phases each has its own. "
        "Empty of the levels of a search, which have their own, and in older results.",
    )
    power: list[PowerRecord] = Field(
        default=[],
        description="What each meter read over all measured phases, without what lies between "
        "them and without their drains.",
    )
    lab: LabCost | None = Field(
        default=None, description="What the lab itself took then; None in older results."
    )
    processors: ProcessorStates | None = Field(
        default=None, description="With meters: clocks and idle states of the processors then."
    )
    temperatures: list[Temperature] = Field(
        default=[], description="With meters: each sensor then."
    )
    checks: list[CheckResult] = []
    factors: list[FactorReading] = []
    data: dict[str, float] = Field(
        default={}, description="Facts of the data it ran on: load time, size, rows."
    )
    fingerprint: Fingerprint | None = None
    steady_state: SteadyStateRecord | None = None
    drift: DriftRecord | None = None
    taken: list[Taken] | None = Field(
        default=None,
        description="What others, or the machine, took of the measured time; of several measured "
        "phases that from which most was taken. None: nobody watched, as in older results.",
    )
    generator: GeneratorHealth | None = None
    durability: DurabilityRecord | None = Field(
        default=None, description="Of a crash trial; it has no figures of performance."
    )
    outages: list[OutageRecord] = Field(
        default=[], description="When the server was out of service on purpose."
    )
    levels: list[LevelRecord] = Field(
        default=[], description="Of a trial of a search: the levels that it tried, in order."
    )
    graduated: GraduatedRecord | None = Field(
        default=None, description="Of a trial whose load went through levels."
    )
    jobs: JobsRecord | None = Field(
        default=None, description="Of a trial whose load were jobs on a cluster."
    )
    judged_by: str = Field(
        default="",
        description="Name of the figure that the trial is judged by; empty in older results.",
    )
    took: list[StepTime] = Field(
        default=[],
        description="Every step of the trial, `load` among them; empty in older results.",
    )
    repeat_command: str = ""

    @property
    def no_ratio(self) -> str:
        """Why its figures must not be set in relation to another trial's; empty: they may."""
        return "" if self.jobs is None else self.jobs.no_ratio

    def metric(self, name: str) -> MetricValue | None:
        """The metric of that name, if the trial has it."""
        return next((metric for metric in self.metrics if metric.name == name), None)
