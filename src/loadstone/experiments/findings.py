"""What a trial found, gathered step by step, and the record made of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from loadstone.errors import LoadstoneError
from loadstone.experiments.levels import levels_of, trouble_of
from loadstone.factors.in_force import parts_of, unsafe_in
from loadstone.load.driver import DriverFailedError, Failure
from loadstone.load.health import generator_notices
from loadstone.load.totals import MEASURE, LoadLog
from loadstone.probes.host import STRETCH_S
from loadstone.results.durability import crash_notices
from loadstone.results.record import (
    NO_MORE_SESSIONS,
    CheckResult,
    DriftRecord,
    DurabilityRecord,
    FactorReading,
    Fingerprint,
    GeneratorHealth,
    MetricValue,
    Notice,
    OperationSummary,
    OutageRecord,
    Status,
    SteadyStateRecord,
    TrialResult,
    Wait,
)
from loadstone.results.statistics import drift, steady_state, usual
from loadstone.spec.plans import TrialPlan
from loadstone.targets.base import Target
from loadstone.targets.registry import target_class
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.measured import Measured, Observation

ERROR_SHARE_LIMIT = 0.01
"""More failed operations than this make a trial invalid."""
PROBES_FOR_DRIFT = 6
"""Fewer measurements of the machine's speed (three trials) do not show what is usual."""


@dataclass
class Findings:
    """Filled as the trial goes; whatever is missing at the end is left out of the record."""

    plan: TrialPlan
    workload: AnyWorkload
    path: Path
    started_at: str
    step: str = "reset"
    interrupted: bool = False
    failure: Notice | None = None
    notices: list[Notice] = field(default_factory=list)
    readings: list[FactorReading] = field(default_factory=list)
    data: dict[str, float] = field(default_factory=dict)
    fingerprint: Fingerprint | None = None
    counters: dict[str, float] = field(default_factory=dict)
    counters_after: dict[str, float] = field(default_factory=dict)
    load: LoadLog = field(default_factory=LoadLog)
    begin: Observation | None = None
    end: Observation | None = None
    server_cpu_begin_s: float | None = None
    server_cpu_end_s: float | None = None
    waits: list[Wait] = field(default_factory=list)
    checks: list[CheckResult] = field(default_factory=list)
    speed_before: dict[str, float] | None = None
    speed_after: dict[str, float] | None = None
    durability: DurabilityRecord | None = None
    raised: list[tuple[float, float, float]] = field(default_factory=list)
    """Levels of a search that the load of this trial was raised to: level, begin and end."""
    outages: list[OutageRecord] = field(default_factory=list)
    stolen_percent: float = 0.0
    """The most CPU time that other guests took for a stretch of the measured phase."""

    def failed(self, error: LoadstoneError | OSError) -> None:
        """Notes what ended the trial, in which step, and where to look."""
        advice = error.advice if isinstance(error, LoadstoneError) else None
        crowded = isinstance(error, DriverFailedError) and error.failure is Failure.CROWDED
        self.failure = Notice(
            code=NO_MORE_SESSIONS if crowded else "trial-failed",
            severity="error",
            message=f"in step {self.step!r}: {error}",
            advice=f"{advice + '; ' if advice else ''}look into {self.path}",
        )

    def measured(self) -> Measured | None:
        """What the measured phase gave, if it ran from begin to end."""
        if self.begin is None or self.end is None:
            return None
        server_cpu_s = None
        if self.server_cpu_begin_s is not None and self.server_cpu_end_s is not None:
            server_cpu_s = self.server_cpu_end_s - self.server_cpu_begin_s
        if any(outage.restarted for outage in self.outages):
            server_cpu_s = None  # one that was started again counts from zero
        profile = self.workload.loaded(self.plan.profile)
        closed = profile.load == "closed"
        return replace(
            self.load.of_workload(self.begin, self.end, server_cpu_s),
            users=profile.users if closed else profile.sessions,
            specified_waits=closed and profile.think_time == "specified",
            before=self.counters,
            after=self.counters_after,
            loaded=self.fingerprint.rows if self.fingerprint else {},
            folder=self.path,
            data=self.data,
        )

    def check(self, target: Target) -> None:
        """Reads the counters of the data at the end of all load, and lets the workload test it."""
        self.counters_after = self.workload.observe(target)
        measured = self.measured()
        if measured is not None:
            self.checks = self.workload.check(target, self.counters, measured)

    def result(self, speeds: Sequence[dict[str, float]], disturbance: float) -> TrialResult:
        """The record.

        Args:
            speeds: Of the machine, over all trials of the experiment so far.
            disturbance: Percent by which it may move.
        """
        measured = self.measured()
        moved = self._drift(speeds, disturbance)
        steady = self._steady_state() if measured else None
        measures = self.plan.crash is None
        health = self.load.health() if measures else None
        levels = [] if self.interrupted else levels_of(self, health)
        robbed = self.stolen_percent > disturbance and not all(level.holds for level in levels)
        notices = [*self.notices, *self._notices(health, moved, steady)]
        notices += [self._robbed()] if robbed else []
        notices += self.workload.notices(measured) if measured else []
        return TrialResult(
            experiment=self.plan.experiment,
            trial=self.plan.trial,
            variant=self.plan.variant.name,
            block=self.plan.block,
            order=self.plan.order,
            status=self._status(
                notices, disturbed=robbed or (moved is not None and moved.disturbed)
            ),
            notices=notices,
            unsafe=unsafe_in(parts_of(self.plan)),
            parameters=self.workload.parameters.model_dump(mode="json"),
            started_at=self.started_at,
            finished_at=datetime.now(UTC).isoformat(),
            metrics=self._metrics(measured),
            operations=self._operations() if measures else [],
            phases=self.load.phases(),
            waits=self.waits,
            checks=self.checks,
            factors=self.readings,
            data=self.data,
            fingerprint=self.fingerprint,
            steady_state=steady,
            drift=moved,
            generator=health,
            durability=self.durability,
            levels=levels,
            outages=self.outages,
            repeat_command=f"loadstone run {shlex.quote(str(self.path / 'plan.json'))}",
        )

    def _status(self, notices: Sequence[Notice], *, disturbed: bool) -> Status:
        if self.interrupted:
            return Status.INTERRUPTED
        if self.failure is not None:
            return Status.FAILED
        if self.durability is not None:
            return Status.VALID if self.durability.acknowledged else Status.INVALID
        if any(notice.severity == "error" for notice in notices):
            return Status.INVALID
        return Status.DISTURBED if disturbed else Status.VALID

    def _operations(self) -> list[OperationSummary]:
        return self.load.operations() if self.load.measured().duration_s > 0 else []

    def _metrics(self, measured: Measured | None) -> list[MetricValue]:
        if measured is None:
            return []
        found = self.workload.measure(measured)
        found += self._price(found)
        response = self.load.measured().response(self.workload.charts().judged)
        if response is not None and not self.workload.steps():
            found += [
                _milliseconds("response_p50_ms", "response time, median", response.p50_s),
                _milliseconds("response_p95_ms", "response time, 95 %", response.p95_s),
                _milliseconds("response_p99_ms", "response time, 99 %", response.p99_s),
            ]
        if self.plan.reload and "load_time_s" in self.data:
            found.append(
                MetricValue(
                    name="load_time_s",
                    value=self.data["load_time_s"],
                    unit="s",
                    higher_is_better=False,
                    label="load time of the data",
                )
            )
        return found

    def _price(self, metrics: Sequence[MetricValue]) -> list[MetricValue]:
        """What a unit of the headline metric costs, if the system has a price."""
        price = self.plan.price
        judged = self.workload.judged_metric()
        headline = next((each for each in metrics if each.name == judged), None)
        if price is None or headline is None or not headline.value > 0:
            return []
        return [
            MetricValue(
                name=f"price_per_{headline.name}",
                value=price.total / headline.value,
                unit=f"{price.currency} per {headline.unit}",
                higher_is_better=False,
                label="price of the system per unit of throughput",
            )
        ]

    def _steady_state(self) -> SteadyStateRecord:
        # The first and the last tick are often cut short: rates, not counts.
        rates = [
            sum(operation.count for operation in tick.operations.values()) / tick.duration_s
            for tick in self.load.ticks
            if tick.phase_kind == MEASURE and tick.duration_s > 0.5
        ]
        found = steady_state(rates, 1.0)
        return SteadyStateRecord(
            steady=found.steady,
            trend_percent_per_min=found.trend_percent_per_minute,
            trend_p=found.trend_p,
            warm_up_left_s=found.warm_up_left_s,
            detail=found.detail,
        )

    def _drift(self, speeds: Sequence[dict[str, float]], limit: float) -> DriftRecord | None:
        before, after = self.speed_before, self.speed_after
        if before is None or after is None:
            return None
        # The disk is reported, not judged: fsync on virtual disks has two speeds (see method.md).
        found = drift(_without_disk(before), _without_disk(after), usual(speeds), limit)
        return DriftRecord(
            before=before,
            after=after,
            moved_percent=found.worst_percent,
            disturbed=found.disturbed and len(speeds) >= PROBES_FOR_DRIFT,
        )

    def _notices(
        self,
        health: GeneratorHealth | None,
        moved: DriftRecord | None,
        steady: SteadyStateRecord | None,
    ) -> list[Notice]:
        found = [self.failure] if self.failure else []
        if self.plan.crash is not None:
            unsafe = unsafe_in(parts_of(self.plan))
            return found + (crash_notices(self.durability, unsafe) if self.durability else [])
        phases = self.load.phases()
        begin_s = phases[0].from_s if phases else 0.0
        found += [outage.notice(begin_s) for outage in self.outages]
        measured = self.load.measured()
        if health is not None:
            engine = target_class(self.plan.target.engine)
            found += engine.cautions(self.plan.target, self.plan.profile)
            # Of a level of a search an overload is a finding: its record says it.
            found += (
                generator_notices(health, self.plan.profile, measured)
                if self.plan.level is None
                else trouble_of(self, health)
            )
        found += [
            Notice(
                code="check-failed",
                severity="error",
                message=f"check {check.name!r} failed: {check.detail}",
                advice="the figures of this trial do not count; look into the target's log",
            )
            for check in self.checks
            if not check.passed
        ]
        if measured.errors and self.plan.level is None and not self.workload.steps():
            found.append(self._errors(measured.errors, measured.count))
        if moved is not None and moved.disturbed:
            found.append(
                Notice(
                    code="machine-moved",
                    severity="warning",
                    message=f"the machine's own speed moved by {moved.moved_percent:+.0f} % "
                    "around this trial",
                    advice="it is kept, and made again where that may change what is found; use a "
                    "quieter machine for a better figure",
                )
            )
        if steady is not None and steady.steady is False and self.plan.level is None:
            found.append(
                Notice(
                    code="not-steady",
                    severity="warning",
                    message=f"throughput was not steady while it was measured: {steady.detail}",
                    advice="lengthen the warm-up, or measure longer than what makes it move",
                )
            )
        return found

    def _robbed(self) -> Notice:
        return Notice(
            code="machine-moved",
            severity="warning",
            message=f"a level did not hold, but other guests of this host took "
            f"{self.stolen_percent:.0f} % of the CPU time for {STRETCH_S} s",
            advice="it is kept, and tried again; use a quieter machine for a better figure",
        )

    def _errors(self, errors: int, count: int) -> Notice:
        share = errors / (errors + count)
        classes = ", ".join(
            sorted({name for each in self.load.operations() for name in each.errors})
        )
        return Notice(
            code="operations-failed",
            severity="error" if share > ERROR_SHARE_LIMIT and not self.outages else "warning",
            message=f"{errors} of {errors + count} operations failed ({classes})",
            advice="read the target's log in the folder of the trial",
        )


def _without_disk(speed: dict[str, float]) -> dict[str, float]:
    return {name: figure for name, figure in speed.items() if not name.startswith("disk")}


def _milliseconds(name: str, label: str, seconds: float) -> MetricValue:
    return MetricValue(
        name=name, value=seconds * 1e3, unit="ms", higher_is_better=False, label=label
    )
