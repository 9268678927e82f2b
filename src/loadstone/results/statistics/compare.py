"""Is the candidate better than the baseline? A ratio, its interval, a p-value and a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import erfc, exp, sqrt

import numpy as np

from loadstone.results.statistics.permutation import (
    Rng,
    Scores,
    least_p,
    mann_whitney_cdf,
    permutation_p,
    positive_array,
    rank_p,
    repeats_needed,
)
from loadstone.results.statistics.power import (
    least_detectable_difference,
    pooled_spread,
    student_beyond,
)

BOOTSTRAP_SAMPLES = 9_999
"""Resamples of a bootstrap interval."""


class Verdict(StrEnum):
    """What a comparison says."""

    BETTER = "better"
    WORSE = "worse"
    NO_DETECTABLE_CHANGE = "no detectable change"
    TOO_FEW_REPEATS = "too few repeats"


class Method(StrEnum):
    """How two levels are compared; the ratio is the estimate that belongs to the test.

    ``PERMUTATION``: ratio of geometric means, permutation test of the logarithms.
    ``RANK``: Hodges-Lehmann ratio (median of all pairwise ratios), Mann-Whitney test; less sharp on
    quiet machines, hardly moved by a single wild trial.
    """

    PERMUTATION = "permutation"
    RANK = "rank"


class IntervalKind(StrEnum):
    """How an interval was made. A ``RANGE`` has less than the confidence asked: too few trials."""

    BOOTSTRAP = "bootstrap"
    EXACT = "exact"
    RANGE = "range"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Candidate against baseline.

    Attributes:
        ratio: Candidate / baseline.
        low: Lower end of the interval of the ratio; None when a level has one trial.
        high: Upper end of it.
        interval: How the interval was made.
        confidence: Confidence of the interval.
        effect_percent: 100 (ratio - 1), signed; whether up is good is told by ``higher_is_better``.
        higher_is_better: True for rates, False for times.
        p_value: Two-sided p-value of this comparison alone.
        adjusted_p: The same after Holm's correction over the comparisons judged together.
        least_p: The smallest p-value that these repeats can give.
        test: The test that was made.
        n_baseline: Trials of the baseline.
        n_candidate: Trials of the candidate.
        spread: Pooled standard deviation of the logarithms within a level; None if unknown.
        least_detectable_percent: The smallest true difference found with a power of 80 %; None when
            no difference could be found or the spread is unknown.
        repeats_needed: The fewest trials per level with which a difference can be shown at all.
        comparisons: How many comparisons were judged together.
        verdict: The answer.
    """

    ratio: float
    low: float | None
    high: float | None
    interval: IntervalKind
    confidence: float
    effect_percent: float
    higher_is_better: bool
    p_value: float
    adjusted_p: float
    least_p: float
    test: Method
    n_baseline: int
    n_candidate: int
    spread: float | None
    least_detectable_percent: float | None
    repeats_needed: int
    comparisons: int
    verdict: Verdict


def compare(
    baseline: Sequence[float],
    candidate: Sequence[float],
    *,
    higher_is_better: bool,
    rng: Rng,
    confidence: float = 0.95,
    test: Method | str = Method.PERMUTATION,
) -> Comparison:
    """Compare two levels by one figure per trial, as the only comparison of an experiment.

    The verdict follows the p-value, at ``1 - confidence``. For several rungs pass the results to
    `judge`. Means are geometric because changes of a system multiply: the ratio does not depend
    on the unit, B against A is the inverse of A against B, and the quantity that is tested is the
    one that is reported (Fleming & Wallace 1986, CACM 29:218).

    Args:
        baseline: One figure per trial, shape (n,), above 0.
        candidate: One figure per trial, shape (m,), same unit.
        higher_is_better: True for rates, False for times.
        rng: Generator or seed of the bootstrap and of sampled permutations.
        confidence: Of the interval; the level of the verdict is 1 minus this.
        test: ``permutation`` or ``rank``.

    Raises:
        ValueError: An empty group, or a figure that is not finite and above 0.
    """
    generator = np.random.default_rng(rng)
    test = Method(test)
    log_a = np.log(positive_array(baseline, "baseline"))
    log_b = np.log(positive_array(candidate, "candidate"))
    if test is Method.RANK:
        shift, low, high, interval = _hodges_lehmann(log_a, log_b, confidence)
        p_value = rank_p(log_a, log_b, generator)
    else:
        shift, low, high, interval = _geometric(log_a, log_b, confidence, generator)
        p_value = permutation_p(log_a, log_b, generator)
    comparison = Comparison(
        ratio=exp(shift),
        low=None if low is None else exp(min(low, shift)),
        high=None if high is None else exp(max(high, shift)),
        interval=interval,
        confidence=confidence,
        effect_percent=100.0 * float(np.expm1(shift)),
        higher_is_better=higher_is_better,
        p_value=p_value,
        adjusted_p=p_value,
        least_p=least_p(log_a.size, log_b.size),
        test=test,
        n_baseline=int(log_a.size),
        n_candidate=int(log_b.size),
        spread=pooled_spread(baseline, candidate),
        least_detectable_percent=None,
        repeats_needed=0,
        comparisons=1,
        verdict=Verdict.NO_DETECTABLE_CHANGE,
    )
    return _judged(comparison, p_value, 1.0 - confidence, 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for the number of comparisons made together.

    Step-down Bonferroni: the i-th smallest of m is multiplied by m - i + 1, and none may be
    smaller than the one before it (Holm 1979, Scand. J. Stat. 6:65). The chance that any of them
    claims a difference that is not there stays below alpha, however they depend on each other.

    Returns:
        Adjusted p-values in the order given, each at least its own p and at most 1.
    """
    raw = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(raw, kind="stable")
    stepped = np.maximum.accumulate(raw[order] * np.arange(raw.size, 0, -1))
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(1.0, stepped)
    return [float(p) for p in adjusted]


def judge(comparisons: Sequence[Comparison], alpha: float = 0.05) -> list[Comparison]:
    """Judge the comparisons of one experiment together.

    Args:
        comparisons: All comparisons that could have claimed a difference, in any order.
        alpha: The chance of any false claim that is accepted.

    Returns:
        The same comparisons with Holm's p-values and the verdicts that follow from them.
    """
    adjusted = holm([comparison.p_value for comparison in comparisons])
    count = len(comparisons)
    return [_judged(c, p, alpha, count) for c, p in zip(comparisons, adjusted, strict=True)]


def _judged(comparison: Comparison, p: float, alpha: float, count: int) -> Comparison:
    n_a, n_b, spread = comparison.n_baseline, comparison.n_candidate, comparison.spread
    level = alpha / count
    # 1 - 0.95 is a little more than 0.05, and so may be count * p: equal must count as equal.
    if p <= alpha * (1.0 + 1e-9):
        up_is_good = comparison.higher_is_better
        verdict = Verdict.BETTER if (comparison.ratio > 1.0) == up_is_good else Verdict.WORSE
    elif comparison.least_p > level * (1.0 + 1e-9):
        verdict = Verdict.TOO_FEW_REPEATS
    else:
        verdict = Verdict.NO_DETECTABLE_CHANGE
    return replace(
        comparison,
        adjusted_p=p,
        least_detectable_percent=(
            None if spread is None else least_detectable_difference(spread, n_a, n_b, alpha=level)
        ),
        repeats_needed=repeats_needed(alpha, count),
        comparisons=count,
        verdict=verdict,
    )


_Shift = tuple[float, float | None, float | None, IntervalKind]


def _geometric(log_a: Scores, log_b: Scores, confidence: float, rng: np.random.Generator) -> _Shift:
    """Difference of mean logs with an expanded percentile bootstrap interval.

    The plain percentile interval is too narrow for few values: it lacks the factor n / (n - 1) of
    the variance and uses normal for t quantiles. Both are put right by taking percentiles further
    out (Hesterberg 2015, What Teachers Should Know About the Bootstrap, Am. Stat. 69:371; the
    "expanded percentile" interval).
    """
    shift = float(log_b.mean() - log_a.mean())
    smaller = min(log_a.size, log_b.size)
    if smaller < 2:
        return shift, None, None, IntervalKind.NONE
    resampled = _resampled_means(log_b, rng) - _resampled_means(log_a, rng)
    reach = student_beyond((1.0 - confidence) / 2.0, log_a.size + log_b.size - 2)
    tail = erfc(reach * sqrt(smaller / (smaller - 1.0)) / sqrt(2.0)) / 2.0
    low, high = np.quantile(resampled, [tail, 1.0 - tail])
    return shift, float(low), float(high), IntervalKind.BOOTSTRAP


def _resampled_means(values: Scores, rng: np.random.Generator) -> Scores:
    picks = rng.integers(0, values.size, size=(BOOTSTRAP_SAMPLES, values.size))
    means: Scores = values[picks].mean(axis=1)
    return means


def _hodges_lehmann(log_a: Scores, log_b: Scores, confidence: float) -> _Shift:
    """Median of all pairwise differences, with the interval that inverts the Mann-Whitney test.

    Source: Hodges & Lehmann 1963, Ann. Math. Stat. 34:598; Bauer 1972, JASA 67:687.
    """
    differences = np.sort(np.subtract.outer(log_b, log_a).ravel())
    shift = float(np.median(differences))
    if min(log_a.size, log_b.size) < 2:
        return shift, None, None, IntervalKind.NONE
    cdf = mann_whitney_cdf(log_a.size, log_b.size)
    skip = int(np.count_nonzero(cdf <= (1.0 - confidence) / 2.0))
    kind = IntervalKind.EXACT if skip else IntervalKind.RANGE
    position = max(skip, 1) - 1
    return shift, float(differences[position]), float(differences[-1 - position]), kind
