"""Events that are stored in one transaction, as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from loadstone.results.columns import of_numpy
from loadstone.runner.archive.station_buffer import EventRun
from loadstone.workloads.archive.events import EventColumns, EventSource, Words
from loadstone.workloads.archive.tables import EVENT_COLUMNS

ROUTES = (
    "SELECT name, begin_us FROM archive_segment "
    "WHERE state IN ('open', 'current') ORDER BY begin_us"
)
"""The segments that take events, by their begin."""
_ROW_BYTES = 36
"""Width of the columns of a row but its text."""


@dataclass(frozen=True)
class Last:
    """The last event of a batch."""

    element: int
    ts_us: int
    seq: int


class Batch:
    """The events of runs, in their order; there is at least one.

    Args:
        station: Number of the station.
        elements: Data points of each station.
        source: What its events say.
        began_us: When the station began, microseconds since 1970.
        runs: Which events.
    """

    def __init__(
        self,
        station: int,
        elements: int,
        source: EventSource,
        began_us: int,
        runs: Sequence[EventRun],
    ) -> None:
        self.station = station
        self.count = sum(run.count for run in runs)
        numbers = _numbers([(each.first_number, each.count) for each in runs])
        seqs = _numbers([(each.first_seq, each.count) for each in runs])
        said = source.say(numbers, seqs)
        element, self._ts_us = said.element + station * elements, began_us + said.after_us
        self._rows = _table(station, element, self._ts_us, seqs, said)
        self.last = Last(int(element[-1]), int(self._ts_us[-1]), int(seqs[-1]))
        self.bytes = self.count * _ROW_BYTES + (pc.sum(pc.binary_length(said.text)).as_py() or 0)

    @property
    def rows(self) -> pa.Table:
        """All events, as rows of a segment."""
        return self._rows

    def parts(self, routes: Sequence[tuple[str, int]]) -> Iterator[tuple[str, pa.Table]]:
        """The segments that the events go to, with those of each.

        A segment takes those from its begin up to the begin of the next, the first also all that
        are older.

        Args:
            routes: Names and begins of the segments, by their begin.
        """
        begins = np.array([begin_us for _, begin_us in routes[1:]], dtype=np.int64)
        place = np.searchsorted(begins, self._ts_us, side="right")
        for at in np.unique(place):
            mask = place == at
            yield routes[at][0], self._rows if mask.all() else self._rows.filter(of_numpy(mask))


def _numbers(runs: Sequence[tuple[int, int]]) -> Words:
    parts = [np.arange(first, first + count, dtype=np.uint64) for first, count in runs]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _table(
    station: int,
    element: NDArray[np.int64],
    ts_us: NDArray[np.int64],
    seqs: Words,
    said: EventColumns,
) -> pa.Table:
    columns = (
        of_numpy(element.astype(np.int32)),
        of_numpy(ts_us).view(pa.timestamp("us")),
        of_numpy(said.value, said.lacks_value),
        said.text,
        of_numpy(said.status),
        of_numpy(np.full(len(seqs), station, dtype=np.int32)),
        of_numpy(seqs.astype(np.int64)),
    )
    return pa.Table.from_arrays(columns, names=EVENT_COLUMNS)
