"""The amounts of the cells: whole numbers, so that their sums are exact in any order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from loadstone.workloads.cube.data.volume import YEARS_LOADED

Amounts = NDArray[np.int64]
MISSING = np.iinfo(np.int64).min
"""In the place of an amount that is not there."""
_MONTHS = 12
_SEASON = np.array([0.8, 0.8, 0.9, 1.0, 1.0, 1.1, 0.9, 0.8, 1.1, 1.2, 1.3, 1.6])
_MISSING_SHARE = 0.005


def sales(pairs: int, draw: np.random.Generator) -> Amounts:
    """Revenue, discounts, costs and units. Shape (pairs, years, 4 accounts, 12 months)."""
    shape = (pairs, len(YEARS_LOADED), _MONTHS)
    price = draw.lognormal(3.0, 0.8, size=(pairs, 1, 1))
    base = draw.lognormal(3.0, 1.0, size=(pairs, len(YEARS_LOADED), 1))
    units = 1 + draw.poisson(base * _SEASON)
    revenue = np.rint(units * price * draw.uniform(0.95, 1.05, shape)) + 1
    discounts = np.floor(revenue * draw.uniform(0.0, 0.2, shape))
    costs = np.rint(revenue * draw.uniform(0.4, 0.7, shape))
    return np.stack([revenue, discounts, costs, units], axis=2).astype(np.int64)


def booked(blocks: int, flows: int, balances: int, draw: np.random.Generator) -> Amounts:
    """Expenses and positions of a balance sheet; of a few months nothing was reported.

    Args:
        blocks: Entities and years.
        flows: Accounts of expenses: they have no opening balance.
        balances: Accounts of the balance sheet.
        draw: Random numbers.

    Returns:
        Shape (blocks, flows + balances, 13 periods).
    """
    size = draw.lognormal(6.0, 1.0, size=(blocks, flows + balances, 1))
    moving = draw.uniform(0.9, 1.1, size=(blocks, flows + balances, _MONTHS + 1))
    amounts = np.rint(size * moving).astype(np.int64)
    amounts[draw.random(amounts.shape) < _MISSING_SHARE] = MISSING
    amounts[:, :flows, 0] = MISSING
    return amounts


def pooled(pools: int, draw: np.random.Generator) -> Amounts:
    """What each pool spends. Shape (years, pools, 12 months)."""
    return draw.integers(10**6, 10**7, size=(len(YEARS_LOADED), pools, _MONTHS))
