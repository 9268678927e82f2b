"""MariaDB's sessions, and what they share: tables, files, threads, the query cache."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts, MariaDBFacts
from loadstone.doctor.model import Advice, Measure, Severity
from loadstone.doctor.rules.base import (
    MARIADB_TUNING,
    MARIADB_VARIABLES,
    mariadb_manual,
    mariadb_rule,
)
from loadstone.units import format_size

_SERVER = f"{MARIADB_VARIABLES}/server-system-variables"


@mariadb_rule(
    "table-cache",
    "tables are closed to open others",
    Severity.SPEED,
    mariadb_manual(
        f"{MARIADB_VARIABLES}/optimizing-table_open_cache", "Optimizing table_open_cache"
    ),
)
def table_cache(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """The cache is full, and more than 100 tables an hour are opened."""
    size = server.settings.number("table_open_cache")
    opened = server.count("Opened_tables")
    if not size or server.count("Open_tables") < 0.95 * size:
        return None
    rate = opened / server.uptime_s * 3600
    if opened <= 2 * size or rate <= 100:
        return None
    proposed = int(max(4 * size, 2000))
    return Advice(
        seen=f"table_open_cache = {size:g} is full, and {rate:,.0f} tables are opened an hour",
        why="opening a table again is work that a larger cache saves: the manual wants few or no "
        "more tables to be opened once the server is warm",
        change=f"table_open_cache = {proposed}: four times the present, at least the default of "
        f"2000",
        risk="none for data; needs open files: open_files_limit",
        measure=Measure("target.table_open_cache", (int(size), proposed), users=64),
    )


@mariadb_rule(
    "open-files",
    "the server may open fewer files than its sessions and tables need",
    Severity.LOOK,
    mariadb_manual(f"{_SERVER}#open_files_limit", "open_files_limit"),
)
def open_files(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """open_files_limit is below max_connections + 2 x table_open_cache."""
    limit = server.settings.number("open_files_limit")
    if server.process is not None and server.process.nofile is not None:
        limit = min(limit or server.process.nofile, server.process.nofile)
    sessions = server.settings.number("max_connections") or 151
    tables = server.settings.number("table_open_cache") or 2000
    needed = int(sessions + 2 * tables)
    if not server.running or not limit or limit >= needed:
        return None
    return Advice(
        seen=f"{limit:g} open files are allowed, {needed} can be needed",
        why="the server lowers table_open_cache and max_connections at its start, or fails with "
        "error 24: too many open files",
        change=f"LimitNOFILE = {max(needed, 32768)} in the service, open_files_limit = the same: "
        f"max_connections {sessions:g} + 2 x table_open_cache {tables:g}",
        risk="none for data",
        measure=Measure("host.server.nofile", (int(limit), max(needed, 32768))),
    )


@mariadb_rule(
    "query-cache",
    "all sessions share one lock of the query cache",
    Severity.SPEED,
    mariadb_manual(f"{MARIADB_TUNING}/buffers-caches-and-threads/query-cache", "Query Cache"),
)
def query_cache(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """query_cache_type is not OFF and its size is not 0."""
    kind, size = (
        server.settings.text("query_cache_type"),
        server.settings.number("query_cache_size"),
    )
    if kind is None or kind.upper() in ("OFF", "0") or not size:
        return None
    return Advice(
        seen=f"query_cache_type = {kind}, query_cache_size = {format_size(size)}",
        why="every write throws away all cached results of its table under one lock, which does "
        "not "
        "scale with processors; the manual has it off by default for that reason",
        change="query_cache_type = OFF, query_cache_size = 0",
        risk="none for data; a site that only reads the same few results can lose",
        measure=Measure(
            "target.query_cache_type", ("ON", "OFF"), settings={"query_cache_size": int(size)}
        ),
    )


@mariadb_rule(
    "threads-created",
    "a thread is made for most sessions",
    Severity.LOOK,
    mariadb_manual(f"{_SERVER}#thread_cache_size", "thread_cache_size"),
)
def threads_created(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """More than half of 1000 or more sessions needed a new one, with one thread for each."""
    made, sessions = server.count("Threads_created"), server.count("Connections")
    present = server.settings.number("thread_cache_size")
    pooled = server.settings.text("thread_handling") == "pool-of-threads"
    if present is None or pooled or sessions < 1000 or made <= sessions / 2:
        return None
    proposed = int(max(256, 2 * server.count("Max_used_connections")))
    return Advice(
        seen=f"{made:,.0f} threads for {sessions:,.0f} sessions; thread_cache_size = {present:g}",
        why="making and ending a thread can cost more than a short query; it matters where many "
        "sessions a second begin",
        change=f"thread_cache_size = {proposed}: the larger of 256, the default, and twice the "
        f"most "
        "sessions at once; better, keep sessions open in a pool",
        risk="none for data",
        measure="sessions stay open in Loadstone's loads, so it would show nothing",
    )


@mariadb_rule(
    "connections-used-up",
    "nearly all sessions that are allowed were in use",
    Severity.LOOK,
    mariadb_manual(
        f"{MARIADB_VARIABLES}/handling-too-many-connections", "Handling Too Many Connections"
    ),
)
def connections_used_up(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """Max_used_connections was above 85 % of max_connections."""
    most, used = server.settings.number("max_connections"), server.count("Max_used_connections")
    if not most or used <= 0.85 * most:
        return None
    return Advice(
        seen=f"up to {used:g} of {most:g} sessions; "
        f"{server.count('Connection_errors_max_connections'):g} were refused",
        why="the next users are refused: ERROR 1040, too many connections",
        change="a pool in the program or MaxScale in front; or a higher max_connections where "
        "there "
        "is memory for it",
        risk="none for data; each session takes memory",
        measure="nothing to measure: it is about being let in",
    )
