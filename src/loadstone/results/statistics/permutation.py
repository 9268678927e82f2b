"""Permutation tests of two groups of trials: exact where it can be, sampled where it cannot.

If a change has no effect, the labels "baseline" and "candidate" could have been dealt to the
trials in any other way. The p-value is the share of those deals whose difference is at least as
large as the one that was seen (Fisher 1935, The Design of Experiments; Edgington & Onghena 2007,
Randomization Tests, 4th ed., ch. 3-4).
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Rng = np.random.Generator | int

EXACT_LIMIT = 20_000
"""The largest number of arrangements that is enumerated."""

SAMPLED_ARRANGEMENTS = 99_999
"""How many arrangements are drawn when there are more than ``EXACT_LIMIT``."""

TIE_TOLERANCE = 1e-10
"""Differences of mean log or of mean rank that are closer than this count as equal."""


def positive_array(values: Sequence[float] | Scores, what: str) -> Scores:
    """Check a group of figures and return it as an array.

    Args:
        values: One figure per trial, any unit.
        what: The name of the group, for the message.

    Returns:
        Array of shape (n,).

    Raises:
        ValueError: The group is empty or holds a figure that is not finite and positive.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{what}: expected one figure per trial, got an array of {array.shape}")
    if not np.all(np.isfinite(array)) or np.any(array <= 0):
        raise ValueError(f"{what}: every figure must be finite and above 0, got {array.tolist()}")
    return array


def arrangements(n_baseline: int, n_candidate: int) -> int:
    """Count the ways in which the two labels can be dealt to the trials."""
    return comb(n_baseline + n_candidate, n_baseline)


def least_p(n_baseline: int, n_candidate: int) -> float:
    """Give the smallest two-sided p-value that this many trials can reach.

    It is 2 / C(n + m, n), reached when the groups do not overlap: 0.1 for 3 against 3, 0.029 for 4
    against 4, 0.008 for 5 against 5 (Mann & Whitney 1947, table I). A sampled test cannot
    go below 2 / (samples + 1).
    """
    count = arrangements(n_baseline, n_candidate)
    return min(1.0, 2.0 / (count if count <= EXACT_LIMIT else SAMPLED_ARRANGEMENTS + 1))


def least_alpha(comparisons: int) -> float:
    """Give the lowest level that this many comparisons can be judged at: the tests are sampled."""
    return comparisons * 2.0 / (SAMPLED_ARRANGEMENTS + 1)


def repeats_needed(alpha: float = 0.05, comparisons: int = 1) -> int:
    """Give the fewest trials per level with which a difference can be shown at all.

    With several comparisons the smallest p-value must survive the first step of Holm's
    correction, alpha / comparisons. This is the least that is possible; how many are sensible
    depends on the spread, see `repeats_for`.

    Raises:
        ValueError: ``alpha`` is not between 0 and 1, ``comparisons`` is below 1, or the level
            asked for is below what the sampled test can reach.
    """
    if not 0 < alpha < 1 or comparisons < 1:
        raise ValueError(f"alpha {alpha} must be in (0, 1) and comparisons {comparisons} >= 1")
    level = alpha / comparisons
    if alpha < least_alpha(comparisons):
        raise ValueError(f"alpha {alpha} over {comparisons} comparisons is out of reach: {level:g}")
    repeats = 1
    while least_p(repeats, repeats) > level:
        repeats += 1
    return repeats


@lru_cache(maxsize=32)
def _all_choices(total: int, chosen: int) -> NDArray[np.intp]:
    flat = np.fromiter(
        (index for choice in combinations(range(total), chosen) for index in choice),
        dtype=np.intp,
    )
    return flat.reshape(-1, chosen)


def _mean_differences(scores: Scores, n_candidate: int, rng: Rng) -> tuple[Scores, bool]:
    """Difference of means, candidate - baseline, of each arrangement; and whether all are there."""
    n_baseline = scores.size - n_candidate
    if arrangements(n_baseline, n_candidate) <= EXACT_LIMIT:
        chosen = scores[_all_choices(scores.size, n_candidate)].sum(axis=1)
        exact = True
    else:
        deck = np.broadcast_to(scores, (SAMPLED_ARRANGEMENTS, scores.size))
        chosen = np.random.default_rng(rng).permuted(deck, axis=1)[:, :n_candidate].sum(axis=1)
        exact = False
    return chosen / n_candidate - (scores.sum() - chosen) / n_baseline, exact


def permutation_p(baseline: Scores, candidate: Scores, rng: Rng) -> float:
    """Test that two groups of scores come from one distribution; two-sided.

    The statistic is the difference of means. All arrangements are enumerated when there are at
    most ``EXACT_LIMIT``. Otherwise ``SAMPLED_ARRANGEMENTS`` are drawn and the observed one is
    counted among them, which keeps the test valid (Phipson & Smyth 2010, Stat. Appl. Genet. Mol.
    Biol. 9(1):39). Two-sided is twice the smaller tail, at most 1.

    Args:
        baseline: Scores of shape (n,): logarithms of figures, or ranks.
        candidate: Scores of shape (m,).
        rng: Generator or seed, used only when arrangements are drawn.

    Returns:
        The p-value, in (0, 1].
    """
    centred = np.concatenate([candidate, baseline])
    centred = centred - centred.mean()
    n_candidate = candidate.size
    observed = centred[:n_candidate].mean() - centred[n_candidate:].mean()
    differences, exact = _mean_differences(centred, n_candidate, rng)
    more = int(np.count_nonzero(differences >= observed - TIE_TOLERANCE))
    less = int(np.count_nonzero(differences <= observed + TIE_TOLERANCE))
    tail = min(more, less) + (0 if exact else 1)
    return min(1.0, 2.0 * tail / (differences.size + (0 if exact else 1)))


def rank_p(baseline: Scores, candidate: Scores, rng: Rng) -> float:
    """Mann-Whitney test, exact also with ties; two-sided.

    It is the permutation test of the mid-ranks, which without ties is the exact distribution of
    U (Mann & Whitney 1947, Ann. Math. Stat. 18:50; ties: Lehmann 1975, Nonparametrics, sec. 1.4).
    """
    ranks = mid_ranks(np.concatenate([candidate, baseline]))
    return permutation_p(ranks[candidate.size :], ranks[: candidate.size], rng)


def mid_ranks(values: Scores) -> Scores:
    """Rank values from 1 on; equal ones share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Scores = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def mann_whitney_cdf(n_baseline: int, n_candidate: int) -> Scores:
    """Give P(U <= u) of the Mann-Whitney statistic without ties, u = 0 ... n * m.

    The counts are the coefficients of the Gaussian binomial, the product over i = 1 ... m of
    (1 - q^(n + i)) / (1 - q^i) (Andrews 1976, The Theory of Partitions, ch. 3).
    """
    top = n_baseline * n_candidate
    counts = [1] + [0] * top
    for i in range(1, n_candidate + 1):
        for u in range(top, n_baseline + i - 1, -1):
            counts[u] -= counts[u - n_baseline - i]
        for u in range(i, top + 1):
            counts[u] += counts[u - i]
    total = arrangements(n_baseline, n_candidate)
    return np.array([running / total for running in accumulate(counts)])
