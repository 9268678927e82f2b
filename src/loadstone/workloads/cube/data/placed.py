"""A sum that knows where each amount is: each counts as often as the weight of its place says.

Two cells that are swapped, or one that has lost what another has gained, leave a plain sum as it
was; this one they change, unless both places have the same weight by chance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from loadstone.workloads.cube.data.volume import SLICE
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.sparse import CURRENCY, SCENARIO, VERSION
from loadstone.workloads.cube.rollup import KEY

FACTORS = dict(zip(KEY, (7919, 6101, 4591, 3571, 2213, 1013, 5297), strict=True))
"""By which the number of each member of a key is multiplied."""
MODULUS = 8191
"""Of the sum of these products. Weights are so small that sums of whole amounts are exact in a
double at the largest scale."""


def weights(
    outline: Outline,
    entities: ArrayLike,
    products: ArrayLike,
    years: ArrayLike,
    accounts: ArrayLike,
) -> NDArray[np.int64]:
    """Of cells in the loaded slice, by the numbers of their members; arrays are broadcast."""
    slice_ = zip((SCENARIO, VERSION, CURRENCY), SLICE, strict=True)
    fixed = [outline[dimension].numbers[name] for dimension, name in slice_]
    key = (entities, products, years, *fixed, accounts)
    found = np.zeros(1, dtype=np.int64)
    for factor, own in zip(FACTORS.values(), key, strict=True):
        found = found + factor * np.asarray(own, dtype=np.int64)
    return 1 + found % MODULUS


def placed_sum(amounts: NDArray[np.int64], of_rows: NDArray[np.int64], first: int) -> int:
    """The sum of amounts, each times the weight of its row and the place of its period, from 1.

    Args:
        amounts: 0 where nothing is. Shape (..., periods).
        of_rows: Shape (...,).
        first: Place of the first of these periods among the loaded ones.
    """
    periods = np.arange(first, first + amounts.shape[-1]) + 1
    return int((amounts * periods).sum(axis=-1).ravel() @ of_rows.ravel())
