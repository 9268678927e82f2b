"""The average power of a channel over a stretch of time, such as a level. Pure.

Of a counter it is the difference at the two ends of the stretch over its length, interpolated
between the readings around each end (`counters`). Of a gauge it is the time-weighted mean
(`gauges`). Both place readings by their arrival on the clock of `time.monotonic()`.
`docs/power.md` tells it with figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum
from statistics import median

from loadstone.meters import counters, gauges
from loadstone.meters.base import Reading
from loadstone.meters.series import Series, resolution, usual_gap

LEAST_COVERED = 0.95
"""Share of a stretch that must have been measured. Below it there are no watts."""
LEAST_READINGS = 2
"""Of a gauge within a stretch: one value is no mean."""


@dataclass(frozen=True)
class LevelWatts:
    """The power of one channel, or of a sum, over a stretch of time.

    Attributes:
        watts: On average over the part that was measured; None: see `reason`.
        joules: Those watts for as long as the stretch is.
        covered: Share of the stretch that was measured, 0 to 1.
        readings: Valid ones within it.
        invalid: Readings within it that were no power.
        lag_s: Median time from the source's own stamp to the arrival.
        resolution_w: Least difference of watts that the values could show.
        reason: Why there are no watts; or, beside watts, what was lost.
    """

    watts: float | None
    joules: float | None
    covered: float
    readings: int
    invalid: int
    lag_s: float | None
    resolution_w: float | None
    reason: str


def watts_between(series: Series, from_s: float, to_s: float) -> LevelWatts:
    """The power of a channel over a stretch of time.

    Args:
        series: Its readings, also those around the stretch.
        from_s: Begin, by `time.monotonic()`.
        to_s: End.

    Raises:
        ValueError: If the stretch has no length.
    """
    if to_s <= from_s:
        raise ValueError("a stretch of time has its end after its begin")
    if series.channel.form == "counter":
        return _of_counter(series, from_s, to_s)
    return _of_gauge(series, from_s, to_s)


def sum_of(parts: Sequence[tuple[str, LevelWatts]], length_s: float) -> LevelWatts:
    """The power of stated parts of one thing together: none if one of them has none.

    Args:
        parts: Name of each channel, and its power over the same stretch.
        length_s: Of the stretch.
    """
    of_parts = [each for _, each in parts]
    known = [each.joules for each in of_parts if each.joules is not None]
    joules = fsum(known) if len(known) == len(parts) else None
    steps = [each.resolution_w for each in of_parts if each.resolution_w is not None]
    return LevelWatts(
        watts=None if joules is None else joules / length_s,
        joules=joules,
        covered=min(each.covered for each in of_parts),
        readings=min(each.readings for each in of_parts),
        invalid=sum(each.invalid for each in of_parts),
        lag_s=max((each.lag_s for each in of_parts if each.lag_s is not None), default=None),
        resolution_w=fsum(steps) if len(steps) == len(parts) else None,
        reason="; ".join(f"{name}: {each.reason}" for name, each in parts if each.reason),
    )


@dataclass(frozen=True)
class _Measured:
    """What was read of a stretch: seconds that were measured, joules in them, what was lost."""

    inside: Sequence[Reading]
    covered_s: float
    joules: float
    resolution_w: float | None
    lost: Sequence[str]


def _of_counter(series: Series, from_s: float, to_s: float) -> LevelWatts:
    readings = series.readings
    steps = counters.steps_of(readings, series.channel, series.every_s)
    covered_s, joules = counters.energy_between(steps, from_s, to_s)
    inside = [each for each in readings if from_s <= each.t_s <= to_s]
    step_j = resolution(each.joules for each in steps if each.joules is not None)
    step_w = None if step_j is None else step_j / (to_s - from_s)
    lost = counters.losses_between(steps, from_s, to_s)
    if covered_s > 0 and joules == 0:
        lost, covered_s = ["the counter did not move", *lost], 0.0
    return _judged(_Measured(inside, covered_s, joules, step_w, lost), to_s - from_s)


def _of_gauge(series: Series, from_s: float, to_s: float) -> LevelWatts:
    readings, mean_over_s = series.readings, series.channel.mean_over_s
    gap_s = usual_gap(readings, series.every_s)
    covered_s, joules = gauges.energy_between(readings, gap_s, mean_over_s, from_s, to_s)
    inside = gauges.within(readings, mean_over_s, from_s, to_s)
    step_w = resolution(later - earlier for earlier, later in pairwise(series.values))
    few = sum(not each.invalid for each in inside)
    lost = []
    if few < LEAST_READINGS:
        lost, covered_s = [f"{few or 'no'} valid reading in it: too few for a mean"], 0.0
    return _judged(_Measured(inside, covered_s, joules, step_w, lost), to_s - from_s)


def _judged(found: _Measured, length_s: float) -> LevelWatts:
    """Watts if enough was measured, and what is to be said of the rest."""
    covered = round(min(found.covered_s / length_s, 1.0), 6)
    valid = [each for each in found.inside if not each.invalid]
    wrong = [each.invalid for each in found.inside if each.invalid]
    lags = [each.t_s - each.of_s for each in valid if each.of_s is not None]
    reasons = list(found.lost)
    if wrong:
        reasons.append(f"{len(wrong)} of {len(found.inside)} readings are no power ({wrong[0]})")
    enough = covered >= LEAST_COVERED
    if not enough:
        reasons.insert(0, f"{covered:.1%} of it was measured, less than {LEAST_COVERED:.0%}")
    watts = found.joules / found.covered_s if enough else None
    return LevelWatts(
        watts=watts,
        joules=None if watts is None else watts * length_s,
        covered=covered,
        readings=len(valid),
        invalid=len(wrong),
        lag_s=median(lags) if lags else None,
        resolution_w=found.resolution_w,
        reason="; ".join(reasons),
    )
