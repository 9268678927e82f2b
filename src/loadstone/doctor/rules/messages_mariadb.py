"""Messages that the log of MariaDB repeats, and what each means."""

from __future__ import annotations

from loadstone.doctor.model import Measure, Severity
from loadstone.doctor.rules.base import MARIADB_INNODB, MARIADB_VARIABLES, mariadb_manual
from loadstone.doctor.rules.message import ELSEWHERE, Message

MESSAGES = (
    Message(
        "mariadb",
        "page-cleaner-late",
        r"(?:InnoDB: )?page.cleaner.{0,40}took",
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
        codes=("11953",),
    ),
    Message(
        "mariadb",
        "too-many-connections",
        r"(?:Aborted connection \d.*\()?Too many connections",
        "Too many connections",
        Severity.LOOK,
        mariadb_manual(
            f"{MARIADB_VARIABLES}/handling-too-many-connections", "Handling Too Many Connections"
        ),
        "users were refused because max_connections sessions were there",
        "a pool in the program or MaxScale in front; or a higher max_connections",
        "none for data; each session takes memory",
        "nothing to measure: it is about being let in",
        codes=("1040",),
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
        ELSEWHERE,
        least=10,
        codes=("10914", "1152", "1184"),
    ),
    Message(
        "mariadb",
        "table-damaged",
        r"(?:\S+: )?Table .* is marked as crashed|(?:InnoDB: |\S+: |Table |Index )?"
        r"[^@]*(?:Database page corruption|is corrupt)",
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
        codes=("1194", "1195", "1712", "1877"),
    ),
    Message(
        "mariadb",
        "deadlocks",
        r"(?:InnoDB: )?transactions? deadlock detected|deadlock found when trying to get lock",
        "deadlock detected",
        Severity.LOOK,
        mariadb_manual(
            f"{MARIADB_INNODB}/innodb-system-variables#innodb_deadlock_detect",
            "innodb_deadlock_detect",
        ),
        "two transactions waited for each other: one was rolled back",
        "lock rows in the same order everywhere; innodb_print_all_deadlocks shows both statements",
        "none",
        ELSEWHERE,
        codes=("12468", "1213"),
    ),
    Message(
        "mariadb",
        "no-space",
        r"(?:\S+: )?Disk is full|.*: No space left on device",
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
        codes=("1021", "errno 28"),
    ),
)
