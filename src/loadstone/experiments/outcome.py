"""What the steps of a trial return: its record is made of it, however far the trial came."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from loadstone.errors import LoadstoneError
from loadstone.experiments.preflight.refusals import unsafe_refused
from loadstone.experiments.step_clock import StepClock
from loadstone.factors.target import level_text
from loadstone.load.driver import DriverFailedError, Failure
from loadstone.load.totals import LoadLog
from loadstone.results.graduated import CalibrationInterval
from loadstone.results.machine_state import LabCost, ProcessorStates, Temperature
from loadstone.results.power import PowerRecord, main_of
from loadstone.results.record import (
    NO_MORE_SESSIONS,
    CheckResult,
    DurabilityRecord,
    FactorReading,
    Fingerprint,
    Notice,
    OutageRecord,
    Wait,
)
from loadstone.results.taken import Taken
from loadstone.results.usage import PartUsage, ResourceUse
from loadstone.spec.plans import TrialPlan
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.measured import Measured, Observation


@dataclass(frozen=True)
class RestoredTarget:
    """A target in its start state."""

    readings: list[FactorReading]
    data: dict[str, float]
    """What `build` told of the data."""


@dataclass(frozen=True)
class StartState:
    """What is the same in all trials that are compared."""

    fingerprint: Fingerprint
    counters: dict[str, float]
    """`observe` before the load began."""


@dataclass(frozen=True)
class PartsReading:
    """CPU seconds that the parts of a system have used until a time of the trial's clock."""

    t_s: float
    cpu_s: Mapping[str, float]
    """By part, counted from any origin; empty of a system without parts."""


@dataclass(frozen=True)
class Reading:
    """Counters of data and server at a border of a measured phase."""

    observation: Observation
    server_cpu_s: float | None
    parts: PartsReading = PartsReading(0.0, {})


@dataclass(frozen=True)
class Calibrated:
    """What a system can do, as a load at full speed found it."""

    intervals: list[CalibrationInterval]
    rate_per_s: float
    settled: bool
    """The last intervals agreed."""
    log: LoadLog
    """All that was done meanwhile: it is in the data, too."""


@dataclass(frozen=True)
class Raised:
    """A level of a search that the load of a trial was raised to."""

    level: float
    from_s: float
    to_s: float


def _nothing(_from_s: float, _to_s: float) -> list[ResourceUse]:
    """What probes see that do not run."""
    return []


@dataclass(frozen=True)
class PowerFindings:
    """What was seen of power, and of what it comes from, over measured phases."""

    power: list[PowerRecord] = field(default_factory=list)
    lab: LabCost | None = None
    processors: ProcessorStates | None = None
    temperatures: list[Temperature] = field(default_factory=list)

    @property
    def main(self) -> PowerRecord | None:
        """Of the experiment's meter."""
        return main_of(self.power)


NO_POWER = PowerFindings()
"""Nothing was looked at."""


@dataclass(frozen=True)
class ProbeFindings:
    """What the probes saw while load was measured."""

    waits: Mapping[str | None, list[Wait]]
    """By measured phase; of all of them under None."""
    notices: list[Notice]
    taken: Callable[[float, float], list[Taken]] | None = None
    """What others took between two times of the trial's clock; None: nobody watched."""
    parts: Mapping[str | None, list[PartUsage]] = field(default_factory=dict)
    """What the parts of the system took, by measured phase; of all of them under None."""
    uses: Callable[[float, float], list[ResourceUse]] = _nothing
    """How far what can run out was used between two times of the trial's clock."""
    power: Mapping[str | None, PowerFindings] = field(default_factory=dict)
    """By measured phase; of all of them under None."""
    energy: Mapping[str, PowerRecord] = field(default_factory=dict)
    """By what energy is told for (`cycle`): the experiment's meter, over all of them."""
    spans: Mapping[str, int] = field(default_factory=dict)
    """How many of them there were."""

    def power_of(self, phase: str | None = None) -> PowerFindings:
        """Of a measured phase; None: of all of them."""
        return self.power.get(phase, NO_POWER)


@dataclass
class LoadRun:
    """The load of a trial as it goes: what the generator says, and what is read beside it."""

    log: LoadLog = field(default_factory=LoadLog)
    generator: list[FactorReading] = field(default_factory=list)
    """How it runs, read back."""
    begins: dict[str, Reading] = field(default_factory=dict)
    """By measured phase."""
    ends: dict[str, Reading] = field(default_factory=dict)
    raised: list[Raised] = field(default_factory=list)
    outages: list[OutageRecord] = field(default_factory=list)
    watched: ProbeFindings = ProbeFindings({}, [])

    def measured(self, phase: str | None = None) -> Measured | None:
        """What a measured phase gave, or all of them; None if one did not run to its end."""
        phases = [each for each in self.begins if phase in (None, each)]
        if not phases or not self.ends.keys() >= set(phases):
            return None
        first, last = self.begins[phases[0]], self.ends[phases[-1]]
        return self.log.of_workload(
            first.observation, last.observation, self._server_cpu_s(phases), phase
        )

    def _server_cpu_s(self, phases: list[str]) -> float | None:
        """None as well of a server that was started again: it counts from zero."""
        if any(outage.restarted for outage in self.outages):
            return None
        used_s = 0.0
        for phase in phases:
            begin, end = self.begins[phase].server_cpu_s, self.ends[phase].server_cpu_s
            if begin is None or end is None:
                return None
            used_s += end - begin
        return used_s


@dataclass
class TrialOutcome:
    """Each value is what a phase returned; those of phases that it did not come to are missing."""

    plan: TrialPlan
    workload: AnyWorkload
    folder: Path
    started_at: str
    phase: str = "target"
    """The present one, or the last."""
    clock: StepClock = field(default_factory=StepClock)
    interrupted: bool = False
    failure: Notice | None = None
    unsafe: list[str] = field(default_factory=list)
    """Levels under which acknowledged commits can be lost, as `fsync=off`."""
    host: list[FactorReading] = field(default_factory=list)
    restored: RestoredTarget | None = None
    start: StartState | None = None
    speeds: list[dict[str, float]] = field(default_factory=list)
    """Of the machine, before the load and after it."""
    calibrated: Calibrated | None = None
    """Of a graduated load whose rate was measured."""
    load: LoadRun = field(default_factory=LoadRun)
    counters_after: dict[str, float] = field(default_factory=dict)
    """`observe` after the load has ended."""
    checks: list[CheckResult] = field(default_factory=list)
    durability: DurabilityRecord | None = None

    def fail(self, error: LoadstoneError | OSError) -> None:
        """Notes what ended the trial, in which phase, and where to look."""
        advice = error.advice if isinstance(error, LoadstoneError) else None
        crowded = isinstance(error, DriverFailedError) and error.failure is Failure.CROWDED
        self.failure = Notice(
            code=NO_MORE_SESSIONS if crowded else "trial-failed",
            severity="error",
            message=f"in phase {self.phase!r}: {error}",
            advice=f"{advice + '; ' if advice else ''}look into {self.folder}",
        )

    def refuse_unsafe(self) -> None:
        """Looks at what the system made of the levels, once they are in force.

        Raises:
            RefusedError: If acknowledged commits can be lost, and nobody has allowed it.
        """
        read = [
            f"{each.factor.removeprefix('target.')}={level_text(each.requested)}"
            for each in self.readings
            if each.unsafe
        ]
        self.unsafe += [each for each in read if each not in self.unsafe]
        if self.unsafe and not self.plan.allow_unsafe:
            raise unsafe_refused(", ".join(self.unsafe))

    @property
    def judged_metric(self) -> str:
        """Name of the figure that the trial is judged by."""
        return self.plan.metric or self.workload.judged_metric()

    @property
    def readings(self) -> list[FactorReading]:
        """Of all factors, in the order in which they were applied."""
        of_target = self.restored.readings if self.restored else []
        return [*self.host, *of_target, *self.load.generator]

    def measured(self, phase: str | None = None) -> Measured | None:
        """What a measured phase gave, or all of them; None if one did not run to its end."""
        found = self.load.measured(phase)
        if found is None:
            return None
        if self.calibrated is not None:
            found = self.calibrated.log.after(found)
        profile = self.workload.loaded(self.plan.profile)
        return replace(
            found,
            users=self.workload.sessions(self.plan.profile),
            specified_waits=profile.load == "closed" and profile.think_time == "specified",
            before=self.start.counters if self.start else {},
            after=self.counters_after,
            loaded=self.start.fingerprint if self.start else found.loaded,
            folder=self.folder,
            kept=self._kept,
            data=self.restored.data if self.restored else {},
        )

    @cached_property
    def _kept(self) -> object:
        """What the load left, which is read once."""
        told = [event for event in self.load.log.events if event.kind == "workload"]
        return self.workload.recall(self.folder, told)

    def measured_phases(self, whole: Measured | None) -> list[Measured]:
        """What each measured phase gave, in order.

        Args:
            whole: What all of them gave: the same, if there is one only.
        """
        names = list(self.load.begins)
        if whole is not None and len(names) == 1:
            return [replace(whole, phase=names[0])]
        found = [self.measured(name) for name in names]
        return [each for each in found if each is not None and each.duration_s > 0]
