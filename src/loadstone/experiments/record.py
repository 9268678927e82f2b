"""The record of a trial, made of what its steps returned."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime

from loadstone.experiments.graduating import (
    graduated_metrics,
    graduated_notices,
    graduated_record,
)
from loadstone.experiments.judged import without_figure
from loadstone.experiments.levels import levels_of, trouble_of
from loadstone.experiments.limiting import phase_limits
from loadstone.experiments.metering import power_notices
from loadstone.experiments.outcome import TrialOutcome
from loadstone.experiments.parts import generator_share, quota_notices
from loadstone.experiments.power_metrics import power_of_trial
from loadstone.experiments.steadiness import absent_users, response_drift
from loadstone.experiments.taking import taken_of
from loadstone.host.locality import at_address
from loadstone.load import traces
from loadstone.load.health import (
    BREAKAGES,
    OWN_ERRORS,
    generator_notices,
    generator_trouble,
    given_up_share,
    own_errors,
)
from loadstone.load.littles_law import law_notices
from loadstone.load.totals import LoadTotals
from loadstone.results.durability import crash_notices
from loadstone.results.generator import GeneratorHealth
from loadstone.results.machine import drift_record
from loadstone.results.metrics import RESPONSE_P50, RESPONSE_P95, RESPONSE_P99, figures_of
from loadstone.results.record import (
    MeasuredPhaseRecord,
    MetricValue,
    Notice,
    Status,
    SteadyStateRecord,
    TrialResult,
)
from loadstone.results.statistics import steady_state
from loadstone.results.trial_files import TARGET_LOG_FILE
from loadstone.targets.registry import target_for
from loadstone.workloads.measured import Measured

ERROR_SHARE_LIMIT = 0.01
"""More failed operations than this make a trial invalid."""


def record_of(outcome: TrialOutcome, speeds: Sequence[dict[str, float]]) -> TrialResult:
    """The record of a trial that has ended.

    Args:
        outcome: What its steps returned.
        speeds: Of the machine, over all trials of the experiment so far.
    """
    plan, workload, log = outcome.plan, outcome.workload, outcome.load.log
    measured = outcome.measured()
    by_phase = outcome.measured_phases(measured)
    several = len(outcome.load.begins) > 1 or plan.profile.graduated is not None
    phases = _phases(outcome, by_phase) if several else []
    graduated = graduated_record(outcome, phases)
    moved = drift_record(outcome.speeds, speeds)
    steady = _steady_state(outcome) if measured and workload.has_steady_state else None
    measures = plan.crash is None
    health = log.health() if measures else None
    jobs = workload.jobs(measured) if measured else None
    no_ratio = "" if jobs is None else jobs.no_ratio
    levels = [] if outcome.interrupted else levels_of(outcome, health, no_ratio)
    watched = outcome.load.watched
    notices = [*watched.notices, *_notices(outcome, health, steady)]
    notices += quota_notices(watched.parts.get(None, []))
    seen = watched.power_of()
    notices += power_notices(seen)
    for phase in phases:
        notices += _drifting(outcome, phase.steady_state, phase.name)
    notices += workload.notices(measured) if measured else []
    notices += workload.phase_notices(by_phase)
    metrics = _metrics(outcome, measured, by_phase)
    if graduated is not None:
        metrics += graduated_metrics(graduated)
        notices += graduated_notices(graduated)
    operations = log.operations() if measures and log.measured().duration_s > 0 else []
    notices += without_figure(outcome, figures_of(metrics, operations, phases))
    return TrialResult(
        experiment=plan.experiment,
        trial=plan.trial,
        variant=plan.variant.name,
        block=plan.block,
        order=plan.order,
        status=_status(outcome, notices),
        notices=notices,
        unsafe=outcome.unsafe,
        parameters=workload.parameters.model_dump(mode="json"),
        baseline_of=plan.baseline_of,
        started_at=outcome.started_at,
        finished_at=datetime.now(UTC).isoformat(),
        metrics=metrics,
        operations=operations,
        traces=traces.kept(log.end.traces, operations) if log.end and operations else {},
        phases=log.phases(),
        measured=phases,
        waits=watched.waits.get(None, []),
        parts=watched.parts.get(None, []),
        limits=phase_limits(outcome) if measures and plan.level is None else [],
        power=seen.power,
        lab=seen.lab,
        processors=seen.processors,
        temperatures=seen.temperatures,
        checks=outcome.checks,
        factors=outcome.readings,
        data=outcome.restored.data if outcome.restored else {},
        fingerprint=outcome.start.fingerprint if outcome.start else None,
        steady_state=steady,
        drift=moved,
        taken=taken_of(outcome, levels),
        generator=health,
        durability=outcome.durability,
        levels=levels,
        graduated=graduated,
        jobs=jobs,
        outages=outcome.load.outages,
        judged_by=outcome.judged_metric if measures else "",
        took=outcome.clock.took(),
        repeat_command=f"loadstone run {shlex.quote(str(outcome.folder / 'plan.json'))}",
    )


def _status(outcome: TrialOutcome, notices: Sequence[Notice]) -> Status:
    if outcome.interrupted:
        return Status.INTERRUPTED
    if outcome.failure is not None:
        return Status.FAILED
    if outcome.durability is not None:
        return Status.VALID if outcome.durability.acknowledged else Status.INVALID
    wrong = any(notice.severity == "error" for notice in notices)
    return Status.INVALID if wrong else Status.VALID


# -- figures -----------------------------------------------------------------------------------
def _metrics(
    outcome: TrialOutcome, measured: Measured | None, phases: Sequence[Measured]
) -> list[MetricValue]:
    """Of the whole trial."""
    if measured is None or measured.duration_s <= 0:
        return []
    found = outcome.workload.summarize(measured, phases)
    found += [*_price(outcome, found), *power_of_trial(outcome, measured, phases, found)]
    found += _response(outcome)
    if not at_address(outcome.plan.target):  # what is watched is not all of it
        usages = outcome.load.watched.parts.get(None, [])
        found += generator_share(outcome.load.log.health(), usages)
    data = measured.data
    if (outcome.plan.reload or outcome.workload.rebuilds) and "load_time_s" in data:
        found.append(
            MetricValue(
                name="load_time_s",
                value=data["load_time_s"],
                unit="s",
                higher_is_better=False,
                label="load time of the data",
            )
        )
    return _finite(found)


def _finite(found: Sequence[MetricValue]) -> list[MetricValue]:
    """A figure that is none is not there: JSON has no word for it."""
    return [each for each in found if math.isfinite(each.value)]


def _phases(outcome: TrialOutcome, phases: Sequence[Measured]) -> list[MeasuredPhaseRecord]:
    """The figures of each measured phase by itself."""
    return [_phase(outcome, measured) for measured in phases]


def _phase(outcome: TrialOutcome, measured: Measured) -> MeasuredPhaseRecord:
    log, watched = outcome.load.log, outcome.load.watched
    found = outcome.workload.measure(measured)
    found += power_of_trial(outcome, measured, [measured], found)
    seen = watched.power_of(measured.phase)
    return MeasuredPhaseRecord(
        name=measured.phase or "",
        duration_s=measured.duration_s,
        metrics=_finite([*found, *_response(outcome, measured.phase)]),
        operations=log.operations(measured.phase),
        waits=watched.waits.get(measured.phase, []),
        parts=watched.parts.get(measured.phase, []),
        limits=phase_limits(outcome, measured.phase),
        steady_state=_steady_state(outcome, measured.phase),
        generator=log.health(measured.phase),
        power=seen.power,
        lab=seen.lab,
        processors=seen.processors,
        temperatures=seen.temperatures,
    )


def _response(outcome: TrialOutcome, phase: str | None = None) -> list[MetricValue]:
    """Percentiles of what the workload is judged by."""
    judged = outcome.workload.charts().judged
    response = outcome.load.log.measured(phase).response(judged)
    if response is None or outcome.workload.is_stepwise:
        return []
    return [
        _milliseconds(RESPONSE_P50, "response time, median", response.p50_s),
        _milliseconds(RESPONSE_P95, "response time, 95 %", response.p95_s),
        _milliseconds(RESPONSE_P99, "response time, 99 %", response.p99_s),
    ]


def _price(outcome: TrialOutcome, metrics: Sequence[MetricValue]) -> list[MetricValue]:
    """What a unit of the headline metric costs, if the system has a price.

    A shorter response time is not bought by the millisecond: the workload's own headline is priced
    where trials are judged by one.
    """
    price = outcome.plan.price
    judged = outcome.judged_metric
    own = outcome.workload.judged_metric()
    headline = next((each for each in metrics if each.name == judged), None) or next(
        (each for each in metrics if each.name == own), None
    )
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


def _milliseconds(name: str, label: str, seconds: float) -> MetricValue:
    return MetricValue(
        name=name, value=seconds * 1e3, unit="ms", higher_is_better=False, label=label
    )


def _steady_state(outcome: TrialOutcome, phase: str | None = None) -> SteadyStateRecord | None:
    """Whether throughput was steady; None of a trial whose phases have loads of their own."""
    log = outcome.load.log
    if phase is None and len(log.measured_phases()) > 1:
        return None
    # The first and the last tick are often cut short: rates, not counts.
    rates = [
        sum(operation.count for operation in tick.operations.values()) / tick.duration_s
        for tick in log.measured_ticks(phase)
        if tick.duration_s > 0.5
    ]
    found = steady_state(rates, 1.0)
    return SteadyStateRecord(
        steady=found.steady,
        trend_percent_per_min=found.trend_percent_per_minute,
        trend_p=found.trend_p,
        warm_up_left_s=found.warm_up.length_s,
        detail=found.detail,
    )


# -- notices -----------------------------------------------------------------------------------
def _notices(
    outcome: TrialOutcome,
    health: GeneratorHealth | None,
    steady: SteadyStateRecord | None,
) -> list[Notice]:
    found = [outcome.failure] if outcome.failure else []
    if outcome.plan.crash is not None:
        record, unsafe = outcome.durability, outcome.unsafe
        return found + (crash_notices(record, unsafe) if record else [])
    phases = outcome.load.log.phases()
    begin_s = phases[0].from_s if phases else 0.0
    found += [outage.notice(begin_s) for outage in outcome.load.outages]
    measured = outcome.load.log.measured()
    if health is not None:
        engine = target_for(outcome.plan.target)
        found += engine.cautions(outcome.plan.target, outcome.plan.profile)
        # Of a level of a search an overload is a finding: its record says it.
        if not outcome.workload.judges_generator:
            found += _of_generator(outcome, health, measured)
    found += [
        Notice(
            code="check-failed",
            severity="error",
            message=f"check {check.name!r} failed: {check.detail}",
            advice=f"the figures of this trial do not count; {_where_it_logs(outcome)}",
        )
        for check in outcome.checks
        if not check.passed
    ]
    if _is_plain(outcome):
        workload = outcome.workload
        profile = workload.loaded(outcome.plan.profile)
        ticks = outcome.load.log.measured_ticks()
        found += law_notices(profile, workload.pacing(), measured, ticks, workload.hurried())
    failed = measured.errors - own_errors(measured)
    if failed and outcome.plan.level is None and not outcome.workload.is_stepwise:
        found.append(_failed_operations(outcome, failed, measured.count))
    given_up = outcome.load.log.given_up
    if given_up and outcome.plan.level is None and not outcome.workload.is_stepwise:
        found.append(_given_up(outcome, given_up))
    found += absent_users(outcome.load.log)
    if outcome.plan.level is None:
        found += _drifting(outcome, steady)
    return found


def _of_generator(
    outcome: TrialOutcome, health: GeneratorHealth, measured: LoadTotals
) -> list[Notice]:
    """Of levels an overload is a finding, and is told with them: then only its own troubles."""
    plan = outcome.plan
    if plan.level is not None:
        return trouble_of(outcome, health)
    within = outcome.workload.generator_within
    found = generator_notices(health, plan.profile, measured, within=within)
    return found if plan.profile.graduated is None else generator_trouble(found)


def _drifting(
    outcome: TrialOutcome, steady: SteadyStateRecord | None, phase: str | None = None
) -> list[Notice]:
    """That throughput was not steady; if it was, that response times were not.

    Args:
        outcome: Of the trial.
        steady: Of the throughput.
        phase: Name of a measured phase, where there are several.
    """
    begin = "" if phase is None else f"phase {phase!r}: "
    if steady is None or steady.steady is False:
        return _not_steady(steady, begin)
    if outcome.load.outages or outcome.workload.is_stepwise:
        return []
    ticks = outcome.load.log.measured_ticks(phase)
    return response_drift(ticks, outcome.workload.charts().judged, begin)


def _not_steady(steady: SteadyStateRecord | None, begin: str = "") -> list[Notice]:
    if steady is None or steady.steady is not False:
        return []
    return [
        Notice(
            code="not-steady",
            severity="warning",
            message=f"{begin}throughput was not steady while it was measured: {steady.detail}",
            advice="lengthen the warm-up, or measure longer than what makes it move; look into the "
            "target's log if it stopped",
        )
    ]


def _is_plain(outcome: TrialOutcome) -> bool:
    """Whether its users did the same all the time: one phase, no steps, no outage, no search.

    And one after the other: of operations that come together all but one wait.
    """
    load, workload = outcome.load, outcome.workload
    one = len(load.log.measured_phases()) == 1 and workload.due_together() == 1
    return one and outcome.plan.level is None and not (load.outages or workload.is_stepwise)


def _failed_operations(outcome: TrialOutcome, errors: int, count: int) -> Notice:
    share = errors / (errors + count)
    told = {name for each in outcome.load.log.operations() for name in each.errors}
    names = sorted(told - OWN_ERRORS.keys())
    classes = ", ".join(
        f"{each}: {BREAKAGES[each]}" if each in BREAKAGES else each for each in names
    )
    return Notice(
        code="operations-failed",
        severity="error" if share > ERROR_SHARE_LIMIT and not outcome.load.outages else "warning",
        message=f"{errors} of {errors + count} operations failed ({classes})",
        advice=_where_it_logs(outcome),
    )


def _given_up(outcome: TrialOutcome, count: int) -> Notice:
    share = given_up_share(outcome.load.log)
    return Notice(
        code="operations-given-up",
        severity="error" if share > ERROR_SHARE_LIMIT and not outcome.load.outages else "warning",
        message=f"{count} operation{'s' if count > 1 else ''} had no answer yet when the load "
        "generator ended: no figure tells of them, and none is as slow",
        advice=f"see why the system did not answer, or measure longer; {_where_it_logs(outcome)}",
    )


def _where_it_logs(outcome: TrialOutcome) -> str:
    if (outcome.folder / TARGET_LOG_FILE).is_file():
        return f"read {TARGET_LOG_FILE} in the folder of the trial"
    return "read what the system itself logs"
