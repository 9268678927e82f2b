"""A SQLite database: how it is journalled, how it is laid out, whether it is whole."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts, SQLiteFacts
from loadstone.doctor.model import Advice, Measure, Severity
from loadstone.doctor.rules.base import NOT_SPEED, share, sqlite_manual, sqlite_rule
from loadstone.units import format_size

MB = 1024**2
_NETWORK = ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "glusterfs", "ceph")


@sqlite_rule(
    "damaged",
    "the file is damaged",
    Severity.DATA,
    sqlite_manual("recovery.html", "Recovering Data From A Corrupt SQLite Database"),
)
def damaged(server: SQLiteFacts, _host: HostFacts) -> Advice | None:
    """`PRAGMA quick_check` found something."""
    if server.damage is None:
        return None
    return Advice(
        seen=f"quick_check says: {server.damage}",
        why="queries can fail or return wrong rows, and each write can spread the damage",
        change="copy the file with its -wal and -journal; restore a backup, or sqlite3 FILE "
        ".recover",
        risk=".recover can lose rows",
        measure=NOT_SPEED,
    )


@sqlite_rule(
    "hot-journal",
    "a transaction was cut off and waits to be rolled back",
    Severity.DATA,
    sqlite_manual("lockingv3.html#hot_journals", "Dealing with hot journals"),
)
def hot_journal(server: SQLiteFacts, _host: HostFacts) -> Advice | None:
    """A rollback journal with a valid head lies beside the file."""
    if not server.hot_journal:
        return None
    return Advice(
        seen=f"{server.path}-journal is there, and not empty",
        why="a program ended in the middle of a transaction, or is writing now; the next one that "
        "opens the file rolls it back from that journal. Without it the file is damaged",
        change="open the file with sqlite3 once; never delete or move the journal by itself",
        risk="none",
        measure=NOT_SPEED,
    )


@sqlite_rule(
    "journal-off",
    "a crash in the middle of a transaction damages the file",
    Severity.DATA,
    sqlite_manual("pragma.html#pragma_journal_mode", "PRAGMA journal_mode"),
)
def journal_off(server: SQLiteFacts, _host: HostFacts) -> Advice | None:
    """journal_mode is off or memory."""
    mode = (server.journal_mode or "").lower()
    if mode not in ("off", "memory"):
        return None
    return Advice(
        seen=f"journal_mode = {mode}",
        why="what is needed to undo half a transaction is not on disk: the file will very likely "
        "be "
        "damaged by a crash",
        change="journal_mode = wal",
        risk="each commit writes more, by what the comparison shows",
        measure=Measure("target.journal_mode", (mode, "wal"), crash="kill"),
    )


@sqlite_rule(
    "synchronous-off",
    "nothing is ever forced to the disk",
    Severity.DATA,
    sqlite_manual("pragma.html#pragma_synchronous", "PRAGMA synchronous"),
)
def synchronous_off(server: SQLiteFacts, _host: HostFacts) -> Advice | None:
    """Synchronous is off."""
    if (server.synchronous or "").lower() not in ("off", "0"):
        return None
    return Advice(
        seen="synchronous = off",
        why="a power loss can damage the file, not only lose commits",
        change="synchronous = normal with WAL (consistent, the last commits may be lost); full, "
        "with a rollback journal extra, to keep every commit",
        risk="commits wait for the disk, by what the comparison shows",
        measure=Measure("target.synchronous", ("off", "full"), crash="power-loss"),
    )


@sqlite_rule(
    "synchronous-normal",
    "commits are acknowledged before they are on disk",
    Severity.LOOK,
    sqlite_manual("pragma.html#pragma_synchronous", "PRAGMA synchronous"),
)
def synchronous_normal(server: SQLiteFacts, _host: HostFacts) -> Advice | None:
    """Synchronous is normal with a write-ahead log."""
    normal = (server.synchronous or "").lower() in ("normal", "1")
    if not normal or (server.journal_mode or "").lower() != "wal":
        return None
    return Advice(
        seen="synchronous = normal with journal_mode = wal",
        why="the file stays whole, but commits since the last checkpoint may be gone after a power "
        "loss",
        change="synchronous = full where a commit must stay",
        risk="each commit waits for the disk, by what the comparison shows",
        measure=Measure("target.synchronous", ("normal", "full"), crash="power-loss"),
    )


@sqlite_rule(
    "rollback-journal",
    "readers and the writer wait for each other",
    Severity.LOOK,
    sqlite_manual("wal.html", "Write-Ahead Logging"),
)
def rollback_journal(server: SQLiteFacts, _host: HostFacts) -> Advice | None:
    """journal_mode is delete, truncate or persist."""
    mode = (server.journal_mode or "").lower()
    if mode not in ("delete", "truncate", "persist"):
        return None
    return Advice(
        seen=f"journal_mode = {mode}",
        why="a commit waits until all readers are done, writes each page twice and forces the disk "
        "several times; with a write-ahead log readers go on and a commit forces it once",
        change="PRAGMA journal_mode = wal, which stays with the file",
        risk="two more files (-wal, -shm) belong to it; not for network file systems",
        measure=Measure("target.journal_mode", (mode, "wal"), users=4),
    )


@sqlite_rule(
    "network-file-system",
    "the file lies where locks cannot be trusted",
    Severity.DATA,
    sqlite_manual("useovernet.html", "SQLite Over a Network, Caveats and Considerations"),
)
def network_file_system(server: SQLiteFacts, host: HostFacts) -> Advice | None:
    """The file is on NFS, SMB or the like."""
    if host.place is None or host.place.file_system not in _NETWORK:
        return None
    return Advice(
        seen=f"{server.path} is on {host.place.file_system} ({host.place.mounted_at})",
        why="network file systems get locks wrong often enough that two writers damage the file, "
        "and "
        "a write-ahead log needs memory that all programs share",
        change="keep the file on the machine that uses it, or use a database server",
        risk="none",
        measure=NOT_SPEED,
    )


@sqlite_rule(
    "wal-size",
    "the write-ahead log has grown large",
    Severity.SPEED,
    sqlite_manual(
        "wal.html#avoiding_excessively_large_wal_files", "Avoiding Excessively Large WAL Files"
    ),
)
def wal_size(server: SQLiteFacts, _host: HostFacts) -> Advice | None:
    """More than 64 MB: sixteen times what an automatic checkpoint allows at 4 kB a page."""
    if server.wal_bytes <= 64 * MB:
        return None
    return Advice(
        seen=f"{server.path}-wal has {format_size(server.wal_bytes)}",
        why="each read looks through its index, and opening after a crash reads all of it; it "
        "grows "
        "when a reader never ends, or by one huge transaction",
        change="end long readers; PRAGMA wal_checkpoint(TRUNCATE) at a quiet time; "
        "PRAGMA journal_size_limit",
        risk="none for data; the checkpoint waits for readers",
        measure=Measure("target.wal_autocheckpoint", (100_000, 1000)),
    )


@sqlite_rule(
    "page-size",
    "pages are smaller than those of disks",
    Severity.LOOK,
    sqlite_manual("pragma.html#pragma_page_size", "PRAGMA page_size"),
)
def page_size(server: SQLiteFacts, _host: HostFacts) -> Advice | None:
    """page_size is below 4096."""
    if server.page_bytes is None or server.page_bytes >= 4096:
        return None
    return Advice(
        seen=f"page_size = {server.page_bytes}",
        why="disks and the page cache work in 4096 bytes: smaller pages are read and written in "
        "parts, and trees are deeper; the default has been 4096 since 2016",
        change="PRAGMA page_size = 4096; VACUUM (not in WAL mode: change that first)",
        risk="VACUUM copies the file and locks it meanwhile",
        measure=Measure("target.page_size", (server.page_bytes, 4096)),
    )


@sqlite_rule(
    "free-pages",
    "much of the file is empty",
    Severity.LOOK,
    sqlite_manual("lang_vacuum.html", "VACUUM"),
)
def free_pages(server: SQLiteFacts, _host: HostFacts) -> Advice | None:
    """More than a quarter of the pages, and more than 16 MB, are free."""
    if not server.pages or not server.page_bytes or server.free_pages is None:
        return None
    free_bytes = server.free_pages * server.page_bytes
    if share(server.free_pages, server.pages) <= 25 or free_bytes <= 16 * MB:
        return None
    return Advice(
        seen=f"{format_size(free_bytes)} of {format_size(server.pages * server.page_bytes)} are "
        f"free",
        why="scans and copies read through a file whose tables lie in pieces",
        change="VACUUM at a quiet time",
        risk="it copies the file, can need twice its size of free room, and locks it meanwhile",
        measure="Loadstone's data is loaded fresh: it has no free pages",
    )
