"""A workload: a schema, its data, the operations on it, its checks and its metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel

from loadstone.errors import WrongInputError
from loadstone.protocol.frames import Event
from loadstone.protocol.programs import Program
from loadstone.results.jobs import JobsRecord
from loadstone.results.record import CheckResult, Fingerprint, MetricValue, Notice
from loadstone.spec.problems import Path as Way
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target
from loadstone.targets.connection import Connection
from loadstone.text import readable
from loadstone.units import format_duration
from loadstone.workloads.charts import Charts
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.durability import CommitAudit
from loadstone.workloads.measured import Measured, MetricSpec
from loadstone.workloads.search import LoadSearch
from loadstone.workloads.wanted import Wanted

T = TypeVar("T", bound=Target)
"""What a workload needs its target to be."""

NO_WAITS: dict[str, Any] = {"keying_s": 0.0, "think": {"distribution": "none"}}
"""Of an operation that follows the one before it at once, in a plan's `pacing`."""
THINK_TIME_CAP = 10.0
"""Truncation of negative-exponential think times, in means (TPC-C 5.11, clause 5.2.5.4)."""


@dataclass(frozen=True)
class StepInfo:
    """A part of the load that all trials make, and that is compared by itself."""

    operation: str
    title: str
    metric: str
    """Name of the metric by which it is judged: its time, or the rate of what was done in it."""
    family: str
    """Steps that are judged together; of a table with columns, each test is a family of its own."""
    column: str = ""
    """Of the table in which its title is the row: `read`, `write`; empty: there is no such table.

    A pair that is compared is one of many configurations then: the verdicts on a step are corrected
    over all pairs, not over the steps of a pair.
    """
    facts: Mapping[str, float | str] = field(default_factory=dict)
    """What it does: a figure of another program must share all of it to stand beside it."""
    figures: Mapping[str, str] = field(default_factory=dict)
    """Further metrics of it by what they tell: `score`, `p50 ms`."""


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


class Workload(ABC, Generic[T]):
    """Base of all workloads; a subclass is registered by `workloads.registry`."""

    name: ClassVar[str]
    origin: ClassVar[str]
    requires: ClassVar[frozenset[str]]
    """Capabilities that a target must have, whatever the parameters."""
    usual_engine: ClassVar[str] = "postgresql"
    """The target where none is named."""
    usual_profile: ClassVar[Mapping[str, Any]] = {}
    """Fields of the profile of an experiment that is not written in a file."""
    Parameters: ClassVar[type[BaseModel]]
    metrics: ClassVar[tuple[MetricSpec, ...]]
    headline: ClassVar[str]
    """Name of the metric that verdicts are about by default."""
    energy_units: ClassVar[tuple[str, ...]] = ()
    """What energy is told for, besides operations, where there is a meter: `query`."""
    checks: ClassVar[tuple[CheckSpec, ...]]
    """All that `check` and `durability` can make."""
    judges_secrets: ClassVar[frozenset[str]] = frozenset()
    """Parameters that it searches for passwords itself, and of which it repeats nothing then."""
    measures_places: ClassVar[bool] = False
    """Its tests are of where the data lie: nothing is measured of that besides."""
    before_others: ClassVar[Mapping[str, Any]] = {}
    """Parameters with which it measures a place before what stands on it; of one that does so."""
    decides: ClassVar[frozenset[str]] = frozenset()
    """Fields of a profile that the workload fills in itself (`loaded`): nobody else may."""
    rebuilds: ClassVar[bool] = False
    """Its data are made anew for each trial, where the trial wants them: a copy of them would take
    longer than their making."""
    first_factor: ClassVar[tuple[str, str] | None] = ("profile.users", "4, 8")
    """What a first comparison may vary, and its levels; None: a setting of the engine."""
    first_parameters: ClassVar[Mapping[str, str]] = {}
    """Parameter: the lines of YAML that a first experiment file has of it, with their comments;
    the others are written with their defaults and descriptions."""
    first_profile: ClassVar[Mapping[str, str]] = {}
    """Field of the profile: its line in a first experiment file, in place of the usual one."""
    Search: ClassVar[type[LoadSearch]] = LoadSearch
    """How searches and scale curves raise its load."""
    judges_generator: ClassVar[bool] = False
    """Its `notices` say where the generator's own processor time was the limit, nobody else."""
    has_steady_state: ClassVar[bool] = True
    """It makes so many operations that their number in each second tells something."""
    generator_within: ClassVar[bool] = False
    """Its load is made by the system under test itself: what makes the one late makes the other."""
    Durability: ClassVar[type[CommitAudit[Any]] | None] = None
    """How crash trials find what was lost; None: they cannot be made with it."""

    def __init__(self, parameters: BaseModel) -> None:
        self.parameters = parameters

    @classmethod
    def for_parameters(cls, parameters: BaseModel) -> type[Workload[T]]:
        """The class of a workload with these parameters, where it has several."""
        return cls

    @classmethod
    def paths(cls, parameters: Mapping[str, Any]) -> Sequence[Way]:
        """The ways to the paths of files and folders among its parameters.

        Those in an experiment file are relative to that file.

        Args:
            parameters: As they were written; nobody has judged them yet.

        Returns:
            Of those that are there: `(("csv",),)`.
        """
        return ()

    # -- what it needs -------------------------------------------------------------------------
    def needs(self) -> frozenset[str]:
        """Capabilities that a target must have, given the parameters."""
        return self.requires

    @classmethod
    def fitting(cls, capabilities: frozenset[str]) -> dict[str, Any]:
        """Parameters that must not have their defaults on a target with these capabilities."""
        return {}

    def sets(self) -> Mapping[str, str]:
        """Settings of targets that its load makes itself, each with the parameters that say how."""
        return {}

    def warms(self) -> str | None:
        """What of its load would warm caches before the measured phase, whatever the profile is."""
        return None

    def files(self) -> Mapping[str, str]:
        """Parameter: the file of this machine that it names, which the load reads."""
        return {}

    def file_in_full(self, parameter: str) -> str | None:
        """What one of its `files` says, to be kept with the experiment in the place of its path.

        Returns:
            None if the file is read where it is.

        Raises:
            WrongInputError: If it cannot be read, or is not what the load needs.
        """
        return None

    def examine_file(self, parameter: str) -> None:
        """Reads one of its `files` as the load will; what it must be is found before a run.

        Raises:
            WrongInputError: If it cannot be read, or is not what the load needs.
        """
        readable(Path(self.files()[parameter]))

    def examine_place(self, target: TargetSpec, profile: ProfileSpec) -> None:
        """Whether what it would do can be done where it is to run.

        Args:
            target: Of a configuration.
            profile: Likewise.

        Raises:
            WrongInputError: If not, with the reason.
        """

    # -- data ----------------------------------------------------------------------------------
    def data_key(self) -> dict[str, Any]:
        """The parameters that decide the data: equal keys share one loaded snapshot."""
        return {}

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

    def build(self, target: T, run_driver: RunDriver, seed: int) -> dict[str, float]:
        """Makes its data, if it has any. Returns facts: `load_time_s`, `size_bytes`, `rows`."""
        return {}

    def prepare(self, target: T) -> None:
        """What each trial needs beyond the data (procedures of the style in use)."""

    @abstractmethod
    def fingerprint(self, target: T) -> Fingerprint:
        """What is the same in all trials that begin with the same state, and only in them.

        Args:
            target: Running, without load, before `settle`.
        """

    # -- load ----------------------------------------------------------------------------------
    def arrival(self, profile: ProfileSpec) -> str:
        """In a few words: how load arrives, and for how long.

        Args:
            profile: Of the experiment.
        """
        if profile.load == "closed":
            load = f"closed, {profile.users} users"
        elif profile.rate_per_s is None:
            load = f"open, a rate that is measured first, {profile.arrival}"
        else:
            load = f"open, {profile.rate_per_s:g} operations/s, {profile.arrival}"
        return f"{load}{_think(profile.think_time)}, {spans(profile)}"

    def loaded(self, profile: ProfileSpec) -> ProfileSpec:
        """The profile with the fields filled in that the workload decides."""
        return profile

    def due_together(self) -> int:
        """How many operations of an open load become due at one moment."""
        return 1

    def unmeasured_s(self) -> float:
        """Seconds of its load that are in no phase of the profile: pauses between its parts."""
        return 0.0

    def sessions(self, profile: ProfileSpec) -> int:
        """The most sessions that its load has open at a time.

        Args:
            profile: Of a configuration.
        """
        loaded = self.loaded(profile)
        return loaded.most_users if loaded.load == "closed" else loaded.sessions

    def pacing(self) -> dict[str, Any]:
        """The plan's `pacing` with the keying and think times of the workload's origin."""
        return {"default": NO_WAITS}

    def idle(self, profile: ProfileSpec) -> Mapping[str, str]:
        """Fields of the profile whose present values do nothing with it as it is set, and why.

        Args:
            profile: Of the experiment.
        """
        return {}

    def idle_parameters(self) -> Mapping[str, str]:
        """Parameters whose values do nothing as it is set, and why: no design may vary them."""
        return {}

    def plan(self, context: LoadContext[T]) -> dict[str, Any]:
        """What its generator is told: the plan's `workload` object."""
        return {
            "name": self.name,
            "role": "run",
            "parameters": self.parameters.model_dump(mode="json"),
        }

    def known_plan(self) -> dict[str, Any] | None:
        """What `plan` will be, if that is known before a target is open.

        Its generator is asked then what is wrong with it, before anything begins.
        """
        return None

    def connected(self, connection: Connection) -> Connection:
        """The target's connection as its load uses it: with secrets of its own, say."""
        return connection

    def program(self, connection: Connection) -> Program:
        """What makes its load: the one that the target's connection names."""
        return connection.program

    def resources(self, profile: ProfileSpec, connection: Connection) -> Wanted:
        """What its load wants of the machine that makes it.

        It is held against what there is before anything begins, and its processes and source
        addresses are those that the load has.

        Args:
            profile: Of a configuration.
            connection: The target's.

        Raises:
            WrongInputError: If a secret of the load is not where it was said to be.
        """
        used = self.connected(connection)
        return Wanted(self.loaded(profile), self.sessions(profile), used, self.program(used))

    def tools(self, connection: Connection | None) -> Mapping[str, Callable[[], str]]:
        """Programs of others that its generator runs.

        Args:
            connection: Of the target; None before it is open.

        Returns:
            By name, what tells version and place; it raises a LoadstoneError if there is none.
        """
        return {}

    def operations(self) -> Sequence[str]:
        """Names of its operations, as its generator tells them; none if they are not known before.

        Raises:
            WrongInputError: If a file that has them cannot be read.
        """
        return ()

    def hurried(self) -> frozenset[str]:
        """Operations that a closed user follows at once when they end well, whatever its waits.

        How long it waits after one that failed is not known.
        """
        return frozenset()

    # -- figures -------------------------------------------------------------------------------
    def observe(self, target: T) -> dict[str, float]:
        """Reads the data's own counters, if it has any; cheap enough to run under load."""
        return {}

    def recall(self, folder: Path, events: Sequence[Event]) -> object:
        """What figures, notices and checks all need of files that the load left.

        It is called once, when the load has ended; `Measured.kept` is what it returns.

        Args:
            folder: Of the trial.
            events: What the workload told in the driver, over all phases, in order.
        """
        return None

    @abstractmethod
    def measure(self, measured: Measured) -> list[MetricValue]:
        """The workload's metrics, of measured load."""

    def summarize(self, whole: Measured, phases: Sequence[Measured]) -> list[MetricValue]:
        """The metrics of a trial: by default those of all its measured load.

        Args:
            whole: All measured phases together.
            phases: Each by itself, in order; one for most trials.
        """
        return self.measure(whole)

    def energy_per(self, measured: Measured) -> Mapping[str, float]:
        """What energy is told for, besides operations: `query`, and how many were made.

        Args:
            measured: Of a measured phase, or of all of them.

        Returns:
            Some of `energy_units`.
        """
        return {}

    def energy_spans(self, events: Sequence[Event]) -> Mapping[str, Sequence[tuple[float, float]]]:
        """Stretches of the load that energy is told for, each by itself: those of each `cycle`.

        Args:
            events: What the workload told in the driver, in order.

        Returns:
            Begin and end of each on the trial's clock, by some of `energy_units`.
        """
        return {}

    def notices(self, measured: Measured) -> list[Notice]:
        """What a reader of the metrics should be told besides."""
        return []

    def jobs(self, measured: Measured) -> JobsRecord | None:
        """Each job of a cluster, where and when it ran; None of a load that is no jobs."""
        return None

    def phase_notices(self, phases: Sequence[Measured]) -> list[Notice]:
        """What a reader should be told of the measured phases, each by itself.

        Args:
            phases: In order; one for most trials.
        """
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

    def judged_metric(self) -> str:
        """Name of the metric that verdicts are about, given the parameters."""
        return self.headline

    def metric_called(self, word: str) -> str:
        """Name of the metric that a word means, where the workload has short words for some."""
        return word

    def steps(self) -> Sequence[StepInfo]:
        """The steps of a workload that goes step by step, or its tests; none of others."""
        return ()

    @property
    def is_stepwise(self) -> bool:
        """Whether its load is a few long operations, each with a time and no percentiles."""
        return any(not step.column for step in self.steps())

    # -- what designs and charts ask besides ---------------------------------------------------
    @property
    def search(self) -> LoadSearch:
        """How its load is raised, given the parameters."""
        return self.Search(self.parameters)

    @property
    def durability(self) -> CommitAudit[T]:
        """How its lost commits are found, given the parameters.

        Raises:
            WrongInputError: If the workload cannot tell.
        """
        if self.Durability is None:
            raise WrongInputError(
                f"workload {self.name} cannot tell which commits a crash has lost"
            )
        return self.Durability(self.parameters)

    def charts(self) -> Charts:
        """What of its operations is judged and drawn, given the parameters."""
        return Charts()


AnyWorkload = Workload[Any]
"""Of whoever has a target that fits, and does not look what it is."""


def spans(profile: ProfileSpec) -> str:
    """How a load rises, how long it warms up, if it does, and is measured."""
    rising = profile.ramp if isinstance(profile.ramp, str) else format_duration(profile.ramp)
    ramp = f"ramp {rising}, " if profile.ramp_s else ""
    warm_up = f"warm-up {format_duration(profile.warm_up)}, " if profile.warm_up else ""
    return f"{ramp}{warm_up}measured {format_duration(profile.measured_s)}"


def _think(think_time: float | str) -> str:
    if think_time == "none":
        return ""
    time = think_time if isinstance(think_time, str) else format_duration(think_time)
    return f", think time {time}"
