"""The cumulative counters of PostgreSQL 13 to 18 under one set of names.

Views were split and renamed: pg_stat_wal came with 14, pg_stat_io with 16, pg_stat_checkpointer
with 17 (out of pg_stat_bgwriter), bytes in pg_stat_io with 18 (until then counts of operations).
"""

from __future__ import annotations

_DATABASE = """
SELECT sum(xact_commit) AS commits, sum(xact_rollback) AS rollbacks, sum(blks_read) AS block_reads,
       sum(blks_hit) AS block_hits, sum(tup_returned) AS rows_read,
       sum(tup_fetched) AS rows_fetched, sum(tup_inserted) AS rows_inserted,
       sum(tup_updated) AS rows_updated, sum(tup_deleted) AS rows_deleted,
       sum(temp_bytes) AS temp_bytes, sum(deadlocks) AS deadlocks,
       sum(conflicts) AS conflicts
FROM pg_stat_database WHERE datname = current_database()
"""

_WRITER_13 = """
SELECT checkpoints_timed, checkpoints_req AS checkpoints_requested,
       checkpoint_write_time AS checkpoint_write_ms, checkpoint_sync_time AS checkpoint_sync_ms,
       buffers_checkpoint AS checkpoint_buffers, buffers_clean AS cleaner_buffers,
       buffers_alloc AS allocated_buffers, buffers_backend AS backend_buffers
FROM pg_stat_bgwriter
"""

_WRITER_17 = """
SELECT num_timed AS checkpoints_timed, num_requested AS checkpoints_requested,
       write_time AS checkpoint_write_ms, sync_time AS checkpoint_sync_ms,
       buffers_written AS checkpoint_buffers, buffers_clean AS cleaner_buffers,
       buffers_alloc AS allocated_buffers
FROM pg_stat_checkpointer, pg_stat_bgwriter
"""

_WAL_13 = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS wal_bytes"

_WAL_14 = """
SELECT wal_bytes, wal_records, wal_fpi AS wal_full_page_images, wal_buffers_full FROM pg_stat_wal
"""

_WAL_FILES = """
SELECT div(pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0'),
           pg_size_bytes(current_setting('wal_segment_size'))) AS wal_files
"""

_WORKERS = """
SELECT count(*) AS autovacuum_workers FROM pg_stat_activity
WHERE backend_type = 'autovacuum worker'
"""

LEVELS = frozenset({"autovacuum_workers"})
"""What goes up and down; all else is counted."""

_IO_16 = """
SELECT sum(reads * op_bytes) AS io_read_bytes, sum(writes * op_bytes) AS io_write_bytes,
       sum(extends * op_bytes) AS io_extend_bytes, sum(fsyncs) AS io_fsyncs
FROM pg_stat_io WHERE object = 'relation'
"""

_IO_18 = """
SELECT sum(read_bytes) FILTER (WHERE object = 'relation') AS io_read_bytes,
       sum(write_bytes) FILTER (WHERE object = 'relation') AS io_write_bytes,
       sum(extend_bytes) FILTER (WHERE object = 'relation') AS io_extend_bytes,
       sum(fsyncs) FILTER (WHERE object = 'relation') AS io_fsyncs,
       sum(write_bytes) FILTER (WHERE object = 'wal') AS wal_write_bytes,
       sum(writes) FILTER (WHERE object = 'wal') AS wal_writes,
       sum(fsyncs) FILTER (WHERE object = 'wal') AS wal_fsyncs
FROM pg_stat_io
"""


def query(major: int) -> str:
    """One query for one row with every counter that this major version has."""
    parts = [_DATABASE, _WRITER_17 if major >= 17 else _WRITER_13]
    parts += [_WAL_14 if major >= 14 else _WAL_13, _WAL_FILES, _WORKERS]
    if major >= 16:
        parts.append(_IO_18 if major >= 18 else _IO_16)
    tables = ", ".join(f"({part}) AS part{number}" for number, part in enumerate(parts))
    return f"SELECT * FROM {tables}"
