"""What a comparison could have found, from the same statistic as its verdict.

A power is that of the two-sided t test, from the noncentral t distribution (Cohen 1988,
Statistical Power Analysis, ch. 2; Lehmann & Romano 2005, Testing Statistical Hypotheses, sec. 5.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import expm1, isnan, sqrt

POWER = 0.8
"""Probability with which a difference is to be found, where nothing else is said."""
SURENESS = 0.9
"""Probability with which the range of a detectable difference holds the true one."""
BEYOND_ALL = 700.0
"""Differences of logarithms that are larger are none that a system can have."""


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest true difference that is found with a power of 80 %, in per cent upwards.

    Attributes:
        percent: At the scatter that was seen.
        low: At the least scatter that is likely, given how few trials it was seen in.
        high: At the largest one.
    """

    percent: float
    low: float
    high: float


def student_beyond(tail: float, freedom: float) -> float:
    """The value of Student's t that is exceeded with the probability `tail`."""
    from scipy.special import stdtrit  # takes a while: only when levels are compared

    return -float(stdtrit(freedom, tail))


def tails(t: float, freedom: float) -> float:
    """The probability that Student's t exceeds `t`."""
    from scipy.special import stdtr

    return float(stdtr(freedom, -t))


def power_of(shift: float, error: float, freedom: float, alpha: float) -> float:
    """The probability that a true difference is found.

    Args:
        shift: True difference of the logarithms.
        error: Standard error of the difference that is seen.
        freedom: Degrees of freedom of that error.
        alpha: Level of the two-sided test.
    """
    from scipy.special import nctdtr

    critical = student_beyond(alpha / 2.0, freedom)
    centre = abs(shift) / error
    above = 1.0 - float(nctdtr(freedom, centre, critical))
    below = float(nctdtr(freedom, centre, -critical))
    # scipy's noncentral t underflows to NaN far in the tail, where the answer is certain.
    return min(1.0, (1.0 if isnan(above) else above) + (0.0 if isnan(below) else below))


def least_detectable(error: float, freedom: float, alpha: float) -> Detectable | None:
    """The smallest true difference that this comparison finds with a power of `POWER`.

    Its range is that of the scatter: freedom x error^2 / true^2 is distributed as chi-square
    (Box, Hunter & Hunter 2005, Statistics for Experimenters, sec. 2.5).

    Args:
        error: Standard error of the difference of logarithms, above 0.
        freedom: Its degrees of freedom.
        alpha: Level of the test.

    Returns:
        None if it is beyond all that a system can have.
    """
    from scipy.special import chdtri

    shift = least_shift(freedom, alpha) * error
    tail = (1.0 - SURENESS) / 2.0
    low = shift * sqrt(freedom / float(chdtri(freedom, tail)))
    high = shift * sqrt(freedom / float(chdtri(freedom, 1.0 - tail)))
    if high > BEYOND_ALL:
        return None
    return Detectable(*(100.0 * expm1(each) for each in (shift, low, high)))


@lru_cache(maxsize=256)
def least_shift(freedom: float, alpha: float, power: float = POWER) -> float:
    """The true difference, in standard errors, that is found with a given power."""
    low, high = 0.0, 1.0
    while power_of(high, 1.0, freedom, alpha) < power:
        low, high = high, 2.0 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2.0
        found = power_of(middle, 1.0, freedom, alpha) >= power
        low, high = (low, middle) if found else (middle, high)
    return high
