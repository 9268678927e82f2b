"""What is asked after the steps, untimed, so that their work can be checked."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.targets.schema import Table
from loadstone.workloads.cube.data.native import NativeFile
from loadstone.workloads.cube.outline.accounts import ALLOCATED, SOLD, UNITS
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.sparse import CONVERTED, CURRENCY, LOCAL
from loadstone.workloads.cube.rollup import KEY
from loadstone.workloads.cube.sql.calculate import account, listed, member, rated
from loadstone.workloads.cube.sql.flavours import Flavour
from loadstone.workloads.cube.sql.tables import (
    AMOUNTS,
    BASE,
    BLOCK,
    RENUMBERED,
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


def native(files: Sequence[NativeFile]) -> str:
    """Cells and sum of each native file: its place from 0, cells, sum.

    Files are cut between blocks in the order of the outline.
    """
    borders = [
        f"WHEN c.entity < {file.last_entity} OR (c.entity = {file.last_entity} "
        f"AND c.year <= {file.last_year}) THEN {place}"
        for place, file in enumerate(files[:-1])
    ]
    case = f"CASE {' '.join(borders)} ELSE {len(files) - 1} END" if borders else "0"
    return (
        f"SELECT place, {_COUNTS}, {_SUM} FROM "
        f"(SELECT {case} AS place, c.* FROM {BASE} c) c GROUP BY place ORDER BY place"
    )


def sold(outline: Outline) -> str:
    """Cells and sum of what the file of cells brought."""
    numbers = [account(outline, name) for name in SOLD]
    return f"SELECT {_COUNTS}, {_SUM} FROM {BASE} c WHERE c.account IN {listed(numbers)}"


def held(outline: Outline) -> str:
    """Cells and sum of what was loaded, at any time after: whence (`lines`, `native`), cells, sum.

    Args:
        outline: With the accounts as they are numbered then.
    """
    numbers, made = ([account(outline, name) for name in own] for own in (SOLD, ALLOCATED))
    whence = f"CASE WHEN c.account IN {listed(numbers)} THEN 'lines' ELSE 'native' END"
    return (
        f"SELECT whence, {_COUNTS}, {_SUM} FROM (SELECT {whence} AS whence, c.* FROM {BASE} c "
        f"WHERE c.currency = {member(outline, CURRENCY, LOCAL)} "
        f"AND c.account NOT IN {listed(made)}) c GROUP BY whence"
    )


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


def drivers(outline: Outline) -> str:
    """Allocated rows, how many there must be, and amounts where the driver is missing."""
    local, units = member(outline, CURRENCY, LOCAL), account(outline, UNITS)
    accounts = [account(outline, name) for name in ALLOCATED]
    same = " AND ".join(f"a.{own} = u.{own}" for own in BLOCK)
    wrong = " OR ".join(f"(a.{month} IS NULL) <> (u.{month} IS NULL)" for month in AMOUNTS[1:])
    return (
        f"SELECT (SELECT count(*) FROM {BASE} WHERE currency = {local} "
        f"AND account IN {listed(accounts)}), "
        f"(SELECT {len(accounts)} * count(*) FROM {BASE} WHERE currency = {local} "
        f"AND account = {units}), "
        f"(SELECT count(*) FROM {BASE} a JOIN {BASE} u ON {same} AND u.account = {units} "
        f"WHERE a.account IN {listed(accounts)} AND a.currency = {local} AND ({wrong}))"
    )


def conversion(flavour: Flavour, outline: Outline) -> str:
    """Local rows, pairs of both currencies, wrong ones of the currency itself, and wrong trips.

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
        f"SELECT (SELECT count(*) FROM {BASE} WHERE currency = {local}), count(*), "
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


def hashes(flavour: Flavour, *, after: bool, hybrid: bool) -> str:
    """Rows and hash of each table of cells, whatever the order: name, rows, hash.

    Args:
        flavour: The engine's way.
        after: The restructure was made: accounts are told by their numbers before.
        hybrid: Only level 0 is there.
    """
    number = "n.before" if after else "c.account"
    joined = f" JOIN {RENUMBERED} n ON n.after = c.account" if after else ""
    columns = [*(f"c.{own}" for own in BLOCK), number, *(f"c.{own}" for own in AMOUNTS)]
    return " UNION ALL ".join(
        f"SELECT '{table}' AS name, count(*) AS many, {flavour.hash_of_all(columns)} AS hash "
        f"FROM {table} c{joined}"
        for table in ((BASE,) if hybrid else (BASE, UPPER))
    )
