"""The energy between the readings of a counter: through wraps, and never through a reset. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, inf

from loadstone.meters.base import Channel, Reading
from loadstone.meters.series import usual_gap

ASSUMED_MOST_W = 2000.0
"""Taken as the most that a zone draws where the machine does not say it."""
_PEAK = 2.0
"""Short peaks go above what is drawn on average."""
_UNUSUAL = 3.0
"""A fall that would need so many times the highest power seen is a reset, not a wrap."""

_NEAR = 5
"""Steps whose mean power shares one that lies across an end: one alone may be read late."""

RESET = "the counter was reset"
SEVERAL_WRAPS = "the counter may have wrapped more than once"
NO_RANGE = "the counter fell, and its range cannot be read"
IMPOSSIBLE = "the counter rose by more than the system can draw"


@dataclass(frozen=True)
class Step:
    """What a counter counted from one reading to the next."""

    from_s: float
    to_s: float
    joules: float | None
    lost: str = ""
    """Why it is not known."""

    @property
    def watts(self) -> float | None:
        """On average."""
        return None if self.joules is None else self.joules / (self.to_s - self.from_s)


@dataclass(frozen=True)
class Limits:
    """What tells a wrap from anything else.

    Attributes:
        rise_w: A rise by more power is none.
        fall_w: Nor is a wrap that would need more.
        lasts_s: A longer gap may hide a whole turn of the counter.
    """

    rise_w: float
    fall_w: float
    lasts_s: float


def steps_of(readings: Sequence[Reading], channel: Channel, every_s: float) -> list[Step]:
    """The steps between the valid readings of a counter, in order and without holes.

    Args:
        readings: In order, the invalid ones too.
        channel: Whose they are.
        every_s: The time from one to the next that was asked for.
    """
    last_at = {each.t_s: each for each in readings if not each.invalid}
    pairs = list(pairwise(last_at.values()))
    limits = limits_of(pairs, channel, usual_gap(readings, every_s))
    return [_step(earlier, later, channel.range_j, limits) for earlier, later in pairs]


def limits_of(pairs: Sequence[tuple[Reading, Reading]], channel: Channel, gap_s: float) -> Limits:
    """The limits of a counter: what the machine states, else what the readings show.

    Without a stated limit `ASSUMED_MOST_W` holds, unless the range would not last two usual gaps
    at it: of so small a counter twice the highest power that was seen holds.

    Args:
        pairs: Each reading with the next.
        channel: Whose they are.
        gap_s: The usual time between two.
    """
    if channel.range_j is None:
        return Limits(inf, 0.0, inf)
    rises = [_rise_w(*pair) for pair in pairs if pair[1].value >= pair[0].value]
    ceiling = _PEAK * max(channel.most_w or 0.0, ASSUMED_MOST_W)
    highest = max((rise for rise in rises if rise <= ceiling), default=0.0)
    if channel.most_w is None:
        seen = max(_PEAK * highest, channel.range_j / (2 * gap_s))
        most = min(ASSUMED_MOST_W, seen)
    else:
        most = max(channel.most_w, highest)
    fall = min(ceiling, _UNUSUAL * highest) if highest else ceiling
    return Limits(ceiling, fall, channel.range_j / most)


def energy_between(steps: Sequence[Step], from_s: float, to_s: float) -> tuple[float, float]:
    """The energy of a stretch of time.

    A step that lies across one of its ends is shared by the mean power of the nearest steps within
    the stretch, so that what was drawn before and after it does not leak in; where there is no such
    step, in proportion to time. Its share never leaves what the two readings around the end say.

    Args:
        steps: Of a counter, in order and without holes.
        from_s: Begin of the stretch.
        to_s: Its end.

    Returns:
        Seconds of the stretch that were measured, and joules in them.
    """
    covered = joules = 0.0
    for place, step in enumerate(steps):
        begin, end = max(step.from_s, from_s), min(step.to_s, to_s)
        if end <= begin or step.joules is None:
            continue
        covered += end - begin
        if begin == step.from_s and end == step.to_s:
            joules += step.joules
        elif begin > step.from_s and end < step.to_s:
            joules += step.joules * (end - begin) / (step.to_s - step.from_s)
        else:
            inwards = steps[place + 1 :] if begin > step.from_s else reversed(steps[:place])
            inner = _nearest_watts(inwards, from_s, to_s)
            own = step.joules / (step.to_s - step.from_s) if inner is None else inner
            joules += min(own * (end - begin), step.joules)
    return covered, joules


def losses_between(steps: Sequence[Step], from_s: float, to_s: float) -> list[str]:
    """Why parts of a stretch were not measured, each reason once."""
    lost = [each.lost for each in steps if each.lost and each.to_s > from_s and each.from_s < to_s]
    return list(dict.fromkeys(lost))


def _nearest_watts(steps: Iterable[Step], from_s: float, to_s: float) -> float | None:
    """The mean power of the first steps that are known, as far as they lie within the stretch."""
    near: list[Step] = []
    for step in steps:
        if step.from_s < from_s or step.to_s > to_s or len(near) == _NEAR:
            break
        if step.joules is not None:
            near.append(step)
    length_s = fsum(each.to_s - each.from_s for each in near)
    return fsum(each.joules or 0.0 for each in near) / length_s if near else None


def _rise_w(earlier: Reading, later: Reading) -> float:
    return (later.value - earlier.value) / (later.t_s - earlier.t_s)


def _step(earlier: Reading, later: Reading, range_j: float | None, limits: Limits) -> Step:
    gap_s, rise = later.t_s - earlier.t_s, later.value - earlier.value
    lost = ""
    if rise < 0 and range_j is None:
        lost = NO_RANGE
    elif gap_s > limits.lasts_s:
        lost = SEVERAL_WRAPS
    elif rise >= 0:
        lost = IMPOSSIBLE if rise / gap_s > limits.rise_w else ""
    elif range_j is not None:
        rise += range_j
        lost = RESET if rise < 0 or rise / gap_s > limits.fall_w else ""
    return Step(earlier.t_s, later.t_s, None if lost else rise, lost)
