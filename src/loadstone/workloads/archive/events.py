"""The events of a station: when they become due, and what they say.

Nothing is drawn and kept. What event number `seq` says is a function of the seed, the station and
the number, so that a batch that is sent again is the same to the last bit. It is the function of
the Rust driver (`driver/src/archive/source.rs`), made for a whole batch at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from loadstone.results.columns import texts

Words = NDArray[np.uint64]
_SECOND_NS = 1_000_000_000

GOOD, UNCERTAIN, BAD = 192, 64, 0
"""Quality codes as OPC has them."""
STATES = ("OFF", "STANDBY", "RAMPING", "ON", "WARNING", "ERROR", "TRIPPED", "LOCAL")
"""Values of elements that have a state instead of a number."""
SPREAD = 0x9E37_79B9_7F4A_7C15
"""The bits of the golden ratio: their multiples spread consecutive numbers over all of 64 bits."""
_SPREAD_32 = np.uint32(0x9E37_79B9)
_ALL_64 = 2**64 - 1
_TWO_32 = 4_294_967_296.0
_STATES = texts(STATES)


@dataclass(frozen=True)
class EventColumns:
    """What events say, without their station: arrays of one length.

    `after_us` is the source time after the station's begin; `value` is of no use where
    `lacks_value` holds, `text` is null where there is none.
    """

    element: NDArray[np.int64]
    after_us: NDArray[np.int64]
    value: NDArray[np.float64]
    lacks_value: NDArray[np.bool_]
    text: pa.Array
    status: NDArray[np.int32]


class EventShape(Protocol):
    """What of a plan's parameters decides what events say."""

    @property
    def elements(self) -> int:
        """Data points of each station."""

    @property
    def events_per_s(self) -> float:
        """Of each station."""

    @property
    def late_share(self) -> float:
        """Share of events that come late."""

    @property
    def late_by_s(self) -> float:
        """How late they come at most."""

    @property
    def disorder_share(self) -> float:
        """Share of events whose time lies before that of the event in front of them."""


class EventSource(Protocol):
    """Where the events of a station come from."""

    @property
    def per_s(self) -> float:
        """Events a second, on average."""

    def due_by(self, elapsed_ns: int) -> int:
        """Events that are due so long after the station's begin."""

    def say(self, numbers: Words, seqs: Words) -> EventColumns:
        """What events say that became due as `numbers`, from 0, and were accepted as `seqs`."""


class EventGenerator:
    """Makes up the events of one station."""

    def __init__(self, station: int, parameters: EventShape, seed: int) -> None:
        self._seed = _mix_one(seed ^ ((station + 1) * SPREAD & _ALL_64))
        self._elements = parameters.elements
        self._period_ns = _SECOND_NS / parameters.events_per_s
        self._late_below = int(parameters.late_share * _TWO_32)
        both = parameters.late_share + parameters.disorder_share
        self._disorder_below = int(both * _TWO_32)
        self._late_by_us = int(parameters.late_by_s * 1e6)

    @property
    def per_s(self) -> float:
        """Events a second."""
        return _SECOND_NS / self._period_ns

    def due_by(self, elapsed_ns: int) -> int:
        """Events that are due so long after the station's begin."""
        count = int(elapsed_ns / self._period_ns)
        while count > 0 and self._due_ns(count - 1) > elapsed_ns:
            count -= 1
        while self._due_ns(count) <= elapsed_ns:
            count += 1
        return count

    def _due_ns(self, number: int) -> int:
        return int(float(number + 1) * self._period_ns)

    def say(self, numbers: Words, seqs: Words) -> EventColumns:
        """What events say that became due as `numbers`, from 0, and were accepted as `seqs`."""
        draw = _mix(np.uint64(self._seed) + seqs * np.uint64(SPREAD))
        element = (draw & np.uint64(0xFFFF_FFFF)) * np.uint64(self._elements) >> np.uint64(32)
        noise = draw >> np.uint64(13) & np.uint64(0xFFF)
        nature = (np.uint32(self._seed & 0xFFFF_FFFF) ^ element.astype(np.uint32)) * _SPREAD_32
        lacks_value = nature >> 27 == 31
        states = (noise % np.uint64(len(STATES))).astype(np.int8)
        return EventColumns(
            element=element.astype(np.int64),
            after_us=self._after_us(numbers, draw),
            value=_value(nature, noise),
            lacks_value=lacks_value,
            text=_STATES.take(pa.array(states, mask=~lacks_value)),
            status=_status(draw),
        )

    def _after_us(self, numbers: Words, draw: Words) -> NDArray[np.int64]:
        due_ns = ((numbers + np.uint64(1)).astype(np.float64) * self._period_ns).astype(np.int64)
        after_us: NDArray[np.int64] = due_ns // 1000
        place = draw >> np.uint64(32)
        behind = np.flatnonzero(place < self._disorder_below)
        if len(behind):
            late = place[behind] < self._late_below
            after_us[behind] -= self._lateness_us(late, draw[behind])
        return after_us

    def _lateness_us(self, late: NDArray[np.bool_], draw: Words) -> NDArray[np.int64]:
        """How late events come that are late, or that come one to five events out of order."""
        part = (_mix(draw) >> np.uint64(32)).astype(np.float64) / _TWO_32
        period_us = self._period_ns / 1000.0
        most_us = np.where(late, float(self._late_by_us), 4.0 * self._period_ns / 1000.0)
        least_us = np.where(late, 1.0, period_us)
        return (least_us + part * most_us).astype(np.int64)


def _value(nature: NDArray[np.uint32], noise: Words) -> NDArray[np.float64]:
    """An element has one type for all time: of 32 there are 19 with measured values, 8 with counts,
    4 that are true or false, and 1 with a state.
    """  # noqa: D205
    kind = nature >> 27
    level = (nature & np.uint32(0xFFFF)).astype(np.float64)
    fine = noise.astype(np.float64)
    value: NDArray[np.float64] = level + np.where(kind < 19, fine / 4096.0, fine)
    flags = kind >= 27
    value[flags] = (noise[flags] & np.uint64(1)).astype(np.float64)
    return value


def _status(draw: Words) -> NDArray[np.int32]:
    place = draw >> np.uint64(25) & np.uint64(0x3FF)
    status = np.full(len(draw), GOOD, dtype=np.int32)
    status[place < 10] = UNCERTAIN
    status[place == 10] = BAD
    return status


def _mix(bits: Words) -> Words:
    """Spreads a change of any bit over all bits.

    The finalizer of Stafford, variant 13, as in SplitMix64 by Steele, Lea and Flood, 2014.
    """
    bits = (bits ^ bits >> np.uint64(30)) * np.uint64(0xBF58_476D_1CE4_E5B9)
    bits = (bits ^ bits >> np.uint64(27)) * np.uint64(0x94D0_49BB_1331_11EB)
    return bits ^ bits >> np.uint64(31)


def _mix_one(bits: int) -> int:
    return int(_mix(np.array([bits], dtype=np.uint64))[0])
