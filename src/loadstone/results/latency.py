"""Latency histograms: merging those of the ticks, reading percentiles, keeping a standard log.

The driver's histograms are HdrHistogram V2 (compressed, base64), in nanoseconds. Percentiles of
merged histograms are exact to their three digits; percentiles are never averaged.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import takewhile
from typing import Literal, TextIO
from urllib.parse import quote

import numpy as np
from hdrh.codec import (
    HdrCookieException,
    HdrHistogramEncoder,
    HdrHistogramSettingsException,
    HdrLengthException,
    HdrPayload,
    payload_header_size,
)
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray
from pyhdrh import decode as decode_counts

from loadstone.errors import DriverError
from loadstone.results.record import LatencySummary

NANOSECONDS = 1e9
LONGEST_NS = 3_600_000_000_000
USUAL_PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9)
LAST_PERCENTILE = 99.999
"""Where a percentile axis ends."""

TICKS_PER_HALF_DISTANCE = 10
"""Points of a curve each time the distance to 100 % halves, as HdrHistogram's own plots have it."""

LOG_FORMAT_VERSION = "1.3"
"""Of the HdrHistogram interval log; the first with tags."""

Counts = NDArray[np.uint64]


def decode(encoded: str) -> HdrHistogram:
    """Decode one histogram of a frame.

    Raises:
        DriverError: It is not an HdrHistogram V2.
    """
    with _broken_is_an_error(encoded):
        return HdrHistogram.decode(encoded.encode("ascii"))


@contextmanager
def _broken_is_an_error(encoded: str) -> Iterator[None]:
    try:
        yield
    except (
        HdrCookieException,
        HdrLengthException,
        HdrHistogramSettingsException,
        ValueError,
        IndexError,
        zlib.error,
    ) as error:
        raise DriverError(
            f"a frame holds a histogram that is not HdrHistogram V2 ({error}): {encoded[:40]!r}",
            advice="check that the driver and Loadstone have the same version",
        ) from error


def merge(encoded: Iterable[str]) -> HdrHistogram:
    """Add up the histograms of many ticks.

    Args:
        encoded: Base64 HdrHistograms V2 of the same unit and precision, of any range.

    Returns:
        One histogram with all their counts; an empty one for none.

    Raises:
        DriverError: One cannot be decoded, or has another precision or lowest value.
    """
    total = _Sum()
    for text in encoded:
        total.add(text)
    return total.histogram()


class _Sum:
    """Adds histograms up in one array, decoded one after the other into another.

    The library makes an array of 33,000 counters for each histogram, of which a tick uses a few
    hundred.
    """

    def __init__(self) -> None:
        self._layout = (1, LONGEST_NS, 3)
        self._counts: Counts | None = None
        self._one = np.zeros(0, np.uint64)
        self._first, self._last = -1, -1

    def add(self, encoded: str) -> None:
        """Adds one.

        Raises:
            DriverError: See `merge`.
        """
        with _broken_is_an_error(encoded):
            payload = HdrHistogramEncoder.decode(encoded.encode("ascii"))
            counts = self._made_for(payload)
            found = decode_counts(
                payload._data,  # it has no other way to decode into an array that is there
                payload_header_size,
                self._one.ctypes.data,
                self._one.size,
                self._one.itemsize,
            )
        if not found["total"]:
            return
        # The first counter, of what took no time, is not told.
        first = 0 if self._one[0] else found["min_nonzero_index"]
        last = found["max_nonzero_index"]
        counts[first : last + 1] += self._one[first : last + 1]
        self._one[first : last + 1] = 0
        self._first = first if self._first < 0 else min(self._first, first)
        self._last = max(self._last, last)

    def histogram(self) -> HdrHistogram:
        """The sum."""
        histogram = HdrHistogram(*self._layout)
        if self._counts is not None:
            used = self._counts[self._first : self._last + 1]
            _counts(histogram)[self._first : self._last + 1] = used
            histogram.set_internal_tacking_values(self._first, self._last, int(used.sum()))
        return histogram

    def _made_for(self, payload: HdrPayload) -> Counts:
        """The array of the sum, long enough for a histogram, too: a longer range adds counters."""
        header = payload.payload
        lowest, longest, digits = (
            header.lowest_trackable_value,
            header.highest_trackable_value,
            header.significant_figures,
        )
        length = _counters(lowest, longest, digits)
        if self._counts is None:
            self._counts = np.zeros(length, np.uint64)
            self._layout = (lowest, longest, digits)
        elif (lowest, digits) != (self._layout[0], self._layout[2]):
            raise DriverError(
                f"histograms of {self._layout[2]} and of {digits} digits, or of different lowest "
                "values, cannot be added",
                advice="check that the driver and Loadstone have the same version",
            )
        if length > self._counts.size:
            self._counts = np.concatenate(
                [self._counts, np.zeros(length - self._counts.size, np.uint64)]
            )
            self._layout = (lowest, longest, digits)
        if length != self._one.size:
            self._one = np.zeros(length, np.uint64)
        return self._counts


@cache
def _counters(lowest: int, longest: int, digits: int) -> int:
    """How many counters a histogram has."""
    return int(HdrHistogram(lowest, longest, digits).counts_len)


def added(encoded: Sequence[str]) -> str | None:
    """Add up histograms and encode the sum, which is exact: counter by counter.

    Args:
        encoded: As for `merge`.

    Returns:
        The sum as a frame holds it; None for no histogram.

    Raises:
        DriverError: As `merge`.
    """
    if len(encoded) < 2:
        return encoded[0] if encoded else None
    return str(merge(encoded).encode().decode("ascii"))


def _counts(histogram: HdrHistogram) -> Counts:
    counts: Counts = np.ctypeslib.as_array(histogram.counts)
    return counts


def _used(histogram: HdrHistogram) -> tuple[NDArray[np.intp], Counts]:
    """The indices of the counters that are not zero, and these."""
    if not histogram.get_total_count():
        return np.zeros(0, np.intp), np.zeros(0, np.uint64)
    first = histogram.get_counts_array_index(histogram.get_min_value())
    last = histogram.get_counts_array_index(histogram.get_max_value())
    counts = _counts(histogram)[first : last + 1]
    used = np.flatnonzero(counts)
    return used + first, counts[used]


def percentiles(
    histogram: HdrHistogram, which: Sequence[float] = USUAL_PERCENTILES
) -> dict[float, float]:
    """Read percentiles of a histogram in nanoseconds.

    A value is the highest one that its counter stands for, as HdrHistogram defines it, so that a
    latency is never shown smaller than it was.

    Args:
        histogram: Not empty.
        which: Percentiles, 0 to 100.

    Returns:
        Percentile: seconds. Empty for an empty histogram.
    """
    used, counts = _used(histogram)
    if used.size == 0:
        return {}
    running = np.cumsum(counts)
    total = int(running[-1])
    values = {}
    for percentile in which:
        target = max(1, min(total, int(percentile * total / 100.0 + 0.5)))
        index = int(used[int(np.searchsorted(running, target))])
        value = histogram.get_value_from_index(index)
        values[percentile] = histogram.get_highest_equivalent_value(value) / NANOSECONDS
    return values


def count_above(histogram: HdrHistogram, limit_s: float) -> int:
    """How many values are above a limit, to the three digits that a histogram keeps.

    Args:
        histogram: In nanoseconds.
        limit_s: A value of just so long is not above it.
    """
    used, counts = _used(histogram)
    lowest = np.array([histogram.get_value_from_index(int(index)) for index in used])
    return int(counts[lowest > limit_s * NANOSECONDS].sum())


def percentile_curve(histogram: HdrHistogram) -> list[tuple[float, float]]:
    """Give the distribution for a percentile axis up to 99.999.

    Points lie closer the nearer they are to 100, and end where the histogram has no more values to
    tell them apart: of 1,000 operations the 99.99th percentile is not known.

    Returns:
        (percentile, seconds), both ascending; empty for an empty histogram.
    """
    total = histogram.get_total_count()
    if total == 0:
        return []
    end = min(LAST_PERCENTILE, 100.0 * (1.0 - 1.0 / total))
    which = [*takewhile(lambda percentile: percentile < end, _axis()), end]
    return list(percentiles(histogram, which).items())


def _axis() -> Iterable[float]:
    distance = 100.0
    while distance > 100.0 - LAST_PERCENTILE:
        for step in range(TICKS_PER_HALF_DISTANCE):
            yield 100.0 - distance * (1.0 - 0.5 * step / TICKS_PER_HALF_DISTANCE)
        distance /= 2.0


def _mean_s(histogram: HdrHistogram) -> float:
    """The mean of the middles of what each counter stands for, as HdrHistogram defines it."""
    used, counts = _used(histogram)
    middles = [
        (
            histogram.get_lowest_equivalent_value(value)
            + histogram.get_highest_equivalent_value(value)
        )
        / 2
        for value in (histogram.get_value_from_index(int(index)) for index in used)
    ]
    return float(np.average(middles, weights=counts)) / NANOSECONDS


def summarize_latency(histogram: HdrHistogram) -> LatencySummary | None:
    """Give the figures of a histogram in seconds, or None when it is empty."""
    at = percentiles(histogram, (*USUAL_PERCENTILES, 100.0))
    if not at:
        return None
    return LatencySummary(
        count=histogram.get_total_count(),
        mean_s=_mean_s(histogram),
        p50_s=at[50.0],
        p90_s=at[90.0],
        p95_s=at[95.0],
        p99_s=at[99.0],
        p999_s=at[99.9],
        max_s=at[100.0],
    )


class LatencyLog:
    """Writes ``latency.hlog``, a standard HdrHistogram interval log, while the run goes on.

    Format 1.3 as the JavaDoc of HistogramLogReader describes it: any HistogramLogProcessor reads
    it, with ``-tag`` for one of the tags. Times are in seconds since the driver's start, which is
    the base time; histograms are in nanoseconds, the largest value of a line is in milliseconds.
    The writer of the ``hdrh`` package is not used: it knows no tags, cuts the largest value down
    to a whole number and fails to write a start time.
    """

    def __init__(self, stream: TextIO, *, start_unix_s: float) -> None:
        """Write the head of the log.

        Args:
            stream: Where to write; stays open, its owner closes it.
            start_unix_s: Wall clock at the driver's time 0.
        """
        self._stream = stream
        stream.write(
            f"#[Histogram log format version {LOG_FORMAT_VERSION}]\n"
            f"#[StartTime: {start_unix_s:.3f} (seconds since epoch)]\n"
            f"#[BaseTime: {start_unix_s:.3f} (seconds since epoch)]\n"
            "#[Tags: phase/operation/response or service, phase/operation/request/service; "
            "values in ns, Interval_Max in ms]\n"
            '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
        )

    def append(self, tag: str, from_s: float, to_s: float, encoded: str) -> None:
        """Write the histogram of one tick and flush it.

        Args:
            tag: See `log_tag`.
            from_s: Begin of the tick, seconds since the driver's start.
            to_s: End of it.
            encoded: The histogram as it stands in the frame.

        Raises:
            DriverError: The histogram cannot be decoded.
        """
        largest_ms = decode(encoded).get_max_value() / 1e6
        self._stream.write(
            f"Tag={tag},{from_s:.3f},{to_s - from_s:.3f},{largest_ms:.3f},{encoded}\n"
        )
        self._stream.flush()


def log_tag(
    phase: str,
    operation: str,
    time: Literal["response", "service"],
    request: str | None = None,
) -> str:
    """Name a line, e.g. ``measure/new-order/response``; a tag holds no comma and no blank.

    A request has the name of its operation before its own: ``measure/list/list-page/service``.
    What is not ASCII is percent-encoded.
    """
    names = (phase, operation, time) if request is None else (phase, operation, request, time)
    return "/".join(_tag_part(name) for name in names)


def _tag_part(name: str) -> str:
    joined = re.sub(r"[\s,/]+", "-", name)
    return re.sub(r"[^!-~]+", lambda found: quote(found.group(), errors="replace"), joined)
