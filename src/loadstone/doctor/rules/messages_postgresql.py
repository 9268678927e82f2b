"""Messages that the log of PostgreSQL repeats, and what each means."""

from __future__ import annotations

from loadstone.doctor.model import Measure, Severity
from loadstone.doctor.rules.base import larger_dev_shm, postgresql_manual
from loadstone.doctor.rules.message import ELSEWHERE, Message

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
        "shared-memory",
        r"[^:]{0,80}/PostgreSQL\.\d+",
        "could not resize shared memory segment",
        Severity.LOOK,
        postgresql_manual(
            "19.4. Resource Consumption: dynamic_shared_memory_type",
            "runtime-config-resource.html#GUC-DYNAMIC-SHARED-MEMORY-TYPE",
        ),
        "parallel queries share memory in files of /dev/shm, and it was full: they failed",
        f"{larger_dev_shm('1G')}; or less work_mem x hash_mem_multiplier, or fewer "
        "max_parallel_workers",
        "none for data; what lies in /dev/shm counts as memory",
        "nothing to measure: queries fail without it",
        codes=("53100", "53200"),
        by_code_alone=False,
    ),
    Message(
        "postgresql",
        "locks-used-up",
        r"out of shared memory",
        "out of shared memory",
        Severity.LOOK,
        postgresql_manual(
            "19.12. Lock Management: max_locks_per_transaction",
            "runtime-config-locks.html#GUC-MAX-LOCKS-PER-TRANSACTION",
        ),
        "the table of locks was full, so transactions that touch many tables or partitions failed; "
        "it has room for max_locks_per_transaction of each session",
        "a higher max_locks_per_transaction: at least four times the present value",
        "none for data; some shared memory, and a restart is needed",
        Measure("target.max_locks_per_transaction", (64, 256)),
        raises="max_locks_per_transaction",
        codes=("53200",),
        by_code_alone=False,
    ),
    Message(
        "postgresql",
        "no-space",
        r"could not .*: No space left on device",
        "No space left on device",
        Severity.DATA,
        postgresql_manual("27.6.2. Disk Full Failure", "diskusage.html#DISK-FULL"),
        "a disk was full: writes failed, and if it was the log's disk the server stopped",
        "make room; never delete files below pg_wal by hand",
        "none",
        "nothing to measure: make room",
        codes=("53100",),
    ),
    Message(
        "postgresql",
        "out-of-memory",
        r"out of memory|[^\"]*\(PID \d+\) was terminated by signal 9",
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
        ELSEWHERE,
        codes=("53200",),
    ),
    Message(
        "postgresql",
        "could-not-fsync",
        r"could not (fsync|write)",
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
        codes=("58030",),
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
        ELSEWHERE,
        codes=("40P01",),
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
        ELSEWHERE,
        least=3,
        codes=("57014",),
        backend="autovacuum worker",
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
        "users were refused because max_connections sessions were there, or as many as their "
        "role or database may have",
        "a pooler (PgBouncer) in front of the server, or a higher max_connections",
        "none for data; each session takes memory",
        "nothing to measure: it is about being let in",
        codes=("53300",),
    ),
)
