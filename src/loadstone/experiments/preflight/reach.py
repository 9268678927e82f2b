"""How high a search can go on this machine: what its highest level takes, before anything begins.

A level takes more than those below it of ports, files, sessions of the load generator and space
for data. So the highest that can be made is found by halving, without making any.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor, sqrt

from loadstone.errors import BeyondTargetError, LoadstoneError
from loadstone.experiments.designs import design_of
from loadstone.experiments.designs.base import Upwards
from loadstone.experiments.preflight.loads import planned_load
from loadstone.experiments.preflight.refusals import refuse_unfit
from loadstone.experiments.preflight.space import Space, longest_trials
from loadstone.experiments.searching import amount
from loadstone.factors.base import Parts
from loadstone.results.record import LevelBound, Notice
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Variant
from loadstone.spec.problems import Problem

_NEAR = 1.001
"""The bound is found within so much of itself, or to a user."""

Refusal = Callable[[float], LoadstoneError | None]
"""Why a level cannot be made here; None if it can."""


def reach_problems(experiment: Experiment) -> list[Problem]:
    """A highest level that the experiment names, and whose load this machine cannot make.

    That its data would not fit where they lie is no problem: the search may end before.
    """
    upwards = design_of(experiment).upwards(experiment)
    if upwards is None or upwards.field is None:
        return []
    refusal = _refusal(experiment, upwards, _refuse_load)
    why, bound = refusal(upwards.top), _highest(upwards, refusal)
    if why is None or bound is None:
        return []
    at_most = f"this machine can make {amount(bound.level, bound.unit)} at most"
    told = f"{why.message}; {bound.filled}" if bound.filled else f"{_said(why)}; {at_most}"
    message = f"{told}: write no more, or leave it out, and the search ends there"
    return [Problem(upwards.field, message)]


def bound_of(experiment: Experiment) -> LevelBound | None:
    """The highest level that can be made, if it lies below the highest that may be tried."""
    upwards = design_of(experiment).upwards(experiment)
    if upwards is None:
        return None
    return _highest(upwards, _refusal(experiment, upwards, _refuse_trial))


def bound_notices(experiment: Experiment, bound: LevelBound | None) -> list[Notice]:
    """That the search may end before it finds a limit; nothing where the bound is far away."""
    upwards = design_of(experiment).upwards(experiment)
    if upwards is None or bound is None or bound.level >= upwards.assumed:
        return []
    return [
        Notice(
            code="search-bounded",
            severity="warning",
            message=f"no level above {amount(bound.level, bound.unit)} is tried, whether a limit "
            f"is found or not: {bound.filled or bound.reason}",
        )
    ]


def _highest(upwards: Upwards, refusal: Refusal) -> LevelBound | None:
    """The highest level that is not refused; None if all are, or none is."""
    low, high = upwards.first, upwards.top
    why = refusal(high)
    if why is None or refusal(low) is not None:
        return None
    while high - low > 1 if upwards.whole else high > low * _NEAR:
        middle = sqrt(low * high)
        middle = float(max(low + 1, floor(middle))) if upwards.whole else middle
        refused = refusal(middle)
        if refused is None:
            low = middle
        else:
            high, why = middle, refused
    filled = why.most if isinstance(why, BeyondTargetError) else ""
    return LevelBound(level=low, unit=upwards.unit, reason=_said(why), filled=filled)


def _refusal(
    experiment: Experiment, upwards: Upwards, refuse: Callable[[Parts, str], None]
) -> Refusal:
    def refused(level: float) -> LoadstoneError | None:
        try:
            variant = Variant(name=f"{level:g}", changes=list(upwards.at(level)), step=[])
            for parts in longest_trials(experiment, [variant]):
                refuse(parts, experiment.cache)
        except LoadstoneError as error:
            return error
        return None

    return refused


def _refuse_load(parts: Parts, cache: str) -> None:
    """What its generator cannot make."""
    refuse_unfit(parts, cache)
    planned_load(parts)


def _refuse_trial(parts: Parts, cache: str) -> None:
    """And what does not fit where its data lie."""
    _refuse_load(parts, cache)
    Space().refuse(parts)


def _said(error: LoadstoneError) -> str:
    advice = f" ({error.advice})" if error.advice else ""
    return f"{error.message}{advice}"
