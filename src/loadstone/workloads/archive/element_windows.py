"""What operators see: the view must answer as the sum of its segments."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from loadstone.results.record import CheckResult
from loadstone.targets.dialect import Dialect
from loadstone.workloads.archive.contents import Contents, by_station
from loadstone.workloads.archive.segments import Query
from loadstone.workloads.archive.tables import EVENT_COLUMNS, VIEW
from loadstone.workloads.checked import CheckSpec

SEEN = CheckSpec(
    "the view is the sum of its segments",
    "as many rows, and of a sample exactly the same: eight elements over a minute, drawn at "
    "random, and one of each segment, up to 64",
)
_WINDOWS, _MOST_SEGMENTS = 8, 64
_LONGEST_US = 60_000_000


@dataclass(frozen=True)
class ElementWindow:
    """Some elements over a time."""

    element: int
    from_us: int
    to_us: int

    def condition(self, dialect: Dialect) -> str:
        """For a WHERE."""
        begin, end = dialect.instant(self.from_us), dialect.instant(self.to_us)
        return f"(element_id = {self.element} AND ts >= {begin} AND ts < {end})"


def drawn_windows(contents: Sequence[Contents], elements: int) -> list[ElementWindow]:
    """Elements and times drawn at random from what is there; the same for the same contents.

    Args:
        contents: Of all segments.
        elements: Of each station.
    """
    stations = by_station(contents)
    if not stations:
        return []
    drawn = random.Random(sum(rows.count for rows in stations.values()))
    found = []
    for _ in range(_WINDOWS):
        station = drawn.choice(sorted(stations))
        first_us, last_us = stations[station].first_us, stations[station].last_us
        from_us = drawn.randint(first_us, last_us)
        element = station * elements + drawn.randrange(elements)
        found.append(ElementWindow(element, from_us, from_us + _LONGEST_US))
    return found


def _one_of_each(
    query: Query, dialect: Dialect, contents: Sequence[Contents]
) -> list[ElementWindow]:
    """Of each segment, or as many drawn, the time around a row that is there.

    A segment that is left out is seen, even where another stands twice in its place.
    """
    filled = [each for each in contents if each.rows]
    if len(filled) > _MOST_SEGMENTS:
        filled = random.Random(len(filled)).sample(filled, _MOST_SEGMENTS)
    found = []
    for each in filled:
        when = dialect.unix_us("ts")
        ((element, at_us),) = query(f"SELECT element_id, {when} FROM {each.segment.name} LIMIT 1")
        begin_us = int(at_us) - _LONGEST_US // 2
        found.append(ElementWindow(int(element), begin_us, begin_us + _LONGEST_US))
    return found


def check_view(
    query: Query, dialect: Dialect, contents: Sequence[Contents], elements: int
) -> CheckResult:
    """The view has the rows of all segments, and gives the same rows for elements over a time.

    Args:
        query: Runs one query.
        dialect: Of its engine.
        contents: Of all segments.
        elements: Of each station.
    """
    expected = sum(each.count for each in contents)
    count = int(query(f"SELECT count(*) FROM {VIEW}")[0][0])
    windows = [*drawn_windows(contents, elements), *_one_of_each(query, dialect, contents)]
    seen = _rows(query, dialect, VIEW, windows)
    there: Counter[tuple[Any, ...]] = Counter()
    for each in contents:
        there += _rows(query, dialect, each.segment.name, windows)
    return SEEN.of(
        passed=count == expected and seen == there,
        detail=f"{count:,} rows of {expected:,}; of {len(windows)} elements over a time "
        f"{seen.total():,} rows, {(seen - there).total() + (there - seen).total():,} of which "
        "differ",
    )


def _rows(
    query: Query, dialect: Dialect, table: str, windows: Sequence[ElementWindow]
) -> Counter[tuple[Any, ...]]:
    if not windows:
        return Counter()
    condition = " OR ".join(window.condition(dialect) for window in windows)
    columns = ", ".join(EVENT_COLUMNS)
    return Counter(tuple(row) for row in query(f"SELECT {columns} FROM {table} WHERE {condition}"))
