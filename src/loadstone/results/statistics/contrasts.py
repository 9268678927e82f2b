"""How far apart two levels are: the difference of their log figures, and how sure it is.

An experiment is made in blocks: each has every level once, in drawn order, under one drawn load.
What drifts from block to block falls on all levels of a block alike, so levels are compared
within blocks (Fisher 1935, The Design of Experiments, ch. IV):

    log y_ij = block_i + level_j + e_ij

The scatter is that of the residuals e. Two levels give the paired t test; more levels share one
scatter, with (blocks - 1) (levels - 1) degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from loadstone.results.statistics.power import tails

Logs = NDArray[np.float64]
Blocks = Mapping[int, float]
"""Block: the figure of a level in it, above 0."""

LEVELS_FOR_GUARD = 4
"""Of fewer levels, none can be told to scatter more than the others."""
WIDE = 3.0
"""A level whose residual variance is so many times the median of all does not share its scatter."""
LEAST_TAKEN = 0.003
"""Trials of a block from which shares were taken that scatter less are not adjusted for it."""
FEWEST_LEFT = 3
"""Degrees of freedom that an adjustment must leave."""
UNLIKE = 0.005
"""Levels whose shares differ so surely are not adjusted: what they make others take is theirs. By
chance equal levels do so as seldom, and then claim a difference; at 0.05 that would be 8 % of all
equal levels instead of 5 %."""


class Method(StrEnum):
    """Which scatter a difference is held against.

    ``BLOCKS``: the residuals of all levels of the blocks. ``PAIRED``: the differences of these two
    alone. ``..._ADJUSTED``: either, of figures adjusted for the processor time that other guests
    of the host took from the trials. ``UNPAIRED``: each level's own, without blocks (Welch 1947,
    Biometrika 34:28).
    """

    BLOCKS = "t within blocks"
    PAIRED = "paired t"
    BLOCKS_ADJUSTED = "t within blocks, adjusted for stolen processor time"
    PAIRED_ADJUSTED = "paired t, adjusted for stolen processor time"
    UNPAIRED = "unpaired t"


@dataclass(frozen=True, slots=True)
class Contrast:
    """Candidate against baseline, in natural logarithms.

    Attributes:
        level: Mean of the baseline in the trials that are compared.
        shift: Mean difference candidate - baseline.
        error: Its standard error; None if the trials are too few to tell.
        freedom: Degrees of freedom of the error.
        method: What the error was made of.
        n_baseline: Trials of the baseline.
        n_candidate: Trials of the candidate; within blocks as many.
        levels: How many levels share the error: with those of the others of their blocks, or 2.
        differences: Within blocks: candidate - baseline of each, shape (blocks,).
        fewest: Fewest trials of each with which a verdict is given.
    """

    level: float
    shift: float
    error: float | None
    freedom: float
    method: Method
    n_baseline: int
    n_candidate: int
    levels: int
    differences: tuple[float, ...]
    fewest: int

    @property
    def spread(self) -> float | None:
        """Standard deviation of a single trial (within its block, if there are blocks)."""
        if self.error is None:
            return None
        return self.error / sqrt(1.0 / self.n_baseline + 1.0 / self.n_candidate)


def log_figures(values: Sequence[float], what: str) -> Logs:
    """The natural logarithms of a level's figures.

    Args:
        values: One figure per trial, any unit.
        what: The name of the level, for the message.

    Returns:
        Array of shape (n,).

    Raises:
        ValueError: There is none, or one that is not finite and above 0.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{what}: expected one figure per trial, got an array of {array.shape}")
    if not np.all(np.isfinite(array)) or np.any(array <= 0):
        raise ValueError(f"{what}: every figure must be finite and above 0, got {array.tolist()}")
    logs: Logs = np.log(array)
    return logs


def within_blocks(
    levels: Mapping[str, Blocks],
    candidate: str,
    baseline: str,
    stolen: Mapping[str, Blocks] | None = None,
) -> Contrast:
    """Compare two levels within the blocks that have both; the others leave this pair.

    The error comes from all levels in those blocks. With `LEVELS_FOR_GUARD` levels or more, a pair
    of which one scatters far more than the others (`WIDE`) is held against its own differences.

    Where other guests of a host took unlike shares of the processors from trials of a block, the
    figures are adjusted for it (analysis of covariance, Fisher 1935, ch. IX; Cochran 1957,
    Biometrics 13:261): one slope for all levels, which costs one degree of freedom.

    Args:
        levels: Name: its figures by block. Names that share no block with the two do not matter.
        candidate: Which of them is compared.
        baseline: With which.
        stolen: Name: by block, the share of the processors that other guests took, 0 to 1; None, or
            a block without it: nothing is adjusted.

    Raises:
        ValueError: The two share no block, or a figure is not finite and above 0.
    """
    shared = sorted(levels[candidate].keys() & levels[baseline].keys())
    if not shared:
        raise ValueError(f"{candidate} and {baseline} have no block in common")
    names = [candidate, baseline]
    names += [each for each in levels if each not in names and levels[each].keys() & set(shared)]
    logs, taken = arrays_of({name: levels[name] for name in names}, shared, stolen)
    fitted = _Fitted.of(logs, taken)
    if len(names) > 2 and _is_wide(fitted.unexplained):
        names = names[:2]
        fitted = _Fitted.of(logs[:, :2], taken[:, :2])
    together, alone = (
        (Method.BLOCKS_ADJUSTED, Method.PAIRED_ADJUSTED)
        if fitted.is_adjusted
        else (Method.BLOCKS, Method.PAIRED)
    )
    differences = logs[:, 0] - logs[:, 1]
    return Contrast(
        level=float(logs[:, 1].mean()),
        shift=fitted.shift,
        error=fitted.error,
        freedom=fitted.freedom,
        method=together if len(names) > 2 else alone,
        n_baseline=len(shared),
        n_candidate=len(shared),
        levels=len(names),
        differences=tuple(float(each) for each in differences),
        fewest=fewest_blocks(len(names)),
    )


@dataclass(frozen=True)
class _Fitted:
    """The first level against the second, with what blocks, levels and thieves do not explain."""

    shift: float
    error: float | None
    freedom: int
    unexplained: Logs
    is_adjusted: bool

    @classmethod
    def of(cls, logs: Logs, taken: Logs) -> _Fitted:
        blocks = logs.shape[0]
        plain = Unexplained.of(logs)
        shift, scale = float((logs[:, 0] - logs[:, 1]).mean()), 2.0 / blocks
        apart = float((taken[:, 0] - taken[:, 1]).mean())
        left = plain.adjusted(logs, taken)
        if left.taken_squares and _alike(apart, left.taken_squares, plain.freedom, blocks):
            shift -= left.slope * apart
            scale += apart**2 / left.taken_squares
        else:
            left = plain
        error = sqrt(left.squares / left.freedom * scale) if left.freedom > 0 else None
        return cls(shift, error, left.freedom, left.residuals, left is not plain)


def _alike(apart: float, squares: float, freedom: int, blocks: int) -> bool:
    """Whether the two levels did not themselves make others take more: else that is an effect."""
    error = sqrt(2.0 * squares / freedom / blocks)
    return 2.0 * tails(abs(apart) / error, freedom) > UNLIKE


def arrays_of(
    levels: Mapping[str, Blocks], blocks: Sequence[int], stolen: Mapping[str, Blocks] | None
) -> tuple[Logs, Logs]:
    """The log figures, and what was taken, as arrays of shape (blocks, levels).

    Args:
        levels: Name: its figures by block, above 0.
        blocks: Those that are wanted, in order.
        stolen: As `within_blocks` has it.

    Returns:
        NaN where a trial is missing, or what was taken from it is not known.

    Raises:
        ValueError: A figure is not finite and above 0.
    """
    logs = np.full((len(blocks), len(levels)), np.nan)
    taken = np.full_like(logs, np.nan)
    for column, (name, figures) in enumerate(levels.items()):
        rows = [row for row, block in enumerate(blocks) if block in figures]
        logs[rows, column] = log_figures([figures[blocks[row]] for row in rows], name)
        own = (stolen or {}).get(name, {})
        taken[rows, column] = [own.get(blocks[row], np.nan) for row in rows]
    return logs, taken


@dataclass(frozen=True, slots=True)
class Unexplained:
    """What blocks and levels, and perhaps stolen time, leave of log figures.

    Attributes:
        residuals: Shape (blocks, levels); NaN where a trial is missing.
        freedom: Their degrees of freedom; 0 or less: they tell no scatter.
        slope: How the figures change with what was taken, if they were adjusted for it.
        taken_squares: Of the residuals of what was taken; 0: they were not adjusted.
    """

    residuals: Logs
    freedom: int
    slope: float = 0.0
    taken_squares: float = 0.0

    @classmethod
    def of(cls, logs: Logs) -> Unexplained:
        """Without an adjustment."""
        return cls(residuals(logs), int(np.isfinite(logs).sum()) - sum(logs.shape) + 1)

    @property
    def squares(self) -> float:
        """Their sum."""
        return float(np.nansum(self.residuals**2))

    def adjusted(self, logs: Logs, taken: Logs) -> Unexplained:
        """Adjusted for what was taken, which costs a degree of freedom.

        Args:
            logs: That these are of.
            taken: Same shape.

        Returns:
            The same where as good as nothing was taken, where too few trials are there to tell, or
            where it is not known of all of them.
        """
        if self.freedom - 1 < FEWEST_LEFT or not np.all(np.isfinite(taken[np.isfinite(logs)])):
            return self
        off = residuals(taken)
        squares = float(np.nansum(off**2))
        if sqrt(squares / self.freedom) < LEAST_TAKEN:
            return self
        slope = float(np.nansum(self.residuals * off)) / squares
        return Unexplained(self.residuals - slope * off, self.freedom - 1, slope, squares)


def fewest_blocks(levels: int) -> int:
    """Fewest blocks of which a verdict is given: less would find next to nothing."""
    return 4 if levels == 2 else 3


def unpaired(baseline: Sequence[float], candidate: Sequence[float]) -> Contrast:
    """Compare two levels that were not made in common blocks.

    Args:
        baseline: One figure per trial, above 0.
        candidate: One figure per trial, same unit.

    Raises:
        ValueError: An empty level, or a figure that is not finite and above 0.
    """
    a, b = log_figures(baseline, "baseline"), log_figures(candidate, "candidate")
    error, freedom = None, 0.0
    if min(a.size, b.size) > 1:
        of_a, of_b = float(a.var(ddof=1)) / a.size, float(b.var(ddof=1)) / b.size
        error = sqrt(of_a + of_b)
        weight = of_a**2 / (a.size - 1) + of_b**2 / (b.size - 1)
        freedom = (of_a + of_b) ** 2 / weight if weight > 0 else float(a.size + b.size - 2)
    return Contrast(
        level=float(a.mean()),
        shift=float(b.mean() - a.mean()),
        error=error,
        freedom=freedom,
        method=Method.UNPAIRED,
        n_baseline=int(a.size),
        n_candidate=int(b.size),
        levels=2,
        differences=(),
        fewest=3,
    )


def residuals(logs: Logs) -> Logs:
    """What blocks and levels together do not explain; NaN where a trial is missing.

    Args:
        logs: Of shape (blocks, levels).
    """
    rows, columns = logs.shape
    if columns == 2 and np.all(np.isfinite(logs)):
        half = (logs[:, 0] - logs[:, 1]) / 2.0  # exact, where nothing scatters
        half = half - half.mean()
        return np.column_stack([half, -half])
    block, level = np.nonzero(np.isfinite(logs))
    design = np.zeros((block.size, rows + columns))
    design[np.arange(block.size), block] = 1.0
    design[np.arange(block.size), rows + level] = 1.0
    # Near 0 the fit is exact to the last digit, whatever the unit of the figures was.
    values = logs[block, level] - np.nanmean(logs)
    fitted = design @ np.linalg.lstsq(design, values)[0]
    unexplained = np.full_like(logs, np.nan)
    unexplained[block, level] = values - fitted
    return unexplained


def _is_wide(unexplained: Logs) -> bool:
    """Whether one of the first two levels scatters far more than all levels do."""
    if unexplained.shape[1] < LEVELS_FOR_GUARD:
        return False
    variances = np.nanmean(unexplained**2, axis=0)
    return bool(np.any(variances[:2] > WIDE * np.median(variances)))
