"""What a running PostgreSQL tells of itself, in one read-only transaction."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loadstone.doctor.collect.log import find_log, read_log
from loadstone.doctor.collect.log_postgresql import PostgreSQLLog
from loadstone.doctor.collect.process import (
    parent_of,
    process_facts,
    standard_error_file,
)
from loadstone.doctor.facts import (
    LogFacts,
    PostgreSQLActivity,
    PostgreSQLFacts,
    ProcessFacts,
    Setting,
    Settings,
)
from loadstone.doctor.rules.messages import messages_of
from loadstone.errors import TargetError
from loadstone.host.locality import is_here
from loadstone.secret import masked_data
from loadstone.spec.target import TargetSpec
from loadstone.targets.postgresql import address
from loadstone.targets.postgresql.client import Client
from loadstone.targets.postgresql.session import SETTINGS

_READ_ONLY = """
BEGIN TRANSACTION READ ONLY;
SET LOCAL client_encoding = 'UTF8';
SET LOCAL statement_timeout = '30s';
SET LOCAL lock_timeout = '1s';
"""
"""Nothing of it outlives the transaction: behind a pooler the session is somebody else's next."""
_UNITS: Mapping[str, float] = {
    "B": 1,
    "kB": 1024,
    "8kB": 8192,
    "16kB": 16384,
    "32kB": 32768,
    "MB": 1024**2,
    "16MB": 16 * 1024**2,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1,
    "min": 60,
    "h": 3600,
    "d": 86400,
}
_SETTINGS = f"SELECT name, setting, unit, source, shown FROM {SETTINGS}"
_UPTIME = "SELECT extract(epoch FROM now() - pg_postmaster_start_time())::float8"
_SIZE = """
SELECT coalesce(sum(pg_database_size(oid)), 0)::bigint FROM pg_database
WHERE NOT datistemplate AND datallowconn AND has_database_privilege(oid, 'CONNECT')
"""
_SESSIONS = """
SELECT count(*), coalesce(array_agg(extract(epoch FROM now() - state_change)::float8)
                          FILTER (WHERE state LIKE 'idle in transaction%'), '{}')
FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
_SPAN = "extract(epoch FROM now() - coalesce(stats_reset, pg_postmaster_start_time()))::float8"
_CHECKPOINTS = f"SELECT checkpoints_timed, checkpoints_req, {_SPAN} FROM pg_stat_bgwriter"
_CHECKPOINTS_17 = f"SELECT num_timed, num_requested, {_SPAN} FROM pg_stat_checkpointer"
_WAL = f"SELECT wal_bytes::bigint, wal_fpi, {_SPAN} FROM pg_stat_wal"
_DATABASES = """
SELECT coalesce(sum(blks_hit), 0)::bigint, coalesce(sum(blks_read), 0)::bigint,
       coalesce(sum(temp_files), 0)::bigint, coalesce(sum(temp_bytes), 0)::bigint,
       extract(epoch FROM now() - min(stats_reset))::float8
FROM pg_stat_database
"""
_OLDEST = "SELECT max(age(datfrozenxid)) FROM pg_database"
_ARCHIVER = """
SELECT failed_count, last_failed_time IS NOT NULL
       AND last_failed_time > coalesce(last_archived_time, '-infinity') FROM pg_stat_archiver
"""
_SLOTS = """
SELECT slot_name::text, pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery()
       THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END, restart_lsn)::bigint
FROM pg_replication_slots WHERE NOT active AND restart_lsn IS NOT NULL
"""


def postgresql_facts(spec: TargetSpec, log: Path | None) -> PostgreSQLFacts:
    """Looks at a running server.

    Args:
        spec: With its address.
        log: Its log, if the user named one; else it is looked for.

    Raises:
        TargetError: If it cannot be reached.
        WrongInputError: If the address is wrong, or the named log cannot be read.
    """
    place = address.parse(spec)
    client = read_only_client(spec)
    try:
        settings = _settings(client)
        process = None
        if is_here(place.host):
            process = process_facts(parent_of(client.value("SELECT pg_backend_pid()")), "postgres")
        return PostgreSQLFacts(
            settings=settings,
            version=(settings.text("server_version") or "0").split(" ")[0],
            local=is_here(place.host),
            activity=_activity(client, settings),
            process=process,
            log=_log(client, settings, process, log),
        )
    finally:
        client.close()


def read_only_client(spec: TargetSpec) -> Client:
    """A session in a transaction in which the server itself refuses every write."""
    client = Client(address.parse(spec).connection(), "loadstone doctor")
    client.execute(_READ_ONLY)
    return client


def setting(text: str, value: str, unit: str | None, source: str) -> Setting:
    """A setting with its number in bytes or seconds.

    Args:
        text: As it may be written: `128MB`.
        value: In its base unit: `16384`.
        unit: The base unit: `8kB`, or None.
        source: Where it was set.
    """
    try:
        number = float(value) * _UNITS.get(unit or "", 1.0) if float(value) >= 0 else float(value)
    except ValueError:
        return Setting(text, None, source)
    return Setting(text, number, source)


def _settings(client: Client) -> Settings:
    return Settings(
        {
            name: setting(masked_data(shown, name), masked_data(value or "", name), unit, source)
            for name, value, unit, source, shown in client.query(_SETTINGS)
        }
    )


def _activity(client: Client, settings: Settings) -> PostgreSQLActivity:
    major = int(settings.text("server_version_num") or "130000") // 10000
    uptime_s = client.value(_UPTIME)
    checkpoints = _row(client, _CHECKPOINTS_17 if major >= 17 else _CHECKPOINTS) or (0, 0, 0.0)
    wal = (_row(client, _WAL) if major >= 14 else None) or (None, None, 0.0)
    hit, read, temp_files, temp_bytes, span_s = _row(client, _DATABASES) or (0, 0, 0, 0, None)
    sessions, idle_s = _row(client, _SESSIONS) or (0, [])
    failed, fails_now = _row(client, _ARCHIVER) or (0, False)
    return PostgreSQLActivity(
        uptime_s=uptime_s,
        data_bytes=(_row(client, _SIZE) or (0,))[0],
        sessions=sessions,
        idle_in_transaction_s=tuple(idle_s),
        checkpoints_timed=checkpoints[0],
        checkpoints_requested=checkpoints[1],
        checkpoints_span_s=checkpoints[2],
        wal_bytes=wal[0],
        wal_full_pages=wal[1],
        wal_span_s=wal[2],
        blocks_hit=hit,
        blocks_read=read,
        temp_files=temp_files,
        temp_bytes=temp_bytes,
        statistics_span_s=span_s if span_s is not None else max(checkpoints[2], uptime_s),
        oldest_xid_age=(_row(client, _OLDEST) or (0,))[0],
        archived_failed=failed,
        archive_fails_now=fails_now,
        inactive_slots=tuple(_rows(client, _SLOTS)),
        jit_available=bool((_row(client, "SELECT pg_jit_available()") or (False,))[0]),
        huge_pages_status=settings.text("huge_pages_status"),
    )


def _log(
    client: Client, settings: Settings, process: ProcessFacts | None, named: Path | None
) -> LogFacts | None:
    kind = PostgreSQLLog(settings.text("log_line_prefix") or "", settings.text("lc_messages"))
    messages = messages_of("postgresql")
    if named is not None:
        return read_log(named, messages, kind)
    if process is None:
        return None
    if settings.on("logging_collector"):
        path = _collected(client, settings)
        return find_log(path, messages, kind, settings.text("log_filename"))
    # Without the collector CSV and JSON go to the standard error as text; syslog does not.
    to_syslog = settings.text("log_destination") == "syslog"
    return find_log(None if to_syslog else standard_error_file(process.pid), messages, kind)


def _collected(client: Client, settings: Settings) -> Path | None:
    """The file that the collector writes now: one with codes in it where there is one."""
    folder = settings.text("data_directory")
    for question in ("'jsonlog'", "'csvlog'", ""):
        row = _row(client, f"SELECT pg_current_logfile({question})")
        if row and row[0] and (folder or Path(row[0]).is_absolute()):
            return Path(folder or "/", row[0])
    return None


def _rows(client: Client, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a query; none where this user may not ask it."""
    client.query("SAVEPOINT before_question")
    try:
        return client.query(sql)
    except TargetError:
        client.query("ROLLBACK TO SAVEPOINT before_question")
        return []


def _row(client: Client, sql: str) -> tuple[Any, ...] | None:
    return next(iter(_rows(client, sql)), None)
