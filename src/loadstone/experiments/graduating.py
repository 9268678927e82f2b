"""A trial whose load goes through levels: its rate is found first, and each level is judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

from loadstone.errors import TargetError
from loadstone.experiments.lab import Lab
from loadstone.experiments.loading import Running, running_driver
from loadstone.experiments.outcome import Calibrated, TrialOutcome
from loadstone.load.graduated import (
    calibrated_rate,
    calibrating,
    graduated_of,
    is_settled,
    through_levels,
)
from loadstone.load.totals import LoadLog, LoadTotals
from loadstone.results.frames import CALIBRATION_FILE, FramesWriter
from loadstone.results.graduated import (
    CALIBRATED,
    IDLE_WATTS,
    OVERALL,
    PEAK_WATTS,
    PROPORTIONALITY,
    CalibrationInterval,
    GraduatedLevel,
    GraduatedRecord,
    figure_of,
    joules_of,
)
from loadstone.results.power import Mark, main_of
from loadstone.results.record import MeasuredPhaseRecord, MetricValue, Notice
from loadstone.spec.graduated import GraduatedLoad
from loadstone.spec.profile import MeasuredPhase, ProfileSpec

_DUE_SHARE = 0.01
_SIGMAS = 4.0
"""What becomes due by chance may miss its target by so many standard deviations, or by 1 %."""
_ACHIEVED_SHARE = 0.98
"""Of what became due, that must be done in the interval."""
_WHOLE_SIGMAS = 3.0
"""At the calibrated rate: what comes by chance in excess of what can be done waits."""
_FAILED_SHARE = 0.01
_TICK_OFF_S = 0.1
"""A tick that ends with an interval may be told so much after it."""


def graduated_profile(outcome: TrialOutcome, lab: Lab) -> ProfileSpec:
    """The profile with its levels, after the rate was found if nobody gives it.

    Args:
        outcome: Of the trial; its `calibrated` takes up what was found.
        lab: The target and who watches.

    Raises:
        TargetError: If nothing was done at full speed.
    """
    profile = outcome.plan.profile
    rate_per_s = profile.rate_per_s
    if profile.calibrates:
        outcome.calibrated = _calibrate(outcome, lab)
        rate_per_s = outcome.calibrated.rate_per_s
    return through_levels(profile, rate_per_s, outcome.plan.seed)


def _calibrate(outcome: TrialOutcome, lab: Lab) -> Calibrated:
    """Runs at full speed until the intervals agree."""
    profile = outcome.plan.profile
    graduated = graduated_of(profile)
    log = LoadLog()
    lab.observer.activity("calibrating")
    with (
        FramesWriter(outcome.folder / CALIBRATION_FILE) as kept,
        running_driver(outcome, lab, calibrating(profile), log, kept.write) as running,
    ):
        settled = _runs_until_settled(running, lab, log, graduated)
        running.driver.wait()
    lab.interrupts.check()
    found = _intervals(log)
    rate = calibrated_rate([each.rate_per_s for each in found]) if len(found) > 1 else 0.0
    if rate <= 0:
        raise TargetError(
            "nothing ended well at full speed, so there is no rate to take fractions of",
            advice=f"look into {CALIBRATION_FILE} and the target's log",
        )
    return Calibrated(found, rate, settled, log)


def _runs_until_settled(running: Running, lab: Lab, log: LoadLog, graduated: GraduatedLoad) -> bool:
    settled = False
    while (mark := running.next_mark(lab)) is not None:
        if mark.kind != "phase-end" or settled:
            continue
        rates = [each.rate_per_s for each in _intervals(log)]
        settled = is_settled(rates, graduated.calibrations)
        if settled:
            running.driver.stop()
    return settled


def _intervals(log: LoadLog) -> list[CalibrationInterval]:
    """Those that have ended."""
    ended = {event.phase for event in list(log.events) if event.kind == "phase-end"}
    return [
        CalibrationInterval(name=phase.name, rate_per_s=load.count / load.duration_s)
        for phase in log.measured_phases()
        if phase.name in ended and (load := log.measured(phase.name)).duration_s > 0
    ]


# -- what a trial says -------------------------------------------------------------------------
def graduated_record(
    outcome: TrialOutcome, phases: Sequence[MeasuredPhaseRecord]
) -> GraduatedRecord | None:
    """The levels of a trial and the figure of all of them; None of other trials.

    Args:
        outcome: Of the trial, which has ended.
        phases: Its measured phases, with their power.
    """
    profile = outcome.plan.profile
    graduated, found = profile.graduated, outcome.calibrated
    if graduated is None:
        return None
    rate = found.rate_per_s if found is not None else profile.rate_per_s
    planned = through_levels(profile, rate, outcome.plan.seed)
    by_name = {phase.name: phase for phase in phases}
    levels = [
        _level(outcome, planned, each, by_name[each.name])
        for each in planned.phases
        if each.name in by_name
    ]
    whole, reason = figure_of(levels, [each.name for each in planned.phases])
    return GraduatedRecord(
        form=graduated.form_told,
        over="users" if profile.load == "closed" else "rate",
        unit="operations/s",
        calibrated_per_s=rate,
        calibrated_by="given" if found is None else "measured",
        settled=found is None or found.settled,
        calibrations=[] if found is None else found.intervals,
        levels=levels,
        overall=whole,
        reason=reason,
        mark=next(iter(_marks(phases)), ""),
    )


def _level(
    outcome: TrialOutcome, profile: ProfileSpec, phase: MeasuredPhase, record: MeasuredPhaseRecord
) -> GraduatedLevel:
    log = outcome.load.log
    measured, ran = log.measured(phase.name), log.measured_phases(phase.name)[0]
    length_s = phase.measure or profile.measure
    ended = _ended_within(log, ran.from_s, ran.from_s + length_s)
    rate = profile.rate_per_s
    due = None if rate is None else measured.due
    target = None if rate is None else rate * phase.share * length_s
    judged = _Judged(length_s, target, outcome.workload.due_together(), ended)
    reasons = list(_against(phase, measured, judged))
    response = measured.response(outcome.workload.charts().judged)
    power = main_of(record.power)
    watts = None if power is None else power.watts
    return GraduatedLevel(
        name=phase.name,
        share=phase.share,
        target_per_s=None if rate is None else rate * phase.share,
        users=round(profile.users * phase.share) if rate is None else None,
        due_per_s=None if due is None else due / length_s,
        achieved_per_s=ended / length_s,
        achieved_share=ended / due if due else None,
        watts=watts,
        joules_per_operation=joules_of(watts, ended / length_s),
        p50_s=response.p50_s if response else None,
        p95_s=response.p95_s if response else None,
        p99_s=response.p99_s if response else None,
        steady=rate is None or phase.share < 1,
        holds=not reasons,
        reasons=reasons,
        lab_cpu_share=None if record.lab is None else record.lab.cpu_share,
        from_s=ran.from_s,
        duration_s=length_s,
    )


def _ended_within(log: LoadLog, from_s: float, to_s: float) -> int:
    """Operations that ended well within an interval, whenever they were due.

    What was under way at its begin counts, and what is at its end does not: else a level would
    miss as much of its load as one response time is of its length. A tick that reaches beyond the
    interval tells of a generator that stood still: nobody knows what of it was done in time.
    """
    begin_s, end_s = from_s - _TICK_OFF_S, to_s + _TICK_OFF_S
    ticks = [tick for tick in log.ticks if begin_s <= tick.from_s and tick.to_s <= end_s]
    return sum(operation.count for tick in ticks for operation in tick.operations.values())


@dataclass(frozen=True)
class _Judged:
    """What a level is judged by."""

    length_s: float
    target: float | None
    """Operations that were to become due; None of users."""
    together: int
    """Operations that become due at one moment."""
    ended: int
    """Well, within the interval."""


def _against(phase: MeasuredPhase, measured: LoadTotals, judged: _Judged) -> Iterator[str]:
    """What speaks against a level.

    Args:
        phase: Of the level.
        measured: All that became due in it.
        judged: By what.
    """
    tried = measured.count + measured.errors
    if tried and measured.errors > _FAILED_SHARE * tried:
        yield f"{measured.errors:,} of {tried:,} operations failed"
    if phase.share == 0:
        return
    target, due, length_s = judged.target, measured.due, judged.length_s
    if target is None:
        if not judged.ended:
            yield "no operation ended"
        return
    if abs(due - target) > max(_DUE_SHARE * target, _SIGMAS * sqrt(target * judged.together)):
        yield f"{due / length_s:,.4g} operations/s became due, and not {target / length_s:,.4g}"
    if measured.dropped:
        yield f"{measured.dropped:,} operations that were due were dropped"
    chance = _WHOLE_SIGMAS * sqrt(judged.together / due) if due and phase.share >= 1 else 0.0
    if due and judged.ended < (_ACHIEVED_SHARE - chance) * due:
        yield f"{judged.ended / due:.1%} of what became due was achieved"


def _marks(phases: Sequence[MeasuredPhaseRecord]) -> Iterator[Mark]:
    """Of the watts: `simulated`, `estimated`."""
    for phase in phases:
        power = main_of(phase.power)
        if power is not None and power.mark:
            yield power.mark


def graduated_metrics(record: GraduatedRecord) -> list[MetricValue]:
    """Figures of all levels together.

    Args:
        record: Of a trial.
    """
    found = [
        (OVERALL, record.overall, "operations/s per W", True, "operations/s per watt, all levels"),
        (CALIBRATED, record.calibrated_per_s, record.unit, True, "calibrated rate"),
        (PEAK_WATTS, record.peak_watts, "W", False, "power at the highest load"),
        (IDLE_WATTS, record.idle_watts, "W", False, "power at active idle"),
        (PROPORTIONALITY, record.proportionality, "", True, "proportionality of power to load"),
    ]
    return [
        MetricValue(
            name=name,
            value=value,
            unit=unit,
            higher_is_better=higher,
            label=label,
            mark="" if name == CALIBRATED else record.mark,
        )
        for name, value, unit, higher, label in found
        if value is not None
    ]


def graduated_notices(record: GraduatedRecord) -> list[Notice]:
    """What speaks against a level, and against the calibration.

    Args:
        record: Of a trial.
    """
    found = [
        Notice(
            code="level-failed",
            severity="error",
            message=f"level {level.name} does not hold: {'; '.join(level.reasons)}",
            advice="there is no figure of all levels; look into the target's log, or give a lower "
            "rate (profile.rate_per_s)",
        )
        for level in record.levels
        if not level.holds
    ]
    if not record.settled:
        rates = ", ".join(f"{each.rate_per_s:,.4g}" for each in record.calibrations[-3:])
        found.append(
            Notice(
                code="not-calibrated",
                severity="warning",
                message=f"the rate did not settle in {len(record.calibrations)} calibrations; the "
                f"last ones: {rates} {record.unit}",
                advice="lengthen the warm-up or the intervals, or let there be more "
                "(most_calibrations)",
            )
        )
    return found
