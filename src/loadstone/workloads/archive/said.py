"""Whether the rows of the history say what the stations have sent.

What an event says is a function of its number: it is made again, and summed as an engine sums it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from loadstone.results.columns import texts
from loadstone.targets.dialect import Dialect
from loadstone.workloads.archive.events import STATES, EventColumns, EventGenerator
from loadstone.workloads.archive.parameters import ArchiveParameters

_FINE = 4096
"""Values are whole multiples of one of so many parts."""
_ELEMENT, _VALUE, _STATUS, _TEXT = 1009, 7, 101, 13
"""How often the columns of a row count."""
_MODULUS, _MODULUS_OF_TIMES = 8191, 1021
"""A row counts as often as its number modulo this says: rows that are swapped change the sum. Times
are larger numbers, and have smaller weights."""
_SAMPLED = 16
"""Of so many events, the time of the first is compared: to read one costs as much as all else."""
_AT_ONCE = 1 << 18
_KNOWN = texts(STATES)
_HALF_BITS = 32


def said_sql(dialect: Dialect) -> str:
    """An integer expression over a row: what it says, by place.

    A missing value is another than 0, a missing text another than an empty one, and a value between
    the whole parts another than those beside it.
    """
    parts = f"value * {_FINE}"
    whole = dialect.wide(parts)
    value = (
        f"CASE WHEN value IS NULL THEN 0 WHEN {parts} = {whole} THEN 1 + {whole} ELSE {whole} END"
    )
    states = " ".join(f"WHEN text = '{each}' THEN {at}" for at, each in enumerate(STATES, start=1))
    text = f"CASE WHEN text IS NULL THEN 0 {states} ELSE {len(STATES) + 1} END"
    row = (
        f"{_ELEMENT} * {dialect.wide('element_id')} + {_VALUE} * ({value}) "
        f"+ {_STATUS} * status + {_TEXT} * ({text})"
    )
    return f"({row}) * (1 + seq % {_MODULUS})"


def timed_sql(dialect: Dialect) -> str:
    """An integer expression over a row: its source time by place, 0 outside of the sample."""
    time = f"{dialect.unix_us('ts')} * (1 + seq % {_MODULUS_OF_TIMES})"
    return f"CASE WHEN seq % {_SAMPLED} = 1 THEN {time} ELSE 0 END"


@dataclass(frozen=True)
class Sent:
    """What a station has sent: its events 1 to n."""

    said: int
    """As `said_sql` sums it."""
    timed: int
    """As `timed_sql` sums it, of times since the station's begin."""
    weight: int
    """Of all times together."""
    first_us: int
    """Earliest source time since the begin."""
    last_us: int

    def timed_from(self, first_us: int) -> int:
        """`timed` of a station whose earliest source time is this, since 1970."""
        return self.timed + (first_us - self.first_us) * self.weight


def sent(station: int, count: int, parameters: ArchiveParameters, seed: int) -> Sent:
    """What a station sent that lost nothing.

    Args:
        station: Its number.
        count: Its events.
        parameters: Of the trial, with events that are made up.
        seed: Of the load.
    """
    source = EventGenerator(station, _Shape.of(parameters), seed)
    said, timed, weight, firsts, lasts = 0, 0, 0, [], []
    for seqs, own in _events(source, count):
        element = own.element + station * parameters.elements
        said += _sum(_row(own, element) * (1 + seqs % _MODULUS))
        weights = np.where(seqs % _SAMPLED == 1, 1 + seqs % _MODULUS_OF_TIMES, 0)
        timed += _sum(own.after_us * weights)
        weight += int(weights.sum())
        firsts.append(int(own.after_us.min()))
        lasts.append(int(own.after_us.max()))
    return Sent(said, timed, weight, min(firsts), max(lasts))


@dataclass(frozen=True)
class _Shape:
    """Parameters as the load generator has them."""

    elements: int
    events_per_s: float
    late_share: float
    late_by_s: float
    disorder_share: float

    @classmethod
    def of(cls, parameters: ArchiveParameters) -> _Shape:
        return cls(
            elements=parameters.elements,
            events_per_s=parameters.rate / parameters.stations,
            late_share=parameters.late_share,
            late_by_s=parameters.late_by,
            disorder_share=parameters.disorder_share,
        )


def _events(source: EventGenerator, count: int) -> Iterator[tuple[NDArray[np.int64], EventColumns]]:
    for first in range(0, count, _AT_ONCE):
        numbers = np.arange(first, min(count, first + _AT_ONCE), dtype=np.uint64)
        seqs = numbers + np.uint64(1)
        yield seqs.astype(np.int64), source.say(numbers, seqs)


def _row(own: EventColumns, element: NDArray[np.int64]) -> NDArray[np.int64]:
    value = np.where(own.lacks_value, 0, 1 + (own.value * _FINE).astype(np.int64))
    states = pc.fill_null(pc.index_in(own.text, value_set=_KNOWN), -1)
    text = states.to_numpy(zero_copy_only=False).astype(np.int64) + 1
    row: NDArray[np.int64] = (
        _ELEMENT * element + _VALUE * value + _STATUS * own.status.astype(np.int64) + _TEXT * text
    )
    return row


def _sum(products: NDArray[np.int64]) -> int:
    """Without overflow."""
    low = int((products & ((1 << _HALF_BITS) - 1)).sum())
    return (int((products >> _HALF_BITS).sum()) << _HALF_BITS) + low
