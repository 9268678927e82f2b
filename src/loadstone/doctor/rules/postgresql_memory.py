"""PostgreSQL's memory: shared buffers, work memory, sessions."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts, PostgreSQLFacts
from loadstone.doctor.model import Advice, Measure, Severity
from loadstone.doctor.rules.base import (
    postgresql_manual,
    postgresql_rule,
    round_size,
    setting_size,
    share,
)
from loadstone.units import format_size

GB = 1024**3
MB = 1024**2
_RESOURCES = "19.4. Resource Consumption"
_PAGE = "runtime-config-resource.html"


@postgresql_rule(
    "shared-buffers",
    "shared_buffers is small for the memory and the data",
    Severity.SPEED,
    postgresql_manual(f"{_RESOURCES}: shared_buffers", f"{_PAGE}#GUC-SHARED-BUFFERS"),
)
def shared_buffers(server: PostgreSQLFacts, host: HostFacts | None) -> Advice | None:
    """Less than a tenth of the memory, and less than the data."""
    present, data = server.settings.number("shared_buffers"), server.data_bytes
    if present is None or host is None or data is None or host.memory_bytes < GB:
        return None
    if present >= min(host.memory_bytes / 10, data):
        return None
    proposed = max(round_size(min(host.memory_bytes / 4, data * 1.25)), 128 * MB)
    if proposed <= present:
        return None
    hits = ""
    if server.activity and server.activity.blocks_read > 100_000:
        all_blocks = server.activity.blocks_hit + server.activity.blocks_read
        hits = f"; {share(server.activity.blocks_hit, all_blocks):.1f} % of block requests hit it"
    return Advice(
        seen=f"shared_buffers = {server.settings.text('shared_buffers')} with "
        f"{format_size(host.memory_bytes)} of memory and {format_size(data)} of data{hits}",
        why="pages that do not fit are written out by sessions and fetched again from the kernel's "
        "cache or the disk",
        change=f"shared_buffers = {setting_size(proposed)}: the smaller of 25 % of memory (the "
        "manual's start value) and 125 % of the data; with a larger max_wal_size",
        risk="none for data; less page cache is left to the kernel, and a restart is needed",
        measure=Measure(
            "target.shared_buffers",
            (server.settings.text("shared_buffers") or "128MB", setting_size(proposed)),
        ),
    )


@postgresql_rule(
    "shared-buffers-large",
    "shared_buffers leaves too little memory for everything else",
    Severity.SPEED,
    postgresql_manual(f"{_RESOURCES}: shared_buffers", f"{_PAGE}#GUC-SHARED-BUFFERS"),
)
def shared_buffers_large(server: PostgreSQLFacts, host: HostFacts | None) -> Advice | None:
    """More than 40 % of the memory."""
    present = server.settings.number("shared_buffers")
    if present is None or host is None or not host.memory_bytes:
        return None
    if present <= 0.4 * host.memory_bytes:
        return None
    proposed = round_size(host.memory_bytes / 4)
    return Advice(
        seen=f"shared_buffers = {server.settings.text('shared_buffers')}, "
        f"{share(present, host.memory_bytes):.0f} % of {format_size(host.memory_bytes)}",
        why="PostgreSQL relies on the kernel's cache too, and each session needs memory beside it; "
        "the manual finds more than 40 % unlikely to work better than less",
        change=f"shared_buffers = {setting_size(proposed)}: 25 % of memory",
        risk="none for data; a restart is needed",
        measure=Measure(
            "target.shared_buffers",
            (setting_size(present), setting_size(proposed)),
        ),
    )


@postgresql_rule(
    "work-mem",
    "sorts and hashes spill to temporary files",
    Severity.SPEED,
    postgresql_manual(f"{_RESOURCES}: work_mem", f"{_PAGE}#GUC-WORK-MEM"),
)
def work_mem(server: PostgreSQLFacts, host: HostFacts | None) -> Advice | None:
    """More than ten temporary files an hour, and more than 100 MB in all."""
    activity, present = server.activity, server.settings.number("work_mem")
    if activity is None or present is None or activity.temp_bytes < 100 * MB:
        return None
    hours = max(activity.statistics_span_s, activity.uptime_s, 1.0) / 3600
    if activity.temp_files / hours <= 10:
        return None
    mean = activity.temp_bytes / max(activity.temp_files, 1)
    sessions = max(activity.sessions, 10)
    room = (host.memory_bytes / 4 if host else 4 * GB) / sessions
    proposed = round_size(min(max(2 * mean, 2 * present), max(room, 2 * present)))
    return Advice(
        seen=f"{activity.temp_files} temporary files, {format_size(activity.temp_bytes)} in all, "
        f"{format_size(mean)} on average; work_mem = {server.settings.text('work_mem')}",
        why="a sort or hash that does not fit into work_mem is written to disk and read back",
        change=f"work_mem = {setting_size(proposed)}: twice the mean file, at most a quarter of "
        f"memory over {sessions} sessions; best for the role or query that spills "
        "(log_temp_files = 0 shows which)",
        risk="none for data; each sort of each session may take it at once, a hash "
        "hash_mem_multiplier times as much, and too much ends in swap or in the kernel killing the "
        "server",
        measure=Measure(
            "target.work_mem",
            (server.settings.text("work_mem") or "4MB", setting_size(proposed)),
            "order entry does not spill: it shows whether the larger value costs anything",
        ),
    )


@postgresql_rule(
    "effective-cache-size",
    "the planner is told of a cache that is not there, or not told of one that is",
    Severity.LOOK,
    postgresql_manual(
        "19.7. Query Planning: effective_cache_size",
        "runtime-config-query.html#GUC-EFFECTIVE-CACHE-SIZE",
    ),
)
def effective_cache_size(server: PostgreSQLFacts, host: HostFacts | None) -> Advice | None:
    """Above the memory; or below a quarter of it or shared_buffers, with more data than that."""
    present = server.settings.number("effective_cache_size")
    buffers = server.settings.number("shared_buffers")
    if present is None or buffers is None or host is None or host.memory_bytes < GB:
        return None
    small = present < max(host.memory_bytes / 4, buffers) and (server.data_bytes or 0) > present
    if not small and present <= host.memory_bytes:
        return None
    proposed = round_size(host.memory_bytes * 0.75)
    return Advice(
        seen=f"effective_cache_size = {server.settings.text('effective_cache_size')} with "
        f"{format_size(host.memory_bytes)} of memory",
        why="nothing is allocated by it; too low and the planner prefers scans of whole tables, "
        "too "
        "high and it trusts in index pages that must be read from disk",
        change=f"effective_cache_size = {setting_size(proposed)}: 75 % of memory, what "
        f"shared_buffers "
        "and the kernel's cache can hold on a machine of its own",
        risk="none for data; plans may change",
        measure=Measure(
            "target.effective_cache_size",
            (
                server.settings.text("effective_cache_size") or "4GB",
                setting_size(proposed),
            ),
            "the plans of order entry are fixed by its keys: expect no change there",
        ),
    )


@postgresql_rule(
    "max-connections",
    "far more sessions are allowed than processors can serve",
    Severity.LOOK,
    postgresql_manual(
        "19.3. Connections and Authentication: max_connections",
        "runtime-config-connection.html#GUC-MAX-CONNECTIONS",
    ),
)
def max_connections(server: PostgreSQLFacts, host: HostFacts | None) -> Advice | None:
    """Above the larger of 500 and 50 for each processor."""
    present = server.settings.number("max_connections")
    cores = host.cores if host else 10
    if present is None or present <= max(500, 50 * cores):
        return None
    used = server.activity.sessions if server.activity else 0
    proposed = max(100, 20 * cores, 2 * used)
    if proposed >= present:
        return None
    return Advice(
        seen=f"max_connections = {present:g} with {cores} processors; {used} sessions now",
        why="locks and shared memory are sized by it, and each session may take work_mem several "
        "times; more active sessions than processors wait for each other",
        change=f"max_connections = {proposed}: the largest of 100, 20 for each processor and twice "
        "the sessions of now; a pooler (PgBouncer) in front of more users",
        risk="none for data; sessions beyond it are refused",
        measure=Measure("target.max_connections", (int(present), proposed)),
    )


@postgresql_rule(
    "connections-used-up",
    "nearly all sessions that are allowed are in use",
    Severity.LOOK,
    postgresql_manual(
        "19.3. Connections and Authentication: max_connections",
        "runtime-config-connection.html#GUC-MAX-CONNECTIONS",
    ),
)
def connections_used_up(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """More than 85 % of max_connections."""
    most = server.settings.number("max_connections")
    if server.activity is None or not most or server.activity.sessions <= 0.85 * most:
        return None
    return Advice(
        seen=f"{server.activity.sessions} of {most:g} sessions",
        why="the next users are refused: FATAL: sorry, too many clients already",
        change="a pooler (PgBouncer) in front of the server; or a higher max_connections where "
        "there "
        "is memory for it",
        risk="none for data; each session takes memory",
        measure="nothing to measure: it is about being let in",
    )


@postgresql_rule(
    "nofile",
    "the server may open fewer files than each of its sessions is set to keep open",
    Severity.LOOK,
    postgresql_manual(f"{_RESOURCES}: max_files_per_process", f"{_PAGE}#GUC-MAX-FILES-PER-PROCESS"),
)
def nofile(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """The limit of the server's process is below max_files_per_process."""
    wanted = server.settings.number("max_files_per_process") or 1000
    if server.process is None or server.process.nofile is None:
        return None
    if server.process.nofile >= wanted:
        return None
    return Advice(
        seen=f"the server's limit of open files is {server.process.nofile}, "
        f"max_files_per_process = {wanted:g}",
        why="with many tables and indexes each session closes one file to open another",
        change="LimitNOFILE=65536 in the service that starts the server",
        risk="none for data; the system's limit fs.file-max must allow it for all sessions",
        measure=Measure("host.server.nofile", (server.process.nofile, 65536)),
    )
