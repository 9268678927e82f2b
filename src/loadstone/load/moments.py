"""Random times by their first three moments: enough for how much a count of them scatters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hdrh.histogram import HdrHistogram

from loadstone.results.latency import NANOSECONDS

_CAP = 10.0
"""In means, where a plan says none."""


@dataclass(frozen=True)
class Moments:
    """Means of X, of its square and of its cube; seconds."""

    mean_s: float = 0.0
    square_s2: float = 0.0
    cube_s3: float = 0.0

    @property
    def variance_s2(self) -> float:
        """Of X."""
        return max(0.0, self.square_s2 - self.mean_s**2)

    @property
    def age_variance_s2(self) -> float:
        """Of what has passed of X at a time that does not depend on it.

        The age has the density P(X > x) / E[X] (D. R. Cox, Renewal Theory, 1962, section 5.2), so
        its mean is E[X^2] / 2 E[X], and that of its square E[X^3] / 3 E[X].
        """
        if self.mean_s <= 0:
            return 0.0
        mean_s = self.square_s2 / (2 * self.mean_s)
        return max(0.0, self.cube_s3 / (3 * self.mean_s) - mean_s**2)

    def plus(self, other: Moments) -> Moments:
        """Of the sum with another time, which does not depend on this one."""
        return Moments(
            self.mean_s + other.mean_s,
            self.square_s2 + 2 * self.mean_s * other.mean_s + other.square_s2,
            self.cube_s3
            + 3 * self.square_s2 * other.mean_s
            + 3 * self.mean_s * other.square_s2
            + other.cube_s3,
        )


def constant(seconds: float) -> Moments:
    """Of a time that is always the same."""
    return Moments(seconds, seconds**2, seconds**3)


def mixed(parts: Iterable[tuple[Moments, float]]) -> Moments:
    """Of a time that is one of several.

    Args:
        parts: Each, and how often it is that one; not all 0.
    """
    known = list(parts)
    total = math.fsum(times for _, times in known)
    return Moments(
        math.fsum(each.mean_s * times for each, times in known) / total,
        math.fsum(each.square_s2 * times for each, times in known) / total,
        math.fsum(each.cube_s3 * times for each, times in known) / total,
    )


def moments_of(histogram: HdrHistogram) -> Moments:
    """Of the times of a histogram, which are in nanoseconds; of none all are 0."""
    return mixed(
        [
            (constant(item.value_iterated_to / NANOSECONDS), item.count_at_value_iterated_to)
            for item in histogram.get_recorded_iterator()
        ]
        or [(Moments(), 1.0)]
    )


def moments_of_wait(waits: Mapping[str, Any]) -> Moments | None:
    """Of the wait that an entry of a plan's `pacing` makes; None where operations have a grid.

    A negative-exponential wait of mean m is never longer than c means: with e = exp(-c) its moments
    are m (1 - e), 2 m^2 (1 - e (1 + c)) and 6 m^3 (1 - e (1 + c + c^2 / 2)).
    """
    if waits.get("every_s") is not None:
        return None
    think = _think(waits.get("think") or {"distribution": "none"})
    return None if think is None else constant(waits.get("keying_s", 0.0)).plus(think)


def _think(think: Mapping[str, Any]) -> Moments | None:
    match think["distribution"]:
        case "none":
            return Moments()
        case "constant":
            return constant(think["mean_s"])
        case "uniform":
            low, high = think["from_s"], think["to_s"]
            return Moments(
                (low + high) / 2,
                (low**2 + low * high + high**2) / 3,
                (low + high) * (low**2 + high**2) / 4,
            )
        case "negative-exponential":
            mean_s, cap = think["mean_s"], think.get("cap", _CAP)
            rest = math.exp(-cap)
            return Moments(
                mean_s * (1 - rest),
                2 * mean_s**2 * (1 - rest * (1 + cap)),
                6 * mean_s**3 * (1 - rest * (1 + cap + cap**2 / 2)),
            )
        case _:
            return None
