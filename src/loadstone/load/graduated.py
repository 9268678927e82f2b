"""The loads of a graduated trial: at full speed until its rate is known, then level by level."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import fsum

from loadstone.spec.graduated import GraduatedLoad
from loadstone.spec.profile import MeasuredPhase, ProfileSpec, stretch_of

SETTLED_SHARE = 0.02
"""By which the last two calibrations may differ, and a rising trend may rise."""
_WHOLE_PERCENT = 100.0


def calibrating(profile: ProfileSpec) -> ProfileSpec:
    """Users who never wait, as many as there are sessions, in interval after interval.

    Args:
        profile: Of a graduated load whose rate is to be measured.
    """
    graduated = graduated_of(profile)
    whole = stretch_of(graduated, _WHOLE_PERCENT)
    intervals = [
        whole.model_copy(update={"name": f"calibration {number}"})
        for number in range(1, graduated.most_calibrations + 1)
    ]
    return profile.model_copy(
        update={
            "load": "closed",
            "users": profile.sessions,
            "think_time": "none",
            "graduated": None,
            "phases": intervals,
            "drain": 0.0,
        }
    )


def through_levels(profile: ProfileSpec, rate_per_s: float | None, seed: int) -> ProfileSpec:
    """The levels as measured phases, in their order.

    Args:
        profile: Of a graduated load.
        rate_per_s: At 100 %; None of closed users.
        seed: Of the trial; it decides a random order, in which active idle stays the last.
    """
    graduated = graduated_of(profile)
    return profile.model_copy(
        update={
            "graduated": None,
            "phases": _in_order(graduated, seed),
            "rate_per_s": rate_per_s,
        }
    )


def is_settled(rates: Sequence[float], least: int) -> bool:
    """Whether the last two calibrations agree, and the last three do not rise steadily.

    Args:
        rates: Of all calibrations so far.
        least: So many there must be.
    """
    if len(rates) < max(2, least):
        return False
    before, last = rates[-2:]
    if last <= 0 or abs(last - before) >= SETTLED_SHARE * max(last, before):
        return False
    first = rates[-3] if len(rates) > 2 else last
    return not (first < before < last and last - first >= SETTLED_SHARE * last)


def calibrated_rate(rates: Sequence[float]) -> float:
    """The rate at 100 %: the mean of the last two calibrations."""
    return fsum(rates[-2:]) / 2


def _in_order(graduated: GraduatedLoad, seed: int) -> list[MeasuredPhase]:
    levels = graduated.ordered
    if graduated.order == "random":
        loaded = [each for each in levels if each]
        random.Random(f"{seed}/levels").shuffle(loaded)
        levels = loaded + [each for each in levels if not each]
    return [stretch_of(graduated, percent) for percent in levels]


def graduated_of(profile: ProfileSpec) -> GraduatedLoad:
    """The levels of a profile that has them.

    Args:
        profile: Of a graduated load.
    """
    assert profile.graduated is not None  # noqa: S101 - asked of graduated loads only
    return profile.graduated
