"""Experiments that are drawn, with a truth that is known, and judged by the product's functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from loadstone.results.statistics import Blocks, Comparison, Verdict, judge, within_blocks

Logs = NDArray[np.float64]
Shape = Literal["normal", "t3", "wild", "skewed"]

SD = 0.02
"""Standard deviation of the logarithm of a trial within its block: 2 %."""
WILD_SHARE, WILD_TIMES = 0.05, 10.0
CLAIMS = (Verdict.BETTER, Verdict.WORSE)


@dataclass(frozen=True)
class Truth:
    """How experiments are drawn.

    Attributes:
        blocks: Blocks of each.
        levels: Levels of a block, the baseline first.
        share: Of the variance of a trial, the part that lies between blocks.
        shape: Of the error of a trial: normal; Student's t with 3 degrees of freedom; normal with
            one trial in 20 ten times as wide; normal, and exponential in the last level.
        shifts: True differences of levels to the baseline, by position, in sd of a trial.
        widths: The sd of levels, by position, where it is not 1.
    """

    blocks: int
    levels: int = 2
    share: float = 0.0
    shape: Shape = "normal"
    shifts: Mapping[int, float] = field(default_factory=dict)
    widths: Mapping[int, float] = field(default_factory=dict)

    def draw(self, runs: int, seed: int) -> Logs:
        """The logarithms of the trials, shape (runs, blocks, levels)."""
        rng = np.random.default_rng(seed)
        size = (runs, self.blocks, self.levels)
        between = sqrt(self.share / (1.0 - self.share))
        logs = self._errors(rng, size)
        for level, width in self.widths.items():
            logs[:, :, level] *= width
        logs += between * rng.standard_normal((runs, self.blocks, 1))
        for level, shift in self.shifts.items():
            logs[:, :, level] += shift
        scaled: Logs = SD * logs
        return scaled

    def _errors(self, rng: np.random.Generator, size: tuple[int, int, int]) -> Logs:
        if self.shape == "t3":
            tails: Logs = rng.standard_t(3, size) / sqrt(3.0)
            return tails
        errors: Logs = rng.standard_normal(size)
        if self.shape == "wild":
            errors *= np.where(rng.random(size) < WILD_SHARE, WILD_TIMES, 1.0)
        if self.shape == "skewed":
            errors[:, :, -1] = rng.exponential(1.0, size[:2]) - 1.0
        return errors


def levels_of(logs: Logs) -> dict[str, Blocks]:
    """One experiment, shape (blocks, levels), as the product holds it: level: figure by block."""
    return {
        str(level): {block: exp(each) for block, each in enumerate(logs[:, level])}
        for level in range(logs.shape[1])
    }


def judged(logs: Logs) -> list[Comparison]:
    """Each level of one experiment against the first, judged together."""
    levels = levels_of(logs)
    candidates = [name for name in levels if name != "0"]
    return judge(
        [within_blocks(levels, name, "0") for name in candidates],
        higher_is_better=[True] * len(candidates),
    )


def claimed(comparison: Comparison) -> bool:
    """Whether it claims a difference."""
    return comparison.verdict in CLAIMS


def covers(comparison: Comparison, shift: float) -> bool:
    """Whether the interval holds the true difference, in sd of a trial."""
    assert comparison.low is not None and comparison.high is not None
    return log(comparison.low) <= SD * shift <= log(comparison.high)


def share_of(found: Sequence[bool] | NDArray[np.bool_]) -> float:
    """In per cent."""
    return 100.0 * float(np.mean(found))
