"""The readings of one channel, in the order in which they arrived."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import gcd
from statistics import median

from loadstone.meters.base import Channel, Reading

MICRO = 1e6
"""Values are compared in millionths of a joule or watt: finer than any meter."""


class Series:
    """Readings of one channel. One thread appends, any other may look.

    Args:
        channel: Whose readings they are.
        every_s: The time from one reading to the next that was asked for.
    """

    def __init__(self, channel: Channel, every_s: float) -> None:
        self.channel = channel
        self.every_s = every_s
        self._readings: list[Reading] = []
        self._lock = threading.Lock()

    def append(self, reading: Reading) -> None:
        """Adds a reading that arrived after all others.

        Raises:
            ValueError: If it is of another channel, or from before the last one.
        """
        if reading.channel != self.channel.name:
            raise ValueError(f"a reading of {reading.channel} in the series {self.channel.name}")
        with self._lock:
            if self._readings and reading.t_s < self._readings[-1].t_s:
                raise ValueError("a reading from before the last one: time went back")
            self._readings.append(reading)

    def extend(self, readings: Iterable[Reading]) -> None:
        """Adds several."""
        for reading in readings:
            self.append(reading)

    @property
    def readings(self) -> tuple[Reading, ...]:
        """All until now, the invalid ones too."""
        with self._lock:
            return tuple(self._readings)

    @property
    def values(self) -> list[float]:
        """Of those that are readings."""
        return [each.value for each in self.readings if not each.invalid]


def usual_gap(readings: Sequence[Reading], every_s: float) -> float:
    """The usual time between two readings, in seconds: a slow meter has its own pace.

    Args:
        readings: In order, the invalid ones too.
        every_s: What was asked for; it is never less.
    """
    gaps = [later.t_s - earlier.t_s for earlier, later in pairwise(readings)]
    return max(every_s, median(gaps)) if gaps else every_s


def resolution(differences: Iterable[float]) -> float | None:
    """The greatest step of which all differences between values are multiples.

    Returns:
        In the unit of the values; None if there was no difference.
    """
    step = gcd(*(round(each * MICRO) for each in differences))
    return step / MICRO if step else None


def stands_still(series: Series) -> bool:
    """Whether what should move never did, over all of the trial: then it is no meter.

    A counter counts on as long as anything draws power. A gauge may repeat itself for hours, and
    says nothing only if it is 0 all the time. One reading cannot tell.
    """
    values = series.values
    if len(values) < 2:
        return False
    if series.channel.form == "counter":
        return len(set(values)) == 1
    return not any(values)
