"""The state of a database before a trial: analysed, read into the caches, counters at zero."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from loadstone.targets.connection import ServerConnection
from loadstone.targets.postgresql.client import Client

_READERS = 2
_APPLICATION = "loadstone-warm"
_POLL_S = 0.005


def analyse(client: Client) -> None:
    """Freezes all rows and makes the planner's statistics, then writes everything to the disk."""
    client.query("VACUUM (FREEZE, ANALYZE)")
    client.query("CHECKPOINT")


def warm(connection: ServerConnection) -> None:
    """Reads every table and index of the database, as far as they fit into shared buffers.

    With the extension pg_prewarm where it is installed. Without it, tables are read by row address,
    one row of each page: unlike a sequential scan, that is not confined to a small ring of buffers.
    Then B-tree indexes are read in their own order.
    """
    client = Client(connection, _APPLICATION)
    try:
        if client.query("SELECT 1 FROM pg_extension WHERE extname = 'pg_prewarm'"):
            client.query(
                "SELECT sum(pg_prewarm(c.oid)) FROM pg_class c "
                "JOIN pg_namespace n ON n.oid = c.relnamespace "
                "WHERE c.relkind IN ('r', 'm', 't', 'i') AND c.relpersistence <> 't' "
                "AND n.nspname <> 'information_schema' AND pg_relation_size(c.oid) > 0"
            )
            return
        tables = client.query(
            "SELECT c.oid::regclass::text, "
            "pg_relation_size(c.oid) / current_setting('block_size')::int "
            "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind IN ('r', 'm') AND pg_relation_size(c.oid) > 0 "
            "AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
        )
        indexes = client.query(_INDEXES)
    finally:
        client.close()
    _run(connection, [_read_table(name, pages) for name, pages in tables])
    _run(connection, [_read_index(*index) for index in indexes])


def reset_statistics(client: Client, major: int) -> None:
    """Puts the cumulative counters of the server to zero.

    Sessions report what they read when they end, shortly after their client has gone; so those of
    `warm` must have ended first.
    """
    ending = "SELECT 1 FROM pg_stat_activity WHERE application_name = %s"
    while client.query(ending, (_APPLICATION,)):
        time.sleep(_POLL_S)
    if major >= 15:
        client.query("SELECT pg_stat_force_next_flush()")
    client.query("SELECT pg_stat_reset()")
    shared = ["bgwriter", "archiver"]
    shared += ["wal"] if major >= 14 else []
    shared += ["io"] if major >= 16 else []
    shared += ["checkpointer"] if major >= 17 else []
    for name in shared:
        client.query("SELECT pg_stat_reset_shared(%s)", (name,))


_INDEXES = """
SELECT i.indrelid::regclass::text,
       (SELECT string_agg(pg_get_indexdef(i.indexrelid, k, true)
                          || CASE WHEN i.indoption[k - 1] & 1 = 1 THEN ' DESC' ELSE ' ASC' END
                          || CASE WHEN i.indoption[k - 1] & 2 = 2 THEN ' NULLS FIRST'
                                  ELSE ' NULLS LAST' END, ', ' ORDER BY k)
        FROM generate_series(1, i.indnkeyatts) AS k)
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_am a ON a.oid = c.relam
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE a.amname = 'btree' AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
  AND pg_relation_size(c.oid) > 0
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
ORDER BY pg_relation_size(c.oid) DESC
"""


def _read_table(name: str, pages: int) -> str:
    return (
        f"SELECT count(*) FROM {name} WHERE ctid = ANY (ARRAY(SELECT format('(%s,1)', page)::tid "
        f"FROM generate_series(0, {pages - 1}) AS page))"
    )


def _read_index(table: str, columns: str) -> str:
    return f"SELECT count(*) FROM (SELECT 1 FROM {table} ORDER BY {columns}) AS ordered"


def _run(connection: ServerConnection, queries: list[str]) -> None:
    with ThreadPoolExecutor(_READERS) as pool:
        list(pool.map(lambda query: _run_one(connection, query), queries))


def _run_one(connection: ServerConnection, query: str) -> None:
    client = Client(connection, _APPLICATION)
    try:
        for name in ("seqscan", "bitmapscan", "sort", "incremental_sort"):
            client.query(f"SET enable_{name} = off")
        client.query("SET max_parallel_workers_per_gather = 0")
        client.query("SET jit = off")
        client.query(query)
    finally:
        client.close()
