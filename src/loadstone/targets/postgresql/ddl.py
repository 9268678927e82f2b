"""Tables in PostgreSQL: bare for the load; keys, references and indexes afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loadstone.targets.schema import Table


def create(tables: Sequence[Table]) -> str:
    """Statements that make bare tables."""
    return "\n".join(_create(table) for table in tables)


def finish(tables: Sequence[Table]) -> str:
    """Statements that add primary keys and indexes to all tables, then the foreign keys."""
    statements = [line for table in tables for line in _keys(table)]
    statements += [line for table in tables for line in _references(table)]
    return "\n".join(statements)


def _create(table: Table) -> str:
    columns = ", ".join(column.sql for column in table.columns)
    return f"CREATE TABLE {table.name} ({columns});"


def _keys(table: Table) -> Iterator[str]:
    if table.primary_key:
        key = ", ".join(table.primary_key)
        yield f"ALTER TABLE {table.name} ADD CONSTRAINT {table.name}_pk PRIMARY KEY ({key});"
    yield from table.create_indexes()


def _references(table: Table) -> Iterator[str]:
    for key in table.foreign_keys:
        yield (
            f"ALTER TABLE {table.name} ADD CONSTRAINT {key.name} "
            f"FOREIGN KEY ({', '.join(key.columns)}) "
            f"REFERENCES {key.table} ({', '.join(key.references)});"
        )
