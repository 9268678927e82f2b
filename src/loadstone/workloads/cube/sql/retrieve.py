"""Step 9: a grid as one query, from stored parents or, hybrid, from level 0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loadstone.workloads.cube.data.volume import SLICE as LOADED_SLICE
from loadstone.workloads.cube.grids import Grid
from loadstone.workloads.cube.outline.accounts import ACCOUNT
from loadstone.workloads.cube.outline.model import Dimension, Outline
from loadstone.workloads.cube.outline.sparse import (
    CURRENCY,
    ENTITY,
    LOADED_PERIODS,
    MONTHS,
    PRODUCT,
    QUARTERS,
    SCENARIO,
    VERSION,
    YEARS,
)
from loadstone.workloads.cube.sql.calculate import listed, member
from loadstone.workloads.cube.sql.tables import AMOUNTS, BASE, TOTALS, UPPER

_PLAIN = -1
"""In the place of the divisor of an account that is no ratio."""


def asked(outline: Outline, grid: Grid, *, hybrid: bool) -> str:
    """The query of a grid: its rows are product, account and the grid's periods.

    A product and an account of which nothing is there may have no row.

    Args:
        outline: After the restructure.
        grid: What is asked.
        hybrid: The cells of parents are summed from level 0.
    """
    formulas = [_formula(outline[ACCOUNT], name) for name in grid.accounts]
    needed = sorted({number for _, *terms in formulas for number in terms if number != _PLAIN})
    cells = _from_level_0(outline, grid) if hybrid else _from_parents(outline, grid)
    amounts = ", ".join(f"sum(t.sign * c.{amount}) AS {amount}" for amount in AMOUNTS)
    lines = (
        f"SELECT c.product AS product, t.total AS account, {amounts} FROM ({cells}) c "
        f"JOIN {TOTALS} t ON t.leaf = c.account WHERE t.total IN {listed(needed)} "
        f"GROUP BY c.product, t.total"
    )
    last = [number for number in needed if outline[ACCOUNT].members[number].balance == "last"]
    names = [f"p{place}" for place in range(len(grid.periods))]
    periods = ", ".join(
        f"{_period(period, last)} AS {name}"
        for name, period in zip(names, grid.periods, strict=True)
    )
    whole = f"SELECT product, account, {periods} FROM ({lines}) l"
    shown = " UNION ALL ".join(
        f"SELECT {shown} AS shown, {above} AS above, {below} AS below"
        for shown, above, below in formulas
    )
    values = ", ".join(f"{_shown(name)} AS {name}" for name in names)
    return (
        f"SELECT w.product AS product, f.shown AS account, {values} FROM ({whole}) w "
        f"CROSS JOIN ({shown}) f WHERE w.account = f.above OR w.account = f.below "
        f"GROUP BY w.product, f.shown ORDER BY product, account"
    )


def plain(outline: Outline, grid: Grid) -> str:
    """What level 0 has for a grid: product, account, the loaded periods, of all its entities.

    Members are found one by one, not by the ranges that a grid itself is asked by.

    Args:
        outline: After the restructure.
        grid: What is asked.
    """
    entity, product, accounts = outline[ENTITY], outline[PRODUCT], outline[ACCOUNT]
    own = {
        name: _leaves(dimension, names)
        for name, dimension, names in (
            ("entity", entity, [grid.entity]),
            ("product", product, grid.products),
            ("account", accounts, grid.accounts),
        )
    }
    where = " AND ".join(f"c.{name} IN {listed(sorted(found))}" for name, found in own.items())
    sums = ", ".join(f"sum(c.{amount}) AS {amount}" for amount in AMOUNTS)
    return (
        f"SELECT c.product AS product, c.account AS account, {sums} FROM {BASE} c "
        f"WHERE {where} AND {_slice(outline, grid)} GROUP BY c.product, c.account"
    )


def _leaves(dimension: Dimension, names: Sequence[str]) -> set[int]:
    """The members of level 0 that members are made of."""
    found, waiting = set(), [dimension.numbers[name] for name in names]
    while waiting:
        number = waiting.pop()
        formula = dimension.members[number].formula
        terms = [formula.numerator, formula.denominator] if formula else []
        below = [*dimension.children[number], *(dimension.numbers[name] for name in terms)]
        stored = dimension.numbers[dimension.members[number].name]
        below += [] if stored == number else [stored]
        waiting += below
        found |= set() if below else {number}
    return found


def _formula(accounts: Dimension, name: str) -> tuple[int, int, int]:
    """Numbers of an account and of what it is made of: one, or one divided by another."""
    number = accounts.numbers[name]
    formula = accounts.members[number].formula
    if formula is None:
        return number, number, _PLAIN
    return number, accounts.numbers[formula.numerator], accounts.numbers[formula.denominator]


def _shown(name: str) -> str:
    above = f"max(CASE WHEN w.account = f.above THEN w.{name} END)"
    below = f"max(CASE WHEN w.account = f.below THEN w.{name} END)"
    return f"CASE WHEN max(f.below) = {_PLAIN} THEN {above} ELSE {above} / nullif({below}, 0) END"


def _period(period: str, last: Sequence[int]) -> str:
    """A month, or the sum or the last of several."""
    if period in LOADED_PERIODS:
        return AMOUNTS[LOADED_PERIODS.index(period)]
    months = [AMOUNTS[LOADED_PERIODS.index(name)] for name in MONTHS]
    if period in QUARTERS:
        first = 3 * QUARTERS.index(period)
        months = months[first : first + 3]
    total = " + ".join(f"coalesce({month}, 0)" for month in months)
    flow = f"CASE WHEN coalesce({', '.join(months)}) IS NOT NULL THEN {total} END"
    if not last:
        return flow
    return f"CASE WHEN account IN {listed(list(last))} THEN {months[-1]} ELSE {flow} END"


def _slice(outline: Outline, grid: Grid) -> str:
    scenario, version, _ = LOADED_SLICE
    return (
        f"c.year = {member(outline, YEARS, grid.year)} "
        f"AND c.scenario = {member(outline, SCENARIO, scenario)} "
        f"AND c.version = {member(outline, VERSION, version)} "
        f"AND c.currency = {member(outline, CURRENCY, grid.currency)}"
    )


def _from_parents(outline: Outline, grid: Grid) -> str:
    products = [member(outline, PRODUCT, name) for name in grid.products]
    return (
        f"SELECT c.product, c.account, {_amounts()} FROM {UPPER} c "
        f"WHERE c.entity IN {listed(_stored(outline[ENTITY], grid.entity))} "
        f"AND c.product IN {listed(products)} AND {_slice(outline, grid)}"
    )


def _from_level_0(outline: Outline, grid: Grid) -> str:
    entity, product = outline[ENTITY], outline[PRODUCT]
    entities = " OR ".join(
        f"c.entity BETWEEN {number} AND {entity.last[number]}"
        for number in _stored(entity, grid.entity)
    )
    numbers = [product.numbers[name] for name in grid.products]
    ranges = " UNION ALL ".join(
        f"SELECT {number} AS product, {number} AS first, {product.last[number]} AS last"
        for number in numbers
    )
    return (
        f"SELECT p.product AS product, c.account AS account, {_amounts()} FROM {BASE} c "
        f"CROSS JOIN ({ranges}) p WHERE ({entities}) "
        f"AND c.product BETWEEN {numbers[0]} AND {product.last[numbers[0]]} "
        f"AND c.product BETWEEN p.first AND p.last AND {_slice(outline, grid)}"
    )


def _stored(dimension: Dimension, name: str) -> list[int]:
    """The stored members that a member is the sum of: itself, or those that it shares."""
    number = dimension.numbers[name]
    if dimension.members[number].storage == "stored":
        return [number]
    children: Iterable[int] = dimension.children[number]
    return [dimension.numbers[dimension.members[child].name] for child in children]


def _amounts() -> str:
    return ", ".join(f"c.{amount} AS {amount}" for amount in AMOUNTS)
