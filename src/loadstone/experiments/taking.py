"""What others took from the measured time of a trial, of its phases and of its levels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from loadstone.experiments.outcome import TrialOutcome
from loadstone.results.record import LevelRecord
from loadstone.results.taken import Cause, Taken

WINDOW_S = 30.0
"""A level of a search can fail for what was taken in so short a time, however long it is."""


def taken_of(outcome: TrialOutcome, levels: Sequence[LevelRecord]) -> list[Taken] | None:
    """What was taken from a trial; None if nobody watched.

    Of several measured phases it is what was taken from the one that lost most, as each has figures
    of its own. Of a search it is what was taken from the levels that do not hold.

    Args:
        outcome: Of the trial, which has ended.
        levels: Of a search, those that it tried.
    """
    watched = outcome.load.watched.taken
    if watched is None:
        return None
    if levels:
        return most(each for level in levels for each in level.taken)
    phases = [each for each in outcome.load.log.measured_phases() if each.to_s > each.from_s]
    return most(one for each in phases for one in watched(each.from_s, each.to_s))


def taken_within(outcome: TrialOutcome, from_s: float, to_s: float) -> list[Taken]:
    """The most that was taken in any window of an interval; nothing if nobody watched."""
    watched = outcome.load.watched.taken
    if watched is None:
        return []
    spans = _windows(from_s, to_s)
    return most(one for begin_s, end_s in spans for one in watched(begin_s, end_s))


def most(found: Iterable[Taken]) -> list[Taken]:
    """Of each cause the one that took most."""
    kept: dict[Cause, Taken] = {}
    for each in found:
        if each.cause not in kept or each.share > kept[each.cause].share:
            kept[each.cause] = each
    return list(kept.values())


def _windows(from_s: float, to_s: float) -> Iterator[tuple[float, float]]:
    """Each overlaps half of the one before; a shorter interval is one window."""
    begin_s = from_s
    while begin_s + WINDOW_S < to_s:
        yield begin_s, begin_s + WINDOW_S
        begin_s += WINDOW_S / 2.0
    yield max(from_s, to_s - WINDOW_S), to_s
