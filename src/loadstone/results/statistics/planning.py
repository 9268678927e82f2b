"""Plan before an experiment: how many blocks, and how long to measure, so that a change is found.

The log figure of a trial scatters within its block for two reasons, of which only one grows
smaller when more is measured:

    variance = between_trials^2 + within_trial^2 / L          L: measured seconds

The difference of two levels over n blocks has twice that variance by n. A change is found with a
power that the noncentral t gives, so each n has a variance that it bears, and that has an L. An
experiment costs n k (c + L) seconds, k trials a block, c seconds of a trial beyond L. The cheapest
pair is taken (the two-stage sampling of Cochran 1977, Sampling Techniques, sec. 10.6).

The scatter is that of earlier experiments. Planned anew from its own scatter, an experiment would
make false claims more often than its level says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, expm1, sqrt

import numpy as np

from loadstone.results.statistics.contrasts import (
    LEVELS_FOR_GUARD,
    Blocks,
    Unexplained,
    arrays_of,
    fewest_blocks,
)
from loadstone.results.statistics.power import least_shift, power_of
from loadstone.results.statistics.steady import effective_size

ENOUGH_FREEDOM = 8
"""With fewer degrees of freedom, the scatter is taken at its upper limit."""
LIMIT = 0.8
"""Confidence of that limit."""
FEWEST_SHARED = 5
"""Plans of `LEVELS_FOR_GUARD` levels or more have so many blocks. In fewer, one level in ten seems
wide by luck, is judged by its own differences, and 65 to 77 of 100 are found instead of 80."""
MOST_BLOCKS = 40
"""Plans with more are not looked for."""
FEWEST_TICKS = 4
"""Of fewer ticks of a trial, no scatter is told."""
EQUAL = 1e-9
"""A scatter below it is a rounding error of equal figures."""


@dataclass(frozen=True, slots=True)
class Made:
    """The trials of an earlier experiment.

    Attributes:
        levels: Name: its figures by block, above 0.
        measured_s: Measured seconds of each trial.
        within: Of each trial whose ticks tell it, the variance of its log figure within it, times
            the seconds (see `variance_within`).
        stolen: Name: as `within_blocks` has it; the scatter is that of adjusted figures.
    """

    levels: Mapping[str, Blocks]
    measured_s: float
    within: Sequence[float] = ()
    stolen: Mapping[str, Blocks] | None = None


@dataclass(frozen=True, slots=True)
class Scatter:
    """Why figures differ, as standard deviations of their logarithms.

    Attributes:
        between_trials: Between trials of a block, however long they measure.
        within_trial: Within a trial, of one measured second; None if no ticks tell it, and
            `between_trials` is all that trials of the length of the earlier ones have.
        between_blocks: Between blocks; it does not matter to differences.
        freedom: Degrees of freedom of the first.
        is_limit: The first two are an upper limit: so few trials could have scattered less by luck.
    """

    between_trials: float
    within_trial: float | None
    between_blocks: float
    freedom: int
    is_limit: bool

    @property
    def is_none(self) -> bool:
        """Whether the trials of a block do not differ at all."""
        return self.of_trial(1.0) <= EQUAL

    def of_trial(self, measured_s: float) -> float:
        """Of a trial within its block, that measures so many seconds."""
        return sqrt(self.between_trials**2 + (self.within_trial or 0.0) ** 2 / measured_s)


@dataclass(frozen=True, slots=True)
class Test:
    """How a design judges a pair.

    Attributes:
        levels: Trials of a block, which share their scatter.
        level: Of the two-sided test, at its strictest step.
    """

    __test__ = False  # pytest looks for tests by their name

    levels: int
    level: float

    def freedom(self, blocks: int) -> int:
        """Degrees of freedom of the error."""
        return (blocks - 1) * (self.levels - 1)

    @property
    def possible_blocks(self) -> range:
        """How many blocks a plan may have."""
        shared = FEWEST_SHARED if self.levels >= LEVELS_FOR_GUARD else 0
        return range(max(fewest_blocks(self.levels), shared), MOST_BLOCKS + 1)

    def power(self, blocks: int, spread: float, shift: float) -> float:
        """With which a true difference of logarithms is found; 0 with too few blocks."""
        if blocks < fewest_blocks(self.levels):
            return 0.0
        return power_of(shift, spread * sqrt(2.0 / blocks), self.freedom(blocks), self.level)

    def finds_percent(self, blocks: int, spread: float) -> float | None:
        """The least change in per cent that is found in 80 of 100; None with too few blocks.

        Args:
            blocks: How many.
            spread: Standard deviation of the log figure of a trial within its block.
        """
        if blocks < fewest_blocks(self.levels):
            return None
        return 100.0 * expm1(self.least_ratio(blocks) * spread)

    def least_ratio(self, blocks: int) -> float:
        """The least difference that is found in 80 of 100, in `spread` of a trial."""
        return least_shift(self.freedom(blocks), self.level) * sqrt(2.0 / blocks)


@dataclass(frozen=True, slots=True)
class Plan:
    """So many blocks, and so many measured seconds a trial."""

    blocks: int
    measured_s: float


def variance_within(series: Sequence[float], interval_s: float) -> float | None:
    """What the ticks of a trial say of the scatter of its figure: variance of its log, times s.

    The mean of n correlated ticks is worth fewer independent ones (`effective_size`).

    Args:
        series: The figure at each tick, in order.
        interval_s: Length of a tick.

    Returns:
        None of too few ticks, or of ticks without a mean above 0.
    """
    values = np.asarray(series, dtype=np.float64)
    if values.size < FEWEST_TICKS or not np.all(np.isfinite(values)) or values.mean() <= 0.0:
        return None
    relative = float(values.var(ddof=1)) / float(values.mean()) ** 2
    return relative * interval_s * values.size / effective_size(values)


def scatter_of(made: Sequence[Made]) -> Scatter | None:
    """The scatter of earlier experiments together.

    What the ticks say counts at most as much as the trials of a block differ: trials of a block
    have the same drawn load, so part of what the ticks show is the same in all of them.

    Args:
        made: Of the same experiment, made once or several times.

    Returns:
        None if no block has two trials more than its levels need.
    """
    parts = [_Part.of(each) for each in made]
    freedom = sum(part.freedom for part in parts)
    if freedom < 1:
        return None
    from scipy.special import chdtri

    variance = sum(part.squares for part in parts) / freedom
    is_limit = freedom < ENOUGH_FREEDOM
    if is_limit:
        variance *= freedom / float(chdtri(freedom, LIMIT))
    per_s = sum(part.freedom / each.measured_s for part, each in zip(parts, made, strict=True))
    within = [one for each in made for one in each.within]
    of_ticks = float(np.mean(within)) * per_s / freedom if within else 0.0
    share = min(of_ticks, variance)
    blocks = [(part.between, part.blocks - 1) for part in parts if part.blocks > 1]
    return Scatter(
        between_trials=sqrt(variance - share),
        within_trial=sqrt(share * freedom / per_s) if within else None,
        between_blocks=sqrt(
            max(0.0, sum(var * n for var, n in blocks) / sum(n for _, n in blocks))
        ),
        freedom=freedom,
        is_limit=is_limit,
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """Of one experiment: the squares of its residuals, and the variance between its blocks."""

    squares: float
    freedom: int
    between: float
    blocks: int

    @classmethod
    def of(cls, made: Made) -> _Part:
        blocks = sorted({block for level in made.levels.values() for block in level})
        logs, taken = arrays_of(made.levels, blocks, made.stolen)
        left = Unexplained.of(logs).adjusted(logs, taken)
        between = 0.0
        if left.freedom > 0:
            means = np.nanmean(logs - np.nanmean(logs, axis=0), axis=1)
            in_block = float(np.mean(1.0 / np.isfinite(logs).sum(axis=1)))
            between = float(means.var(ddof=1)) - left.squares / left.freedom * in_block
        return cls(left.squares, max(0, left.freedom), between, len(blocks))


def cheapest(
    scatter: Scatter,
    test: Test,
    change_percent: float,
    *,
    beside_s: float,
    lengths_s: tuple[float, float],
) -> Plan | None:
    """The cheapest plan that finds a change in 80 of 100.

    Args:
        scatter: With what the ticks tell.
        test: How a pair is judged.
        change_percent: To be found, upwards; as large a fall is found as well.
        beside_s: What a trial takes beyond what it measures.
        lengths_s: The least and the most that a trial may measure.

    Returns:
        Whole seconds; None if not even `MOST_BLOCKS` blocks can find it.
    """
    plans = []
    for blocks in test.possible_blocks:
        rest = _borne(test, blocks, change_percent) - scatter.between_trials**2
        if rest > 0.0:
            needed_s = (scatter.within_trial or 0.0) ** 2 / rest
            plans.append(Plan(blocks, float(ceil(max(needed_s, lengths_s[0])))))
    possible = [plan for plan in plans if plan.measured_s <= ceil(lengths_s[1])]
    return min(possible, key=lambda plan: plan.blocks * (beside_s + plan.measured_s), default=None)


def fewest(
    scatter: Scatter, test: Test, change_percent: float, *, measured_s: float
) -> Plan | None:
    """The plan with the fewest blocks that finds a change, where trials are as long as they are.

    Args:
        scatter: Of trials.
        test: How a pair is judged.
        change_percent: As in `cheapest`.
        measured_s: Length of a trial.
    """
    variance = scatter.of_trial(measured_s) ** 2
    for blocks in test.possible_blocks:
        if variance <= _borne(test, blocks, change_percent):
            return Plan(blocks, measured_s)
    return None


def _borne(test: Test, blocks: int, change_percent: float) -> float:
    """The variance of a trial within its block with which the change is just found."""
    return float(np.log1p(change_percent / 100.0) / test.least_ratio(blocks)) ** 2
