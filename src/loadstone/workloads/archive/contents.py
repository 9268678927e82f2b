"""What the segments hold, station by station: one scan of each segment serves most checks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loadstone.targets.dialect import Dialect
from loadstone.workloads.archive.said import said_sql, timed_sql
from loadstone.workloads.archive.segments import CLOSED, Query, Segment

HALF_BITS = 32
"""Products are summed in halves: the sum of an engine may have no more than 64 bits."""


@dataclass(frozen=True)
class Rows:
    """Rows of one station, in one segment or in all."""

    count: int
    least: int
    """Sequence number."""
    greatest: int
    total: int
    """Sum of the sequence numbers."""
    squares: int
    """Sum of their squares."""
    first_us: int
    """Earliest source time, microseconds since 1970."""
    last_us: int
    said: int = 0
    """`said.said_sql`, summed: elements, values, texts and qualities by place."""
    timed: int = 0
    """`said.timed_sql`, summed: source times of a sample by place."""

    def __add__(self, other: Rows) -> Rows:
        return Rows(
            self.count + other.count,
            min(self.least, other.least),
            max(self.greatest, other.greatest),
            self.total + other.total,
            self.squares + other.squares,
            min(self.first_us, other.first_us),
            max(self.last_us, other.last_us),
            self.said + other.said,
            self.timed + other.timed,
        )

    @property
    def whole(self) -> bool:
        """Whether they are the events 1 to `count`, each once."""
        n = self.count
        return (
            self.least == 1
            and self.greatest == n
            and self.total == n * (n + 1) // 2
            and self.squares == n * (n + 1) * (2 * n + 1) // 6
        )


@dataclass(frozen=True)
class Misplaced:
    """Rows of one station in a segment whose time is not the segment's."""

    early: int
    """Rows from before its begin: right only for what came after the segment before was closed."""
    first_early: int
    """Least sequence number of those; 0 if there are none."""
    beyond: int
    """Rows from after its end."""


@dataclass(frozen=True)
class Contents:
    """Rows of one segment by station."""

    segment: Segment
    rows: dict[int, Rows]
    misplaced: dict[int, Misplaced]

    @property
    def count(self) -> int:
        """Its rows."""
        return sum(rows.count for rows in self.rows.values())


def read_contents(query: Query, dialect: Dialect, segments: Sequence[Segment]) -> list[Contents]:
    """Scans every segment once.

    Args:
        query: Runs one query.
        dialect: Of its engine.
        segments: In their order.
    """
    ends = _ends(segments)
    return [
        _read(query, dialect, segment, end_us)
        for segment, end_us in zip(segments, ends, strict=True)
    ]


def by_station(contents: Iterable[Contents]) -> dict[int, Rows]:
    """Station: its rows in all segments."""
    found: dict[int, Rows] = {}
    for each in contents:
        for station, rows in each.rows.items():
            found[station] = found[station] + rows if station in found else rows
    return found


def strays(contents: Sequence[Contents]) -> dict[str, int]:
    """Segment: rows that must not be there.

    A row may be earlier than its segment if the segment before was closed when it came. A station
    stores its events in their order: so all its rows in earlier segments have lower numbers.
    """
    found: dict[str, int] = defaultdict(int)
    greatest: dict[int, int] = {}
    closed = False
    for each in contents:
        if not each.segment.begun:
            found[each.segment.name] += each.count
        for station, misplaced in each.misplaced.items():
            came_late = closed and misplaced.first_early > greatest.get(station, 0)
            found[each.segment.name] += misplaced.beyond + misplaced.early * (not came_late)
        for station, rows in each.rows.items():
            greatest[station] = max(greatest.get(station, 0), rows.greatest)
        closed = each.segment.state == CLOSED
    return {name: count for name, count in found.items() if count}


def _ends(segments: Sequence[Segment]) -> list[int | None]:
    """Where each ends: at the begin of the next; the last has no end."""
    begins = [each.begin_us if each.begun else None for each in segments]
    return [*begins[1:], None] if begins else []


def _read(query: Query, dialect: Dialect, segment: Segment, end_us: int | None) -> Contents:
    rows: dict[int, Rows] = {}
    misplaced: dict[int, Misplaced] = {}
    for values in query(_sql(dialect, segment, end_us)):
        station, count, least, greatest, total, first_us, last_us, *more = (
            int(value or 0) for value in values
        )
        halves, where = more[: 2 * _PRODUCTS], more[2 * _PRODUCTS :]
        pairs = zip(halves[::2], halves[1::2], strict=True)
        squares, said, timed = ((high << HALF_BITS) + low for high, low in pairs)
        rows[station] = Rows(count, least, greatest, total, squares, first_us, last_us, said, timed)
        if any(where):
            misplaced[station] = Misplaced(*where)
    return Contents(segment, rows, misplaced)


def _sql(dialect: Dialect, segment: Segment, end_us: int | None) -> str:
    begin = dialect.instant(segment.begin_us) if segment.begun else None
    end = dialect.instant(end_us) if end_us is not None else None
    early = "0" if begin is None else f"CASE WHEN ts < {begin} THEN 1 ELSE 0 END"
    first_early = "NULL" if begin is None else f"CASE WHEN ts < {begin} THEN seq END"
    beyond = "0" if end is None else f"CASE WHEN ts >= {end} THEN 1 ELSE 0 END"
    products = ("seq * seq", said_sql(dialect), timed_sql(dialect))
    return f"""
        SELECT station, count(*), min(seq), max(seq), sum(seq),
            {dialect.unix_us("min(ts)")}, {dialect.unix_us("max(ts)")},
            {", ".join(map(_halves, products))},
            sum({early}), min({first_early}), sum({beyond})
        FROM {segment.name} GROUP BY station
    """


_PRODUCTS = 3
"""Whose sums are read in halves: squares, what events say, and times."""


def _halves(product: str) -> str:
    return f"sum(({product}) >> {HALF_BITS}), sum(({product}) & {(1 << HALF_BITS) - 1})"
