"""What front ends ask for: grids of a parent, its children, some accounts and periods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from loadstone.workloads.cube.data.volume import YEARS_LOADED
from loadstone.workloads.cube.outline.accounts import (
    ACCOUNT,
    ALLOCATED,
    EXPENSES,
    POOLS,
    POSITIONS,
    SOLD,
)
from loadstone.workloads.cube.outline.model import Dimension, Outline
from loadstone.workloads.cube.outline.sparse import (
    CONVERTED,
    ENTITY,
    LOCAL,
    MONTHS,
    PRODUCT,
    QUARTERS,
    YEAR_TOTAL,
)

_T = TypeVar("_T")
_MOST_CHILDREN = 20
_ACCOUNTS = 3
_STATISTICS = "Statistics"


@dataclass(frozen=True)
class Grid:
    """A grid: rows of products and accounts, columns of periods. Members by name."""

    entity: str
    """A parent, of the main roll-up or of the alternate one."""
    products: tuple[str, ...]
    """A parent, then up to 20 of its children."""
    accounts: tuple[str, ...]
    periods: tuple[str, ...]
    year: str
    currency: str


def drawn(outline: Outline, seed: int, many: int) -> list[Grid]:
    """Grids at mixed levels.

    Args:
        outline: With the members.
        seed: Of the draws.
        many: How many.
    """
    draw = np.random.default_rng(np.random.SeedSequence([seed, 6]))
    return list(_drawn(outline, draw, many))


def _drawn(outline: Outline, draw: np.random.Generator, many: int) -> Iterator[Grid]:
    entities, products = _by_generation(outline[ENTITY]), _by_generation(outline[PRODUCT])
    accounts = _accounts(outline[ACCOUNT])
    for _ in range(many):
        parent = _one_of(_one_of(products, draw), draw)
        children = outline[PRODUCT].children[parent]
        shown = np.sort(draw.permutation(len(children))[:_MOST_CHILDREN])
        members = outline[PRODUCT].members
        quarter = int(draw.integers(len(QUARTERS)))
        months = MONTHS[3 * quarter : 3 * quarter + 3]
        chosen = draw.choice(len(accounts), size=_ACCOUNTS, replace=False)
        yield Grid(
            entity=outline[ENTITY].members[_one_of(_one_of(entities, draw), draw)].name,
            products=(members[parent].name, *(members[children[place]].name for place in shown)),
            accounts=tuple(accounts[place] for place in chosen),
            periods=(*months, *QUARTERS, YEAR_TOTAL),
            year=_one_of(YEARS_LOADED, draw),
            currency=_one_of((LOCAL, CONVERTED), draw),
        )


def _one_of(of: Sequence[_T], draw: np.random.Generator) -> _T:
    return of[int(draw.integers(len(of)))]


def _by_generation(dimension: Dimension) -> list[list[int]]:
    """Numbers of the parents of each generation that have cells."""
    found: dict[int, list[int]] = {}
    for number, member in enumerate(dimension.members):
        if dimension.children[number] and member.storage != "label-only":
            found.setdefault(int(dimension.generations[number]), []).append(number)
    return [found[generation] for generation in sorted(found)]


def _accounts(dimension: Dimension) -> list[str]:
    """Accounts that may have something to show: totals, ratios, and what is always filled."""
    always = {*SOLD, *ALLOCATED, *POOLS, *EXPENSES[:20], *POSITIONS[:10]}
    first = dimension.numbers[_STATISTICS]
    never = range(first, int(dimension.last[first]) + 1)
    return [
        member.name
        for number, member in enumerate(dimension.members)
        if member.name in always or (member.storage == "dynamic" and number not in never)
    ]
