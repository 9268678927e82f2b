"""Which level a search tries next: doubling, then coarse and fine steps, or bisection.

Pure: from what is known of the levels to the next one. That a level which holds means that every
lower one holds is assumed here; `search_state` says where trials contradict it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, isclose, log, log10

from loadstone.workloads.search import SearchIncrements

DOUBLING = 2.0
ONWARD = 1.1
"""Growth where an earlier bracket was left upwards: the limit is near."""
MOST_DOUBLINGS = 20
"""A search ends there: a million times the first level."""
_HALVINGS = 10
"""Downwards from a first level that fails, where levels are no whole numbers."""
_FINER = 4.0
"""Levels of a bisection are round figures, finer than the precision by so much at least."""
_ASSUMED = {"bisection": 1000.0, "steps": 20.0}
"""Times the first level."""


@dataclass(frozen=True)
class Ascent:
    """How a search goes up."""

    increments: SearchIncrements
    precision: float
    """Bisection: share of the level within which it is to be found."""
    at_most: float | None = None
    whole: bool = False
    """Levels are whole numbers: users."""
    bound: float | None = None
    """The highest level whose load can be made, if there is one below `at_most`."""

    @property
    def top(self) -> float:
        """No level above it is tried."""
        most = self.increments.first * DOUBLING**MOST_DOUBLINGS
        asked = most if self.at_most is None else self.at_most
        return asked if self.bound is None else min(asked, self.bound)

    @property
    def assumed(self) -> float:
        """Plans, which must say how long a search takes, have the limit lie below it."""
        return self.at_most or self.increments.first * _ASSUMED[self.increments.method]

    @property
    def bottom(self) -> float:
        """No level below it is tried."""
        if self.whole:
            return 1.0
        return min(self.increments.first, self.top) / DOUBLING**_HALVINGS


def next_level(
    ascent: Ascent, low: float | None, high: float | None, growth: float = DOUBLING
) -> float | None:
    """The next level to try.

    Args:
        ascent: How a search goes up.
        low: The highest level that holds; None if none is known.
        high: The lowest level above `low` that fails; None if none is known.
        growth: Factor while none has failed.

    Returns:
        None when the bracket is as narrow as asked for, when `top` holds, or when `bottom` fails.
    """
    if low is None:
        return _down(ascent, high)
    if high is None:
        return None if _at_least(low, ascent.top) else min(_raised(ascent, low, growth), ascent.top)
    if ascent.increments.method == "steps":
        return _by_increments(ascent, low, high)
    return _halved(ascent, low, high)


def level_below(ascent: Ascent, level: float) -> float | None:
    """The level to go down to from one that did not last; None below the lowest."""
    if ascent.increments.method == "steps":
        below = level - (ascent.increments.fine or ascent.increments.first)
    else:
        below = _rounded(level * (1 - ascent.precision), ascent.precision * level)
    if ascent.whole:
        below = min(floor(below), level - 1)
    return below if below >= ascent.bottom else None


def share_of(ascent: Ascent, level: float, percent: float) -> float:
    """A share of a level, as a level: of whole numbers at least one off."""
    value = level * percent / 100
    if ascent.whole:
        whole = floor(value) if percent < 100 else -floor(-value + 1e-9)
        return float(max(1, whole))
    return _rounded(value, ascent.precision * level)


def narrowness(ascent: Ascent, low: float | None, high: float | None) -> float:
    """How far the bracket is narrowed: 0 while the level is doubled, 1 when it is as asked for."""
    if low is None or high is None:
        return 0.0
    gap = (high - low) / low
    finest = (
        (ascent.increments.fine or low) / low
        if ascent.increments.method == "steps"
        else ascent.precision
    )
    if ascent.whole:
        finest = max(finest, 1 / low)
    if gap >= 1 or finest >= 1:
        return 0.0 if gap > finest else 1.0
    return min(1.0, max(0.0, log(gap) / log(finest)))


def levels_at_most(ascent: Ascent) -> int:
    """Levels at most until a limit is found that lies between the first level and `at_most`.

    Without `at_most` it is taken to lie below `assumed`.
    """
    top = ascent.assumed
    doublings = max(0, -floor(-log(max(1.0, top / ascent.increments.first)) / log(DOUBLING)))
    if ascent.increments.method == "bisection":
        finest = max(ascent.precision, 1 / top if ascent.whole else 0.0)
        return 1 + doublings + max(0, -floor(-log(1 / finest) / log(2)))
    fine, coarse = (
        ascent.increments.fine or ascent.increments.first,
        ascent.increments.coarse or ascent.increments.first,
    )
    gap = min(top, ascent.increments.first * DOUBLING ** max(0, doublings - 1))
    return 1 + doublings + -floor(-gap / coarse) + -floor(-coarse / fine)


def _down(ascent: Ascent, high: float | None) -> float | None:
    """From the first level down, while every level fails."""
    if high is None:
        first = min(ascent.increments.first, ascent.top)
        return float(max(1, round(first))) if ascent.whole else first
    if high <= ascent.bottom * (1 + 1e-9):
        return None
    below = high / DOUBLING
    return max(ascent.bottom, float(floor(below)) if ascent.whole else below)


def _raised(ascent: Ascent, low: float, growth: float) -> float:
    if ascent.whole:
        return float(max(low + 1, round(low * growth)))
    return _rounded(low * growth, low * ascent.precision) if growth < DOUBLING else low * growth


def _by_increments(ascent: Ascent, low: float, high: float) -> float | None:
    fine = ascent.increments.fine or ascent.increments.first
    coarse = ascent.increments.coarse or fine
    gap = high - low
    for increment in (coarse, fine):
        if gap > increment and not isclose(gap, increment, rel_tol=1e-9):
            return low + increment
    return None


def _halved(ascent: Ascent, low: float, high: float) -> float | None:
    gap = high - low
    if gap <= ascent.precision * low * (1 + 1e-9) or (ascent.whole and gap <= 1):
        return None
    middle = low + gap / 2
    if ascent.whole:
        return float(floor(middle))
    round_one = _rounded(middle, ascent.precision * low)
    return round_one if low < round_one < high else middle


def _rounded(value: float, grain: float) -> float:
    """A round figure near the value, nearer than a fraction of the grain."""
    unit = 10.0 ** floor(log10(grain / _FINER))
    return round(round(value / unit) * unit, 12)


def _at_least(level: float, other: float) -> bool:
    return level >= other * (1 - 1e-9)
