"""PostgreSQL's second place for tables: a tablespace, to which `ALTER TABLE` moves them."""

from __future__ import annotations

from pathlib import Path

from loadstone.targets.postgresql.client import Client
from loadstone.targets.postgresql.values import quoted

NAME = "loadstone_archive"
"""As the load driver has it: see its protocol, workload `archive`."""


def make(client: Client, folder: Path) -> None:
    """Makes the tablespace in an empty folder of the server's account."""
    client.query(f"CREATE TABLESPACE {NAME} LOCATION E{quoted(str(folder))}")


def held(client: Client, table: str) -> set[str]:
    """Of a table and its indexes, the names of those that lie in the tablespace."""
    rows = client.query(
        "SELECT c.oid::regclass::text FROM pg_class c "
        "JOIN pg_tablespace t ON t.oid = c.reltablespace "
        "LEFT JOIN pg_index i ON i.indexrelid = c.oid "
        "WHERE t.spcname = %s AND to_regclass(%s) IN (c.oid, i.indrelid)",
        (NAME, table),
    )
    return {name for (name,) in rows}


def forget_links(data: Path) -> None:
    """Takes the tablespaces out of the data folder of a stopped server, and leaves their files."""
    for link in (data / "pg_tblspc").glob("*"):
        link.unlink()
