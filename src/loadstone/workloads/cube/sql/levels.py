"""What is asked about the cells of parents: is each the sum of its children?

As they are aggregated, products are followed for the entities of level 0, and entities for all
products: so each upper row is compared once, with the rows directly below it. A row is one number
here: its amounts, each times a factor of its period. What is the sum of its children in every
period is so in this number too. Which periods have amounts is compared beside it.
"""

from __future__ import annotations

from functools import reduce

from loadstone.workloads.cube.outline.accounts import ACCOUNT, ALLOCATED
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.sparse import (
    CURRENCY,
    ENTITY,
    PRODUCT,
    SCENARIO,
    VERSION,
    YEARS,
)
from loadstone.workloads.cube.rollup import KEY
from loadstone.workloads.cube.sql.calculate import account, listed
from loadstone.workloads.cube.sql.questions import CLOSE
from loadstone.workloads.cube.sql.tables import ABOVE, AMOUNTS, BASE, UPPER

PARTS = 4
"""Accounts are compared in so many portions: what one needs fits where a step's work does."""
_DIMENSIONS = (ENTITY, PRODUCT, YEARS, SCENARIO, VERSION, CURRENCY, ACCOUNT)
_FACTORS = (101, 67, 89, 71, 103, 83, 59, 97, 79, 107, 61, 73, 109)
"""Of the periods: different, and so small that sums of whole 1024ths are exact in a double at the
largest scale."""
_NUMBER = " + ".join(
    f"{factor} * coalesce(c.{amount}, 0)" for factor, amount in zip(_FACTORS, AMOUNTS, strict=True)
)
_PERIODS = " + ".join(
    f"CASE WHEN c.{amount} IS NULL THEN 0 ELSE {1 << bit} END" for bit, amount in enumerate(AMOUNTS)
)


def levels(outline: Outline, part: int) -> str:
    """Upper rows, those of them that are wrong, and the place of the first (`names_at`).

    A row is wrong if it is there without children or they without it, if it is there twice, or if
    an amount is not their sum; missing is the sum of nothing.

    Args:
        outline: With the accounts as the cells have them.
        part: Of the accounts, from 0.
    """
    quotients = listed([account(outline, name) for name in ALLOCATED])
    numbered = f"mod(place, {len(outline[ACCOUNT])})"
    wrong = (
        "owns <> 1 OR children = 0 OR here <> below OR abs(own_sum - child_sum) > "
        f"CASE WHEN {numbered} IN {quotients} THEN {CLOSE} ELSE 0.0 END * abs(own_sum)"
    )
    return (
        f"SELECT sum(owns), sum(CASE WHEN {wrong} THEN 1 ELSE 0 END), "
        f"min(CASE WHEN {wrong} THEN place END) FROM (SELECT place, sum(own) AS owns, "
        "sum(1 - own) AS children, sum(own * periods) AS here, "
        "bit_or((1 - own) * periods) AS below, sum(own * number) AS own_sum, "
        f"sum((1 - own) * number) AS child_sum FROM ({_rows(outline, part)}) r GROUP BY place) l"
    )


def _rows(outline: Outline, part: int) -> str:
    """Each upper row at its own place, and each row that has a parent at that of the parent."""
    of_part = f"mod(c.account, {PARTS}) = {part}"
    of_leaves = f" AND c.entity NOT IN (SELECT parent FROM {ABOVE['entity']})"
    children = [
        f"SELECT 0 AS own, {_place(outline, column)} AS place, {_NUMBER} AS number, "
        f"{_PERIODS} AS periods FROM {table} c JOIN {above} a ON a.child = c.{column} "
        f"WHERE {of_part}{of_leaves if column == 'product' else ''}"
        for column, above in ABOVE.items()
        for table in (BASE, UPPER)
    ]
    own = (
        f"SELECT 1 AS own, {_place(outline)} AS place, {_NUMBER} AS number, "
        f"{_PERIODS} AS periods FROM {UPPER} c WHERE {of_part}"
    )
    return " UNION ALL ".join([own, *children])


def _place(outline: Outline, raised: str | None = None) -> str:
    """A key as one number; or that of the parent in a dimension."""
    members = [f"{'a.parent' if own == raised else f'c.{own}'}" for own in KEY]
    sizes = [len(outline[dimension]) for dimension in _DIMENSIONS]
    first, *others = [f"CAST({own} AS BIGINT)" for own in members]
    return reduce(
        lambda found, own: f"({found} * {own[0]} + {own[1]})",
        zip(sizes[1:], others, strict=True),
        first,
    )


def names_at(outline: Outline, place: int) -> str:
    """The members of a place."""
    found = []
    for dimension in reversed(_DIMENSIONS):
        place, number = divmod(place, len(outline[dimension]))
        found.append(outline[dimension].members[number].name)
    return ", ".join(reversed(found))
