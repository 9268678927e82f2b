"""The segments of the history as its catalogue has them, and whether they can be right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from loadstone.results.record import CheckResult
from loadstone.workloads.archive.tables import (
    BEGINNING_OF_TIME_US,
    FIRST_SEGMENT,
    index_name,
    segment_name,
)
from loadstone.workloads.checked import CheckSpec

ORDER = CheckSpec(
    "segments are in order",
    "numbered without gaps, begins rising and no two alike, exactly one current, closed "
    "ones before open ones; each line of the catalogue",
)
INDEXES = CheckSpec(
    "segments have their index",
    "every closed one; with index: live every one; by the names that the engine has",
)
MOVED = CheckSpec(
    "closed segments have moved",
    "with move only: table and index of every closed one lie in the second place",
)

Query = Callable[[str], Sequence[tuple[Any, ...]]]
"""Runs one query on the target and returns its rows."""

NEXT, CURRENT, OPEN, CLOSED = "next", "current", "open", "closed"
_AGE = {CLOSED: 0, OPEN: 1, CURRENT: 2, NEXT: 3}
"""Segments come in this order; late events still reach those that are open."""


@dataclass(frozen=True)
class Segment:
    """A line of `archive_segment`."""

    number: int
    name: str
    begin_us: int
    state: str
    closed_us: int | None = None

    @property
    def begun(self) -> bool:
        """Whether it has a begin; one that was only made has none."""
        return self.state != NEXT


def read_segments(query: Query) -> list[Segment]:
    """All segments, by their number."""
    rows = query(
        "SELECT number, name, begin_us, state, closed_us FROM archive_segment ORDER BY number"
    )
    return [
        Segment(int(number), name, int(begin), state, None if closed is None else int(closed))
        for number, name, begin, state, closed in rows
    ]


def check_order(segments: Sequence[Segment]) -> CheckResult:
    """Segments are numbered without a gap, begin one after the other, and one is current."""
    wrong = list(_disorder(segments))
    states = [each.state for each in segments]
    counts = ", ".join(f"{states.count(state)} {state}" for state in _AGE if state in states)
    return ORDER.of(
        passed=not wrong,
        detail="; ".join(wrong[:5]) or f"{len(segments)} segments: {counts}",
    )


def check_indexes(
    segments: Sequence[Segment], index_names: Callable[[str], set[str]], *, live: bool
) -> CheckResult:
    """Every closed segment has its index; with a live index every segment has.

    Args:
        segments: All of them.
        index_names: Names of the indexes of a table.
        live: The index is made with the segment.
    """
    due = [each for each in segments if live or each.state == CLOSED]
    without = [each.name for each in due if index_name(each.name) not in index_names(each.name)]
    return INDEXES.of(
        passed=not without,
        detail=f"without it: {', '.join(without)}"
        if without
        else f"{len(due)} of {len(segments)} segments must have one and do",
    )


def check_moved(segments: Sequence[Segment], moved: Callable[[str], set[str]]) -> CheckResult:
    """Every closed segment lies in the second place, with its index.

    Args:
        segments: All of them.
        moved: Of a table and its indexes, the names of those that lie there.
    """
    closed = [each.name for each in segments if each.state == CLOSED]
    left = [name for name in closed if not {name, index_name(name)} <= moved(name)]
    return MOVED.of(
        passed=not left,
        detail=f"still at the first place, or their index is: {', '.join(left)}"
        if left
        else f"{len(closed)} closed segments lie in the second place, with their index",
    )


def _disorder(segments: Sequence[Segment]) -> list[str]:
    wrong = []
    numbers = [each.number for each in segments]
    if numbers != list(range(FIRST_SEGMENT, FIRST_SEGMENT + len(segments))):
        wrong.append(f"numbers are {numbers}")
    if (current := [each.state for each in segments].count(CURRENT)) != 1:
        wrong.append(f"{current} segments are current")
    wrong += [
        f"segment {each.number} has the state {each.state!r}"
        for each in segments
        if each.state not in _AGE
    ]
    wrong += [
        f"segment {each.number} is called {each.name}"
        for each in segments
        if each.name != segment_name(each.number)
    ]
    wrong += [
        f"segment {each.number} is closed and has no time of it"
        for each in segments
        if each.state == CLOSED and each.closed_us is None
    ]
    begun = [each for each in segments if each.begun]
    if begun and begun[0].begin_us != BEGINNING_OF_TIME_US:
        wrong.append(f"the first segment begins at {begun[0].begin_us} us")
    for earlier, later in pairwise(begun):
        if later.begin_us <= earlier.begin_us:
            wrong.append(f"segment {later.number} does not begin after {earlier.number}")
    for earlier, later in pairwise(segments):
        if _AGE.get(later.state, 0) < _AGE.get(earlier.state, 0):
            wrong.append(f"segment {later.number} is {later.state}, {earlier.number} still not")
    return wrong
