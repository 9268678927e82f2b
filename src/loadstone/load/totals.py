"""What a driver did, added up from its ticks.

Counts are added and histograms merged; nothing is averaged. However an interval of load is cut into
ticks, its totals are the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum

from loadstone.load.operation_totals import OperationTotals, RequestTotals, operation_totals
from loadstone.load.process_figures import generator_processes, lags_by_process
from loadstone.protocol.frames import End, Event, Frame, Hello, Tick
from loadstone.results.generator import GeneratorHealth
from loadstone.results.latency import merge, summarize_latency
from loadstone.results.record import LatencySummary, OperationSummary, PhaseTiming
from loadstone.workloads.measured import Measured, Observation

__all__ = [
    "MEASURE",
    "LoadLog",
    "LoadTotals",
    "OperationTotals",
    "RequestTotals",
    "add_up",
]

MEASURE = "measure"


@dataclass(frozen=True)
class LoadTotals:
    """An interval of load."""

    from_s: float = 0.0
    to_s: float = 0.0
    operations: Mapping[str, OperationTotals] = field(default_factory=dict)
    lag: tuple[str, ...] = ()
    late_starts: int = 0
    dropped: int = 0
    due: int = 0
    cpu_user_s: float = 0.0
    cpu_system_s: float = 0.0
    engine_cpu_s: float | None = None
    """Of that, what an engine within the driver used; None: the engine is elsewhere."""
    max_rss_bytes: int = 0
    reconnects: int = 0
    drained: int = 0
    """Operations that were due in it, and begun after its end."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """The workload's own."""
    gauges: Mapping[str, float] = field(default_factory=dict)
    """The workload's own: the highest of each."""
    between_s: float = 0.0
    """What lies between its parts, if it has several, and is none of it."""

    @property
    def duration_s(self) -> float:
        """Its length."""
        return self.to_s - self.from_s - self.between_s

    @property
    def count(self) -> int:
        """Operations that ended well, rollbacks included."""
        return sum(operation.count for operation in self.operations.values())

    @property
    def errors(self) -> int:
        """Operations that did not end well, after retries."""
        return sum(sum(operation.errors.values()) for operation in self.operations.values())

    @property
    def retries(self) -> int:
        """Attempts beyond the first."""
        return sum(sum(operation.retries.values()) for operation in self.operations.values())

    @property
    def generator_cpu_s(self) -> float:
        """What the generator itself used, without an engine within it."""
        return max(0.0, self.cpu_user_s + self.cpu_system_s - (self.engine_cpu_s or 0.0))

    def response(self, names: Collection[str] = ()) -> LatencySummary | None:
        """Response time of these operations together; of all if none is named."""
        chosen = [
            operation
            for operation in self.operations.values()
            if not names or operation.name in names
        ]
        return summarize_latency(merge(text for each in chosen for text in each.response))


def add_up(
    ticks: Iterable[Tick],
    names: Iterable[str] = (),
    requests: Mapping[str, Sequence[str]] | None = None,
) -> LoadTotals:
    """Adds up ticks.

    Args:
        ticks: Of one driver, in order.
        names: Operations that are listed even if they never ran.
        requests: Operation: requests of it that are listed even if none was made.
    """
    kept = list(ticks)
    every = dict.fromkeys([*names, *(name for tick in kept for name in tick.operations)])
    operations = {
        name: operation_totals(name, kept, (requests or {}).get(name, ())) for name in every
    }
    if not kept:
        return LoadTotals(operations=operations)
    timed = [tick for tick in kept if not tick.late] or kept
    return LoadTotals(
        from_s=min(tick.from_s for tick in timed),
        to_s=max(tick.to_s for tick in timed),
        operations=operations,
        lag=tuple(tick.lag for tick in kept if tick.lag),
        late_starts=sum(tick.late_starts for tick in kept),
        dropped=sum(tick.dropped for tick in kept),
        due=sum(tick.due for tick in kept),
        cpu_user_s=sum(tick.cpu_user_s for tick in kept),
        cpu_system_s=sum(tick.cpu_system_s for tick in kept),
        engine_cpu_s=_engine_cpu_s(kept),
        max_rss_bytes=max(tick.rss_bytes for tick in kept),
        reconnects=sum(tick.reconnects for tick in kept),
        counters=_counters(kept),
        gauges=_highest(kept),
    )


_COUNT = re.compile(r"\d+")
"""How an event begins that tells of operations which were given up."""


class LoadLog:
    """Everything a driver said in one run. `add` may be used from the driver's reader thread."""

    def __init__(self) -> None:
        self.hello: Hello | None = None
        self.end: End | None = None
        self.events: list[Event] = []
        self.ticks: list[Tick] = []
        self._ended: dict[tuple[str, str], _Ended] = {}
        """By name and kind of the phase."""

    @classmethod
    def of(cls, frames: Iterable[Frame]) -> LoadLog:
        """The log of frames that were kept."""
        log = cls()
        for frame in frames:
            log.add(frame)
        return log

    def add(self, frame: Frame) -> None:
        """Takes the next frame."""
        match frame:
            case Hello():
                self.hello = frame
            case Event():
                self.events.append(frame)
            case Tick():
                self.ticks.append(frame)
                self._ended.setdefault((frame.phase, frame.phase_kind), _Ended()).add(frame)
            case End():
                self.end = frame

    def measured(self, phase: str | None = None) -> LoadTotals:
        """The measured load: all of it, or one phase by name.

        The length of a phase includes its drain. Operations that were due in it and done after its
        end are in its counts.
        """
        load = add_up(self.measured_ticks(phase), self._names(), self._requests())
        phases = self.measured_phases(phase)
        if not phases or not self.ticks:
            return load
        from_s, to_s = phases[0].from_s, phases[-1].to_s
        return replace(
            load,
            from_s=from_s,
            to_s=to_s,
            between_s=to_s - from_s - fsum(each.to_s - each.from_s for each in phases),
            drained=sum(each.drained for each in phases),
        )

    def measured_ticks(self, phase: str | None = None) -> list[Tick]:
        """The ticks of all measured phases, or of one, in order."""
        return [
            tick
            for tick in list(self.ticks)
            if tick.phase_kind == MEASURE and phase in (None, tick.phase)
        ]

    def measured_phases(self, phase: str | None = None) -> list[PhaseTiming]:
        """All measured phases as they ran, or the one of that name."""
        return [
            each for each in self.phases() if each.kind == MEASURE and phase in (None, each.name)
        ]

    def overall(self) -> LoadTotals:
        """All phases: what the whole run did to the data."""
        return add_up(self.ticks, self._names(), self._requests())

    def phases(self) -> list[PhaseTiming]:
        """The phases as they ran; one that was cut off ends with its last tick."""
        found: list[PhaseTiming] = []
        begun: Event | None = None
        for event in self.events:
            if event.kind == "phase-begin":
                begun = event
            elif event.kind == "phase-end" and begun is not None:
                found.append(self._timing(begun, event.t_s, event))
                begun = None
        if begun is not None:
            found.append(self._timing(begun, max(begun.t_s, self._last_s()), begun))
        return found

    @property
    def given_up(self) -> int:
        """Operations that had not ended when the generator stopped waiting for them.

        They are in no count and in no histogram: nobody knows how long they take.
        """
        told = (_COUNT.match(each.detail) for each in self.events if each.kind == "stalled")
        return sum(int(found[0]) for found in told if found)

    def health(self, phase: str | None = None) -> GeneratorHealth | None:
        """Whether the generator kept up while load was measured; None if nothing was measured."""
        load = self.measured(phase)
        if load.duration_s <= 0 or self.hello is None:
            return None
        ticks = self.measured_ticks(phase)
        processes = generator_processes(self.hello, ticks, load.duration_s)
        share = load.generator_cpu_s / (load.duration_s * max(1, self.hello.threads))
        lags = lags_by_process(ticks)
        return GeneratorHealth(
            cpu_user_s=load.cpu_user_s,
            cpu_system_s=load.cpu_system_s,
            engine=self.hello.engine,
            engine_cpu_s=load.engine_cpu_s,
            cpu_share=max((process.cpu_share for process in processes), default=share),
            max_rss_bytes=load.max_rss_bytes,
            lag_p99_s=max((lag.p99_s for lag in lags.values()), default=None),
            lag_p999_s=max((lag.p999_s for lag in lags.values()), default=None),
            late_starts=load.late_starts,
            dropped=load.dropped,
            nofile=self.hello.nofile,
            processes=processes,
            apart_s=max(
                (
                    event.spread_s
                    for event in self.events
                    if event.phase_kind == MEASURE and phase in (None, event.phase)
                ),
                default=0.0,
            ),
        )

    def operations(self, phase: str | None = None) -> list[OperationSummary]:
        """Operations of the measured load, for the record."""
        load = self.measured(phase)
        return [operation.summary(load.duration_s) for operation in load.operations.values()]

    def of_workload(
        self,
        begin: Observation,
        end: Observation,
        server_cpu_s: float | None,
        phase: str | None = None,
    ) -> Measured:
        """What the workload's metrics and checks are computed from.

        Args:
            begin: The data's counters at the begin of the measured load.
            end: The same at its end.
            server_cpu_s: CPU seconds of the server in between, if known. Of an engine within the
                driver the ticks tell.
            phase: The measured phase; None: all.
        """
        measured, overall = self.measured(phase), self.overall()
        return Measured(
            phase=phase,
            begin=begin,
            end=end,
            duration_s=measured.duration_s,
            operations=_counts(measured),
            rolled_back=_rolled_back(measured),
            retries=measured.retries,
            errors=measured.errors,
            driver_cpu_s=measured.generator_cpu_s,
            server_cpu_s=measured.engine_cpu_s if server_cpu_s is None else server_cpu_s,
            total_operations=_counts(overall),
            total_rolled_back=_rolled_back(overall),
            total_errors=overall.errors,
            ticks=tuple(self.measured_ticks(phase)),
            events=tuple(event for event in self.events if event.kind == "workload"),
            counters=measured.counters,
            gauges=measured.gauges,
            facts=self.end.facts if self.end else {},
        )

    def after(self, measured: Measured) -> Measured:
        """What a later run on the same data gave, with what this one had done to them before.

        Args:
            measured: Of the later run.
        """
        overall = self.overall()
        return replace(
            measured,
            total_operations=_sums(_counts(overall), measured.total_operations),
            total_rolled_back=_sums(_rolled_back(overall), measured.total_rolled_back),
            total_errors=overall.errors + measured.total_errors,
        )

    def _names(self) -> tuple[str, ...]:
        return self.hello.operations if self.hello else ()

    def _requests(self) -> Mapping[str, Sequence[str]]:
        return self.hello.requests if self.hello else {}

    def _last_s(self) -> float:
        return max((tick.to_s for tick in self.ticks), default=0.0)

    def _timing(self, begun: Event, to_s: float, ended: Event) -> PhaseTiming:
        told = self._ended.get((begun.phase, begun.phase_kind), _Ended())
        return PhaseTiming(
            name=begun.phase,
            kind=begun.phase_kind,
            from_s=begun.t_s,
            to_s=to_s,
            drained=ended.drained,
            discarded=ended.discarded,
            count=told.count,
            errors=dict(sorted(told.errors.items())),
            drain_s=ended.drain_s,
        )


class _Ended:
    """Operations of a phase that ended, well or not."""

    def __init__(self) -> None:
        self.count = 0
        self.errors: Counter[str] = Counter()

    def add(self, tick: Tick) -> None:
        for operation in tick.operations.values():
            self.count += operation.count
            self.errors.update(operation.errors)


def _counters(ticks: Iterable[Tick]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for tick in ticks:
        total.update(tick.counters)
    return dict(total)


def _highest(ticks: Iterable[Tick]) -> dict[str, float]:
    highest: dict[str, float] = {}
    for tick in ticks:
        for name, value in tick.gauges.items():
            highest[name] = max(highest.get(name, value), value)
    return highest


def _engine_cpu_s(ticks: Iterable[Tick]) -> float | None:
    told = [tick.engine_cpu_s for tick in ticks if tick.engine_cpu_s is not None]
    return sum(told) if told else None


def _counts(load: LoadTotals) -> dict[str, int]:
    return {name: operation.count for name, operation in load.operations.items()}


def _sums(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in (*one, *other)}


def _rolled_back(load: LoadTotals) -> dict[str, int]:
    return {name: operation.rolled_back for name, operation in load.operations.items()}
