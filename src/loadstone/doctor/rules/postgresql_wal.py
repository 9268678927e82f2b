"""PostgreSQL's write-ahead log: checkpoints, compression, archive, replication slots."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts, PostgreSQLFacts
from loadstone.doctor.model import Advice, Measure, Severity
from loadstone.doctor.rules.base import (
    NOT_SPEED,
    postgresql_manual,
    postgresql_rule,
    round_size,
    setting_size,
    share,
)
from loadstone.units import format_duration, format_size

GB = 1024**3
_SECTION = "19.5. Write Ahead Log"
_PAGE = "runtime-config-wal.html"


@postgresql_rule(
    "max-wal-size",
    "checkpoints are forced by the amount of log instead of the clock",
    Severity.SPEED,
    postgresql_manual("28.5. WAL Configuration", "wal-configuration.html"),
)
def max_wal_size(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """At least 5 requested checkpoints, more than the timed ones, and more than one an hour."""
    activity, present = server.activity, server.settings.number("max_wal_size")
    if activity is None or present is None or activity.checkpoints_requested < 5:
        return None
    span_s = max(activity.checkpoints_span_s, 1.0)
    rare = activity.checkpoints_requested / span_s * 3600 <= 1
    if activity.checkpoints_requested <= activity.checkpoints_timed or rare:
        return None
    proposed, formula = _enough_wal(server, present)
    return Advice(
        seen=f"{activity.checkpoints_requested} checkpoints were requested and "
        f"{activity.checkpoints_timed} timed, in {format_duration(round(span_s))}; max_wal_size = "
        f"{server.settings.text('max_wal_size')}",
        why="after each checkpoint the first change of a page writes the whole page into the log: "
        "frequent checkpoints multiply what is written. (CHECKPOINT by hand, backups and CREATE "
        "DATABASE count as requested too: the server's log tells them apart.)",
        change=f"max_wal_size = {setting_size(proposed)}: {formula}",
        risk="none for data; recovery after a crash takes longer, and the log more disk",
        measure=Measure(
            "target.max_wal_size",
            (server.settings.text("max_wal_size") or "1GB", setting_size(proposed)),
            measure_s=120.0,
        ),
    )


def _enough_wal(server: PostgreSQLFacts, present: float) -> tuple[int, str]:
    """What lets checkpoints wait for the clock, and how it was reckoned.

    A checkpoint is begun when max_wal_size / (1 + checkpoint_completion_target) was written since
    the last (CalculateCheckpointSegments in xlog.c).
    """
    activity = server.activity
    timeout_s = server.settings.number("checkpoint_timeout") or 300.0
    target = server.settings.number("checkpoint_completion_target") or 0.9
    least = max(4 * present, GB)
    if activity is None or not activity.wal_bytes or activity.wal_span_s <= 60:
        return round_size(least), "the larger of 1 GB and four times the present"
    rate = activity.wal_bytes / activity.wal_span_s
    by_rate = rate * timeout_s * (1 + target) * 1.25
    return round_size(max(by_rate, least)), (
        f"the largest of 1 GB, four times the present, and log rate {format_size(rate)}/s x "
        f"checkpoint_timeout {timeout_s:g} s x (1 + checkpoint_completion_target {target:g}) x "
        f"1.25 = {format_size(by_rate)}"
    )


@postgresql_rule(
    "checkpoint-completion-target",
    "checkpoints are written in bursts",
    Severity.LOOK,
    postgresql_manual(
        f"{_SECTION}: checkpoint_completion_target", f"{_PAGE}#GUC-CHECKPOINT-COMPLETION-TARGET"
    ),
)
def completion_target(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """Below 0.8."""
    present = server.settings.number("checkpoint_completion_target")
    if present is None or present >= 0.8:
        return None
    return Advice(
        seen=f"checkpoint_completion_target = {present:g}",
        why="the writes of a checkpoint are squeezed into part of the time until the next, and "
        "transactions wait behind them; the manual does not recommend less than the default",
        change="checkpoint_completion_target = 0.9, the default",
        risk="none for data; a little more log is kept",
        measure=Measure(
            "target.checkpoint_completion_target",
            (present, 0.9),
            "watch the 99th percentile: bursts hide in it",
            measure_s=120.0,
        ),
    )


@postgresql_rule(
    "wal-compression",
    "whole pages are most of the log",
    Severity.LOOK,
    postgresql_manual(f"{_SECTION}: wal_compression", f"{_PAGE}#GUC-WAL-COMPRESSION"),
)
def wal_compression(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """Off, more than 1 GB of log was written, and more than half of it was whole pages."""
    activity = server.activity
    if activity is None or not server.settings.off("wal_compression"):
        return None
    if not activity.wal_bytes or activity.wal_bytes < GB or activity.wal_full_pages is None:
        return None
    pages = share(activity.wal_full_pages * 8192, activity.wal_bytes)
    if pages <= 50:
        return None
    return Advice(
        seen=f"wal_compression = off; up to {min(pages, 100):.0f} % of "
        f"{format_size(activity.wal_bytes)} of "
        "log are whole pages",
        why="whole pages compress well: less log to write, to send and to keep",
        change="wal_compression = lz4 (or on: pglz); first a larger max_wal_size, which avoids "
        "them",
        risk="none for data, says the manual; CPU for each whole page",
        measure=Measure("target.wal_compression", ("off", "on"), measure_s=120.0),
    )


@postgresql_rule(
    "archive-failing",
    "log that should be archived is not",
    Severity.DATA,
    postgresql_manual(
        "25.3. Continuous Archiving: Setting Up WAL Archiving",
        "continuous-archiving.html#BACKUP-ARCHIVING-WAL",
    ),
)
def archive_failing(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """Archiving is on, and the last try failed or nothing says where to."""
    if server.activity is None or server.settings.text("archive_mode") not in ("on", "always"):
        return None
    places = ("archive_command", "archive_library")
    nowhere = not any(server.settings.text(name) not in (None, "", "(disabled)") for name in places)
    if not server.activity.archive_fails_now and not nowhere:
        return None
    told = (
        "no archive_command"
        if nowhere
        else f"{server.activity.archived_failed} failures, the last try among them"
    )
    return Advice(
        seen=f"archive_mode = {server.settings.text('archive_mode')}; {told}",
        why="the log is kept until it is archived: the disk fills and the server stops; and no "
        "point-in-time recovery reaches past the first gap",
        change="repair archive_command (pg_stat_archiver and the server's log say why it fails), "
        "or "
        "archive_mode = off",
        risk="off: no recovery to a point in time",
        measure=NOT_SPEED,
    )


@postgresql_rule(
    "no-archive",
    "only whole backups can be restored",
    Severity.NOTE,
    postgresql_manual("25.3. Continuous Archiving", "continuous-archiving.html"),
)
def no_archive(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """A running server with archiving off."""
    if server.activity is None or server.settings.text("archive_mode") != "off":
        return None
    level = server.settings.text("wal_level")
    return Advice(
        seen=f"wal_level = {level}, archive_mode = off",
        why="what was committed after the last backup is lost with the disk, unless a standby or "
        "pg_receivewal has it",
        change="wal_level = replica, archive_mode = on, archive_command or archive_library",
        risk="none for data; wal_level = minimal loads faster",
        measure=Measure(
            "target.wal_level", ("minimal", "replica"), settings={"max_wal_senders": 0}
        ),
    )


@postgresql_rule(
    "inactive-slots",
    "log is kept for standbys that do not come",
    Severity.DATA,
    postgresql_manual("26.2.6. Replication Slots", "warm-standby.html#STREAMING-REPLICATION-SLOTS"),
)
def inactive_slots(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """A replication slot without a reader keeps more than 1 GB."""
    slots = server.activity.inactive_slots if server.activity else ()
    holding = [(name, size) for name, size in slots if size > GB]
    if not holding:
        return None
    return Advice(
        seen=", ".join(f"slot {name} keeps {format_size(size)}" for name, size in holding),
        why="its log is never removed: the disk fills and the server stops",
        change="start the reader again, or SELECT pg_drop_replication_slot(...); "
        "max_slot_wal_keep_size sets a limit",
        risk="a standby whose slot is dropped may have to be made anew",
        measure=NOT_SPEED,
    )
