"""A workload: a schema, its data, the operations on it, its checks and its metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel

from loadstone.errors import WrongInputError
from loadstone.protocol.frames import Event, Tick
from loadstone.protocol.programs import Program
from loadstone.results.record import CheckResult, Fingerprint, MetricValue, Notice
from loadstone.spec.model import LoadedBy, ProfileSpec
from loadstone.spec.plans import Change
from loadstone.targets.base import Target
from loadstone.targets.connection import Connection
from loadstone.units import format_duration

T = TypeVar("T", bound=Target)
"""What a workload needs its target to be."""

NO_WAITS: dict[str, Any] = {"keying_s": 0.0, "think": {"distribution": "none"}}
"""Of an operation that follows the one before it at once, in a plan's `pacing`."""
THINK_TIME_CAP = 10.0
"""Truncation of negative-exponential think times, in means (TPC-C 5.11, clause 5.2.5.4)."""


@dataclass(frozen=True)
class MetricSpec:
    """A figure that the workload reports."""

    name: str
    label: str
    unit: str
    higher_is_better: bool

    def of(self, value: float) -> MetricValue:
        """A value of this metric."""
        return MetricValue(
            name=self.name,
            value=value,
            unit=self.unit,
            higher_is_better=self.higher_is_better,
            label=self.label,
        )


@dataclass(frozen=True)
class StepInfo:
    """A step that all trials make, and that is compared by itself."""

    operation: str
    title: str
    metric: str
    """Name of the metric with its time, in seconds."""
    family: str
    """Steps that are judged together."""


@dataclass(frozen=True)
class LoadRequest:
    """A use of the driver during `build`."""

    role: str
    sessions: int
    seed: int
    parameters: dict[str, Any]


RunDriver = Callable[[LoadRequest], Mapping[str, float]]
"""Runs the driver on the present target and returns the facts of its `end` frame."""


@dataclass(frozen=True)
class LoadContext(Generic[T]):
    """What a workload is told when the load of a trial begins."""

    seed: int
    """Of the load."""
    target: T
    folder: Path
    """Of the trial: what the load keeps goes there."""
    data_seed: int = 0
    """Of the data."""


@dataclass(frozen=True)
class Observation:
    """Counters of the workload's data, read at a moment of the trial's clock."""

    t_s: float
    counters: dict[str, float]
    """Empty where they cannot be read under load: count by what the driver says."""


@dataclass(frozen=True)
class Measured:
    """What a finished measured phase gives to the workload's metrics."""

    begin: Observation
    """At the beginning of the measured phase."""
    end: Observation
    """At its end."""
    duration_s: float
    operations: dict[str, int]
    """Operation: those that ended well in the measured phase, rollbacks included."""
    rolled_back: dict[str, int]
    retries: int
    errors: int
    driver_cpu_s: float
    server_cpu_s: float | None
    total_operations: dict[str, int]
    """As `operations`, but over all phases: what the whole trial did to the data."""
    total_rolled_back: dict[str, int]
    total_errors: int
    users: int = 0
    """Most users (closed) or sessions (open) at a time: operations begun and not counted yet."""
    specified_waits: bool = False
    """Closed users kept the keying and think times of the workload's origin."""
    before: Mapping[str, float] = field(default_factory=dict)
    """`observe` before the load began."""
    after: Mapping[str, float] = field(default_factory=dict)
    """`observe` after the load has ended; empty where that could not be read."""
    loaded: Mapping[str, int] = field(default_factory=dict)
    """Rows of the tables of the fingerprint, counted before the caches were brought to their state
    and the load began."""
    ticks: tuple[Tick, ...] = ()
    """Of the measured phase, in order."""
    events: tuple[Event, ...] = ()
    """What the workload told in the driver (kind `workload`), over all phases, in order."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """The workload's own counters in the driver: by how much each rose in the measured phase."""
    gauges: Mapping[str, float] = field(default_factory=dict)
    """The workload's own levels in the driver: the highest of each in the measured phase."""
    facts: Mapping[str, float] = field(default_factory=dict)
    """What the driver said at its end, over all phases."""
    folder: Path | None = None
    """Of the trial, with what the load kept there."""
    data: Mapping[str, float] = field(default_factory=dict)
    """What `build` told of the data."""


@dataclass(frozen=True)
class Flow:
    """Where the driver's ticks tell what was offered and what became of it."""

    offered: str
    """Counter: items that became due."""
    stored: str
    """Counter: those that arrived."""
    lost: str
    """Counter: those that never will."""
    backlog: str
    """Gauge: those that wait."""


@dataclass(frozen=True)
class SearchSteps:
    """How a search goes up where the experiment does not say."""

    first: float
    method: Literal["steps", "bisection"] = "bisection"
    coarse: float | None = None
    fine: float | None = None


@dataclass(frozen=True)
class Acknowledgement:
    """A commit that the target acknowledged, as the driver noted it."""

    t_s: float
    """On the trial's clock."""
    user: int
    operation: str
    keys: tuple[Any, ...]
    """What it wrote, by the keys of its operation (driver protocol, "Acknowledgements")."""

    def __str__(self) -> str:
        return f"{self.operation} {', '.join(map(str, self.keys))}"


class Workload(ABC, Generic[T]):
    """Base of all workloads; a subclass is registered by `workloads.registry`."""

    name: ClassVar[str]
    origin: ClassVar[str]
    requires: ClassVar[frozenset[str]]
    """Capabilities that a target must have, whatever the parameters."""
    usual_engine: ClassVar[str] = "postgresql"
    """The target where none is named."""
    Parameters: ClassVar[type[BaseModel]]
    metrics: ClassVar[tuple[MetricSpec, ...]]
    headline: ClassVar[str]
    """Name of the metric that verdicts are about by default."""
    decides: ClassVar[frozenset[str]] = frozenset()
    """Fields of a profile that the workload fills in itself (`loaded`): nobody else may."""
    first_factor: ClassVar[tuple[str, str] | None] = ("profile.users", "4, 8")
    """What a first comparison may vary, and its levels; None: a setting of the engine."""
    tells_lost_commits: ClassVar[bool] = False
    """Crash trials can be made with it: it overrides `lost` and `consistency`."""
    search_over: ClassVar[LoadedBy] = "users"
    """What a search raises where neither the design nor the profile says it."""
    rate_unit: ClassVar[str] = "operations/s"
    """Of the rate that a search raises."""
    default_objective: ClassVar[tuple[str, ...]] = ("p99 < 1000 ms", "errors < 1 %")
    """What a level of a search must keep to, if the experiment does not say."""
    default_soak_s: ClassVar[float] = 0.0
    """How long the level that a search finds must hold, if the experiment does not say."""

    def __init__(self, parameters: BaseModel) -> None:
        self.parameters = parameters

    @classmethod
    def fitting(cls, capabilities: frozenset[str]) -> dict[str, Any]:
        """Parameters that must not have their defaults on a target with these capabilities."""
        return {}

    def needs(self) -> frozenset[str]:
        """Capabilities that a target must have, given the parameters."""
        return self.requires

    def sets(self) -> Mapping[str, str]:
        """Settings of targets that its load makes itself, each with the parameters that say how."""
        return {}

    def warms(self) -> str | None:
        """What of its load would warm caches before the measured phase, whatever the profile is."""
        return None

    def judged_metric(self) -> str:
        """Name of the metric that verdicts are about, given the parameters."""
        return self.headline

    def steps(self) -> Sequence[StepInfo]:
        """The steps of a workload that goes step by step; none of others."""
        return ()

    def files(self) -> Mapping[str, str]:
        """Parameter: the file of this machine that it names, which the load reads."""
        return {}

    def arrival(self, profile: ProfileSpec) -> str:
        """In a few words: how load arrives, and for how long.

        Args:
            profile: Of the experiment.
        """
        load = (
            f"closed, {profile.users} users"
            if profile.load == "closed"
            else f"open, {profile.rate_per_s:g} operations/s, {profile.arrival}"
        )
        return f"{load}{_think(profile.think_time)}, {spans(profile)}"

    def loaded(self, profile: ProfileSpec) -> ProfileSpec:
        """The profile with the fields filled in that the workload decides."""
        return profile

    def sessions(self, profile: ProfileSpec) -> int:
        """The most sessions that its load has open at a time.

        Args:
            profile: Of a configuration.
        """
        loaded = self.loaded(profile)
        return loaded.users if loaded.load == "closed" else loaded.sessions

    @abstractmethod
    def data_key(self) -> dict[str, Any]:
        """The parameters that decide the data: equal keys share one loaded snapshot."""

    def expected_size_bytes(self) -> int | None:
        """About how large the loaded data is, for plans; None if nothing is known of it."""
        return None

    def growth_bytes(self, profile: ProfileSpec, target: type[T]) -> int | None:
        """About how much a trial adds to the data; None if nothing is known of it.

        Args:
            profile: Of the trial.
            target: On which the size of a row may depend.
        """
        return None

    @abstractmethod
    def build(self, target: T, run_driver: RunDriver, seed: int) -> dict[str, float]:
        """Makes schema and data. Returns facts: `load_time_s`, `size_bytes`, `rows`."""

    @abstractmethod
    def prepare(self, target: T) -> None:
        """What each trial needs beyond the data (procedures of the style in use)."""

    @abstractmethod
    def driver_workload(self, context: LoadContext[T]) -> dict[str, Any]:
        """The plan's `workload` object for role `run`."""

    def program(self, connection: Connection) -> Program:
        """What makes its load: the one that the target's connection names."""
        return connection.program

    @abstractmethod
    def pacing(self) -> dict[str, Any]:
        """The plan's `pacing` with the keying and think times of the workload's origin."""

    @abstractmethod
    def observe(self, target: T) -> dict[str, float]:
        """Reads the data's own counters; cheap enough to run under load."""

    @abstractmethod
    def measure(self, measured: Measured) -> list[MetricValue]:
        """The workload's metrics."""

    def notices(self, measured: Measured) -> list[Notice]:
        """What a reader of the metrics should be told besides."""
        return []

    @abstractmethod
    def check(
        self, target: T, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """Tests the data after the trial; all must pass.

        Args:
            target: Running, without load.
            before: `observe` before the load began.
            measured: With the totals that the driver counted.
        """

    def at_rate(self, profile: ProfileSpec, rate: float) -> list[Change]:
        """What makes this rate the load: the rate of an open profile.

        Args:
            profile: Of the experiment.
            rate: In `rate_unit`.
        """
        return [Change(factor="profile.rate_per_s", level=rate)]

    def rate_given(self, profile: ProfileSpec) -> float | None:
        """The rate that the user wrote, in `rate_unit`: where a search over rates begins."""
        return profile.rate_per_s

    def at_users(self, profile: ProfileSpec, users: int) -> list[Change]:
        """What makes so many users the load: those of a closed profile."""
        return [Change(factor="profile.users", level=users)]

    def raised_to(self, over: LoadedBy, level: float) -> dict[str, Any]:
        """The control line of the driver that raises a running load to a level."""
        if over == "rate":
            return {"control": "rate", "rate_per_s": level}
        return {"control": "users", "users": int(level)}

    def flow(self) -> Flow | None:
        """Counters of what is offered, where they say more than the arrivals of an open load."""
        return None

    def judged_by(self) -> tuple[str, ...]:
        """Operations that a term of the objective without a name is about; none: all."""
        return ()

    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """Groups of clients and their operations, whose times are drawn as a line each.

        Each operation that the workload is judged by is a group of its own, if it names no others.
        """
        return {operation: (operation,) for operation in self.judged_by()}

    def slow_after_s(self) -> float | None:
        """A response that takes longer is a stall by the workload's own rule.

        What stands out from the rest of the trial is one in any case.
        """
        return None

    def marks(self) -> tuple[str, ...]:
        """What its sessions tell that a graph of response times shows at first."""
        return ()

    def default_steps(self, over: LoadedBy) -> SearchSteps:
        """Where a search begins and how it goes up, if the experiment does not say."""
        return SearchSteps(first=1.0 if over == "users" else 100.0)

    def lost(self, target: T, acknowledged: Sequence[Acknowledgement]) -> list[Acknowledgement]:
        """The commits that were acknowledged and are not in the data, after a crash.

        Args:
            target: Recovered, without load.
            acknowledged: All since the load began, in any order.

        Raises:
            WrongInputError: If the workload cannot tell.
        """
        raise WrongInputError(
            f"workload {self.name} cannot tell which commits a crash has lost",
            advice="make crash trials with oltp",
        )

    def consistency(self, target: T) -> list[CheckResult]:
        """Tests of the data that hold whatever was lost, as long as transactions are atomic.

        Args:
            target: Running, without load.
        """
        return []

    @abstractmethod
    def fingerprint(self, target: T) -> Fingerprint:
        """What is the same in all trials that begin with the same state, and only in them.

        Args:
            target: Running, without load, before `settle`.
        """


AnyWorkload = Workload[Any]
"""Of whoever has a target that fits, and does not look what it is."""


def spans(profile: ProfileSpec) -> str:
    """How long a load warms up, if it does, and is measured."""
    warm_up = f"warm-up {format_duration(profile.warm_up)}, " if profile.warm_up else ""
    return f"{warm_up}measured {format_duration(profile.measure)}"


def _think(think_time: float | str) -> str:
    if think_time == "none":
        return ""
    time = think_time if isinstance(think_time, str) else format_duration(think_time)
    return f", think time {time}"
