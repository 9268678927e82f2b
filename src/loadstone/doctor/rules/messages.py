"""Messages that a server's log repeats, and what each means. Pure; `collect.log` counts them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from loadstone.doctor.facts import Facts, LogFacts, MariaDBFacts, PostgreSQLFacts, Settings
from loadstone.doctor.model import Advice, Measure, Severity, Source, Subject
from loadstone.doctor.rules.base import (
    MARIADB_INNODB,
    MARIADB_VARIABLES,
    mariadb_manual,
    postgresql_manual,
    register,
    setting_size,
)
from loadstone.spec.model import Level


@dataclass(frozen=True)
class Message:
    """One kind of line in a log."""

    subject: Subject
    key: str
    pattern: str
    """Regular expression within one line, letters of either case."""
    shown: str
    """The same as people know it."""
    severity: Severity
    source: Source
    why: str
    change: str
    risk: str
    measure: Measure | str
    least: int = 1
    """How many there must be."""
    raises: str | None = None
    """The setting of which four times the present value is compared with it."""

    def advice(self, log: LogFacts, settings: Settings) -> Advice | None:
        """What the log's count of this message means."""
        found = log.messages.get(self.key)
        if found is None or found.count < self.least:
            return None
        rate = log.per_hour(self.key)
        often = f", {rate:.3g} an hour" if rate is not None else ""
        lines = "1 line" if found.count == 1 else f"{found.count} lines"
        return Advice(
            seen=f"{lines}{often} in {log.path}; the last: {found.last}",
            why=self.why,
            change=self.change,
            risk=self.risk,
            measure=self._measure(settings),
        )

    def _measure(self, settings: Settings) -> Measure | str:
        present = settings.number(self.raises) if self.raises else None
        if present is None or isinstance(self.measure, str):
            return self.measure
        more = int(4 * present)
        level: Level = setting_size(more) if self.subject == "postgresql" else more
        shown = settings.text(self.raises or "") or ""
        return replace(self.measure, levels=(int(shown) if shown.isdigit() else shown, level))


_ELSEWHERE = "the load that leads to it is yours: nothing of Loadstone's own is like it"

MESSAGES = (
    Message(
        "postgresql",
        "checkpoints-too-frequent",
        r"checkpoints are occurring too frequently",
        "checkpoints are occurring too frequently",
        Severity.SPEED,
        postgresql_manual(
            "19.5. Write Ahead Log: checkpoint_warning",
            "runtime-config-wal.html#GUC-CHECKPOINT-WARNING",
        ),
        "the log reached max_wal_size within checkpoint_warning of the last checkpoint; "
        "each "
        "checkpoint makes the next change of every page write the whole page",
        "raise max_wal_size until the message is gone: at least four times the present value",
        "none for data; recovery after a crash takes longer, and the log more disk",
        Measure("target.max_wal_size", ("1GB", "4GB"), measure_s=120.0),
        raises="max_wal_size",
    ),
    Message(
        "postgresql",
        "temporary-files",
        r"temporary file: path",
        "temporary file",
        Severity.SPEED,
        postgresql_manual(
            "19.8. Error Reporting and Logging: log_temp_files",
            "runtime-config-logging.html#GUC-LOG-TEMP-FILES",
        ),
        "a sort or hash did not fit into work_mem and went through the disk",
        "the line after it names the query: an index, or a higher work_mem for that role",
        "none for data; each sort may take work_mem",
        Measure(
            "target.work_mem",
            ("4MB", "64MB"),
            "order entry does not spill: it shows whether the larger value costs anything",
        ),
        least=10,
        raises="work_mem",
    ),
    Message(
        "postgresql",
        "out-of-memory",
        r"(ERROR|FATAL|PANIC):\s+out of memory|was terminated by signal 9",
        "out of memory",
        Severity.DATA,
        postgresql_manual(
            "18.4. Managing Kernel Resources: Linux Memory Overcommit",
            "kernel-resources.html#LINUX-MEMORY-OVERCOMMIT",
        ),
        "memory ran out: a query failed, or the kernel killed a process and all sessions ended",
        "less work_mem, fewer sessions or less shared_buffers; vm.overcommit_memory = 2 on a "
        "machine "
        "of its own, so that a query fails and not the server",
        "none for data; less cache may mean more reading",
        _ELSEWHERE,
    ),
    Message(
        "postgresql",
        "could-not-fsync",
        r"could not (fsync|write) (to )?file|could not write block",
        "could not fsync",
        Severity.DATA,
        postgresql_manual(
            "19.14. Error Handling: data_sync_retry",
            "runtime-config-error-handling.html#GUC-DATA-SYNC-RETRY",
        ),
        "the disk refused data that the kernel had accepted: what was written may be lost, and "
        "after a failed fsync the server stops itself to recover from its log",
        "look at the disk and the kernel's log (dmesg) now; check that backups can be restored",
        "leave data_sync_retry off: trying again may report success for data that is gone",
        "nothing to measure: replace the disk",
    ),
    Message(
        "postgresql",
        "deadlocks",
        r"deadlock detected",
        "deadlock detected",
        Severity.LOOK,
        postgresql_manual("13.3.4. Deadlocks", "explicit-locking.html#LOCKING-DEADLOCKS"),
        "two transactions waited for each other: one was rolled back after deadlock_timeout",
        "lock rows in the same order everywhere; the lines after it name both statements",
        "none",
        _ELSEWHERE,
    ),
    Message(
        "postgresql",
        "autovacuum-cancelled",
        r"canceling autovacuum task",
        "canceling autovacuum task",
        Severity.LOOK,
        postgresql_manual("24.1.6. The Autovacuum Daemon", "routine-vacuuming.html#AUTOVACUUM"),
        "a lock that conflicts with vacuum was wanted, so vacuum gave up: if it happens again and "
        "again the table is never cleaned",
        "find who locks the table so often (DDL, LOCK TABLE, TRUNCATE); VACUUM it by hand at a "
        "quiet "
        "time",
        "none for data",
        _ELSEWHERE,
        least=3,
    ),
    Message(
        "postgresql",
        "connections-refused",
        r"sorry, too many clients already|remaining connection slots are reserved",
        "too many clients already",
        Severity.LOOK,
        postgresql_manual(
            "19.3. Connections and Authentication: max_connections",
            "runtime-config-connection.html#GUC-MAX-CONNECTIONS",
        ),
        "users were refused because max_connections sessions were there",
        "a pooler (PgBouncer) in front of the server, or a higher max_connections",
        "none for data; each session takes memory",
        "nothing to measure: it is about being let in",
    ),
    Message(
        "postgresql",
        "no-space",
        r"No space left on device",
        "No space left on device",
        Severity.DATA,
        postgresql_manual("27.6.2. Disk Full Failure", "diskusage.html#DISK-FULL"),
        "a disk was full: writes failed, and if it was the log's disk the server stopped",
        "make room; never delete files below pg_wal by hand",
        "none",
        "nothing to measure: make room",
    ),
    Message(
        "mariadb",
        "page-cleaner-late",
        r"page_cleaner.{0,40}took",
        "page_cleaner ... took",
        Severity.SPEED,
        mariadb_manual(
            f"{MARIADB_INNODB}/innodb-page-flushing#configuring-the-innodb-io-capacity",
            "InnoDB Page Flushing: Configuring the InnoDB I/O Capacity",
        ),
        "dirty pages could not be written out as fast as they were made; queries then wait for "
        "free "
        "pages",
        "a higher innodb_io_capacity where the disk can do more, a larger innodb_log_file_size so "
        "that there is more time, or a faster disk",
        "none for data; more background writes",
        Measure("target.innodb_io_capacity", (200, 800), measure_s=120.0),
        raises="innodb_io_capacity",
    ),
    Message(
        "mariadb",
        "aborted-connections",
        r"Aborted connection",
        "Aborted connection",
        Severity.LOOK,
        mariadb_manual(
            f"{MARIADB_VARIABLES}/server-status-variables#aborted_clients", "Aborted_clients"
        ),
        "clients ended without closing their sessions or in the middle of sending, or waited "
        "longer than wait_timeout: their transactions were rolled back",
        "the line says which user and why; close sessions in the program, or raise wait_timeout "
        "(max_allowed_packet where the line says that a packet was too large)",
        "none",
        _ELSEWHERE,
        least=10,
    ),
    Message(
        "mariadb",
        "too-many-connections",
        r"Too many connections",
        "Too many connections",
        Severity.LOOK,
        mariadb_manual(
            f"{MARIADB_VARIABLES}/handling-too-many-connections", "Handling Too Many Connections"
        ),
        "users were refused because max_connections sessions were there",
        "a pool in the program or MaxScale in front; or a higher max_connections",
        "none for data; each session takes memory",
        "nothing to measure: it is about being let in",
    ),
    Message(
        "mariadb",
        "table-damaged",
        r"marked as crashed|Database page corruption|is corrupted|index is corrupt",
        "marked as crashed, page corruption",
        Severity.DATA,
        mariadb_manual(
            f"{MARIADB_INNODB}/innodb-troubleshooting/innodb-recovery-modes",
            "InnoDB Recovery Modes",
        ),
        "a table or page is damaged: by the disk, or by a crash of an engine without recovery",
        "CHECK TABLE; restore it from a backup, or dump what can still be read (if the server does "
        "not start, with innodb_force_recovery = 1); for MyISAM and Aria tables REPAIR TABLE, and "
        "ALTER TABLE ... ENGINE=InnoDB",
        "repairing can lose rows: copy the files first. innodb_force_recovery repairs nothing, and "
        "from 4 on can damage more",
        "nothing to measure: look at the disk",
    ),
    Message(
        "mariadb",
        "deadlocks",
        r"deadlock found when trying to get lock|TRANSACTION DEADLOCK DETECTED|transactions "
        r"deadlock detected",
        "deadlock detected",
        Severity.LOOK,
        mariadb_manual(
            f"{MARIADB_INNODB}/innodb-system-variables#innodb_deadlock_detect",
            "innodb_deadlock_detect",
        ),
        "two transactions waited for each other: one was rolled back",
        "lock rows in the same order everywhere; innodb_print_all_deadlocks shows both statements",
        "none",
        _ELSEWHERE,
    ),
    Message(
        "mariadb",
        "no-space",
        r"No space left on device|Disk is full",
        "No space left on device",
        Severity.DATA,
        mariadb_manual(
            "reference/error-codes/mariadb-error-codes-1000-to-1099/e1021",
            "Error 1021: Disk full; waiting for someone to free some space",
        ),
        "a disk was full: statements failed or wait until there is room",
        "make room; purge binary logs with PURGE BINARY LOGS, never by hand",
        "none",
        "nothing to measure: make room",
    ),
)
"""Every message that the doctor knows."""


def messages_of(subject: Subject) -> tuple[Message, ...]:
    """Those that a server of this kind writes."""
    return tuple(each for each in MESSAGES if each.subject == subject)


def _register(message: Message) -> None:
    def look(facts: Facts) -> Advice | None:
        server = facts.server
        wanted = PostgreSQLFacts if message.subject == "postgresql" else MariaDBFacts
        if not isinstance(server, wanted) or server.log is None:
            return None
        return message.advice(server.log, server.settings)

    about = f"its log says: {message.shown}"
    register(message.subject, f"log.{message.key}", about, message.severity, message.source, look)


for _message in MESSAGES:
    _register(_message)
