"""Tables in DuckDB: keys when they are made, indexes after the load."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.targets.schema import Table


def create(tables: Sequence[Table]) -> str:
    """Statements that make the tables with primary and foreign keys."""
    return "\n".join(_create(table) for table in tables)


def finish(tables: Sequence[Table]) -> str:
    """Statements that add the indexes."""
    return "\n".join(line for table in tables for line in table.create_indexes())


def _create(table: Table) -> str:
    parts = [column.sql for column in table.columns]
    if table.primary_key:
        parts.append(f"PRIMARY KEY ({', '.join(table.primary_key)})")
    parts += [
        f"FOREIGN KEY ({', '.join(key.columns)}) "
        f"REFERENCES {key.table} ({', '.join(key.references)})"
        for key in table.foreign_keys
    ]
    return f"CREATE TABLE {table.name} ({', '.join(parts)});"
