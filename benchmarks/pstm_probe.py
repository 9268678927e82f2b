"""Bare loops with the operations of a migration: what the processor can do of them.

In three loops, as the kernel: in one, Numba makes no vector code of the square roots and divisions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from loadstone.applications.pstm.configuration import Floats
from loadstone.applications.pstm.kernel import compiled, linear
from loadstone.applications.pstm.tables import Axis

_PASSES = 30_000
"""Columns of the image, as it were: some millions of updates."""
_DISTANCE2_S2 = 0.05
"""Squares of distances over velocities are drawn up to this: times stay within the trace."""


@compiled
def _roots(one: Floats, other: Floats, quarter_s2: Floats, source: float, group: float) -> None:
    for sample in range(one.size):
        one[sample] = math.sqrt(quarter_s2[sample] + source)
        other[sample] = math.sqrt(quarter_s2[sample] + group)


@compiled
def _divisions(one: Floats, other: Floats, gains: Floats) -> None:
    for sample in range(one.size):
        inverse = 1.0 / (one[sample] * other[sample])
        half = 1.0 + 0.01 * inverse
        one[sample] = one[sample] + other[sample]
        other[sample] = half
        gains[sample] = 1.0 / (half * half)


@compiled
def _gathered(  # noqa: PLR0917 - as the kernel
    column: Floats, trace: Floats, one: Floats, other: Floats, gains: Floats, axis: Axis
) -> None:
    for sample in range(column.size):
        middle, half = one[sample] * axis.rate + axis.origin, other[sample]
        around = linear(trace, middle - half) + linear(trace, middle + half)
        column[sample] += gains[sample] * (around - 2.0 * linear(trace, middle))


@compiled
def mix(image: Floats, traces: Floats, quarter_s2: Floats, squares: Floats, axis: Axis) -> int:
    """Two square roots, two divisions and three interpolations for each sample.

    Args:
        image: Shape (columns, samples).
        traces: Shape (traces, samples): each is read for as many columns as there are.
        quarter_s2: Shape (samples,).
        squares: Distances over velocities, squared; shape (2, passes).
        axis: Of the traces.

    Returns:
        Updates.
    """
    columns, room = image.shape[0], np.empty((3, quarter_s2.size))
    one, other, gains = room[0], room[1], room[2]
    for number in range(squares.shape[1]):
        trace = traces[number // columns % traces.shape[0]]
        _roots(one, other, quarter_s2, squares[0, number], squares[1, number])
        _divisions(one, other, gains)
        _gathered(image[number % columns], trace, one, other, gains, axis)
    return squares.shape[1] * quarter_s2.size


def run(of: Any) -> int:
    """Runs it on the traces of a problem; returns the updates."""
    drawn = np.random.default_rng(1).uniform(0.01, _DISTANCE2_S2, (2, _PASSES))
    return mix(of.image(), of.traces, of.times.quarter_s2, drawn, of.axis)
