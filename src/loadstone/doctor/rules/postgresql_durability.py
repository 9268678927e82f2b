"""What PostgreSQL may lose or damage in a crash, by its own settings."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts, PostgreSQLFacts
from loadstone.doctor.model import Advice, Measure, Severity
from loadstone.doctor.rules.base import NOT_SPEED, postgresql_manual, postgresql_rule
from loadstone.units import format_duration

_SECTION = "19.5. Write Ahead Log"
_PAGE = "runtime-config-wal.html"


@postgresql_rule(
    "fsync-off",
    "nothing is ever forced to the disk",
    Severity.DATA,
    postgresql_manual(f"{_SECTION}: fsync", f"{_PAGE}#GUC-FSYNC"),
)
def fsync_off(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """Fsync is off."""
    if not server.settings.off("fsync"):
        return None
    return Advice(
        seen="fsync = off",
        why="a crash of the machine can damage the database beyond recovery, not only lose commits",
        change="fsync = on. Where speed matters more than the last commits, synchronous_commit = "
        "off gives most of it without the damage",
        risk="each commit waits for the disk: slower, by what the comparison shows",
        measure=Measure("target.fsync", ("off", "on"), crash="power-loss"),
    )


@postgresql_rule(
    "full-page-writes-off",
    "a page that was half written at a crash cannot be repaired",
    Severity.DATA,
    postgresql_manual(f"{_SECTION}: full_page_writes", f"{_PAGE}#GUC-FULL-PAGE-WRITES"),
)
def full_page_writes_off(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """full_page_writes is off."""
    if not server.settings.off("full_page_writes"):
        return None
    return Advice(
        seen="full_page_writes = off",
        why="a disk writes 8 kB in pieces; after a power loss a page can be half old and half new, "
        "which the log can repair only from a whole page",
        change="full_page_writes = on; a larger max_wal_size makes it cheap, as whole pages are "
        "written once for each checkpoint",
        risk="more log; only a file system that writes 8 kB as one (ZFS) can do without",
        measure=Measure(
            "target.full_page_writes", ("off", "on"), measure_s=120.0, crash="power-loss"
        ),
    )


@postgresql_rule(
    "synchronous-commit-off",
    "commits are acknowledged before they are on disk",
    Severity.DATA,
    postgresql_manual(f"{_SECTION}: synchronous_commit", f"{_PAGE}#GUC-SYNCHRONOUS-COMMIT"),
)
def synchronous_commit_off(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """synchronous_commit is off for everybody."""
    if not server.settings.off("synchronous_commit"):
        return None
    delay_s = server.settings.number("wal_writer_delay") or 0.2
    return Advice(
        seen="synchronous_commit = off for all sessions",
        why=f"a crash of the server loses what was committed in up to three times wal_writer_delay "
        f"({format_duration(3 * delay_s)}); the database stays consistent",
        change="synchronous_commit = on, and off only in transactions that may be lost (SET LOCAL)",
        risk="each commit waits for the disk: slower, by what the comparison shows",
        measure=Measure("target.synchronous_commit", ("off", "on"), crash="kill"),
    )


@postgresql_rule(
    "damage-hidden",
    "damage of the data is passed over",
    Severity.DATA,
    postgresql_manual("19.17. Developer Options", "runtime-config-developer.html"),
)
def damage_hidden(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """One of the options for rescuing a damaged database is on."""
    names = (
        "zero_damaged_pages",
        "ignore_checksum_failure",
        "ignore_invalid_pages",
        "ignore_system_indexes",
    )
    found = [name for name in names if server.settings.on(name)]
    if not found:
        return None
    return Advice(
        seen=", ".join(f"{name} = on" for name in found),
        why="made for rescuing what is left of a damaged database: in daily use they lose rows or "
        "hide damage and let it spread, with no more than a warning; without the system indexes "
        "every look into the catalogs is a scan",
        change=", ".join(f"{name} = off" for name in found),
        risk="queries that meet damage fail, as they should",
        measure=NOT_SPEED,
    )


@postgresql_rule(
    "data-checksums-off",
    "pages that the disk spoiled are not noticed",
    Severity.DATA,
    postgresql_manual("28.2. Data Checksums", "checksums.html"),
)
def data_checksums_off(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """data_checksums is off in a running server."""
    if server.activity is None or not server.settings.off("data_checksums"):
        return None
    return Advice(
        seen="data_checksums = off",
        why="a page that storage returns wrong is used, and copied to standbys and backups; the "
        "default since version 18 is on",
        change="stop the server, pg_checksums --enable, start it; or initdb --data-checksums",
        risk="none for data; some CPU for each page read or written, and hint bits go into the log",
        measure="fixed by initdb, so no factor; Loadstone's own servers have checksums on",
    )
