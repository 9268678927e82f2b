"""Series of readings as tests write them down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loadstone.meters.base import Channel, Reading
from loadstone.meters.series import Series

PACKAGE = Channel("package-0", "package", "counter", range_j=262_143.328850)
DRAM = Channel("dram", "dram", "counter", range_j=65_712.999613)
WALL = Channel("wall", "wall", "gauge")


def series(
    channel: Channel, points: Iterable[tuple[float, float | str]], every_s: float = 1.0
) -> Series:
    """Readings of a channel.

    Args:
        channel: Whose they are.
        points: Moment and value of each; a text is why it is no reading.
        every_s: That was asked for.
    """
    made = Series(channel, every_s)
    for t_s, value in points:
        invalid = value if isinstance(value, str) else ""
        number = 0.0 if isinstance(value, str) else value
        made.append(Reading(channel.name, t_s, number, invalid))
    return made


def each_second(channel: Channel, values: Sequence[float | str]) -> Series:
    """One reading a second, from 0 on."""
    return series(channel, ((float(t), value) for t, value in enumerate(values)))
