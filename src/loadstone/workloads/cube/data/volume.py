"""Which combinations of members have data at a scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loadstone.workloads.cube.outline.accounts import EXPENSES, POSITIONS
from loadstone.workloads.cube.outline.model import Dimension, Outline
from loadstone.workloads.cube.outline.sparse import (
    CORPORATE,
    ENTITY,
    LOCAL,
    NO_ENTITY,
    NO_PRODUCT,
    PRODUCT,
)

PAIRS_AT_1 = 104_167
"""Entities with a product that they sell: with 2 years, 4 accounts and 12 months each, 10,000,032
cells."""
YEARS_LOADED = ("FY17", "FY18")
SLICE = ("Actual", "Final", LOCAL)
"""Scenario, version and currency of all that is loaded."""
_EXPENSES_AT_1, _POSITIONS_AT_1 = 28, 17
_HOME_SHARE = 0.7
_HOMES = 2
_ZIPF = 0.8
_SPREAD = 1.0
"""Standard deviation of the logarithm of how much an entity sells."""
LEAST_SCALE = 1e-5
"""One pair."""
LARGEST_SCALE = len(EXPENSES) // _EXPENSES_AT_1
"""There are no more accounts to fill."""

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Volume:
    """Combinations with data. Members are numbers of the outline."""

    entities: Numbers
    """Of each pair, in the order of the outline. Shape (pairs,)."""
    products: Numbers
    """Likewise; within an entity in the order of the outline."""
    booked: Numbers
    """Entities with expenses and a balance sheet, in the order of the outline."""
    accounts: tuple[str, ...]
    """Of expenses and balance sheet."""


def volume_of(outline: Outline, scale: float, seed: int) -> Volume:
    """What is filled at a scale: it multiplies rows, and never members.

    Args:
        outline: With the members.
        scale: Above 0, up to `LARGEST_SCALE`.
        seed: Of the draws.
    """
    draw = np.random.default_rng(np.random.SeedSequence([seed, 1]))
    without = {outline[ENTITY].numbers[name] for name in (NO_ENTITY, CORPORATE)}
    departments = np.array([leaf for leaf in outline[ENTITY].leaves() if leaf not in without])
    entities, products = _pairs(outline[PRODUCT], departments, round(scale * PAIRS_AT_1), draw)
    many = max(1, round(min(scale, 1.0) * len(departments)))
    booked = np.sort(draw.choice(departments, many, replace=False))
    more = max(scale, 1.0)
    accounts = (
        *EXPENSES[: round(_EXPENSES_AT_1 * more)],
        *POSITIONS[: round(_POSITIONS_AT_1 * more)],
    )
    return Volume(entities, products, booked, accounts)


def _pairs(
    dimension: Dimension, departments: Numbers, many: int, draw: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """Exactly so many different pairs: most of an entity's products are of two home lines.

    The others are drawn from all products, some of which sell everywhere (Zipf).
    """
    articles = np.array(
        [leaf for leaf in dimension.leaves() if leaf != dimension.numbers[NO_PRODUCT]]
    )
    lines = np.array(
        [child for child in dimension.children[0] if child != dimension.numbers[NO_PRODUCT]]
    )
    first = np.searchsorted(articles, lines)
    behind = np.searchsorted(articles, dimension.last[lines], side="right")
    homes = draw.integers(len(lines), size=(len(departments), _HOMES))
    weights = draw.lognormal(sigma=_SPREAD, size=len(departments))
    weights /= weights.sum()
    ranks = draw.permutation(len(articles))
    fame = 1.0 / np.arange(1, len(articles) + 1) ** _ZIPF
    fame /= fame.sum()
    found = np.empty(0, dtype=np.int64)
    while (lacking := many - len(found)) > 0:
        tries = int(lacking * 1.2) + 64
        entity = draw.choice(len(departments), size=tries, p=weights)
        home = homes[entity, draw.integers(_HOMES, size=tries)]
        at_home = first[home] + (draw.random(tries) * (behind - first)[home]).astype(np.int64)
        anywhere = ranks[draw.choice(len(articles), size=tries, p=fame)]
        article = np.where(draw.random(tries) < _HOME_SHARE, at_home, anywhere)
        new = _new(entity * len(articles) + article, found)
        found = np.sort(np.concatenate([found, draw.permutation(new)[:lacking]]))
    return departments[found // len(articles)], articles[found % len(articles)]


def _new(pairs: Numbers, known: Numbers) -> Numbers:
    """Those that are not known, each once, ascending.

    `setdiff1d` of numpy 2.4 answers the same by hashing, which takes ten times as long here.
    """
    ordered = np.sort(pairs)
    once = ordered[np.diff(ordered, prepend=-1) > 0]
    return once[~np.isin(once, known, assume_unique=True)]
