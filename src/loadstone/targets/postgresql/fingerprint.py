"""What the data are, in figures that two equal start states have in common."""

from __future__ import annotations

from collections.abc import Mapping

from loadstone.results.record import Fingerprint
from loadstone.targets.database import fingerprint_of
from loadstone.targets.postgresql.client import Client


def size_bytes(client: Client) -> int:
    """Size of the connected database: tables, indexes and catalogue, without WAL and logs."""
    return int(client.value("SELECT pg_database_size(current_database())"))


def take(client: Client, tables: Mapping[str, str]) -> Fingerprint:
    """Counts rows and sums an expression over the rows of each table.

    Args:
        client: Connected to the database.
        tables: Table: SQL expression over a row.
    """
    rows: dict[str, int] = {}
    sums: dict[str, str] = {}
    for table, expression in tables.items():
        count, total = client.query(
            f"SELECT count(*), coalesce(sum({expression}), 0)::text FROM {table}"
        )[0]
        rows[table], sums[table] = int(count), str(total)
    return fingerprint_of(rows, sums, size_bytes(client))
