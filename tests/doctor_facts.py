"""Planted facts for the doctor's rules: a machine and servers with nothing wrong, and changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loadstone.doctor.facts import (
    DiskFacts,
    Facts,
    HostFacts,
    LogFacts,
    LogMessage,
    MariaDBFacts,
    PlaceFacts,
    PostgreSQLActivity,
    PostgreSQLFacts,
    ProcessFacts,
    Setting,
    Settings,
    SQLiteFacts,
)
from loadstone.doctor.facts_superset import SupersetFacts
from loadstone.doctor.rules.base import setting_size

MB = 1024**2
GB = 1024**3
HOUR = 3600.0

DISK = DiskFacts("sda", False, False, "none", ("none", "mq-deadline", "bfq"), 128)
PLACE = PlaceFacts("/data", "/data", "ext4", ("rw", "noatime"), 100 * GB, 50 * GB, DISK)
HOST = HostFacts(
    name="planted",
    cores=8,
    memory_bytes=16 * GB,
    shared_memory_bytes=8 * GB,
    available_bytes=8 * GB,
    transparent_huge_pages="madvise",
    sysctl={
        "vm.swappiness": "60",
        "vm.overcommit_memory": "2",
        "vm.dirty_background_ratio": "1",
        "vm.dirty_background_bytes": "0",
        "vm.zone_reclaim_mode": "0",
        "kernel.numa_balancing": "0",
        "net.core.somaxconn": "4096",
    },
    governor="performance",
    clock_source="tsc",
    clock_sources=("tsc", "hpet", "acpi_pm"),
    virtualisation="none",
    steal_percent=0.0,
    nofile=65536,
    nofile_hard=65536,
    place=PLACE,
)


def host(**changes: Any) -> Facts:
    return Facts(replace(HOST, **changes))


def sysctl(name: str, value: int, **changes: Any) -> Facts:
    return host(sysctl={**HOST.sysctl, name: str(value)}, **changes)


def place(**changes: Any) -> Facts:
    return host(place=replace(PLACE, **changes))


def disk(**changes: Any) -> Facts:
    return place(disk=replace(DISK, **changes))


def settings(**values: Any) -> Settings:
    """A number is bytes or seconds, or the value itself; a text is a text."""
    return Settings({name: _setting(name, value) for name, value in values.items()})


def _setting(name: str, value: Any) -> Setting:
    if isinstance(value, str):
        return Setting(value, None, "planted")
    shown = setting_size(value) if name in POSTGRESQL_SIZES else str(value)
    return Setting(shown, float(value), "planted")


POSTGRESQL_SIZES = ("shared_buffers", "work_mem", "effective_cache_size", "max_wal_size")


POSTGRESQL_SETTINGS: dict[str, Any] = {
    "shared_buffers": 4 * GB,
    "huge_pages": "on",
    "dynamic_shared_memory_type": "posix",
    "min_dynamic_shared_memory": 0,
    "max_parallel_workers": 8,
    "max_parallel_workers_per_gather": 2,
    "hash_mem_multiplier": 2.0,
    "work_mem": 16 * MB,
    "effective_cache_size": 12 * GB,
    "max_connections": 200,
    "max_files_per_process": 1000,
    "max_wal_size": 16 * GB,
    "checkpoint_timeout": 900,
    "checkpoint_completion_target": 0.9,
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "wal_writer_delay": 0.2,
    "zero_damaged_pages": "off",
    "data_checksums": "on",
    "wal_compression": "off",
    "wal_level": "replica",
    "archive_mode": "on",
    "archive_command": "cp %p /archive/%f",
    "random_page_cost": 1.1,
    "autovacuum": "on",
    "track_counts": "on",
    "autovacuum_freeze_max_age": 200_000_000,
    "idle_in_transaction_session_timeout": "0",
    "io_method": "worker",
    "io_workers": 3,
    "jit": "off",
    "track_io_timing": "on",
}
ACTIVITY = PostgreSQLActivity(
    uptime_s=100 * HOUR,
    data_bytes=8 * GB,
    sessions=20,
    checkpoints_timed=100,
    checkpoints_requested=2,
    checkpoints_span_s=100 * HOUR,
    wal_bytes=40 * GB,
    wal_full_pages=1000,
    wal_span_s=100 * HOUR,
    blocks_hit=10_000_000,
    blocks_read=10_000,
    statistics_span_s=100 * HOUR,
    oldest_xid_age=150_000_000,
    huge_pages_status="on",
)
POSTGRESQL = PostgreSQLFacts(
    settings=settings(**POSTGRESQL_SETTINGS),
    activity=ACTIVITY,
    process=ProcessFacts(1234, 65536),
)


def postgresql(_host: HostFacts = HOST, **changed: Any) -> Facts:
    """With other settings."""
    return Facts(
        _host, replace(POSTGRESQL, settings=settings(**{**POSTGRESQL_SETTINGS, **changed}))
    )


def active(_settings: dict[str, Any] | None = None, **changes: Any) -> Facts:
    """With other counters, and other settings."""
    facts = postgresql(**(_settings or {}))
    assert isinstance(facts.server, PostgreSQLFacts)
    return Facts(HOST, replace(facts.server, activity=replace(ACTIVITY, **changes)))


def postgresql_log(key: str, count: int) -> Facts:
    return Facts(HOST, replace(POSTGRESQL, log=log(key, count)))


MARIADB_SETTINGS: dict[str, Any] = {
    "innodb_buffer_pool_size": 9 * GB,
    "innodb_log_file_size": 2 * GB,
    "innodb_flush_log_at_trx_commit": 1,
    "innodb_doublewrite": "ON",
    "innodb_flush_method": "O_DIRECT",
    "innodb_io_capacity": 2000,
    "innodb_log_buffer_size": 16 * MB,
    "log_bin": "ON",
    "sync_binlog": 1,
    "tmp_table_size": 16 * MB,
    "max_heap_table_size": 16 * MB,
    "table_open_cache": 2000,
    "open_files_limit": 32768,
    "max_connections": 151,
    "query_cache_type": "OFF",
    "query_cache_size": 0,
    "thread_cache_size": 256,
    "large_pages": "OFF",
    "skip_name_resolve": "ON",
    "bind_address": "*",
    "slow_query_log": "ON",
}
STATUS = {
    "Uptime": str(100 * int(HOUR)),
    "Innodb_os_log_written": str(50 * GB),
    "Innodb_buffer_pool_read_requests": "10000000",
    "Innodb_buffer_pool_reads": "10000",
    "Innodb_buffer_pool_pages_total": "500000",
    "Innodb_buffer_pool_pages_dirty": "1000",
    "Innodb_history_list_length": "100",
    "Created_tmp_tables": "100000",
    "Created_tmp_disk_tables": "1000",
    "Open_tables": "300",
    "Opened_tables": "400",
    "Connections": "100000",
    "Threads_created": "50",
    "Max_used_connections": "40",
}
MARIADB = MariaDBFacts(
    settings=settings(**MARIADB_SETTINGS),
    status=STATUS,
    data_bytes=8 * GB,
    crash_unsafe_tables=0,
    process=ProcessFacts(1234, 32768),
)


def mariadb(
    _status: dict[str, Any] | None = None, _host: HostFacts = HOST, **changed: Any
) -> Facts:
    """With other counters, and other settings."""
    status = {**STATUS, **{name: str(value) for name, value in (_status or {}).items()}}
    changed_settings = settings(**{**MARIADB_SETTINGS, **changed})
    return Facts(_host, replace(MARIADB, settings=changed_settings, status=status))


def mariadb_log(key: str, count: int) -> Facts:
    return Facts(HOST, replace(MARIADB, log=log(key, count)))


SQLITE = SQLiteFacts(
    path="/data/shop.sqlite",
    page_bytes=4096,
    pages=100_000,
    free_pages=10,
    journal_mode="wal",
    synchronous="full",
    checked="checked",
)


def sqlite(_host: HostFacts = HOST, **changes: Any) -> Facts:
    return Facts(_host, replace(SQLITE, **changes))


SUPERSET = SupersetFacts(
    told_by="planted",
    nodes=2,
    workers=4,
    threads=8,
    cache="RedisCache",
    cache_life_s=86_400.0,
    cache_bytes=4 * GB,
    cache_policy="allkeys-lru",
    pool=15,
    hashing="scrypt",
    event_log=False,
    username_index=True,
    accounts=50_000,
    users=1000,
    log_ins_per_s=5.0,
    maxconn=0,
    nofile=65536,
    worker_folder="/dev/shm",
    worker_folder_in_memory=True,
    key="own",
    catalogue="postgresql",
)


def superset(**changes: Any) -> Facts:
    return Facts(HOST, superset=replace(SUPERSET, **changes))


def planned(_host: HostFacts = HOST, **changed: Any) -> Facts:
    """A PostgreSQL that does not run yet."""
    facts = postgresql(_host, **changed)
    assert isinstance(facts.server, PostgreSQLFacts)
    return Facts(_host, replace(facts.server, activity=None, process=None))


def log(key: str, count: int) -> LogFacts:
    return LogFacts(
        "/log", 1000, 10 * HOUR, {key: LogMessage(count, "the last line")}, entries=count
    )


WELL = {
    "host": Facts(HOST),
    "postgresql": Facts(HOST, POSTGRESQL),
    "mariadb": Facts(HOST, MARIADB),
    "sqlite": Facts(HOST, SQLITE),
    "superset": Facts(HOST, superset=SUPERSET),
}
"""Of each subject one with nothing wrong."""
