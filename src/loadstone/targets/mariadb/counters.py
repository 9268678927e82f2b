"""The status variables that tell what MariaDB did, under names with their unit.

Names that PostgreSQL's probe has too mean the same here. Variables that a version lacks are left
out. `Handler_*` count rows as the storage engine was asked for them.
"""

from __future__ import annotations

from collections.abc import Mapping

RATES: dict[str, tuple[str, ...]] = {
    "queries": ("Queries",),
    "commits": ("Com_commit",),
    "rollbacks": ("Com_rollback",),
    "selects": ("Com_select",),
    "inserts": ("Com_insert",),
    "updates": ("Com_update",),
    "deletes": ("Com_delete",),
    "calls": ("Com_call_procedure",),
    "prepared_executions": ("Com_stmt_execute",),
    "rows_read": (
        "Handler_read_first",
        "Handler_read_key",
        "Handler_read_last",
        "Handler_read_next",
        "Handler_read_prev",
        "Handler_read_rnd",
        "Handler_read_rnd_next",
    ),
    "rows_inserted": ("Handler_write",),
    "rows_updated": ("Handler_update",),
    "rows_deleted": ("Handler_delete",),
    "block_requests": ("Innodb_buffer_pool_read_requests",),
    "block_reads": ("Innodb_buffer_pool_reads",),
    "read_ahead_blocks": ("Innodb_buffer_pool_read_ahead",),
    "flushed_blocks": ("Innodb_buffer_pool_pages_flushed",),
    "lru_flushed_blocks": ("Innodb_buffer_pool_pages_lru_flushed",),
    "free_block_waits": ("Innodb_buffer_pool_wait_free",),
    "doublewrite_blocks": ("Innodb_dblwr_pages_written",),
    "io_read_bytes": ("Innodb_data_read",),
    "io_write_bytes": ("Innodb_data_written",),
    "io_fsyncs": ("Innodb_data_fsyncs",),
    "wal_bytes": ("Innodb_os_log_written",),
    "wal_writes": ("Innodb_log_writes",),
    "wal_fsyncs": ("Innodb_os_log_fsyncs",),
    "wal_buffer_waits": ("Innodb_log_waits",),
    "row_lock_waits": ("Innodb_row_lock_waits",),
    "row_lock_wait_ms": ("Innodb_row_lock_time",),
    "deadlocks": ("Innodb_deadlocks",),
    "temporary_tables": ("Created_tmp_tables",),
    "temporary_disk_tables": ("Created_tmp_disk_tables",),
    "opened_tables": ("Opened_tables",),
    "threads_created": ("Threads_created",),
    "aborted_connections": ("Aborted_connects",),
    "binlog_bytes": ("Binlog_bytes_written",),
    "binlog_commits": ("Binlog_commits",),
    "binlog_group_commits": ("Binlog_group_commits",),
}
"""Metric: status variables whose sum counts up."""

RARE = frozenset({"deadlocks", "wal_buffer_waits", "free_block_waits", "aborted_connections"})
"""Shown as a count of the interval."""

LEVELS: dict[str, str] = {
    "dirty_bytes": "Innodb_buffer_pool_bytes_dirty",
    "cached_bytes": "Innodb_buffer_pool_bytes_data",
    "free_blocks_count": "Innodb_buffer_pool_pages_free",
    "checkpoint_age_bytes": "Innodb_checkpoint_age",
    "checkpoint_age_limit_bytes": "Innodb_checkpoint_max_age",
    "history_list_count": "Innodb_history_list_length",
    "row_lock_waiting_count": "Innodb_row_lock_current_waits",
    "running_threads_count": "Threads_running",
    "connected_threads_count": "Threads_connected",
    "change_buffer_blocks_count": "Innodb_ibuf_size",
}
"""Metric: status variable that goes up and down."""


def rates(status: Mapping[str, float]) -> dict[str, float]:
    """The counters that this server has."""
    return {
        metric: sum(status.get(name, 0.0) for name in names)
        for metric, names in RATES.items()
        if any(name in status for name in names)
    }


def levels(status: Mapping[str, float]) -> dict[str, float]:
    """The present levels that this server shows."""
    return {metric: status[name] for metric, name in LEVELS.items() if name in status}
