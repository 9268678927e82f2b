"""One figure of a block, where a block may have several trials of a level."""

from __future__ import annotations

import math
from collections.abc import Iterable


def means_by_block(figures: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Block: the geometric mean of the figures of one level in it.

    A trial and the one that was made in its place may both count.

    Args:
        figures: The block of each, and the figure. Of a block that has one that is not above 0 and
            finite, the mean is NaN.
    """
    found: dict[int, list[float]] = {}
    for block, figure in figures:
        found.setdefault(block, []).append(figure)
    return {block: _mean(own) for block, own in found.items()}


def _mean(figures: list[float]) -> float:
    if len(figures) == 1:
        return figures[0]
    if not all(math.isfinite(each) and each > 0 for each in figures):
        return math.nan
    return math.exp(math.fsum(map(math.log, figures)) / len(figures))
