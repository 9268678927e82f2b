"""What a trial says of the levels of a search that it tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loadstone.load.health import achieved_share, generator_notices, generator_trouble
from loadstone.load.holding import Judge
from loadstone.load.objective import parse_objective, tightest_limit_s
from loadstone.load.totals import MEASURE
from loadstone.load.windows import Stretch
from loadstone.protocol.frames import Tick
from loadstone.results.record import GeneratorHealth, LevelReason, LevelRecord, Notice
from loadstone.spec.plans import LevelPlan

if TYPE_CHECKING:
    from loadstone.experiments.findings import Findings


def levels_of(findings: Findings, health: GeneratorHealth | None) -> list[LevelRecord]:
    """The record of each level that the trial tried; none of a trial that is not of a search.

    Args:
        findings: Of the trial, which has ended.
        health: The generator over the measured phase.
    """
    plan = findings.plan.level
    if plan is None:
        return []
    against = _against(findings, health)
    begun = [phase for phase in findings.load.phases() if phase.kind == MEASURE]
    if not begun:
        return [_not_reached(plan, against)]
    judge = judge_of(findings)
    if findings.raised:
        last = len(findings.raised) - 1
        return [
            judge.verdict(
                stretch(findings, from_s, to_s), level, others=against if place == last else ()
            )
            for place, (level, from_s, to_s) in enumerate(findings.raised)
        ]
    from_s = begun[0].from_s
    whole = stretch(findings, from_s, from_s + findings.plan.profile.measure)
    share = achieved_share(findings.load.measured()) if judge.is_open else None
    return [judge.verdict(whole, plan.level, others=against, achieved_share=share)]


def judge_of(findings: Findings) -> Judge:
    """By what the levels of the trial are judged.

    Raises:
        WrongInputError: If the trial is none of a search.
    """
    plan, charts = findings.plan, findings.workload.charts()
    assert plan.level is not None  # noqa: S101 - asked of trials of a search only
    return Judge(
        plan.level,
        judged=charts.judged,
        flow=charts.flow,
        is_open=plan.profile.load == "open" and charts.flow is None,
    )


def stretch(findings: Findings, from_s: float, to_s: float) -> Stretch:
    """The load of the measured phase between two moments of the trial's clock.

    What was done after the end of the phase was due in it, and belongs to a trial of one level; a
    trial whose load was raised is cut off in the midst of its last one.
    """
    one_level = findings.plan.level is not None and not findings.plan.level.raised

    def belongs(tick: Tick) -> bool:
        middle_s = (tick.from_s + tick.to_s) / 2
        return tick.phase_kind == MEASURE and (
            one_level or (not tick.late and from_s <= middle_s < to_s)
        )

    ticks = [tick for tick in list(findings.load.ticks) if belongs(tick)]
    if not one_level and ticks:
        return Stretch(ticks, from_s=ticks[0].from_s, to_s=ticks[-1].to_s)
    phases = [phase for phase in findings.load.phases() if phase.kind == MEASURE]
    return Stretch(ticks, from_s, to_s, discarded=sum(phase.discarded for phase in phases))


def trouble_of(findings: Findings, health: GeneratorHealth) -> list[Notice]:
    """What the generator itself had, in a trial of a search."""
    plan = findings.plan
    assert plan.level is not None  # noqa: S101 - asked of trials of a search only
    limit_s = tightest_limit_s(parse_objective(plan.level.objective)) or 0.0
    measured = findings.load.measured()
    return generator_trouble(generator_notices(health, plan.profile, measured, limit_s=limit_s))


def refusals(findings: Findings) -> list[LevelReason]:
    """What the driver could not do when the load was raised: open a session, for the most part."""
    return [
        LevelReason(cause="failed", text=f"the load could not be raised: {event.detail}")
        for event in list(findings.load.events)
        if event.kind == "refused"
    ][:1]


def _against(findings: Findings, health: GeneratorHealth | None) -> list[LevelReason]:
    """What speaks against a level and is not seen in its ticks."""
    found = []
    if findings.failure is not None:
        found.append(LevelReason(cause="failed", text=findings.failure.message))
    found += refusals(findings)
    if health is not None:
        found += [
            LevelReason(cause="generator", text=notice.message)
            for notice in trouble_of(findings, health)
            if notice.severity == "error"
        ]
    failed = [check.name for check in findings.checks if not check.passed]
    if failed:
        text = f"a check of the data failed: {', '.join(failed)}"
        found.append(LevelReason(cause="checks", text=text))
    return found


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
