"""One counter that is seen in two ways counts once. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import fsum

from loadstone.meters.base import Channel
from loadstone.meters.counters import steps_of
from loadstone.meters.series import MICRO, Series
from loadstone.results.record import Notice

_APART = 0.1
"""Twins whose energies differ by more than this share may be two counters after all."""
_LEAST_PAIRS = 3
_ALIKE = 0.9
"""Share of readings that must agree: one that falls on a step of the counter does not."""


def twins_of(channels: Sequence[Channel], series: Collection[Series]) -> dict[str, str]:
    """Channels that are the counter of another one, which is read too: they do not count.

    Either the kernel shows a zone in two ways, or two dies of a package showed one counter.

    Args:
        channels: Of one meter.
        series: Of them, over a whole trial.

    Returns:
        Name of the channel: that of the one that counts.
    """
    names = {each.name for each in channels}
    found = {each.name: each.same_as for each in channels if each.same_as in names}
    dies = [each for each in series if each.channel.die_of and each.channel.name not in found]
    for place, one in enumerate(dies):
        for other in dies[place + 1 :]:
            alike = one.channel.die_of == other.channel.die_of and same_counter(one, other)
            if alike and one.channel.name not in found:
                found.setdefault(other.channel.name, one.channel.name)
    return found


def same_counter(one: Series, other: Series, within_s: float = 0.05) -> bool:
    """Whether two counters showed the same value at every reading.

    Two counters that run on their own agree in a millionth of a joule by chance only.

    Args:
        one: Of a counter.
        other: Of another one, read at the same times.
        within_s: Readings this near belong together.
    """
    pairs = [
        (round(a.value * MICRO), round(b.value * MICRO))
        for a, b in zip(one.readings, other.readings, strict=False)
        if not a.invalid and not b.invalid and abs(a.t_s - b.t_s) <= within_s
    ]
    moved = len({value for value, _ in pairs}) > 1
    alike = sum(a == b for a, b in pairs)
    return moved and len(pairs) >= _LEAST_PAIRS and alike >= _ALIKE * len(pairs)


def twin_notices(
    meter: str, channels: Sequence[Channel], series: Collection[Series]
) -> list[Notice]:
    """Which channels were not counted, and whether they moved with the one that was.

    Args:
        meter: Its name.
        channels: Of it.
        series: Of them, over a whole trial.
    """
    joules = {each.channel.name: _joules(each) for each in series}
    found = []
    for twin, counted in twins_of(channels, series).items():
        one, other = joules.get(counted), joules.get(twin)
        apart = abs(one - other) / one if one and other is not None else 0.0
        differ = f"; they differ by {apart:.0%} of the energy" if apart > _APART else ""
        found.append(
            Notice(
                code="meter-twin",
                severity="warning" if differ else "info",
                message=f"meter {meter}: {twin} is {counted} seen another way: it counts once"
                f"{differ}",
            )
        )
    return found


def _joules(series: Series) -> float:
    """What was counted over the whole trial."""
    steps = steps_of(series.readings, series.channel, series.every_s)
    return fsum(each.joules for each in steps if each.joules is not None)
