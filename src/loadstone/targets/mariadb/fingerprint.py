"""What the data are, in figures that two equal start states have in common."""

from __future__ import annotations

from collections.abc import Mapping

from loadstone.results.record import Fingerprint
from loadstone.targets.mariadb.client import Client
from loadstone.targets.served import fingerprint_of


def size_bytes(client: Client) -> int:
    """Size of the tablespaces of the connected database; of those within ibdata1 as counted."""
    own = client.value(
        "SELECT coalesce(sum(file_size), 0) FROM information_schema.INNODB_SYS_TABLESPACES "
        "WHERE name LIKE concat(replace(database(), '_', '\\_'), '/%')"
    )
    shared = client.value(
        "SELECT coalesce(sum(data_length + index_length), 0) FROM information_schema.TABLES t "
        "JOIN information_schema.INNODB_SYS_TABLES s "
        "ON s.name = concat(t.table_schema, '/', t.table_name) "
        "WHERE t.table_schema = database() AND s.space = 0"
    )
    return int(own) + int(shared)


def take(client: Client, tables: Mapping[str, str]) -> Fingerprint:
    """Counts rows and sums an expression over the rows of each table.

    The sum of 64-bit integers is a decimal of up to 65 digits here: it cannot overflow.

    Args:
        client: Connected to the database.
        tables: Table: SQL expression over a row.
    """
    rows: dict[str, int] = {}
    sums: dict[str, str] = {}
    for table, expression in tables.items():
        count, total = client.query(
            f"SELECT count(*), coalesce(sum(CAST(({expression}) AS signed)), 0) FROM {table}"
        )[0]
        rows[table], sums[table] = int(count), str(int(total))
    return fingerprint_of(rows, sums, size_bytes(client))
