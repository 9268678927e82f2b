"""Stop early without cheating: a group-sequential t test within blocks, with a stated maximum.

Looking at the p-value after every block and stopping when it is small finds differences that are
not there. Here the looks are fixed in advance, and the chance of a false claim is handed out over
them by a spending function (Lan & DeMets 1983, Biometrika 70:659; Pocock's, which can stop early).
The limits of few blocks are not those of a normal distribution, so they are simulated, with the
degrees of freedom that each look has (Jennison & Turnbull 2000, Group Sequential Methods, ch. 11).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import e, inf, isinf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from loadstone.results.statistics.contrasts import fewest_blocks

SAMPLES = 400_000
"""Experiments that are simulated: a limit that is spent 1 % is known to 2 % of that."""
FEWEST_CROSSINGS = 100
"""A look at which fewer of them stop has a limit that nobody knows."""
_SEED = 1983
"""The limits are constants of a plan, not draws: every run and every report has the same."""


def spent(fraction: float, alpha: float) -> float:
    """The chance of a false claim that may be spent up to a fraction of the maximum.

    Pocock's spending function: alpha ln(1 + (e - 1) t).
    """
    return alpha if fraction >= 1.0 else alpha * log(1.0 + (e - 1.0) * fraction)


@dataclass(frozen=True, slots=True)
class Looks:
    """What looks need of a t value, for one number of levels and one level of the test.

    Attributes:
        blocks: Complete blocks at each look; the last may be the maximum.
        limits: |t| of this or more stops at that look; infinite where nothing could.
        spent: Chance of a false claim handed out up to that look.
        largest: |t| of the simulated experiments that came to each look, ascending.
        left: Share of them that came to each look.
    """

    blocks: tuple[int, ...]
    limits: tuple[float, ...]
    spent: tuple[float, ...]
    largest: tuple[NDArray[np.float64], ...]
    left: tuple[float, ...]

    def p_value(self, at: int, t: float) -> float:
        """Stage-wise p-value of a plan that ended at a look.

        Stopping earlier counts as more extreme (Jennison & Turnbull 2000, sec. 8.4).

        Args:
            at: Position of the look.
            t: What was seen there.
        """
        seen = self.largest[at]
        beyond = float(seen.size - np.searchsorted(seen, abs(t), side="left"))
        return min(1.0, 1.0 - self.left[at] + self.left[at] * (beyond + 1.0) / (seen.size + 1.0))


def looks_of(planned: tuple[int, ...], levels: int, alpha: float) -> Looks:
    """The limits of a plan of which no block will be incomplete.

    Args:
        planned: Blocks at which to look, ascending; the last is the maximum.
        levels: How many share the scatter; 2 for a pair that is held against its own differences.
        alpha: Chance of a false claim over all looks together.

    Raises:
        ValueError: Blocks that are not ascending, or a look that could never stop.
    """
    fewest = fewest_blocks(levels)
    if not planned or planned[0] < fewest or any(b <= a for a, b in pairwise(planned)):
        given = ", ".join(map(str, planned)) or "none"
        raise ValueError(f"looks must ascend and begin at {fewest} blocks or more, given {given}")
    looks = limits_at(planned, planned, levels, alpha)
    for look, limit in zip(planned, looks.limits, strict=True):
        if isinf(limit):
            raise ValueError(
                f"a look after {look} blocks could never stop at a level of {alpha:.3g}: leave it "
                "out, or look later"
            )
    return looks


@lru_cache(maxsize=64)
def limits_at(
    planned: tuple[int, ...], complete: tuple[int, ...], levels: int, alpha: float
) -> Looks:
    """The limits of the looks so far, of a pair that may lack blocks.

    What is spent at a look is that of the plan, whatever is missing (Lan & DeMets 1989, Controlled
    Clinical Trials 10:214, of calendar time); its t is that of the blocks that are complete. The
    limits of the first looks do not depend on how many follow.

    Args:
        planned: Blocks at which to look, ascending; the last is the maximum.
        complete: Blocks of the pair that were complete at each of the first of these looks.
        levels: How many share the scatter; 2 for a pair that is held against its own differences.
        alpha: Chance of a false claim over all looks together.
    """
    alive = np.ones(SAMPLES, dtype=np.bool_)
    limits, handed_out, largest, left = [], [], [], []
    crossed = 0
    for look, values in zip(planned, _t_values(complete, levels), strict=False):
        share = spent(look / planned[-1], alpha)
        allowed = round(share * SAMPLES) - crossed
        sizes = np.sort(values[alive])
        left.append(sizes.size / SAMPLES)
        largest.append(sizes)
        handed_out.append(share)
        if allowed < FEWEST_CROSSINGS or not np.any(sizes):
            limits.append(inf)
            continue
        limits.append(float(sizes[-allowed]))
        alive &= values < limits[-1]
        crossed += allowed
    return Looks(complete, tuple(limits), tuple(handed_out), tuple(largest), tuple(left))


def _t_values(complete: Sequence[int], levels: int) -> Iterator[NDArray[np.float64]]:
    """|t| at one look after the other of experiments without a difference, shape (SAMPLES,).

    In each block the levels have `levels - 1` independent contrasts; the first is that of the pair.
    Of the blocks between two looks only their sums and their scatter are drawn. Before there are
    blocks enough for a verdict, all are 0.
    """
    rng = np.random.default_rng(_SEED)
    contrasts = levels - 1
    sums = np.zeros((contrasts, SAMPLES))
    squares = np.zeros(SAMPLES)
    seen = 0
    for blocks in complete:
        new = blocks - seen
        if blocks >= fewest_blocks(levels) and new > 0:
            drawn = rng.standard_normal((contrasts, SAMPLES))
            sums += sqrt(new) * drawn
            squares += np.square(drawn).sum(axis=0)
            if new > 1:
                squares += rng.chisquare((new - 1) * contrasts, SAMPLES)
            seen = blocks
        if seen == 0:
            yield np.zeros(SAMPLES)
            continue
        residual = squares - np.square(sums).sum(axis=0) / seen
        scatter = np.sqrt(residual / ((seen - 1) * contrasts))
        yield np.abs(sums[0]) / (scatter * sqrt(seen))
