"""MariaDB's logs and durability: redo log, doublewrite, binary log, flushing, purge."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts, MariaDBFacts
from loadstone.doctor.model import Advice, Measure, Severity
from loadstone.doctor.rules.base import (
    MARIADB_INNODB,
    MARIADB_LOGS,
    MARIADB_VARIABLES,
    mariadb_manual,
    mariadb_rule,
    round_size,
    share,
)
from loadstone.units import format_size

GB = 1024**3
MB = 1024**2
_INNODB = f"{MARIADB_INNODB}/innodb-system-variables"
NOT_A_FACTOR = "the engine of a table is no factor of Loadstone's workloads"


@mariadb_rule(
    "redo-log",
    "the redo log holds too little time of writing",
    Severity.SPEED,
    mariadb_manual(
        f"{MARIADB_INNODB}/innodb-redo-log#sizing-the-redo-log",
        "InnoDB Redo Log: Sizing the Redo Log",
    ),
)
def redo_log(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """Over ten minutes or more, an hour's log is larger than the file; or three quarters aged."""
    size = server.settings.number("innodb_log_file_size")
    if size is None or not server.running:
        return None
    size *= server.settings.number("innodb_log_files_in_group") or 1
    hourly = server.count("Innodb_os_log_written") / server.uptime_s * 3600
    age, most = server.count("Innodb_checkpoint_age"), server.count("Innodb_checkpoint_max_age")
    short = server.uptime_s >= 600 and hourly > size
    full = most > 0 and age > 0.75 * most
    if not short and not full:
        return None
    pool = server.settings.number("innodb_buffer_pool_size") or GB
    proposed = round_size(max(2 * size, min(max(hourly, 2 * size), max(pool, GB), 16 * GB)))
    return Advice(
        seen=f"innodb_log_file_size = {format_size(size)}; {format_size(hourly)} of log an hour, "
        f"{share(age, most):.0f} % of it in use now",
        why="when the log is nearly full, InnoDB writes dirty pages at once and queries wait; more "
        "room lets pages be changed often before they are written once",
        change=f"innodb_log_file_size = {proposed} ({format_size(proposed)}): an hour of log, at "
        "least twice the present, at most the larger of the buffer pool and 1 GB, or 16 GB",
        risk="none for data; recovery after a crash takes longer",
        measure=Measure("target.innodb_log_file_size", (int(size), proposed), measure_s=120.0),
    )


@mariadb_rule(
    "flush-log-at-commit",
    "commits are acknowledged before they are on disk",
    Severity.DATA,
    mariadb_manual(f"{_INNODB}#innodb_flush_log_at_trx_commit", "innodb_flush_log_at_trx_commit"),
)
def flush_log_at_commit(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """innodb_flush_log_at_trx_commit is 0 or 2."""
    present = server.settings.number("innodb_flush_log_at_trx_commit")
    if present not in (0, 2):
        return None
    what = "a crash of the server or" if present == 0 else "a crash of"
    return Advice(
        seen=f"innodb_flush_log_at_trx_commit = {present:g}",
        why=f"{what} the machine loses about a second of commits that were acknowledged "
        "(innodb_flush_log_at_timeout)",
        change="innodb_flush_log_at_trx_commit = 1",
        risk="each commit waits for the disk: slower, by what the comparison shows",
        measure=Measure(
            "target.innodb_flush_log_at_trx_commit",
            (int(present), 1),
            crash="kill" if present == 0 else "power-loss",
        ),
    )


@mariadb_rule(
    "sync-binlog",
    "the binary log may lack commits after a crash",
    Severity.DATA,
    mariadb_manual(
        "ha-and-performance/standard-replication/"
        "replication-and-binary-log-system-variables#sync_binlog",
        "sync_binlog",
    ),
)
def sync_binlog(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """The binary log is on, in files of its own, and sync_binlog is not 1."""
    present = server.settings.number("sync_binlog")
    if not server.settings.on("log_bin") or present is None or present == 1:
        return None
    if server.settings.text("binlog_storage_engine"):
        return None
    return Advice(
        seen=f"log_bin = ON, sync_binlog = {present:g}",
        why="after a power loss replicas and point-in-time recovery miss commits that the server "
        "has",
        change="sync_binlog = 1",
        risk="one more wait for the disk at each group of commits, by what the comparison shows",
        measure=Measure("target.sync_binlog", (int(present), 1), settings={"log_bin": "on"}),
    )


@mariadb_rule(
    "doublewrite-off",
    "a page that was half written at a crash cannot be repaired",
    Severity.DATA,
    mariadb_manual(f"{_INNODB}#innodb_doublewrite", "innodb_doublewrite"),
)
def doublewrite_off(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """innodb_doublewrite is OFF."""
    if not server.settings.off("innodb_doublewrite"):
        return None
    return Advice(
        seen="innodb_doublewrite = OFF",
        why="a disk writes 16 kB in pieces; after a power loss a page can be half old and half "
        "new, "
        "and InnoDB has nothing to repair it from",
        change="innodb_doublewrite = ON",
        risk="pages are written twice; only storage that writes a page as one can do without",
        measure=Measure(
            "target.innodb_doublewrite", ("OFF", "ON"), measure_s=120.0, crash="power-loss"
        ),
    )


@mariadb_rule(
    "flush-method",
    "data pages are cached twice, or never forced to the disk",
    Severity.LOOK,
    mariadb_manual(f"{MARIADB_INNODB}/innodb-flush-method", "InnoDB Flush Method"),
)
def flush_method(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """innodb_flush_method is not O_DIRECT; from 11.0 on O_DSYNC goes past the page cache too."""
    present = server.settings.text("innodb_flush_method") or ""
    major = server.version.partition(".")[0]
    since_11 = major.isdigit() and int(major) >= 11
    name = present.lower()
    if name in ("", "o_direct") or (name == "o_dsync" and since_11):
        return None
    # From 11.0 on, nosync and littlesync are other words for fsync.
    lossy = name == "o_direct_no_fsync" or (name in ("nosync", "littlesync") and not since_11)
    why = (
        "writes need not be followed by an fsync: a power loss can damage the tables"
        if lossy
        else "each page is in the buffer pool and in the kernel's cache as well, and is copied "
        "between them"
    )
    return Advice(
        seen=f"innodb_flush_method = {present}",
        why=why,
        change="innodb_flush_method = O_DIRECT, the default since 10.6 (from 11.0 on better "
        "innodb_data_file_buffering = OFF)",
        risk="none for data; with a small buffer pool, and where much is read from disk, the "
        "kernel's cache is missed: raise innodb_buffer_pool_size too",
        measure=Measure("target.innodb_flush_method", (present, "O_DIRECT")),
    )


@mariadb_rule(
    "io-capacity",
    "background writing is paced for a rotating disk",
    Severity.LOOK,
    mariadb_manual(f"{_INNODB}#innodb_io_capacity", "innodb_io_capacity"),
)
def io_capacity(server: MariaDBFacts, host: HostFacts | None) -> Advice | None:
    """200 or less on a disk that does not rotate, with many dirty pages."""
    present = server.settings.number("innodb_io_capacity")
    if present is None or present > 200 or host is None or host.place is None:
        return None
    dirty, all_ = (
        server.count("Innodb_buffer_pool_pages_dirty"),
        server.count("Innodb_buffer_pool_pages_total"),
    )
    if not host.place.solid or share(dirty, all_) <= 50:
        return None
    return Advice(
        seen=f"innodb_io_capacity = {present:g} on a disk that does not rotate; "
        f"{share(dirty, all_):.0f} % of the buffer pool is dirty",
        why="the manual wants it near the requests a second that the disk can do; with too little, "
        "dirty pages gather until queries wait for them. (With innodb_max_dirty_pages_pct_lwm = 0, "
        "the default, up to innodb_max_dirty_pages_pct gather on purpose.)",
        change="innodb_io_capacity = 2000, innodb_io_capacity_max = 4000; more where `fio` shows "
        "that "
        "the disk can do more",
        risk="none for data; background writes take the disk's time, and pages that are written "
        "too early are written again",
        measure=Measure("target.innodb_io_capacity", (int(present), 2000), measure_s=120.0),
    )


@mariadb_rule(
    "log-waits",
    "transactions wait because the log buffer is full",
    Severity.SPEED,
    mariadb_manual(f"{_INNODB}#innodb_log_buffer_size", "innodb_log_buffer_size"),
)
def log_waits(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """Innodb_log_waits is 10 or more and grew by more than one an hour."""
    waits = server.count("Innodb_log_waits")
    present = server.settings.number("innodb_log_buffer_size")
    if waits < 10 or present is None or waits / server.uptime_s * 3600 <= 1:
        return None
    proposed = int(4 * present)
    return Advice(
        seen=f"Innodb_log_waits = {waits:g}; innodb_log_buffer_size = {format_size(present)}",
        why="a transaction that makes much log must wait until some of it is written",
        change=f"innodb_log_buffer_size = {proposed} ({format_size(proposed)}): four times",
        risk="none for data",
        measure=Measure("target.innodb_log_buffer_size", (int(present), proposed)),
    )


@mariadb_rule(
    "history-list",
    "old versions of rows are not removed",
    Severity.SPEED,
    mariadb_manual(f"{MARIADB_INNODB}/innodb-purge", "InnoDB Purge"),
)
def history_list(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """More than a hundred thousand transactions wait for purge."""
    length = server.count("Innodb_history_list_length")
    if length <= 100_000:
        return None
    return Advice(
        seen=f"history list length {length:,.0f}",
        why="queries walk through old versions of rows, and the undo log grows; it shrinks again "
        "only with innodb_undo_log_truncate = ON",
        change="end the oldest transactions (information_schema.innodb_trx); if there are none, "
        "innodb_purge_threads = 8",
        risk="ending a transaction rolls it back, which can take long",
        measure="the old transactions are those of your programs",
    )


@mariadb_rule(
    "no-crash-recovery",
    "tables lie in an engine that does not survive a crash",
    Severity.DATA,
    mariadb_manual(
        "server-usage/storage-engines/aria/aria-faq#advantages-of-aria-compared-to-myisam",
        "Aria FAQ: Advantages of Aria compared to MyISAM",
    ),
)
def no_crash_recovery(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """At least one table of a user in MyISAM or MERGE."""
    if not server.crash_unsafe_tables:
        return None
    return Advice(
        seen=f"{server.crash_unsafe_tables} tables of users in MyISAM or MERGE",
        why="they have no log: a crash can leave them damaged, and a statement cannot be rolled "
        "back",
        change="ALTER TABLE ... ENGINE = InnoDB",
        risk="it copies the table and locks it meanwhile; InnoDB takes more room",
        measure=NOT_A_FACTOR,
    )


@mariadb_rule(
    "no-binary-log",
    "only whole backups can be restored",
    Severity.NOTE,
    mariadb_manual(
        f"{MARIADB_LOGS}/binary-log/overview-of-the-binary-log", "Overview of the Binary Log"
    ),
)
def no_binary_log(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """A running server without a binary log."""
    if not server.running or not server.settings.off("log_bin"):
        return None
    return Advice(
        seen="log_bin = OFF",
        why="what was committed after the last backup is lost with the disk, unless a replica "
        "has it",
        change="log_bin, with sync_binlog = 1",
        risk="none for data; each commit is written twice",
        measure=Measure("target.log_bin", ("off", "on")),
    )


@mariadb_rule(
    "slow-log-off",
    "nobody can see which queries are slow",
    Severity.NOTE,
    mariadb_manual(
        f"{MARIADB_LOGS}/slow-query-log/slow-query-log-overview", "Slow Query Log Overview"
    ),
)
def slow_log_off(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """A running server without a slow query log."""
    if not server.running or not server.settings.off("slow_query_log"):
        return None
    return Advice(
        seen="slow_query_log = OFF",
        why="when users complain there is nothing to look at",
        change="slow_query_log = ON, long_query_time = 1",
        risk="none for data; the file grows with each slow query",
        measure=Measure("target.slow_query_log", ("OFF", "ON")),
    )


@mariadb_rule(
    "name-resolve",
    "new sessions wait for the name of their host",
    Severity.LOOK,
    mariadb_manual(
        f"{MARIADB_VARIABLES}/server-system-variables#skip_name_resolve", "skip_name_resolve"
    ),
)
def name_resolve(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """skip_name_resolve is OFF and the server listens on more than the loopback."""
    bind = server.settings.text("bind_address") or "*"
    closed = server.settings.on("skip_networking") or bind in ("127.0.0.1", "::1", "localhost")
    if not server.running or closed or not server.settings.off("skip_name_resolve"):
        return None
    return Advice(
        seen=f"skip_name_resolve = OFF, bind_address = {bind}",
        why="the server asks DNS for the name of each client that is not in its host cache: a slow "
        "or dead name server delays or refuses logins",
        change="skip_name_resolve = ON",
        risk="accounts by host name no longer match: write addresses in GRANT",
        measure="sessions stay open in Loadstone's loads, so it would show nothing",
    )
