"""Tables in ClickHouse: MergeTree, sorted by the primary key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loadstone.errors import WrongInputError
from loadstone.targets.schema import Column, Table

_TYPES = {
    "smallint": "Int16",
    "integer": "Int32",
    "bigint": "Int64",
    "char": "String",
    "varchar": "String",
    "double": "Float64",
    "date": "Date32",
    "timestamp": "DateTime64(6)",
    "instant": "DateTime64(6, 'UTC')",
}


def create(tables: Sequence[Table]) -> Iterator[str]:
    """Statements that make the tables.

    Raises:
        WrongInputError: If one has what ClickHouse has not: foreign keys, further indexes.
    """
    for table in tables:
        if table.foreign_keys or table.indexes:
            raise WrongInputError(
                f"chDB has no foreign keys and no indexes beside the key of a table ({table.name})",
                advice="ask for primary keys only",
            )
        columns = ", ".join(f"{column.name} {_type(column)}" for column in table.columns)
        key = ", ".join(table.primary_key)
        yield f"CREATE TABLE {table.name} ({columns}) ENGINE = MergeTree ORDER BY ({key})"


def _type(column: Column) -> str:
    kind = column.type
    name = f"Decimal({kind.size}, {kind.scale})" if kind.name == "decimal" else _TYPES[kind.name]
    return f"Nullable({name})" if column.nullable else name
