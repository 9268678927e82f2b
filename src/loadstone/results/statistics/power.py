"""Before an experiment: how many repeats it takes. After it: what it could have seen.

The spread of trials is the standard deviation of the natural logarithms of their figures. For the
few per cent that are usual it is the coefficient of variation: 0.02 is 2 %.
"""

from collections.abc import Sequence
from math import exp, floor, inf, log, log1p, sqrt

import numpy as np

from loadstone.results.statistics.permutation import (
    EXACT_LIMIT,
    arrangements,
    positive_array,
    repeats_needed,
)

MOST_REPEATS = 10_000
"""`repeats_for` gives up beyond this many trials per level."""


def pooled_spread(baseline: Sequence[float], candidate: Sequence[float]) -> float | None:
    """Pool the spread of two levels: standard deviation of the natural logarithms, no unit.

    Returns:
        The spread, or None when neither level has two trials.
    """
    logs = [
        np.log(positive_array(group, name))
        for group, name in ((baseline, "baseline"), (candidate, "candidate"))
    ]
    freedom = sum(group.size - 1 for group in logs)
    if freedom == 0:
        return None
    return sqrt(sum(float(((group - group.mean()) ** 2).sum()) for group in logs) / freedom)


def attainable_level(n_a: int, n_b: int, alpha: float) -> float:
    """Give the largest level up to ``alpha`` that the exact permutation test really has.

    Its p-values are multiples of 2 / C(n + m, n), so 4 against 4 at "5 %" tests at 2.9 %.
    """
    count = arrangements(n_a, n_b)
    if count > EXACT_LIMIT:
        return alpha
    return floor(alpha * count / 2.0 + 1e-9) * 2.0 / count


def power_of(difference_percent: float, spread: float, n_a: int, n_b: int, alpha: float) -> float:
    """Give the probability that a true difference is found.

    Power of the two-sided two-sample t test on logarithms, from the noncentral t distribution
    (Cohen 1988, Statistical Power Analysis, ch. 2; Lehmann & Romano 2005, sec. 5.3), taken at the
    attainable level of the permutation test, whose power it approaches (Hoeffding 1952).

    Args:
        difference_percent: True difference of candidate to baseline, e.g. 5 or -5; above -100.
        spread: Standard deviation of the logarithms within a level.
        n_a: Trials of the baseline.
        n_b: Trials of the candidate.
        alpha: Level of the test.
    """
    level = attainable_level(n_a, n_b, alpha)
    freedom = n_a + n_b - 2
    if level <= 0.0 or freedom < 1:
        return 0.0
    shift = abs(log1p(difference_percent / 100.0))
    if spread <= 0.0:
        return 1.0 if shift > 0.0 else level
    shift_in_errors = shift / (spread * sqrt(1.0 / n_a + 1.0 / n_b))
    from scipy.special import nctdtr  # takes a while: only when levels are compared

    critical = student_beyond(level / 2.0, freedom)
    above = 1.0 - float(nctdtr(freedom, shift_in_errors, critical))
    below = float(nctdtr(freedom, shift_in_errors, -critical))
    # The noncentral t of scipy underflows to NaN far in the tail, where the answer is certain.
    return min(1.0, (1.0 if np.isnan(above) else above) + (0.0 if np.isnan(below) else below))


def student_beyond(tail: float, freedom: int) -> float:
    """Give the value of Student's t that is exceeded with the probability `tail`."""
    from scipy.special import stdtrit  # takes a while: only when levels are compared

    return -float(stdtrit(freedom, tail))


def least_detectable_difference(
    spread: float, n_a: int, n_b: int | None = None, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Give the smallest increase that these repeats find with the given power.

    Args:
        spread: Standard deviation of the logarithms within a level (see `pooled_spread`).
        n_a: Trials of the baseline.
        n_b: Trials of the candidate; as many when left out.
        alpha: Level of the test; divide it by the number of comparisons of a ladder.
        power: Probability with which the difference is found.

    Returns:
        Per cent, or None when no difference of any size can be found with these repeats.
    """
    n_b = n_a if n_b is None else n_b
    if n_a + n_b < 3 or attainable_level(n_a, n_b, alpha) <= 0.0:
        return None
    if spread <= 0.0:
        return 0.0
    high = spread
    while power_of(100.0 * (exp(high) - 1.0), spread, n_a, n_b, alpha) < power:
        high *= 2.0
        if high > log(1e12):
            return inf
    low = 0.0
    while high - low > 1e-9 * high:
        middle = (low + high) / 2.0
        found = power_of(100.0 * (exp(middle) - 1.0), spread, n_a, n_b, alpha) >= power
        low, high = (low, middle) if found else (middle, high)
    return 100.0 * (exp(high) - 1.0)


def repeats_for(
    difference_percent: float,
    spread: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    comparisons: int = 1,
) -> int:
    """Give the trials per level that find a difference with the given power.

    Args:
        difference_percent: The smallest true difference worth finding, e.g. 5 or -5.
        spread: Standard deviation of the logarithms within a level.
        alpha: Level of the whole experiment.
        power: Probability with which the difference is found.
        comparisons: Rungs judged together; alpha is divided by it, the first step of Holm.

    Raises:
        ValueError: The difference is 0 or not above -100, or it takes over ``MOST_REPEATS`` trials.
    """
    if difference_percent == 0.0 or difference_percent <= -100.0:
        raise ValueError(f"difference must be above -100 % and not 0, got {difference_percent}")
    level = alpha / comparisons
    least = repeats_needed(alpha, comparisons)
    if power_of(difference_percent, spread, MOST_REPEATS, MOST_REPEATS, level) < power:
        raise ValueError(
            f"a difference of {difference_percent} % at a spread of {100 * spread:.3g} % takes "
            f"more than {MOST_REPEATS} trials per level"
        )
    low, high = least - 1, MOST_REPEATS
    while high - low > 1:
        middle = (low + high) // 2
        enough = power_of(difference_percent, spread, middle, middle, level) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high
