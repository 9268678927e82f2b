"""The load of a running trial, raised level by level until one does not hold.

So CERN found the rate that its archive could take. It saves the set-up of a trial for each level,
and what one level leaves behind, the next one meets: levels near the limit are tried anew by fresh
trials.
"""

from __future__ import annotations

from loadstone.experiments.lab import Lab
from loadstone.experiments.levels import judge_of, load_interval, refusals
from loadstone.experiments.loading import Load
from loadstone.experiments.outcome import Raised, TrialOutcome
from loadstone.experiments.searching import amount
from loadstone.load.driver_group import Generator
from loadstone.spec.plans import TrialPlan
from loadstone.spec.profile import ProfileSpec

_LAST_TICK_S = 1.5
"""Ticks come each second: so long after its end all of a level are there."""
_LEAST_SETTLING_S = 1.0
"""What was begun at one level is done at the next: it needs a moment at least."""
_SPARE_S = 60.0


def lasting(plan: TrialPlan) -> ProfileSpec:
    """The profile with a measured phase that is long enough for all levels of the trial."""
    assert plan.level is not None  # noqa: S101 - asked of trials whose load is raised only
    profile, levels = plan.profile, 1 + len(plan.level.raised)
    each_s = profile.warm_up + _LEAST_SETTLING_S + profile.measure + _LAST_TICK_S
    return profile.model_copy(update={"measure": levels * each_s + _SPARE_S})


def raise_load(load: Load, lab: Lab, outcome: TrialOutcome) -> None:
    """Raises the load through the levels of the trial, and ends it.

    Each level settles for the time of the warm-up before it is measured.

    Args:
        load: Runs, at its first level, in the measured phase.
        lab: Whose target is looked at.
        outcome: Of the trial; its `load` takes up when each level was measured.
    """
    level, profile = outcome.plan.level, outcome.plan.profile
    assert level is not None  # noqa: S101
    for place, each in enumerate([level.level, *level.raised]):
        if place:
            _control(load.driver, outcome.workload.search.raised_to(level.over, each))
        lab.observer.activity(f"at {amount(each, level.unit)}")
        from_s = load.driver.clock_s() + max(profile.warm_up, _LEAST_SETTLING_S)
        to_s = from_s + profile.measure
        if not _runs_until(load, lab, to_s + _LAST_TICK_S):
            return
        outcome.load.raised.append(Raised(each, from_s, to_s))
        against = refusals(outcome.load.log)
        measured = load_interval(outcome, from_s, to_s)
        if not judge_of(outcome).verdict(measured, each, others=against).holds:
            break
    load.driver.stop()


def _control(driver: Generator, line: dict[str, object]) -> None:
    """Tells the driver the rate or the number of users of a control line."""
    if line["control"] == "rate":
        driver.set_rate(float(str(line["rate_per_s"])))
    else:
        driver.set_users(int(str(line["users"])))


def _runs_until(load: Load, lab: Lab, until_s: float) -> bool:
    """Waits; false if the load ended before."""
    try:
        load.next_mark(lab, until_s)
    except TimeoutError:
        return True
    return False
