"""The state of a database before a trial: analysed, purged, in the buffer pool, nothing dirty."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from loadstone.errors import TargetError
from loadstone.targets.connection import ServerConnection
from loadstone.targets.mariadb.client import Client, identifier

_READERS = 2
_POLL_S = 0.02
_FLUSH_S = 600.0
FLUSHING = ("innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct")
"""Settings that keep pages from being dirty while they are zero, in the order to set them."""


def tables_of(client: Client) -> list[str]:
    """The base tables of the connected database."""
    rows = client.query(
        "SELECT table_name FROM information_schema.TABLES WHERE table_schema = database() "
        "AND table_type = 'BASE TABLE' ORDER BY table_name"
    )
    return [name for (name,) in rows]


def analyse(client: Client) -> None:
    """Makes the optimizer's statistics of all tables, and waits until old row versions are gone.

    Those of the indexes come from a full scan (engine-independent statistics). InnoDB's own sample
    takes the ten warehouses of a million rows for thousands, and the optimizer then reads a whole
    warehouse where it was given fifteen keys.

    Raises:
        TargetError: If a table cannot be analysed.
    """
    for table in tables_of(client):
        for _, _, kind, text in client.query(
            f"ANALYZE NO_WRITE_TO_BINLOG TABLE {identifier(table)} "
            "PERSISTENT FOR COLUMNS () INDEXES ALL"
        ):
            if kind.lower() == "error":
                raise TargetError(f"table {table} cannot be analysed: {text}")
    purge(client)


def purge(client: Client) -> None:
    """Waits until the history list is empty: no row version is left to be purged."""
    client.query("SET GLOBAL innodb_max_purge_lag_wait = 0")


def warm(connection: ServerConnection) -> int:
    """Reads every index of every table, the clustered ones last, as far as they fit.

    Returns:
        Number of indexes.
    """
    client = Client(connection)
    try:
        indexes = client.query(
            "SELECT DISTINCT table_name, index_name FROM information_schema.STATISTICS "
            "WHERE table_schema = database() ORDER BY index_name = 'PRIMARY', 1, 2"
        )
        keyed = {table for table, index in indexes if index == "PRIMARY"}
        scans = [
            f"SELECT count(*) FROM {identifier(table)} FORCE INDEX ({identifier(index)})"
            for table, index in indexes
        ]
        scans += [
            f"SELECT count(*) FROM {identifier(table)} USE INDEX ()"
            for table in tables_of(client)
            if table not in keyed
        ]
    finally:
        client.close()
    with ThreadPoolExecutor(_READERS) as pool:
        list(pool.map(lambda sql: _run(connection, sql), scans))
    return len(scans)


def flush(client: Client) -> None:
    """Writes all dirty pages of an owned server to the disk and makes a checkpoint.

    Raises:
        TargetError: If they are not written within ten minutes.
    """
    before = {name: client.value(f"SELECT @@GLOBAL.{name}") for name in FLUSHING}
    try:
        for name in FLUSHING:
            client.query(f"SET GLOBAL {name} = 0")
        if not wait_clean(client, _FLUSH_S):
            raise TargetError("MariaDB did not write its dirty pages within ten minutes")
    finally:
        for name in reversed(FLUSHING):
            client.query(f"SET GLOBAL {name} = %s", (before[name],))
    checkpoint(client)


def wait_clean(client: Client, limit_s: float) -> bool:
    """Waits until no page of the buffer pool is dirty, while `FLUSHING` are zero.

    Returns:
        Whether that was so within the limit; not if others write.
    """
    deadline = time.monotonic() + limit_s
    while _status(client, "Innodb_buffer_pool_pages_dirty") > 0:
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def checkpoint(client: Client) -> None:
    """Moves the checkpoint to the end of the redo log, where the server can be asked to."""
    if client.query("SHOW GLOBAL VARIABLES LIKE 'innodb_log_checkpoint_now'"):
        client.query("SET GLOBAL innodb_log_checkpoint_now = ON")


def reset_statistics(client: Client) -> None:
    """Puts the counters to zero that can be, and forgets collected events."""
    client.query("FLUSH STATUS")
    if client.value("SELECT @@performance_schema"):
        for (name,) in client.query(
            "SELECT table_name FROM information_schema.TABLES "
            "WHERE table_schema = 'performance_schema' AND (table_name LIKE '%summary%' "
            "OR table_name LIKE '%history%')"
        ):
            client.query(f"TRUNCATE TABLE performance_schema.{identifier(name)}")


def _status(client: Client, name: str) -> int:
    return int(client.query("SHOW GLOBAL STATUS LIKE %s", (name,))[0][1])


def _run(connection: ServerConnection, sql: str) -> None:
    client = Client(connection)
    try:
        client.query(sql)
    finally:
        client.close()
