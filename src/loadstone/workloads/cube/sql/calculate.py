"""Steps 5 and 7: what is pooled is allocated by units sold, and all is converted."""

from __future__ import annotations

from loadstone.workloads.cube.data.volume import SLICE as LOADED_SLICE
from loadstone.workloads.cube.outline.accounts import ALLOCATED, POOLS, UNITS
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.sparse import (
    CONVERTED,
    CORPORATE,
    CURRENCY,
    ENTITY,
    NO_PRODUCT,
    PRODUCT,
)
from loadstone.workloads.cube.rollup import KEY
from loadstone.workloads.cube.sql.flavours import Flavour
from loadstone.workloads.cube.sql.tables import (
    ACCOUNTS,
    AMOUNTS,
    BASE,
    CURRENCIES,
    RATES,
    UPPER,
)
from loadstone.workloads.cube.sql.work import Work, one_by_one

_MONTHS = AMOUNTS[1:]


def member(outline: Outline, dimension: str, name: str) -> int:
    """Number of a member."""
    return outline[dimension].numbers[name]


def account(outline: Outline, name: str) -> int:
    """Number of an account."""
    return outline["Account"].numbers[name]


def listed(numbers: list[int]) -> str:
    """As a list of SQL."""
    return f"({', '.join(map(str, numbers))})"


def allocated(flavour: Flavour, outline: Outline, threads: int, *, hybrid: bool) -> Work:
    """Each pool by the share of an entity and a product in all units of the month.

    Args:
        flavour: The engine's way.
        outline: With the numbers.
        threads: `alloc_tasks`.
        hybrid: The total of the units is not stored.
    """
    units = account(outline, UNITS)
    pools = {account(outline, pool): account(outline, to) for pool, to in _PAIRS}
    which = " ".join(f"WHEN {pool} THEN {to}" for pool, to in pools.items())
    amounts = ", ".join(f"p.{month} * u.{month} / t.{month}" for month in _MONTHS)
    place = f"p.entity = {member(outline, ENTITY, CORPORATE)}"
    place += f" AND p.product = {member(outline, PRODUCT, NO_PRODUCT)}"
    local = member(outline, CURRENCY, LOADED_SLICE[-1])
    same = " AND ".join(f"{{}}.{own} = u.{own}" for own in KEY[2:6])

    def statement(part: str) -> str:
        return (
            f"INSERT INTO {BASE} SELECT u.entity, u.product, u.year, u.scenario, u.version, "
            f"u.currency, CASE p.account {which} END, NULL, {amounts} FROM {BASE} u "
            f"JOIN {BASE} p ON {place} AND p.account IN {listed(list(pools))} "
            f"AND {same.replace('{}', 'p')} JOIN ({all_units(units, hybrid=hybrid)}) t "
            f"ON {same.replace('{}', 't')} "
            f"WHERE u.account = {units} AND u.currency = {local}{part}"
        )

    ended = (*flavour.analysed(BASE), *flavour.checkpoint)
    return flavour.spread(statement, "u.entity", threads) + one_by_one(*ended)


_PAIRS = tuple(zip(POOLS, ALLOCATED, strict=True))


def all_units(units: int, *, hybrid: bool) -> str:
    """The units of each slice; a month without any has no total.

    Args:
        units: Number of their account.
        hybrid: They are summed from level 0.
    """
    keys = ", ".join(KEY[2:6])
    if not hybrid:
        totals = ", ".join(f"nullif({month}, 0) AS {month}" for month in _MONTHS)
        return (
            f"SELECT {keys}, {totals} FROM {UPPER} "
            f"WHERE entity = 0 AND product = 0 AND account = {units}"
        )
    totals = ", ".join(f"nullif(sum({month}), 0) AS {month}" for month in _MONTHS)
    return f"SELECT {keys}, {totals} FROM {BASE} WHERE account = {units} GROUP BY {keys}"


def converted(flavour: Flavour, outline: Outline, threads: int) -> Work:
    """All cells of level 0 in the one currency.

    Args:
        flavour: The engine's way.
        outline: With the numbers.
        threads: `calc_threads`.
    """
    local = member(outline, CURRENCY, LOADED_SLICE[-1])
    to = member(outline, CURRENCY, CONVERTED)
    amounts = ", ".join(f"c.{amount} * r.{amount}" for amount in AMOUNTS)

    def statement(part: str) -> str:
        return (
            f"INSERT INTO {BASE} SELECT c.entity, c.product, c.year, c.scenario, c.version, {to}, "
            f"c.account, {amounts} FROM {BASE} c {rated('c')} WHERE c.currency = {local}{part}"
        )

    ended = (*flavour.analysed(BASE), *flavour.checkpoint)
    return flavour.spread(statement, "c.entity", threads) + one_by_one(*ended)


def rated(rows: str) -> str:
    """Joins each row of cells with the rates `r` of its entity's currency, account and year."""
    return (
        f"JOIN {ACCOUNTS} a ON a.number = {rows}.account "
        f"JOIN {CURRENCIES} e ON e.entity = {rows}.entity "
        f"JOIN {RATES} r ON r.code = e.code AND r.rate = a.rate AND r.year = {rows}.year"
    )
