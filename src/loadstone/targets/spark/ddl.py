"""Columns in Spark: the declared types; text has no length."""

from __future__ import annotations

from loadstone.errors import WrongInputError
from loadstone.targets.schema import Column, Table

_TYPES = {
    "smallint": "smallint",
    "integer": "int",
    "bigint": "bigint",
    "char": "string",
    "varchar": "string",
    "double": "double",
    "date": "date",
    "timestamp": "timestamp_ntz",
    "instant": "timestamp",
}


def columns(table: Table) -> str:
    """As `CREATE TABLE` takes them.

    Raises:
        WrongInputError: If the table has what Parquet tables have not: keys, indexes.
    """
    if table.primary_key or table.foreign_keys or table.indexes:
        raise WrongInputError(
            f"tables of Parquet files have no keys and no indexes ({table.name})",
            advice="ask for none: `indexes: none` in `dss`",
        )
    return ", ".join(f"{column.name} {_type(column)}" for column in table.columns)


def _type(column: Column) -> str:
    kind = column.type
    return f"decimal({kind.size},{kind.scale})" if kind.name == "decimal" else _TYPES[kind.name]
