"""Of each rule about a server: a fault, and the same with nothing wrong."""

from __future__ import annotations

from dataclasses import replace

from doctor_facts import (
    GB,
    HOST,
    MARIADB,
    MB,
    POSTGRESQL,
    active,
    disk,
    mariadb,
    mariadb_log,
    planned,
    postgresql,
    postgresql_log,
)

from loadstone.doctor.facts import (
    Facts,
    LogFacts,
    MariaDBFacts,
    PostgreSQLFacts,
    ProcessFacts,
)
from loadstone.doctor.rules.messages import MESSAGES

Case = tuple[Facts, Facts, str]
"""Where the rule fires, where it is just silent, and what the advice must say."""


def in_huge_pages(enabled: str, huge_bytes: int) -> Facts:
    process = ProcessFacts(1, 32768, 10 * GB, huge_bytes)
    return Facts(replace(HOST, transparent_huge_pages=enabled), replace(MARIADB, process=process))


def of_log(server: PostgreSQLFacts | MariaDBFacts, unreadable: int) -> Facts:
    log = LogFacts("/log", 1000, 3600.0, entries=200, unreadable=unreadable)
    return Facts(HOST, replace(server, log=log))


BIG = replace(HOST, memory_bytes=64 * GB, cores=32)

CASES: dict[str, Case] = {
    "postgresql.shared-buffers": (
        postgresql(shared_buffers=128 * MB),
        active({"shared_buffers": 128 * MB}, data_bytes=100 * MB),
        "shared_buffers = 4GB",
    ),
    "postgresql.shared-buffers-large": (
        postgresql(shared_buffers=8 * GB),
        postgresql(shared_buffers=6 * GB),
        "50 %",
    ),
    "postgresql.huge-pages": (
        active({"huge_pages": "try"}, huge_pages_status="off"),
        active({"huge_pages": "try"}, huge_pages_status="on"),
        "vm.nr_hugepages = 2167",
    ),
    "postgresql.huge-pages-missing": (
        planned(replace(HOST, huge_pages=100, huge_pages_free=40), huge_pages="on"),
        planned(replace(HOST, huge_pages=4000, huge_pages_free=4000), huge_pages="on"),
        "needs 2151 huge pages of 2 MB for shared_buffers = 4GB; vm.nr_hugepages = 100, 40 free",
    ),
    "postgresql.dev-shm": (
        postgresql(replace(HOST, shared_memory_bytes=64 * MB)),
        postgresql(replace(HOST, shared_memory_bytes=64 * MB), work_mem=MB),
        "may take 384 MB: 4 queries x (2 workers + 1) x work_mem x hash_mem_multiplier (32MB)",
    ),
    "postgresql.work-mem": (
        active(temp_files=5000, temp_bytes=100 * GB),
        active(temp_files=500, temp_bytes=100 * GB),
        "work_mem = 40MB",
    ),
    "postgresql.effective-cache-size": (
        postgresql(effective_cache_size=2 * GB),
        postgresql(effective_cache_size=8 * GB),
        "effective_cache_size = 12GB",
    ),
    "postgresql.max-connections": (
        postgresql(max_connections=2000),
        postgresql(max_connections=500),
        "max_connections = 160",
    ),
    "postgresql.connections-used-up": (active(sessions=190), active(sessions=150), "190 of 200"),
    "postgresql.nofile": (
        Facts(HOST, replace(POSTGRESQL, process=ProcessFacts(1, 256))),
        Facts(HOST, replace(POSTGRESQL, process=ProcessFacts(1, 1000))),
        "256",
    ),
    "postgresql.max-wal-size": (
        active({"max_wal_size": GB}, checkpoints_requested=500),
        active({"max_wal_size": GB}, checkpoints_requested=90),
        "max_wal_size = 4GB",
    ),
    "postgresql.checkpoint-completion-target": (
        postgresql(checkpoint_completion_target=0.5),
        postgresql(checkpoint_completion_target=0.8),
        "= 0.5",
    ),
    "postgresql.fsync-off": (postgresql(fsync="off"), postgresql(fsync="on"), "fsync = off"),
    "postgresql.full-page-writes-off": (
        postgresql(full_page_writes="off"),
        postgresql(full_page_writes="on"),
        "full_page_writes = off",
    ),
    "postgresql.synchronous-commit-off": (
        postgresql(synchronous_commit="off"),
        postgresql(synchronous_commit="local"),
        "600ms",
    ),
    "postgresql.damage-hidden": (
        postgresql(zero_damaged_pages="on"),
        postgresql(zero_damaged_pages="off"),
        "zero_damaged_pages = on",
    ),
    "postgresql.data-checksums-off": (
        postgresql(data_checksums="off"),
        postgresql(data_checksums="on"),
        "pg_checksums",
    ),
    "postgresql.wal-compression": (
        active(wal_full_pages=4_000_000),
        active({"wal_compression": "lz4"}, wal_full_pages=4_000_000),
        "76 %",
    ),
    "postgresql.archive-failing": (
        active(archive_fails_now=True, archived_failed=7),
        active(archive_fails_now=False, archived_failed=7),
        "7 failures",
    ),
    "postgresql.no-archive": (
        postgresql(archive_mode="off"),
        postgresql(archive_mode="always"),
        "archive_mode = off",
    ),
    "postgresql.inactive-slots": (
        active(inactive_slots=(("standby", 30 * GB),)),
        active(inactive_slots=(("standby", 30 * MB),)),
        "slot standby keeps 30 GB",
    ),
    "postgresql.random-page-cost": (
        postgresql(random_page_cost=4.0),
        postgresql(replace(disk(rotational=True).host), random_page_cost=4.0),
        "random_page_cost = 4",
    ),
    "postgresql.autovacuum-off": (
        postgresql(autovacuum="off"),
        postgresql(autovacuum="on"),
        "autovacuum = off",
    ),
    "postgresql.wraparound": (
        active(oldest_xid_age=900_000_000),
        active(oldest_xid_age=300_000_000),
        "900,000,000",
    ),
    "postgresql.idle-in-transaction": (
        active(idle_in_transaction_s=(3.0, 7200.0)),
        active(idle_in_transaction_s=(3.0, 200.0)),
        "1 sessions, the oldest idle for 2h",
    ),
    "postgresql.io-method": (
        postgresql(io_method="sync"),
        postgresql(io_method="io_uring"),
        "io_method = sync",
    ),
    "postgresql.io-workers": (
        postgresql(BIG, io_workers=3),
        postgresql(BIG, io_workers=8),
        "io_workers = 8",
    ),
    "postgresql.jit": (
        active({"jit": "on"}, jit_available=True),
        active({"jit": "on"}, jit_available=False),
        "jit = on",
    ),
    "postgresql.track-io-timing": (
        postgresql(track_io_timing="off"),
        postgresql(track_io_timing="on"),
        "tsc",
    ),
    "mariadb.redo-log": (
        mariadb(innodb_log_file_size=96 * MB),
        mariadb({"Uptime": 60}, innodb_log_file_size=96 * MB),
        "innodb_log_file_size = 536870912 (512 MB)",
    ),
    "mariadb.flush-log-at-commit": (
        mariadb(innodb_flush_log_at_trx_commit=2),
        mariadb(innodb_flush_log_at_trx_commit=3),
        "= 2",
    ),
    "mariadb.sync-binlog": (
        mariadb(sync_binlog=0),
        mariadb(sync_binlog=0, binlog_storage_engine="innodb"),
        "sync_binlog = 0",
    ),
    "mariadb.doublewrite-off": (
        mariadb(innodb_doublewrite="OFF"),
        mariadb(innodb_doublewrite="ON"),
        "OFF",
    ),
    "mariadb.flush-method": (
        mariadb(innodb_flush_method="fsync"),
        mariadb(innodb_flush_method="O_DIRECT"),
        "fsync",
    ),
    "mariadb.io-capacity": (
        mariadb({"Innodb_buffer_pool_pages_dirty": 300_000}, innodb_io_capacity=200),
        mariadb(innodb_io_capacity=200),
        "60 %",
    ),
    "mariadb.log-waits": (
        mariadb({"Innodb_log_waits": 5000}),
        mariadb({"Innodb_log_waits": 50}),
        "67108864",
    ),
    "mariadb.history-list": (
        mariadb({"Innodb_history_list_length": 2_000_000}),
        mariadb({"Innodb_history_list_length": 100_000}),
        "2,000,000",
    ),
    "mariadb.no-crash-recovery": (
        Facts(HOST, replace(MARIADB, crash_unsafe_tables=3)),
        Facts(HOST, replace(MARIADB, crash_unsafe_tables=None)),
        "3 tables",
    ),
    "mariadb.no-binary-log": (mariadb(log_bin="OFF"), mariadb(log_bin="ON"), "OFF"),
    "mariadb.slow-log-off": (mariadb(slow_query_log="OFF"), mariadb(slow_query_log="ON"), "OFF"),
    "mariadb.name-resolve": (
        mariadb(skip_name_resolve="OFF"),
        mariadb(skip_name_resolve="OFF", bind_address="127.0.0.1"),
        "bind_address = *",
    ),
    "mariadb.buffer-pool": (
        mariadb(innodb_buffer_pool_size=128 * MB),
        mariadb(innodb_buffer_pool_size=4 * GB),
        "(9.5 GB)",
    ),
    "mariadb.buffer-pool-large": (
        mariadb(innodb_buffer_pool_size=15 * GB),
        mariadb(innodb_buffer_pool_size=12 * GB),
        "94 %",
    ),
    "mariadb.hit-rate": (
        mariadb({"Innodb_buffer_pool_reads": 500_000}),
        mariadb({"Innodb_buffer_pool_reads": 50_000}),
        "5.00 %",
    ),
    "mariadb.buffer-pool-waits": (
        mariadb({"Innodb_buffer_pool_wait_free": 1000}),
        mariadb({"Innodb_buffer_pool_wait_free": 50}),
        "= 1000",
    ),
    "mariadb.large-pages": (
        mariadb(large_pages="ON"),
        mariadb(None, replace(HOST, huge_pages=4700, huge_pages_free=80), large_pages="ON"),
        "needs 4609 huge pages of 2 MB; vm.nr_hugepages = 0, 0 free",
    ),
    "mariadb.transparent-huge-pages": (
        in_huge_pages("always", 3 * GB),
        in_huge_pages("always", 300 * MB),
        "3 GB of the server's 10 GB",
    ),
    "mariadb.temporary-tables": (
        mariadb({"Created_tmp_disk_tables": 40_000}),
        mariadb({"Created_tmp_disk_tables": 20_000}),
        "40 %",
    ),
    "mariadb.table-cache": (
        mariadb({"Open_tables": 2000, "Opened_tables": 100_000}),
        mariadb({"Open_tables": 1500, "Opened_tables": 100_000}),
        "table_open_cache = 8000",
    ),
    "mariadb.open-files": (
        Facts(HOST, replace(MARIADB, process=ProcessFacts(1, 1024))),
        Facts(HOST, replace(MARIADB, process=ProcessFacts(1, 4151))),
        "1024",
    ),
    "mariadb.query-cache": (
        mariadb(query_cache_type="ON", query_cache_size=MB),
        mariadb(query_cache_type="ON", query_cache_size=0),
        "ON",
    ),
    "mariadb.threads-created": (
        mariadb({"Threads_created": 90_000}),
        mariadb({"Threads_created": 90_000}, thread_handling="pool-of-threads"),
        "90,000",
    ),
    "mariadb.connections-used-up": (
        mariadb({"Max_used_connections": 150}),
        mariadb({"Max_used_connections": 120}),
        "150 of 151",
    ),
}
for message in MESSAGES:
    plant = postgresql_log if message.subject == "postgresql" else mariadb_log
    CASES[f"{message.subject}.log.{message.key}"] = (
        plant(message.key, message.least + 20),
        plant(message.key, message.least - 1),
        "an hour",
    )
for server in (POSTGRESQL, MARIADB):
    subject = "postgresql" if server is POSTGRESQL else "mariadb"
    CASES[f"{subject}.log.unreadable"] = (
        of_log(server, 150),
        of_log(server, 0),
        "150 of 200 entries in /log (75 %)",
    )
