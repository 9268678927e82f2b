"""The outline of a seed. Its numbers of members are those that EssBench published."""

from __future__ import annotations

import numpy as np

from loadstone.workloads.cube.outline.accounts import accounts
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.sparse import (
    CONVERTED,
    CURRENCY,
    LOCAL,
    SCENARIO,
    VERSION,
    YEARS,
    entities,
    periods,
    products,
    small,
)


def outline_of(seed: int) -> Outline:
    """The eight dimensions.

    Args:
        seed: Of the fan-out of the large dimensions and of the alternate roll-up.
    """
    draw = np.random.default_rng(np.random.SeedSequence([seed, 0]))
    return Outline(
        (
            accounts(),
            periods(),
            small(YEARS, *(f"FY{year}" for year in range(14, 19))),
            small(SCENARIO, "Actual", "Budget"),
            small(VERSION, "Working", "Final", "Target"),
            small(CURRENCY, LOCAL, CONVERTED),
            entities(draw),
            products(draw),
        )
    )
