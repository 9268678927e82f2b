"""The cells of a cube once more, by another way than any engine goes: in memory, by ancestors.

An engine rolls up level after level. Here each cell of level 0 goes straight to all its ancestors,
so that a mistake in a level or a ragged branch cannot be made twice. Missing is NaN: the sum
of nothing is nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loadstone.workloads.cube.outline.model import Dimension, Outline
from loadstone.workloads.cube.outline.sparse import ENTITY, LOADED_PERIODS, PERIOD, PRODUCT

Numbers = NDArray[np.int64]
Amounts = NDArray[np.float64]
KEY = ("entity", "product", "year", "scenario", "version", "currency", "account")


@dataclass(frozen=True)
class Cells:
    """Cells, those of the loaded periods in a row. Rows are in the order of their keys."""

    keys: Numbers
    """Numbers of members, in the order of `KEY`. Shape (rows, 7)."""
    amounts: Amounts
    """NaN where a cell is missing. Shape (rows, 13)."""

    @staticmethod
    def of(keys: Numbers, amounts: Amounts) -> Cells:
        """Rows in any order."""
        order = np.lexsort(keys.T[::-1])
        return Cells(keys[order], amounts[order])

    def __len__(self) -> int:
        return len(self.keys)


def ancestors(dimension: Dimension) -> Numbers:
    """Each member and its ancestors, itself first; -1 behind the root.

    Shape (members, generations).
    """
    found = np.full((len(dimension), int(dimension.generations.max())), -1)
    found[:, 0] = np.arange(len(dimension))
    for step in range(1, found.shape[1]):
        below = found[:, step - 1]
        found[:, step] = np.where(below >= 0, dimension.parents[below], -1)
    return found


def rolled_up(outline: Outline, base: Cells) -> Cells:
    """The cells of all parents of entities and products above those of level 0."""
    of_entity, of_product = ancestors(outline[ENTITY]), ancestors(outline[PRODUCT])
    many = len(outline[PRODUCT])
    slices, group = np.unique(base.keys[:, 2:], axis=0, return_inverse=True)
    keys: list[Numbers] = []
    amounts: list[Amounts] = []
    for number, own in enumerate(slices):
        rows = np.flatnonzero(group.ravel() == number)
        above_e, above_p = of_entity[base.keys[rows, 0]], of_product[base.keys[rows, 1]]
        pairs = above_e[:, :, None] * many + above_p[:, None, :]
        valid = (above_e >= 0)[:, :, None] & (above_p >= 0)[:, None, :]
        valid[:, 0, 0] = False  # level 0 itself
        source, *_ = np.nonzero(valid)
        parents, place = np.unique(pairs[valid], return_inverse=True)
        keys.append(_keys(parents // many, parents % many, own))
        amounts.append(_sums(base.amounts[rows[source]], place.ravel(), len(parents)))
    return Cells.of(np.concatenate(keys), np.concatenate(amounts))


def _keys(entities: Numbers, products: Numbers, rest: Numbers) -> Numbers:
    return np.column_stack([entities, products, np.broadcast_to(rest, (len(entities), len(rest)))])


def _sums(amounts: Amounts, place: Numbers, many: int) -> Amounts:
    """Sums by place; NaN where there was nothing to add. Shape (many, 13)."""
    there = ~np.isnan(amounts)
    filled = np.where(there, amounts, 0.0)
    found = np.full((many, amounts.shape[1]), np.nan)
    for period in range(amounts.shape[1]):
        sums = np.bincount(place, filled[:, period], many)
        counts = np.bincount(place, there[:, period], many)
        found[counts > 0, period] = sums[counts > 0]
    return found


@dataclass(frozen=True)
class View:
    """Which cells of level 0 are below a cell."""

    entity: str
    product: str
    rest: tuple[int, int, int, int]
    """Numbers of year, scenario, version and currency."""


class Reader:
    """Answers for any cell from level 0, by the outline's own rules."""

    def __init__(self, outline: Outline, base: Cells) -> None:
        self._outline = outline
        self._base = base
        self._account = outline["Account"]
        self._period = outline[PERIOD]

    def block(self, view: View, accounts: Sequence[str], periods: Sequence[str]) -> Amounts:
        """The cells of an entity and a product. Shape (accounts, periods)."""
        stored = self._stored(view)
        return np.array([[self._cell(stored, own, at) for at in periods] for own in accounts])

    def _stored(self, view: View) -> Mapping[str, Amounts]:
        """The loaded periods of each account that has data below a view."""
        keys = self._base.keys
        inside = _below(self._outline[ENTITY], view.entity)[keys[:, 0]]
        inside &= _below(self._outline[PRODUCT], view.product)[keys[:, 1]]
        inside &= (keys[:, 2:6] == view.rest).all(axis=1)
        accounts, place = np.unique(keys[inside, 6], return_inverse=True)
        sums = _sums(self._base.amounts[inside], place.ravel(), len(accounts))
        names = [self._account.members[account].name for account in accounts]
        return dict(zip(names, sums, strict=True))

    def _cell(self, stored: Mapping[str, Amounts], account: str, period: str) -> float:
        number = self._account.numbers[account]
        member = self._account.members[number]
        if member.formula is not None:
            above = self._cell(stored, member.formula.numerator, period)
            below = self._cell(stored, member.formula.denominator, period)
            return above / below if below and not np.isnan(below) else float("nan")
        children = self._period.children[self._period.numbers[period]]
        if children:
            names = [self._period.members[child].name for child in children]
            if member.balance == "last":
                return self._cell(stored, account, names[-1])
            return _total([self._cell(stored, account, name) for name in names])
        if not self._account.children[number]:
            amounts = stored.get(account)
            return float("nan") if amounts is None else amounts[LOADED_PERIODS.index(period)]
        signs = {"+": 1.0, "-": -1.0}
        members = [self._account.members[child] for child in self._account.children[number]]
        return _total(
            [
                signs[own.consolidation] * self._cell(stored, own.name, period)
                for own in members
                if own.consolidation in signs
            ]
        )


def _below(dimension: Dimension, name: str) -> NDArray[np.bool_]:
    """Whether each member is in the subtree of one, by way of shared members as well."""
    found = np.zeros(len(dimension), dtype=bool)
    number = dimension.numbers[name]
    waiting = [number]
    while waiting:
        number = waiting.pop()
        own = dimension.numbers[dimension.members[number].name]
        found[own : dimension.last[own] + 1] = True
        waiting += [
            below
            for below in range(own, int(dimension.last[own]) + 1)
            if dimension.members[below].storage == "shared"
        ]
    return found


def _total(amounts: Sequence[float]) -> float:
    there = [amount for amount in amounts if not np.isnan(amount)]
    return float(sum(there)) if there else float("nan")
