"""Stop early without cheating: a group-sequential t test within blocks, with a stated maximum.

Looking at the p-value after every block and stopping when it is small finds differences that are
not there. Here the looks are fixed in advance, and the chance of a false claim is handed out over
them by a spending function (Lan & DeMets 1983, Biometrika 70:659; Pocock's, which can stop early).
The limits of few blocks are not those of a normal distribution, so they are simulated, with the
degrees of freedom that each look has (Jennison & Turnbull 2000, Group Sequential Methods, ch. 11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import e, log

import numpy as np
from numpy.typing import NDArray

from loadstone.results.statistics.contrasts import fewest_blocks

SAMPLES = 400_000
"""Experiments that are simulated: a limit that is spent 1 % is known to 2 % of that."""
FEWEST_CROSSINGS = 100
"""A look at which fewer of them stop has a limit that nobody knows."""
_CHUNK = 20_000
_SEED = 1983
"""The limits are constants of a plan, not draws: every run and every report has the same."""


def spent(fraction: float, alpha: float) -> float:
    """The chance of a false claim that may be spent up to a fraction of the maximum.

    Pocock's spending function: alpha ln(1 + (e - 1) t).
    """
    return alpha if fraction >= 1.0 else alpha * log(1.0 + (e - 1.0) * fraction)


@dataclass(frozen=True, slots=True)
class Looks:
    """What a plan's looks need of a t value, for one number of levels and one level of the test.

    Attributes:
        blocks: Blocks at which to look, ascending; the last is the maximum.
        limits: |t| above this stops at that look.
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


@lru_cache(maxsize=32)
def looks_of(blocks: tuple[int, ...], levels: int, alpha: float) -> Looks:
    """The limits of a plan.

    Args:
        blocks: At which to look, ascending.
        levels: How many share the scatter; 2 for a pair that is held against its own differences.
        alpha: Chance of a false claim over all looks together.

    Raises:
        ValueError: Blocks that are not ascending, or a look that could never stop.
    """
    fewest = fewest_blocks(levels)
    if not blocks or blocks[0] < fewest or any(b <= a for a, b in pairwise(blocks)):
        raise ValueError(f"looks must ascend and begin at {fewest} blocks or more, got {blocks}")
    values = _t_values(blocks, levels)
    alive = np.ones(values.shape[0], dtype=np.bool_)
    limits, handed_out, largest, left = [], [], [], []
    crossed = 0
    for column, look in enumerate(blocks):
        share = spent(look / blocks[-1], alpha)
        allowed = round(share * values.shape[0]) - crossed
        if allowed < FEWEST_CROSSINGS:
            raise ValueError(
                f"a look after {look} blocks could never stop at a level of {alpha:.3g}: leave it "
                "out, or look later"
            )
        sizes = np.sort(values[alive, column])
        left.append(float(alive.sum()) / values.shape[0])
        largest.append(sizes)
        limits.append(float(sizes[-allowed]))
        handed_out.append(share)
        alive &= values[:, column] < limits[-1]
        crossed += allowed
    return Looks(blocks, tuple(limits), tuple(handed_out), tuple(largest), tuple(left))


def _t_values(blocks: Sequence[int], levels: int) -> NDArray[np.float64]:
    """|t| at each look of experiments without a difference, shape (SAMPLES, looks).

    In each block the levels have `levels - 1` independent contrasts; the first is that of the pair.
    """
    rng = np.random.default_rng(_SEED)
    columns = np.asarray(blocks) - 1
    counts = np.asarray(blocks, dtype=np.float64)
    chunks = []
    for _ in range(SAMPLES // _CHUNK):
        drawn = rng.standard_normal((levels - 1, _CHUNK, blocks[-1]))
        sums = drawn.cumsum(axis=2)[:, :, columns]
        squares = np.square(drawn).cumsum(axis=2)[:, :, columns]
        residual = (squares - np.square(sums) / counts).sum(axis=0)
        scatter = np.sqrt(residual / ((counts - 1.0) * (levels - 1)))
        chunks.append(np.abs(sums[0]) / (scatter * np.sqrt(counts)))
    return np.concatenate(chunks)
