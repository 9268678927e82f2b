"""Tables in MariaDB: with their primary key for the load, all else afterwards.

InnoDB keeps a table in the order of its primary key, and the load comes in that order: loaded
without key it would be built twice. Comparisons are by code points (`utf8mb4_bin`), as in the C
locale of the other engines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loadstone.targets.schema import Column, ForeignKey, Table

OPTIONS = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"


def create(tables: Sequence[Table]) -> str:
    """Statements that make tables with their primary keys."""
    return "\n".join(_create(table) for table in tables)


def finish(tables: Sequence[Table]) -> str:
    """Statements that add indexes, then the foreign keys.

    While references are not checked they are added in place; with checks the server would copy
    every table. `orphans` checks them instead.
    """
    statements = [line for table in tables for line in _alter(table)]
    return "\n".join(
        ["SET SESSION foreign_key_checks = 0;", *statements, "SET SESSION foreign_key_checks = 1;"]
    )


def orphans(tables: Sequence[Table]) -> Iterator[tuple[str, str]]:
    """For each foreign key its name and a query that finds a row without the row it refers to."""
    for table in tables:
        for key in table.foreign_keys:
            yield f"{table.name}.{key.name}", _orphan(table, key)


def _create(table: Table) -> str:
    parts = [_column(column) for column in table.columns]
    if table.primary_key:
        parts.append(f"PRIMARY KEY ({', '.join(table.primary_key)})")
    return f"CREATE TABLE {table.name} ({', '.join(parts)}) {OPTIONS};"


def _column(column: Column) -> str:
    kind = "datetime(6)" if column.type.name in ("timestamp", "instant") else column.type.sql
    return f"{column.name} {kind} {'NULL' if column.nullable else 'NOT NULL'}"


def _alter(table: Table) -> Iterator[str]:
    parts = [
        f"ADD {'UNIQUE ' if index.unique else ''}INDEX {index.name} ({', '.join(index.columns)})"
        for index in table.indexes
    ]
    if parts:
        yield f"ALTER TABLE {table.name} {', '.join(parts)};"
    for key in table.foreign_keys:
        yield (
            f"ALTER TABLE {table.name} ADD CONSTRAINT {key.name} "
            f"FOREIGN KEY ({', '.join(key.columns)}) "
            f"REFERENCES {key.table} ({', '.join(key.references)}), ALGORITHM=INPLACE;"
        )


def _orphan(table: Table, key: ForeignKey) -> str:
    pairs = zip(key.columns, key.references, strict=True)
    joined = " AND ".join(f"c.{own} = p.{theirs}" for own, theirs in pairs)
    given = " AND ".join(f"c.{own} IS NOT NULL" for own in key.columns)
    return (
        f"SELECT {', '.join('c.' + own for own in key.columns)} FROM {table.name} c "
        f"LEFT JOIN {key.table} p ON {joined} "
        f"WHERE p.{key.references[0]} IS NULL AND {given} LIMIT 1"
    )
