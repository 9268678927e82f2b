"""What the data are, in figures that equal data have in common on every engine."""

from __future__ import annotations

from collections.abc import Mapping

from loadstone.errors import TargetError
from loadstone.results.record import Fingerprint
from loadstone.targets.database import fingerprint_of
from loadstone.targets.own_connection import OwnConnection

_HALF_BITS = 32


def take(database: OwnConnection, tables: Mapping[str, str]) -> Fingerprint:
    """Counts rows and sums an expression over the rows of each table.

    SQLite's sums have 64 bits and an expression that does not fit becomes a floating point number:
    so the two halves of each value are summed apart, and a value that is no integer is an error.

    Args:
        database: The file.
        tables: Table: SQL expression over a row, an integer of 64 bits at most.

    Raises:
        TargetError: If an expression gives something else.
    """
    rows: dict[str, int] = {}
    sums: dict[str, str] = {}
    for table, expression in tables.items():
        count, strange, high, low = database.query(
            f"SELECT count(*), coalesce(sum(typeof(e) <> 'integer'), 0), "
            f"coalesce(sum(e >> {_HALF_BITS}), 0), coalesce(sum(e & {(1 << _HALF_BITS) - 1}), 0) "
            f"FROM (SELECT {expression} AS e FROM {table})"
        )[0]
        if strange:
            raise TargetError(
                f"{strange} rows of {table} have a checksum that is no 64-bit integer: {expression}"
            )
        rows[table], sums[table] = count, str((high << _HALF_BITS) + low)
    return fingerprint_of(rows, sums, size_bytes(database))


def size_bytes(database: OwnConnection) -> int:
    """Size of the database: all its pages, without WAL and journal."""
    ((pages,),) = database.query("PRAGMA page_count")
    ((page_bytes,),) = database.query("PRAGMA page_size")
    return int(pages) * int(page_bytes)
