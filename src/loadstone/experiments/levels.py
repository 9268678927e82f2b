"""What a trial says of the levels of a search that it tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from loadstone.experiments.limiting import limits_between, processors_of
from loadstone.experiments.outcome import TrialOutcome
from loadstone.experiments.relative import relative_reasons
from loadstone.experiments.taking import taken_within
from loadstone.load.health import (
    BREAKAGES,
    BROKEN_SHARE,
    achieved_share,
    generator_notices,
    generator_trouble,
    given_up_share,
)
from loadstone.load.holding import Judge
from loadstone.load.objective import parse_objective, tightest_limit_s
from loadstone.load.totals import LoadLog, LoadTotals
from loadstone.load.windows import LoadInterval
from loadstone.protocol.frames import Tick
from loadstone.results.generator import GeneratorHealth
from loadstone.results.record import LevelReason, LevelRecord, Notice, PhaseTiming
from loadstone.spec.plans import LevelPlan
from loadstone.spec.problems import near

GIVEN_UP_SHARE = 0.01
"""Of the operations: as many without an answer are no accident."""


def levels_of(
    outcome: TrialOutcome, health: GeneratorHealth | None, no_ratio: str = ""
) -> list[LevelRecord]:
    """The record of each level that the trial tried; none of a trial that is not of a search.

    Args:
        outcome: Of the trial, which has ended.
        health: The generator over the measured phase.
        no_ratio: Why no ratio may be made of its figures; empty: one may.
    """
    plan = outcome.plan.level
    if plan is None:
        return []
    against = _against(outcome, health)
    begun = outcome.load.log.measured_phases()
    if not begun:
        return [_limited(_not_reached(plan, against), outcome)]
    judge = judge_of(outcome)
    if raised := outcome.load.raised:
        records = [
            judge.verdict(
                load_interval(outcome, each.from_s, each.to_s),
                each.level,
                others=against if each is raised[-1] else (),
            )
            for each in raised
        ]
    else:
        from_s = begun[0].from_s
        whole = load_interval(outcome, from_s, from_s + _length_s(outcome, begun[0]))
        share = achieved_share(outcome.load.log.measured()) if judge.is_open else None
        reasons, figures = relative_reasons(outcome, no_ratio)
        others = [*against, *reasons]
        found = judge.verdict(whole, plan.level, others=others, achieved_share=share)
        records = [found.model_copy(update={"worst": [*found.worst, *figures]})]
    records = [*records[:-1], _blamed(records[-1], outcome.load.log.measured())]
    return [_limited(record, outcome) for record in records]


def _limited(record: LevelRecord, outcome: TrialOutcome) -> LevelRecord:
    """The record with what limited the system, and what others took, if the level does not hold."""
    if record.holds:
        return record
    span = (record.from_s, record.from_s + record.duration_s)
    ticks = load_interval(outcome, *span).ticks
    one_level = outcome.plan.level is not None and not outcome.plan.level.raised
    processors = processors_of(outcome) if one_level else {}
    return record.model_copy(
        update={
            "limits": limits_between(outcome, span, ticks, processors),
            "taken": taken_within(outcome, *span),
        }
    )


def _length_s(outcome: TrialOutcome, phase: PhaseTiming) -> float:
    """Of the arrivals of a level; of work that runs to its end, until then."""
    profile = outcome.plan.profile
    runs_to_end = "measure" in outcome.workload.idle(profile)
    lasted_s = phase.to_s - phase.from_s
    return lasted_s if runs_to_end and lasted_s > 0 else profile.measure


def judge_of(outcome: TrialOutcome) -> Judge:
    """By what the levels of the trial are judged.

    Raises:
        WrongInputError: If the trial is none of a search.
    """
    plan, charts = outcome.plan, outcome.workload.charts()
    assert plan.level is not None  # noqa: S101 - asked of trials of a search only
    return Judge(
        plan.level,
        judged=charts.judged,
        flow=charts.flow,
        is_open=plan.profile.load == "open" and charts.flow is None,
        queue=charts.queue,
    )


def load_interval(outcome: TrialOutcome, from_s: float, to_s: float) -> LoadInterval:
    """The load of the measured phase between two moments of the trial's clock.

    What was done after the end of the phase was due in it, and belongs to a trial of one level; a
    trial whose load was raised is cut off in the midst of its last one.
    """
    one_level = outcome.plan.level is not None and not outcome.plan.level.raised

    def belongs(tick: Tick) -> bool:
        middle_s = (tick.from_s + tick.to_s) / 2
        return one_level or (not tick.late and from_s <= middle_s < to_s)

    ticks = [tick for tick in outcome.load.log.measured_ticks() if belongs(tick)]
    if not one_level and ticks:
        return LoadInterval(ticks, from_s=ticks[0].from_s, to_s=ticks[-1].to_s)
    phases = outcome.load.log.measured_phases()
    return LoadInterval(ticks, from_s, to_s, discarded=sum(phase.discarded for phase in phases))


def trouble_of(outcome: TrialOutcome, health: GeneratorHealth) -> list[Notice]:
    """What the generator itself had, in a trial of a search."""
    plan = outcome.plan
    assert plan.level is not None  # noqa: S101 - asked of trials of a search only
    limit_s = tightest_limit_s(parse_objective(plan.level.objective)) or 0.0
    measured = outcome.load.log.measured()
    within = outcome.workload.generator_within
    found = generator_notices(health, plan.profile, measured, limit_s=limit_s, within=within)
    return generator_trouble(found)


def refusals(log: LoadLog) -> list[LevelReason]:
    """What the driver could not do when the load was raised: open a session, for the most part."""
    return [
        LevelReason(cause="failed", text=f"the load could not be raised: {event.detail}")
        for event in list(log.events)
        if event.kind == "refused"
    ][:1]


def _blamed(record: LevelRecord, load: LoadTotals) -> LevelRecord:
    """The record with what broke under the load, if that is why the level does not hold."""
    of_each = Counter[str]()
    for operation in load.operations.values():
        of_each.update(operation.errors)
    broken = {each: count for each, count in of_each.items() if each in BREAKAGES}
    failed, ended = sum(broken.values()), load.count + load.errors
    if record.holds or failed <= BROKEN_SHARE * ended:
        return record
    why = " and ".join(dict.fromkeys(BREAKAGES[each] for each in broken))
    text = f"{why}: {failed} of {ended} operations failed ({', '.join(sorted(broken))})"
    reason = LevelReason(cause="failed", text=text)
    return record.model_copy(update={"reasons": [reason, *record.reasons]})


def _against(outcome: TrialOutcome, health: GeneratorHealth | None) -> list[LevelReason]:
    """What speaks against a level and is not seen in its ticks."""
    found = []
    if outcome.failure is not None:
        found.append(LevelReason(cause="failed", text=outcome.failure.message))
    found += [*refusals(outcome.load.log), *_unknown(outcome)]
    if health is not None:
        found += [
            LevelReason(cause="generator", text=notice.message)
            for notice in trouble_of(outcome, health)
            if notice.severity == "error"
        ]
    if given_up_share(outcome.load.log) > GIVEN_UP_SHARE:
        text = f"{outcome.load.log.given_up} operations had no answer when the load had ended"
        found.append(LevelReason(cause="response time", text=text))
    failed = [check.name for check in outcome.checks if not check.passed]
    if failed:
        text = f"a check of the data failed: {', '.join(failed)}"
        found.append(LevelReason(cause="checks", text=text))
    return found


def _unknown(outcome: TrialOutcome) -> list[LevelReason]:
    """Terms about operations that the load does not have: they would hold whatever happens."""
    level, hello = outcome.plan.level, outcome.load.log.hello
    if level is None or hello is None:
        return []
    return [
        LevelReason(
            cause="failed",
            text=f"{term.text}: there is no operation {term.operation!r}; "
            f"{near(term.operation, hello.operations)}",
        )
        for term in parse_objective(level.objective)
        if term.operation is not None and term.operation not in hello.operations
    ]


def _not_reached(plan: LevelPlan, against: Sequence[LevelReason]) -> LevelRecord:
    reasons = list(against) or [LevelReason(cause="failed", text="nothing was measured")]
    return LevelRecord(
        over=plan.over,
        unit=plan.unit,
        level=plan.level,
        kind=plan.kind,
        of=plan.of,
        raised=bool(plan.raised),
        from_s=0.0,
        duration_s=0.0,
        holds=False,
        reasons=reasons,
        achieved_per_s=0.0,
        windows=0,
    )
