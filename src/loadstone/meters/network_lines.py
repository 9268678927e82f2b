"""The lines of a network meter of SPEC's kind: text in, values out.

The daemon of such a meter takes one command a line over TCP and answers with lines. The daemon
itself is licensed, so these are the lines that public reports show (mlcommons/power-dev: issues
204, 253, 273, 288, 329, and its server).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

PORT = 8888
HELLO = "Hello, PTDaemon here!"
IDENTITY_FIELDS = (12, 16)
"""Comma-separated fields of an answer to `Identify`: of older and of newer daemons."""
SUM = "sum"
"""Channel of the whole meter: the figures before those of `Ch1`, `Ch2` ..."""
LIMIT_PERCENT = 1.0
"""Overall uncertainty that SPEC's rules allow."""
SHARE_BELOW = 0.05
"""An uncertainty below this is a share: no meter is as good as 0.05 %."""
AUTOMATIC = "Auto"
"""Range to set where the meter is to choose."""
TOO_SMALL = "a negative power: the range is too small"

_HEADER = re.compile(r"Last (\d+) samples?")
_CHANNEL = re.compile(r"Ch\d+")
_STAMP = re.compile(r"(\d\d)-(\d\d)-(\d{4}) (\d\d):(\d\d):(\d\d(?:\.\d{1,6})?)")


class LineError(ValueError):
    """A line that such a meter does not say."""


@dataclass(frozen=True)
class Range:
    """A range of a meter as it was found. None: the meter does not say it."""

    automatic: bool | None
    most: float | None

    @property
    def setting(self) -> str | None:
        """What `SR` takes to make it so again; None where that is not known."""
        if self.automatic:
            return AUTOMATIC
        return None if self.most is None else f"{self.most:g}"


@dataclass(frozen=True)
class Ranges:
    """The answer to `RR`: ranges of the current, in amperes, and of the voltage, in volts."""

    amps: Range
    volts: Range


@dataclass(frozen=True)
class ChannelSample:
    """What a sample says of one channel. `invalid` is why there are no watts in it."""

    channel: str
    watts: float
    invalid: str = ""

    @property
    def too_small(self) -> bool:
        """Whether the range is too small for what is measured."""
        return self.invalid == TOO_SMALL


@dataclass(frozen=True)
class MeterSample:
    """A line of `RL`; `stamp` is the meter's own clock, None if it cannot be read."""

    stamp: str
    channels: tuple[ChannelSample, ...]
    times: tuple[datetime, ...] = field(default=())
    """What the stamp may mean: month first, or day first."""


@dataclass(frozen=True)
class Statistic:
    """The answer to `Watts` or to `Uncertainty`: over the samples since `Go`."""

    average: float
    least: float
    most: float
    samples: int
    errors: int


def read_identity(line: str) -> str:
    """The name of the meter, of the answer to `Identify`.

    Raises:
        LineError: If it has another number of fields.
    """
    fields = [each.strip() for each in line.split(",")]
    if len(fields) not in IDENTITY_FIELDS:
        raise LineError(f"{len(fields)} fields in the answer to Identify, not 12 or 16")
    return fields[0] or "unnamed"


def read_ranges(line: str) -> Ranges:
    """Reads `Ranges,1,0.5,0,300.0`.

    Raises:
        LineError: If it is none.
    """
    name, *values = (each.strip() for each in line.split(","))
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        raise LineError("the answer to RR has a word where a number should be") from None
    if name != "Ranges" or len(numbers) != 4:
        raise LineError("the answer to RR is not Ranges and four numbers")
    return Ranges(_range(*numbers[:2]), _range(*numbers[2:]))


def read_count(line: str) -> int:
    """How many samples follow: `Last 3 samples`.

    Raises:
        LineError: If it says something else.
    """
    found = _HEADER.fullmatch(line.strip())
    if found is None:
        raise LineError("the answer to RL does not begin with the number of samples")
    return int(found[1])


def read_sample(line: str) -> MeterSample:
    """Reads `Time,11-13-2020 22:38:59.240,Watts,272.93,Volts,-1.0,...,Ch1,Watts,91.06,...`.

    The figures before `Ch1` are of the whole meter. A daemon that leaves the names of channels out
    begins each with its watts.

    Raises:
        LineError: If it is no such line, or is cut off.
    """
    name, stamp, *rest = (each.strip() for each in [*line.split(","), ""])
    if name != "Time" or "Watts" not in rest:
        raise LineError("a sample is not Time, its stamp and Watts")
    channels = tuple(ChannelSample(*each) for each in _channels(rest[:-1]))
    return MeterSample(stamp, channels, tuple(_times(stamp)))


def read_statistic(line: str, name: str) -> Statistic:
    """Reads `Watts,AVERAGE,LEAST,MOST,SAMPLES,ERRORS,IGNORED`, or the same of `Uncertainty`.

    Raises:
        LineError: If it is none.
    """
    first, *values = (each.strip() for each in line.split(","))
    if first != name or len(values) != 6:
        raise LineError(f"the answer to {name} has not seven fields")
    try:
        average, least, most = (float(value) for value in values[:3])
        return Statistic(average, least, most, int(float(values[3])), int(float(values[4])))
    except (ValueError, OverflowError):
        raise LineError(f"the answer to {name} has a word where a number should be") from None


def percent(uncertainty: float) -> float | None:
    """An uncertainty in per cent; None if the meter could not tell it.

    Daemons say it as a share or in per cent: what is below `SHARE_BELOW` is a share.
    """
    if not math.isfinite(uncertainty) or uncertainty < 0:
        return None
    return uncertainty * 100 if uncertainty < SHARE_BELOW else uncertainty


def why_invalid(watts: float) -> str:
    """Why a figure is no power; empty if it is one."""
    if not math.isfinite(watts):
        return "not a number"
    if watts == -1:
        return "the meter says it is invalid (-1)"
    if watts < 0:
        return TOO_SMALL
    return ""


def lag_s(times: Sequence[datetime], now: datetime, most_s: float) -> float | None:
    """How late a sample came, by the meter's own stamp.

    Args:
        times: What the stamp may mean.
        now: Local time of arrival, without a zone, as stamps have none.
        most_s: A larger difference is a clock that is wrong, not a lag.

    Returns:
        Seconds; None where the stamp is no use.
    """
    lags = [(now - time).total_seconds() for time in times]
    sane = [lag for lag in lags if 0 <= lag <= most_s]
    return min(sane, default=None)


def _range(automatic: float, most: float) -> Range:
    return Range(None if automatic < 0 else automatic > 0, most if most > 0 else None)


def _channels(rest: Sequence[str]) -> Iterator[tuple[str, float, str]]:
    """Name, watts and reason of each channel, in order."""
    name, unnamed = SUM, 0
    for place, word in enumerate(rest):
        if _CHANNEL.fullmatch(word):
            name = word
        elif word == "Watts":
            if not name:
                unnamed += 1
                name = f"Ch{unnamed}"
            watts = _watts(rest[place + 1 : place + 2])
            yield name, watts, why_invalid(watts)
            name = ""


def _watts(words: Sequence[str]) -> float:
    """The figure after `Watts`.

    Raises:
        LineError: If there is none.
    """
    try:
        return float(words[0])
    except (IndexError, ValueError):
        raise LineError("a sample has no figure after Watts") from None


def _times(stamp: str) -> Iterator[datetime]:
    """A stamp read with the month first, then with the day first, where that is a date."""
    found = _STAMP.fullmatch(stamp)
    if found is None:
        return
    first, second, year, hour, minute, seconds = found.groups()
    for month, day in dict.fromkeys([(first, second), (second, first)]):
        try:
            whole = datetime(int(year), int(month), int(day), int(hour), int(minute))
            yield whole.replace(
                second=int(float(seconds)), microsecond=round(float(seconds) % 1 * 1e6) % 10**6
            )
        except ValueError:
            continue
