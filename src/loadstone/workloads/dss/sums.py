"""A number for each row, whose sum over a table tells whether every row has its values.

Each value counts as often as a factor of its column says, and their total as often as the row's key
says. Two values that are swapped, within a row or between two, or one that has lost what another
has gained, change the sum, but for rows whose keys have the same weight: one case in 8,191.
"""

from __future__ import annotations

from loadstone.targets.dialect import Dialect
from loadstone.targets.schema import Column, Table
from loadstone.workloads.dss.tables import TABLES

_FACTORS = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43)
"""Of the columns in their order. They are small: up to scale 100,000 a row's number has 64 bits."""
_MODULUS = 8191


def summed(dialect: Dialect) -> dict[str, str]:
    """Table: an integer expression over a row, of all its numbers and dates.

    Texts have no part in it: engines pad and hash them in other ways.
    """
    return {table.name: row_sum(table, dialect) for table in TABLES}


def row_sum(table: Table, dialect: Dialect) -> str:
    """An integer expression over a row of a table with a primary key of at most two columns."""
    numbers = [
        number for column in table.columns if (number := _number(column, dialect)) is not None
    ]
    terms = (f"{factor} * {number}" for factor, number in zip(_FACTORS, numbers, strict=False))
    first, *more = (dialect.wide(name) for name in table.primary_key)
    key = " + ".join([f"{_SPREAD} * {first}", *more])
    return f"({' + '.join(terms)}) * (1 + ({key}) % {_MODULUS})"


_SPREAD = 31
"""Of a key of two columns the first counts so often: orders have seven lines at most."""


def _number(column: Column, dialect: Dialect) -> str | None:
    match column.type.name:
        case "integer" | "bigint":
            return dialect.wide(column.name)
        case "decimal":
            return dialect.unscaled(column.name, column.type.scale)
        case "date":
            return dialect.wide(dialect.days(column.name))
        case _:
            return None
