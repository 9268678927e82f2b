"""What front ends ask for: grids of a parent, its children, some accounts and periods.

Users ask where there is something. Only what is sold, and what is allocated by it, is of a product;
expenses, the balance sheet and pools have none: they are seen from the root of the products only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from loadstone.workloads.cube.data.volume import YEARS_LOADED, Volume
from loadstone.workloads.cube.outline.accounts import (
    ACCOUNT,
    ALLOCATED,
    POOLS,
    SOLD,
    linear,
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


def drawn(outline: Outline, volume: Volume, seed: int, many: int) -> list[Grid]:
    """Grids at mixed levels, each of parents and accounts that have cells.

    A pair of an entity and a product with data is drawn, then a level above each of the two.

    Args:
        outline: With the members.
        volume: What is filled: one pair at least.
        seed: Of the draws.
        many: How many.
    """
    draw = np.random.default_rng(np.random.SeedSequence([seed, 6]))
    return list(_drawn(outline, volume, draw, many))


def _drawn(
    outline: Outline, volume: Volume, draw: np.random.Generator, many: int
) -> Iterator[Grid]:
    entities, products = outline[ENTITY], outline[PRODUCT]
    filled = _Filled(outline, volume)
    managers = _managers(entities)
    for _ in range(many):
        pair = int(draw.integers(len(volume.entities)))
        above = _ancestors(entities, int(volume.entities[pair]))
        ways = [*above, *(managers[own] for own in above if own in managers)]
        entity = _one_of(ways, draw)
        parent = _one_of(_ancestors(products, int(volume.products[pair])), draw)
        children = products.children[parent]
        shown = np.sort(draw.permutation(len(children))[:_MOST_CHILDREN])
        quarter = int(draw.integers(len(QUARTERS)))
        months = MONTHS[3 * quarter : 3 * quarter + 3]
        accounts = filled.accounts(entity, parent)
        chosen = draw.choice(len(accounts), size=_ACCOUNTS, replace=False)
        yield Grid(
            entity=entities.members[entity].name,
            products=(
                products.members[parent].name,
                *(products.members[children[place]].name for place in shown),
            ),
            accounts=tuple(accounts[place] for place in chosen),
            periods=(*months, *QUARTERS, YEAR_TOTAL),
            year=_one_of(YEARS_LOADED, draw),
            currency=_one_of((LOCAL, CONVERTED), draw),
        )


def _one_of(of: Sequence[_T], draw: np.random.Generator) -> _T:
    return of[int(draw.integers(len(of)))]


def _ancestors(dimension: Dimension, number: int) -> list[int]:
    """Parents above a member, the root last."""
    found = []
    while (parent := dimension.members[number].parent) is not None:
        found.append(parent)
        number = parent
    return found


def _managers(entities: Dimension) -> dict[int, int]:
    """The parent of the alternate roll-up that shares a member, by the member's number."""
    return {
        entities.numbers[member.name]: member.parent
        for member in entities.members
        if member.storage == "shared" and member.parent is not None
    }


class _Filled:
    """Which accounts have cells, seen from a parent of entities and one of products."""

    def __init__(self, outline: Outline, volume: Volume) -> None:
        self._accounts = outline[ACCOUNT]
        self._entities = outline[ENTITY]
        self._volume = volume

    def accounts(self, entity: int, product: int) -> list[str]:
        """Names, in the order of the outline, given that there something is sold."""
        if product != 0:
            return self._of_product
        if entity == 0:
            return self._of_all
        return self._of_books if self._has_books(entity) else self._of_product

    def _has_books(self, entity: int) -> bool:
        """Whether there are expenses and a balance sheet below."""
        entities, booked = self._entities, self._volume.booked
        numbers = [entities.numbers[entities.members[own].name] for own in self._below(entity)]
        return any(
            np.searchsorted(booked, own) < np.searchsorted(booked, entities.last[own], "right")
            for own in numbers
        )

    def _below(self, entity: int) -> Sequence[int]:
        is_stored = self._entities.members[entity].storage == "stored"
        return [entity] if is_stored else self._entities.children[entity]

    @cached_property
    def _of_product(self) -> list[str]:
        return self._shown({*SOLD, *ALLOCATED})

    @cached_property
    def _of_books(self) -> list[str]:
        return self._shown({*SOLD, *ALLOCATED, *self._volume.accounts})

    @cached_property
    def _of_all(self) -> list[str]:
        return self._shown({*SOLD, *ALLOCATED, *self._volume.accounts, *POOLS})

    def _shown(self, leaves: set[str]) -> list[str]:
        """Of these leaves themselves, their totals, and ratios of which both terms have cells."""
        members, numbers = self._accounts.members, self._accounts.numbers
        filled = {numbers[name] for name in leaves}
        filled |= {total for total, leaf, _ in linear(self._accounts) if leaf in filled}

        def has_cells(number: int) -> bool:
            formula = members[number].formula
            terms = [formula.numerator, formula.denominator] if formula else [members[number].name]
            return all(numbers[name] in filled for name in terms)

        return [member.name for number, member in enumerate(members) if has_cells(number)]
