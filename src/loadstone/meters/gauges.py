"""The time-weighted mean of a gauge. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from loadstone.meters.base import Reading

_EDGE = 1.5
"""Usual gaps that a first or last reading stands for beyond itself: the next may be late."""


def within(
    readings: Sequence[Reading], mean_over_s: float, from_s: float, to_s: float
) -> list[Reading]:
    """The readings that tell of a stretch alone, the invalid ones too.

    A value that is the mean of some seconds belongs to it only if all of them do: the first value
    of a level has some of what was before it.
    """
    return [each for each in readings if each.t_s - mean_over_s >= from_s and each.t_s <= to_s]


def energy_between(
    readings: Sequence[Reading], gap_s: float, mean_over_s: float, from_s: float, to_s: float
) -> tuple[float, float]:
    """The energy of a stretch of time.

    Each reading stands for the time around it, half-way to its neighbours, and at most for one
    usual gap on each side. The first and the last one stand for the time to the ends of the
    stretch. What an invalid one stands for was not measured. Readings from before and after the
    stretch tell nothing of it.

    Args:
        readings: In order of their arrival, the invalid ones too.
        gap_s: The usual time between two.
        mean_over_s: Each value is the mean of so many seconds before its arrival.
        from_s: Begin of the stretch.
        to_s: Its end.

    Returns:
        Seconds of the stretch that were measured, and joules in them.
    """
    inside = within(readings, mean_over_s, from_s, to_s)
    if not inside:
        return 0.0, 0.0
    at = [each.t_s - mean_over_s / 2 for each in inside]
    edge = _EDGE * gap_s + mean_over_s / 2
    begins, ends = [max(from_s, at[0] - edge)], []
    for earlier, later in pairwise(at):
        middle = (earlier + later) / 2
        ends.append(min(middle, earlier + gap_s))
        begins.append(max(middle, later - gap_s))
    ends.append(min(to_s, at[-1] + edge))
    covered = joules = 0.0
    for reading, begin, end in zip(inside, begins, ends, strict=True):
        if not reading.invalid:
            covered += end - begin
            joules += reading.value * (end - begin)
    return covered, joules
