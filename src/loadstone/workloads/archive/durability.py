"""Which acknowledged bulk inserts are not in the history any more."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.results.record import CheckResult
from loadstone.targets.database import Database
from loadstone.workloads.archive.checks import check_history
from loadstone.workloads.archive.contents import Rows, by_station, read_contents
from loadstone.workloads.archive.parameters import INSERT, ArchiveParameters
from loadstone.workloads.archive.segments import Query, Segment, read_segments
from loadstone.workloads.durability import Acknowledgement, CommitAudit


class ArchiveAudit(CommitAudit[Database]):
    """What a crash left of a history."""

    parameters: ArchiveParameters

    def lost(
        self, target: Database, acknowledged: Sequence[Acknowledgement]
    ) -> list[Acknowledgement]:
        """Bulk inserts of which an event is missing."""
        return lost_inserts(target, acknowledged)

    def consistency(self, target: Database) -> list[CheckResult]:
        """The history in itself: a bulk insert is one transaction with the station's mark."""
        return check_history(target, self.parameters)[0]


def lost_inserts(
    target: Database, acknowledged: Sequence[Acknowledgement]
) -> list[Acknowledgement]:
    """Those of which an event is missing, in the order given.

    Args:
        target: Recovered, without load.
        acknowledged: With station, first and last sequence number as keys.
    """
    segments = read_segments(target.query)
    stations = by_station(read_contents(target.query, target.dialect, segments))
    missing = _Missing(target.query, segments, stations)
    return [
        each
        for each in acknowledged
        if each.operation == INSERT and missing.any_of(*map(int, each.keys))
    ]


class _Missing:
    """Looks up numbers one by one only for stations that have gaps."""

    def __init__(
        self, query: Query, segments: Sequence[Segment], stations: dict[int, Rows]
    ) -> None:
        self._query = query
        self._segments = segments
        self._stations = stations
        self._there: dict[int, set[int]] = {}

    def any_of(self, station: int, first: int, last: int) -> bool:
        """Whether one of these numbers is missing."""
        rows = self._stations.get(station)
        if rows is None:
            return True
        if rows.whole:
            return last > rows.greatest
        return not self._numbers(station).issuperset(range(first, last + 1))

    def _numbers(self, station: int) -> set[int]:
        if station not in self._there:
            self._there[station] = {
                int(number)
                for segment in self._segments
                for (number,) in self._query(
                    f"SELECT seq FROM {segment.name} WHERE station = {station}"
                )
            }
        return self._there[station]
