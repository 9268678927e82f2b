"""Think times as they are drawn, and what is left of a wait that a user finds under way."""

from __future__ import annotations

import random
from math import expm1, log1p, sqrt

from loadstone.runner.plan import Think, Waits


def think_s(think: Think, draw: random.Random) -> float:
    """A think time, in seconds."""
    match think.distribution:
        case "none":
            return 0.0
        case "constant":
            return think.mean_s
        case "uniform":
            return draw.uniform(think.from_s, think.to_s)
        case "negative-exponential":
            return think.mean_s * min(draw.expovariate(1.0), think.cap)


def left_s(waits: Waits, draw: random.Random) -> float:
    """What is left of the waits around an operation at a moment that has nothing to do with them.

    Its density is P(X > x) / E(X), the equilibrium distribution of renewal theory (Cox, Renewal
    Theory, 1962, chapter 5), so that users who begin together do not act together. A wait X is a
    constant part c, keying included, and a part Y that varies: what is left is uniform over (0, c)
    with probability c / E(X), otherwise c and what is left of Y.

    Args:
        waits: Keying and think time of the operation; without both nothing is left.
        draw: Random numbers of the user.

    Returns:
        Seconds.
    """
    constant_s, varying_mean_s = _parts_s(waits.think)
    constant_s += waits.keying_s
    point_s = draw.random() * (constant_s + varying_mean_s)
    if point_s < constant_s:
        return point_s
    return constant_s + _varying_left_s(waits.think, draw)


def _parts_s(think: Think) -> tuple[float, float]:
    """The constant part of a think time, and the mean of the part that varies."""
    match think.distribution:
        case "none":
            return 0.0, 0.0
        case "constant":
            return think.mean_s, 0.0
        case "uniform":
            return think.from_s, (think.to_s - think.from_s) / 2.0
        case "negative-exponential":
            return 0.0, think.mean_s * _below(think.cap)


def _varying_left_s(think: Think, draw: random.Random) -> float:
    match think.distribution:
        case "uniform":
            # The density falls linearly to 0 over the width.
            return (think.to_s - think.from_s) * (1.0 - sqrt(1.0 - draw.random()))
        case "negative-exponential":
            # An exponential wait has no memory: what is left is one again, which ends at the cap.
            return -think.mean_s * log1p(-draw.random() * _below(think.cap))
        case _:
            return 0.0


def _below(cap: float) -> float:
    """The chance that a negative-exponential draw of mean 1 is below a cap.

    It is also the mean of draws that are cut off there.
    """
    return -expm1(-cap)
