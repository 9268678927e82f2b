"""fio's histograms, as counts by nanoseconds, and as HdrHistogram.

fio counts exactly up to 128 ns; beyond it each doubling of time has 64 bins, and a time is told as
the middle of its bin: wrong by 1/128 of itself at most. The last bin ends at 2^34 ns (17.18 s) and
also holds all that took longer. (fio's stat.h and stat.c: FIO_IO_U_PLAT_BITS, plat_idx_to_val.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hdrh.histogram import HdrHistogram

_BITS = 6
_PER_DOUBLING = 1 << _BITS
COUNT = 29 * _PER_DOUBLING
"""Bins of fio's scale."""
ERROR = 1 / (2 * _PER_DOUBLING)
"""By which a time is wrong at most, as a share of it."""
BEYOND_NS = 1 << 34
"""Where the scale ends."""
_LONGEST_NS = 3600 * 10**9
_DIGITS = 3

Bins = Counter[int]
"""Nanoseconds: how many took so long."""


def value_ns(place: int) -> int:
    """The time that stands for a bin, as fio's JSON has it."""
    if place < 2 * _PER_DOUBLING:
        return place
    shift = (place >> _BITS) - 1
    return int((1 << (shift + _BITS)) + (place % _PER_DOUBLING + 0.5) * (1 << shift))


LAST_NS = value_ns(COUNT - 1)
"""The time that stands for the last bin."""


def of_json(bins: Mapping[str, int]) -> Bins:
    """Of `bins` in fio's JSON."""
    return Counter({int(time): count for time, count in bins.items() if count})


def bounded(bins: Mapping[int, int], least_ns: int, most_ns: int) -> Bins:
    """The bins with no time outside of what was measured exactly.

    What is beyond the scale is told as the longest time.

    Args:
        bins: Of jobs that are taken together: bounds of each by itself would tell other times.
        least_ns: The shortest time of all of them.
        most_ns: The longest.
    """
    found: Bins = Counter()
    for time, count in bins.items():
        beyond = time >= LAST_NS and most_ns >= BEYOND_NS
        if count > 0:
            found[most_ns if beyond else min(max(time, least_ns), most_ns)] += count
    return found


def beyond(bins: Mapping[int, int], most_ns: int) -> int:
    """How many may have taken longer than the scale tells."""
    return bins.get(LAST_NS, 0) if most_ns >= BEYOND_NS else 0


class BinEncoder:
    """Encodes bins as HdrHistogram V2; one histogram serves all, as making one is dear."""

    def __init__(self) -> None:
        self._histogram = HdrHistogram(1, _LONGEST_NS, _DIGITS)

    def encode(self, bins: Mapping[int, int], least_ns: int, most_ns: int) -> str | None:
        """Deflated and as base64; None if there are none.

        A percentile is read as the highest time that its counter stands for. So that none is above
        the longest time, that is told by the counter before its own where it would be.
        """
        counted = bounded(bins, least_ns, most_ns)
        if not counted:
            return None
        histogram = self._histogram
        histogram.reset()
        for time, count in counted.items():
            above = histogram.get_highest_equivalent_value(time) > most_ns
            told = histogram.get_lowest_equivalent_value(time) - 1 if above else time
            histogram.record_value(min(told, _LONGEST_NS), count)
        encoded: bytes = self._histogram.encode()
        return encoded.decode()
