"""Stop early without cheating: a group-sequential permutation test with a stated maximum.

Looking at the p-value after every trial and stopping when it is small finds differences that are
not there. Here the looks are fixed in advance, and the chance of a false claim is handed out over
them by a spending function (Lan & DeMets 1983, Biometrika 70:659). The limits are not taken from
the normal distribution but from re-dealing the labels within each stage, as the order of the
trials was drawn, so that the rule is valid for any number of trials and any distribution (Mehta,
Patel, Senchaudhuri & Tsiatis 1994, Exact permutational tests for group sequential clinical trials,
Biometrics 50:1042).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import comb, e, erfc, exp, log, prod, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from loadstone.results.statistics.compare import Verdict
from loadstone.results.statistics.permutation import TIE_TOLERANCE, Scores, positive_array


class Spending(StrEnum):
    """How the chance of a false claim is handed out (Lan & DeMets 1983).

    ``POCOCK`` spends evenly and stops early when a difference is large; ``OBRIEN_FLEMING`` keeps
    nearly everything for the last look.
    """

    POCOCK = "pocock"
    OBRIEN_FLEMING = "obrien-fleming"

    def spent(self, fraction: float, alpha: float) -> float:
        """Give the chance that may be spent up to a fraction of the maximum, in [0, alpha]."""
        if fraction >= 1.0:
            return alpha
        if self is Spending.POCOCK:
            spent = alpha * log(1.0 + (e - 1.0) * fraction)
        else:
            spent = erfc(-NormalDist().inv_cdf(alpha / 2.0) / sqrt(2.0 * fraction))
        return min(alpha, spent)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a sequential plan says after the trials so far.

    Attributes:
        verdict: The answer, or None: go on.
        trials: Trials per level that were looked at.
        next_look: Trials per level at which to look again, None when the plan has ended.
        ratio: Candidate / baseline, geometric means weighted by stage. After an early stop it is
            exaggerated a little, as every estimate is that was stopped because it was large.
        p_value: Stage-wise p-value of a plan that has ended (Jennison & Turnbull 2000, Group
            Sequential Methods, sec. 8.4), else None.
        spent_alpha: The chance of a false claim handed out so far.
    """

    verdict: Verdict | None
    trials: int
    next_look: int | None
    ratio: float | None
    p_value: float | None
    spent_alpha: float


@dataclass(frozen=True, slots=True)
class SequentialPlan:
    """A rule fixed before the first trial: when to look, when to stop at the latest.

    Attributes:
        looks: Trials per level at which to look, ascending; the last is the maximum.
        alpha: Chance of a false claim over all looks together.
        spending: How it is handed out.
        seed: Seed of the re-dealt labels. The same for every look of one experiment.
        samples: How many re-deals are drawn.
    """

    looks: tuple[int, ...]
    alpha: float = 0.05
    spending: Spending = Spending.POCOCK
    seed: int = 0
    samples: int = 9_999

    def __post_init__(self) -> None:
        """Refuse a plan that cannot work.

        Raises:
            ValueError: Looks that are not ascending or too few to show anything, or an alpha that
                cannot be handed out.
        """
        if not self.looks or self.looks[0] < 1 or any(b <= a for a, b in pairwise(self.looks)):
            raise ValueError(f"looks must be ascending and at least 1, got {self.looks}")
        if not 0.0 < self.alpha < 1.0 or self.alpha * (self.samples + 1) < 20.0:
            raise ValueError(
                f"alpha {self.alpha} must be in (0, 1) and at least 20 / (samples + 1), "
                f"with {self.samples} samples"
            )
        deals = prod(comb(2 * (b - a), b - a) for a, b in pairwise((0, *self.looks)))
        if 2.0 / deals > self.alpha:
            raise ValueError(
                f"looks {self.looks} can give no p-value below {2.0 / deals:.3g}, which is above "
                f"alpha {self.alpha}: take more trials per level"
            )

    @property
    def maximum(self) -> int:
        """The most trials per level that the plan takes."""
        return self.looks[-1]

    def decide(
        self, baseline: Sequence[float], candidate: Sequence[float], *, higher_is_better: bool
    ) -> Decision:
        """Apply the plan to the trials so far, in the order in which they were run.

        Trials beyond the last look that was reached are left for the next one. A decision does not
        depend on how often it is asked for.

        Args:
            baseline: One figure per trial, above 0.
            candidate: One figure per trial, same unit.
            higher_is_better: True for rates, False for times.

        Raises:
            ValueError: A figure that is not finite and above 0.
        """
        done = min(len(baseline), len(candidate))
        reached = [look for look in self.looks if look <= done]
        if not reached:
            return Decision(None, 0, self.looks[0], None, None, 0.0)
        log_a = np.log(positive_array(baseline, "baseline")[: reached[-1]])
        log_b = np.log(positive_array(candidate, "candidate")[: reached[-1]])
        sums = np.cumsum(self._stage_sums(log_a, log_b, reached), axis=1)
        differences = sums / np.array(reached, dtype=np.float64)
        return self._walk(differences, reached, higher_is_better=higher_is_better)

    def _stage_sums(self, log_a: Scores, log_b: Scores, reached: Sequence[int]) -> Scores:
        """Sum of candidate - baseline logs of each stage; row 0 as observed, the rest re-dealt."""
        columns = []
        for stage, (begin, end) in enumerate(pairwise([0, *reached])):
            size = end - begin
            labelled = np.concatenate([log_b[begin:end], log_a[begin:end]])
            labelled = labelled - labelled.mean()
            rng = np.random.default_rng([self.seed, stage])
            deck = np.broadcast_to(labelled, (self.samples, 2 * size))
            dealt = np.vstack([labelled, rng.permuted(deck, axis=1)])
            columns.append(2.0 * dealt[:, :size].sum(axis=1))
        return np.column_stack(columns)

    def _walk(
        self, differences: Scores, reached: Sequence[int], *, higher_is_better: bool
    ) -> Decision:
        """Go through the looks; a path that crosses the limit of one is out of the later ones."""
        paths = differences.shape[0]
        alive = np.ones(paths, dtype=np.bool_)
        out = 0
        for column, look in enumerate(reached):
            sizes = np.abs(differences[:, column])
            spent = self.spending.spent(look / self.maximum, self.alpha)
            crossing = _largest(sizes, alive, int(spent * paths + 1e-9) - out)
            last = look == self.maximum
            if crossing[0] or last:
                as_large = alive & (sizes >= sizes[0] - TIE_TOLERANCE)
                shift = float(differences[0, column])
                if crossing[0]:
                    up = (shift > 0.0) == higher_is_better
                    verdict = Verdict.BETTER if up else Verdict.WORSE
                else:
                    verdict = Verdict.NO_DETECTABLE_CHANGE
                p_value = (out + int(np.count_nonzero(as_large))) / paths
                return Decision(verdict, look, None, exp(shift), p_value, spent)
            alive &= ~crossing
            out += int(np.count_nonzero(crossing))
        following = self.looks[len(reached)]
        ratio = exp(float(differences[0, -1]))
        return Decision(None, reached[-1], following, ratio, None, spent)


def _largest(sizes: Scores, alive: NDArray[np.bool_], allowed: int) -> NDArray[np.bool_]:
    """Mark the living paths with the largest sizes, at most ``allowed``; ties stay together."""
    living = np.sort(sizes[alive])[::-1]
    if allowed <= 0 or living.size == 0:
        return np.zeros_like(alive)
    if allowed >= living.size:
        return alive.copy()
    first_left_out = living[allowed]
    marked: NDArray[np.bool_] = alive & (sizes > first_left_out + TIE_TOLERANCE)
    return marked
