"""What a trial measured, as the metrics and the checks of a workload see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from loadstone.protocol.frames import Event, Tick
from loadstone.results.record import Fingerprint, MetricValue

_UNKNOWN = Fingerprint(digest="")


@dataclass(frozen=True)
class MetricSpec:
    """A figure that the workload reports."""

    name: str
    label: str
    unit: str
    higher_is_better: bool
    follows_rate: bool = False
    """Under an open load that keeps up it is the offered rate, and nothing can change it."""

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
class Observation:
    """Counters of the workload's data, read at a moment of the trial's clock."""

    t_s: float
    counters: dict[str, float]
    """Empty where they cannot be read under load: count by what the driver says."""


@dataclass(frozen=True)
class Measured:
    """What finished measured load gives to the workload's metrics: a phase, or all of them."""

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
    loaded: Fingerprint = _UNKNOWN
    """Of the data, taken before the caches were brought to their state and the load began."""
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
    kept: object = None
    """What the workload's `recall` made of it, once for the trial."""
    data: Mapping[str, float] = field(default_factory=dict)
    """What `build` told of the data."""
    phase: str | None = None
    """Name of the measured phase; None: all that the trial has."""
