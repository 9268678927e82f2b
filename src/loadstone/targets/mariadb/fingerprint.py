"""What the data are, in figures that two equal start states have in common."""

from __future__ import annotations

from collections.abc import Mapping

from loadstone.results.record import Fingerprint
from loadstone.targets.database import fingerprint_of
from loadstone.targets.mariadb.client import Client


def size_bytes(client: Client) -> int:
    """Size of the tablespaces of the connected database; of tables within ibdata1 as counted.

    InnoDB lists only the tablespaces that it has opened: asking for the lengths of all tables, as
    is done first, opens them.
    """
    shared = client.value(
        "SELECT coalesce(sum(if(s.space = 0, t.data_length + t.index_length, 0)), 0) "
        "FROM information_schema.TABLES t JOIN information_schema.INNODB_SYS_TABLES s "
        f"ON s.name = concat({_file_name('t.table_schema')}, '/', {_file_name('t.table_name')}) "
        "WHERE t.table_schema = database()"
    )
    own = client.value(
        "SELECT coalesce(sum(file_size), 0) FROM information_schema.INNODB_SYS_TABLESPACES "
        f"WHERE substring_index(name, '/', 1) = {_file_name('database()')}"
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


def _file_name(name: str) -> str:
    """A name as InnoDB writes it in the names of files: `a-b` is `a@002db`."""
    return f"CONVERT(CONVERT({name} USING filename) USING binary)"
