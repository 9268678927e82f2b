"""Tables in SQLite: keys and references when they are made, indexes after the load.

Tables are STRICT: a value of another type is an error and not kept as it came. SQLite has no
decimals, so a `decimal(p, s)` is an integer of 10^-s, and no times, so an `instant` is an integer
of microseconds since 1970; that a text is longer than it should be is not noticed. References
cannot be added later: they are not enforced while the data are loaded, and all of them are checked
afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.targets.schema import Column, Table

_TYPES = {
    "smallint": "INTEGER",
    "integer": "INTEGER",
    "bigint": "INTEGER",
    "decimal": "INTEGER",
    "char": "TEXT",
    "varchar": "TEXT",
    "double": "REAL",
    "timestamp": "TEXT",
    "instant": "INTEGER",
}
_WIDE_ROW_BYTES = 200
"""A row wider than this is kept apart from its key.

SQLite's own advice (https://sqlite.org/withoutrowid.html, section 4): a twentieth of the page, here
of 4 kB. Measured with reads and updates by key of 400,000 rows: rows of 70 bytes cost 18 % less CPU
and space in the B-tree of their key, rows of 170 bytes 5 % more, of 500 bytes 8 % and 11 % more.
"""
_NUMBER_BYTES = 4


def create(tables: Sequence[Table]) -> str:
    """Statements that make the tables with primary and foreign keys."""
    return "\n".join(_create(table) for table in tables)


def finish(tables: Sequence[Table]) -> str:
    """Statements that add the indexes."""
    return "\n".join(line for table in tables for line in table.create_indexes())


def clustered(table: Table) -> bool:
    """Whether the rows lie in the B-tree of the primary key (WITHOUT ROWID), and not beside it."""
    if not table.primary_key or _key_is_rowid(table):
        return False
    return sum(_expected_bytes(column) for column in table.columns) <= _WIDE_ROW_BYTES


def _create(table: Table) -> str:
    parts = [_column(table, column) for column in table.columns]
    if table.primary_key and not _key_is_rowid(table):
        parts.append(f"PRIMARY KEY ({', '.join(table.primary_key)})")
    parts += [
        f"CONSTRAINT {key.name} FOREIGN KEY ({', '.join(key.columns)}) "
        f"REFERENCES {key.table} ({', '.join(key.references)})"
        for key in table.foreign_keys
    ]
    options = "STRICT, WITHOUT ROWID" if clustered(table) else "STRICT"
    return f"CREATE TABLE {table.name} ({', '.join(parts)}) {options};"


def _column(table: Table, column: Column) -> str:
    text = f"{column.name} {_TYPES[column.type.name]}"
    if _key_is_rowid(table) and column.name in table.primary_key:
        return f"{text} PRIMARY KEY"
    return text if column.nullable else f"{text} NOT NULL"


def _key_is_rowid(table: Table) -> bool:
    """A single integer as primary key is the row's own number, and needs no index."""
    if len(table.primary_key) != 1:
        return False
    key = next(column for column in table.columns if column.name == table.primary_key[0])
    return _TYPES[key.type.name] == "INTEGER"


def _expected_bytes(column: Column) -> float:
    """Texts of variable length are taken as half full."""
    if column.type.name == "char":
        return column.type.size
    return column.type.size / 2 if column.type.name == "varchar" else _NUMBER_BYTES
