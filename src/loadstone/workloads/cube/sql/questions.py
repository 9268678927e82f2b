"""What is asked after the steps, untimed, so that their work can be checked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from loadstone.targets.schema import Table
from loadstone.workloads.cube.data.native import NativeFile
from loadstone.workloads.cube.data.placed import FACTORS, MODULUS
from loadstone.workloads.cube.outline.accounts import ALLOCATED, POOLS, SOLD, UNITS
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.restructure import restructure
from loadstone.workloads.cube.outline.sparse import (
    CONVERTED,
    CORPORATE,
    CURRENCY,
    ENTITY,
    LOCAL,
    NO_PRODUCT,
    PRODUCT,
)
from loadstone.workloads.cube.rollup import KEY
from loadstone.workloads.cube.sql.calculate import account, all_units, listed, member, rated
from loadstone.workloads.cube.sql.flavours import Flavour
from loadstone.workloads.cube.sql.tables import (
    AMOUNTS,
    BASE,
    BLOCK,
    SLICE,
    UPPER,
)

_COUNTS = " + ".join(f"count(c.{amount})" for amount in AMOUNTS)
_SUM = " + ".join(f"coalesce(sum(c.{amount}), 0)" for amount in AMOUNTS)
_SAME_BLOCK = " AND ".join(f"l.{own} = o.{own}" for own in KEY if own != "currency")
CLOSE = 1e-9
"""Relative: products of quotients are not exact."""


def rows() -> str:
    """Rows of the tables of cells: name, rows."""
    return " UNION ALL ".join(
        f"SELECT '{name}' AS name, count(*) AS many FROM {name}" for name in (BASE, UPPER)
    )


def all_of(table: Table) -> str:
    """Each row of a table of the outline."""
    return f"SELECT {', '.join(column.name for column in table.columns)} FROM {table.name}"


def _tally(number: str = "c.account") -> str:
    """Cells, their sum, and their `placed_sum`.

    Args:
        number: Of the account, as data are loaded.
    """
    members = [*(f"c.{own}" for own in BLOCK), number]
    weight = " + ".join(
        f"CAST({own} AS BIGINT) * {factor}"
        for own, factor in zip(members, FACTORS.values(), strict=True)
    )
    amounts = " + ".join(
        f"{place} * coalesce(c.{amount}, 0)" for place, amount in enumerate(AMOUNTS, start=1)
    )
    return f"{_COUNTS}, {_SUM}, sum((1 + mod({weight}, {MODULUS})) * ({amounts}))"


def native(files: Sequence[NativeFile]) -> str:
    """Of each native file its place from 0, cells, sum, and sum by place.

    Files are cut between blocks in the order of the outline.
    """
    borders = [
        f"WHEN c.entity < {file.last_entity} OR (c.entity = {file.last_entity} "
        f"AND c.year <= {file.last_year}) THEN {place}"
        for place, file in enumerate(files[:-1])
    ]
    case = f"CASE {' '.join(borders)} ELSE {len(files) - 1} END" if borders else "0"
    return (
        f"SELECT place, {_tally()} FROM "
        f"(SELECT {case} AS place, c.* FROM {BASE} c) c GROUP BY place ORDER BY place"
    )


def sold(outline: Outline) -> str:
    """Cells, sum, and sum by place of what the file of cells brought."""
    numbers = [account(outline, name) for name in SOLD]
    return f"SELECT {_tally()} FROM {BASE} c WHERE c.account IN {listed(numbers)}"


def held(outline: Outline) -> str:
    """What was loaded, after the restructure: whence (`lines`, `native`), cells and both sums.

    Args:
        outline: As data are loaded into it.
    """
    after = restructure(outline).outline
    numbers, made = ([account(after, name) for name in own] for own in (SOLD, ALLOCATED))
    whence = f"CASE WHEN c.account IN {listed(numbers)} THEN 'lines' ELSE 'native' END"
    return (
        f"SELECT whence, {_tally(before(outline))} FROM "
        f"(SELECT {whence} AS whence, c.* FROM {BASE} c "
        f"WHERE c.currency = {member(outline, CURRENCY, LOCAL)} "
        f"AND c.account NOT IN {listed(made)}) c GROUP BY whence"
    )


def before(outline: Outline) -> str:
    """The number that an account `c.account` had before the restructure; -1 if it was not there.

    The table by which cells are renumbered is not asked: it may be what is wrong.
    """
    pairs = sorted((after, own) for own, after in restructure(outline).renumbered.items())
    cases = []
    for moved, run in groupby(pairs, lambda pair: pair[1] - pair[0]):
        (first, _), *_, (last, _) = [*run] * 2
        cases.append(f"WHEN c.account BETWEEN {first} AND {last} THEN c.account + ({moved})")
    return f"CASE {' '.join(cases)} ELSE -1 END"


def volume() -> str:
    """Of level 0 and of parents: name, rows, cells, blocks."""
    block = ", ".join(BLOCK)
    return " UNION ALL ".join(
        f"SELECT '{table}' AS name, (SELECT count(*) FROM {table}) AS many, "
        f"(SELECT {_COUNTS} FROM {table} c) AS cells, "
        f"(SELECT count(*) FROM (SELECT DISTINCT {block} FROM {table}) b) AS blocks"
        for table in (BASE, UPPER)
    )


def totals() -> str:
    """All of level 0, and the cells of the root: side, year, currency, account, the amounts."""
    sums = ", ".join(f"sum(c.{amount}) AS {amount}" for amount in AMOUNTS)
    plain = ", ".join(f"c.{amount} AS {amount}" for amount in AMOUNTS)
    key = "c.year AS year, c.currency AS currency, c.account AS account"
    return (
        f"SELECT '{BASE}' AS side, {key}, {sums} FROM {BASE} c "
        f"GROUP BY c.year, c.currency, c.account UNION ALL "
        f"SELECT '{UPPER}' AS side, {key}, {plain} FROM {UPPER} c "
        f"WHERE c.entity = 0 AND c.product = 0"
    )


def drivers(flavour: Flavour, outline: Outline) -> str:
    """Allocated rows, how many there must be, those with their units and pool, wrong ones.

    What is allocated, times the units of all, is the pool times the units of its row.
    """
    local, units = member(outline, CURRENCY, LOCAL), account(outline, UNITS)
    accounts = [account(outline, name) for name in ALLOCATED]
    pools = " ".join(
        f"WHEN {account(outline, to)} THEN {account(outline, pool)}"
        for pool, to in zip(POOLS, ALLOCATED, strict=True)
    )
    same = " AND ".join(f"a.{own} = u.{own}" for own in BLOCK)
    slices = {name: " AND ".join(f"a.{own} = {name}.{own}" for own in SLICE) for name in "pt"}
    wrong = " OR ".join(
        f"abs(a.{month} * t.{month} - p.{month} * u.{month}) > "
        f"{CLOSE} * abs(p.{month} * u.{month}) "
        f"OR (a.{month} IS NULL) <> (p.{month} * u.{month} * t.{month} IS NULL)"
        for month in AMOUNTS[1:]
    )
    return flavour.as_written(
        f"SELECT (SELECT count(*) FROM {BASE} WHERE currency = {local} "
        f"AND account IN {listed(accounts)}), "
        f"(SELECT {len(accounts)} * count(*) FROM {BASE} WHERE currency = {local} "
        f"AND account = {units}), count(*), sum(CASE WHEN {wrong} THEN 1 ELSE 0 END) "
        f"FROM {BASE} a JOIN {BASE} u ON {same} JOIN {BASE} p ON {slices['p']} "
        f"AND p.account = CASE a.account {pools} END "
        f"JOIN ({all_units(units, hybrid=True)}) t ON {slices['t']} "
        f"WHERE a.account IN {listed(accounts)} AND a.currency = {local} AND u.account = {units} "
        f"AND p.entity = {member(outline, ENTITY, CORPORATE)} "
        f"AND p.product = {member(outline, PRODUCT, NO_PRODUCT)}"
    )


def conversion(flavour: Flavour, outline: Outline) -> str:
    """Local rows, all, pairs of both currencies, wrong ones of the currency itself, wrong trips.

    A trip is there and back: divided by its rate a cell is what it was.
    """
    local, to = member(outline, CURRENCY, LOCAL), member(outline, CURRENCY, CONVERTED)
    other = " OR ".join(flavour.differs(f"l.{own}", f"o.{own}") for own in AMOUNTS)
    trips = " OR ".join(
        f"abs(o.{own} / r.{own} - l.{own}) > {CLOSE} * abs(l.{own}) "
        f"OR (o.{own} IS NULL) <> (l.{own} IS NULL)"
        for own in AMOUNTS
    )
    return flavour.as_written(
        f"SELECT (SELECT count(*) FROM {BASE} WHERE currency = {local}), "
        f"(SELECT count(*) FROM {BASE}), count(*), "
        f"sum(CASE WHEN e.code = '{CONVERTED}' AND ({other}) THEN 1 ELSE 0 END), "
        f"sum(CASE WHEN {trips} THEN 1 ELSE 0 END) FROM {BASE} l JOIN {BASE} o ON {_SAME_BLOCK} "
        f"{rated('l')} WHERE l.currency = {local} AND o.currency = {to}"
    )


def currencies() -> str:
    """Sums of each book currency: code, type of rate, currency, year, the amounts."""
    sums = ", ".join(f"sum(c.{amount}) AS {amount}" for amount in AMOUNTS)
    return (
        f"SELECT e.code AS code, a.rate AS rate, c.currency AS currency, c.year AS year, {sums} "
        f"FROM {BASE} c {rated('c')} GROUP BY e.code, a.rate, c.currency, c.year"
    )


def hashes(flavour: Flavour, outline: Outline, *, after: bool, hybrid: bool) -> str:
    """Of each table of cells, whatever the order: name, whether of quotients, rows, hash.

    Args:
        flavour: The engine's way.
        outline: As data are loaded into it.
        after: The restructure was made: accounts are told by their numbers before.
        hybrid: Only level 0 is there.
    """
    numbered = restructure(outline).outline if after else outline
    made = listed([account(numbered, name) for name in ALLOCATED])
    number = f"CAST({before(outline)} AS {flavour.key_type})" if after else "c.account"
    keys = [*(f"c.{own}" for own in BLOCK), number]
    hashed = flavour.hash_of_all(keys, [f"c.{own}" for own in AMOUNTS])
    return " UNION ALL ".join(
        f"SELECT '{table}' AS name, quotient, count(*) AS many, {hashed} AS hash FROM "
        f"(SELECT CASE WHEN c.account IN {made} THEN 1 ELSE 0 END AS quotient, c.* "
        f"FROM {table} c) c GROUP BY quotient"
        for table in ((BASE,) if hybrid else (BASE, UPPER))
    )
