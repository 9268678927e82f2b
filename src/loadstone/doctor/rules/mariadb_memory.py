"""MariaDB's memory and tables: buffer pool, temporary tables, caches, sessions."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts, MariaDBFacts
from loadstone.doctor.model import Advice, Measure, Severity
from loadstone.doctor.rules.base import mariadb_manual, mariadb_rule, round_size, share
from loadstone.units import format_size

GB = 1024**3
MB = 1024**2
_INNODB = "innodb-system-variables"
_SERVER = "server-system-variables"


@mariadb_rule(
    "buffer-pool",
    "innodb_buffer_pool_size is small for the memory and the data",
    Severity.SPEED,
    mariadb_manual(
        "mariadb-memory-allocation", "", "Memory allocation: 60 to 70 % of available memory"
    ),
)
def buffer_pool(server: MariaDBFacts, host: HostFacts | None) -> Advice | None:
    """Less than a quarter of the memory, and less than the data."""
    present, data = server.settings.number("innodb_buffer_pool_size"), server.data_bytes
    if present is None or host is None or data is None or host.memory_bytes < GB:
        return None
    if present >= min(host.memory_bytes / 4, data):
        return None
    proposed = max(round_size(min(host.memory_bytes * 0.6, data * 1.25)), 128 * MB)
    if proposed <= present:
        return None
    return Advice(
        seen=f"innodb_buffer_pool_size = {format_size(present)} with "
        f"{format_size(host.memory_bytes)} of memory and {format_size(data)} of data"
        + _misses(server),
        why="with innodb_flush_method = O_DIRECT there is no other cache: what is not in the "
        "buffer "
        "pool comes from the disk",
        change=f"innodb_buffer_pool_size = {proposed} ({format_size(proposed)}): the smaller of "
        f"60 % "
        "of memory (the manual's start value) and 125 % of the data",
        risk="none for data; too much ends in swap. It can be changed while the server runs",
        measure=Measure("target.innodb_buffer_pool_size", (int(present), proposed)),
    )


def _misses(server: MariaDBFacts) -> str:
    asked = server.count("Innodb_buffer_pool_read_requests")
    if asked < 100_000:
        return ""
    return (
        f"; {share(server.count('Innodb_buffer_pool_reads'), asked):.2f} % of page requests miss it"
    )


@mariadb_rule(
    "buffer-pool-large",
    "innodb_buffer_pool_size leaves too little memory for everything else",
    Severity.SPEED,
    mariadb_manual(
        "mariadb-memory-allocation", "", "Memory allocation: 60 to 70 % of available memory"
    ),
)
def buffer_pool_large(server: MariaDBFacts, host: HostFacts | None) -> Advice | None:
    """More than 85 % of the memory."""
    present = server.settings.number("innodb_buffer_pool_size")
    if present is None or host is None or not host.memory_bytes:
        return None
    if present <= 0.85 * host.memory_bytes:
        return None
    proposed = round_size(0.6 * host.memory_bytes)
    return Advice(
        seen=f"innodb_buffer_pool_size = {format_size(present)}, "
        f"{share(present, host.memory_bytes):.0f} % of {format_size(host.memory_bytes)}",
        why="sessions, temporary tables and the system need memory too: the machine swaps, or the "
        "kernel kills the server",
        change=f"innodb_buffer_pool_size = {proposed} ({format_size(proposed)}): 60 % of memory",
        risk="none for data",
        measure=Measure("target.innodb_buffer_pool_size", (int(present), proposed)),
    )


@mariadb_rule(
    "hit-rate",
    "many page requests go to the disk although all data would fit into memory",
    Severity.SPEED,
    mariadb_manual(
        "innodb-status-variables", "#innodb_buffer_pool_reads", "InnoDB status variables"
    ),
)
def hit_rate(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """More than 1 % of a million requests or more miss, and the pool holds the data already."""
    asked = server.count("Innodb_buffer_pool_read_requests")
    reads = server.count("Innodb_buffer_pool_reads")
    present = server.settings.number("innodb_buffer_pool_size")
    if asked < 1_000_000 or present is None or share(reads, asked) <= 1:
        return None
    if server.data_bytes is None or present < server.data_bytes:
        return None
    return Advice(
        seen=f"{share(reads, asked):.2f} % of {asked:,.0f} page requests were read from disk; the "
        f"pool of {format_size(present)} is larger than the data "
        f"({format_size(server.data_bytes)})",
        why="the pool is cold: the server was started not long ago, or did not load what it had "
        "before",
        change="innodb_buffer_pool_dump_at_shutdown = ON and innodb_buffer_pool_load_at_startup "
        "= ON",
        risk="none for data; reading the pool back takes the disk for a while after a start",
        measure="Loadstone makes each trial's cache warm or cold itself",
    )


@mariadb_rule(
    "buffer-pool-waits",
    "queries wait for a free page in the buffer pool",
    Severity.SPEED,
    mariadb_manual(
        "innodb-status-variables", "#innodb_buffer_pool_wait_free", "InnoDB status variables"
    ),
)
def buffer_pool_waits(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """Innodb_buffer_pool_wait_free grew by more than one an hour."""
    waits = server.count("Innodb_buffer_pool_wait_free")
    if waits / server.uptime_s * 3600 <= 1 or waits < 10:
        return None
    capacity = server.settings.number("innodb_io_capacity") or 200
    return Advice(
        seen=f"Innodb_buffer_pool_wait_free = {waits:g}; innodb_io_capacity = {capacity:g}",
        why="no clean page was free, so a query had to wait until a dirty one was written",
        change=f"innodb_io_capacity = {10 * capacity:g} where the disk can do so many writes a "
        f"second, "
        "or a larger buffer pool",
        risk="none for data; more background writes",
        measure=Measure(
            "target.innodb_io_capacity", (int(capacity), int(10 * capacity)), measure_s=120.0
        ),
    )


@mariadb_rule(
    "temporary-tables",
    "many temporary tables of queries go to disk",
    Severity.LOOK,
    mariadb_manual(_SERVER, "#tmp_table_size", "tmp_table_size, max_heap_table_size"),
)
def temporary_tables(server: MariaDBFacts, _host: HostFacts | None) -> Advice | None:
    """More than a quarter of them, more than 100, and more than 10 an hour."""
    on_disk, all_ = server.count("Created_tmp_disk_tables"), server.count("Created_tmp_tables")
    if on_disk < 100 or share(on_disk, all_) <= 25 or on_disk / server.uptime_s * 3600 <= 10:
        return None
    present = min(
        server.settings.number("tmp_table_size") or 16 * MB,
        server.settings.number("max_heap_table_size") or 16 * MB,
    )
    proposed = int(min(4 * present, 256 * MB))
    return Advice(
        seen=f"{on_disk:,.0f} of {all_:,.0f} temporary tables ({share(on_disk, all_):.0f} %) "
        f"were on "
        f"disk; the smaller of tmp_table_size and max_heap_table_size is {format_size(present)}",
        why="a temporary table that outgrows memory is written to disk and read back; one with "
        "BLOB "
        "or TEXT columns always is, whatever the size",
        change=f"tmp_table_size and max_heap_table_size = {proposed} ({format_size(proposed)}): "
        f"four "
        "times the present, at most 256 MB; or an index that makes the temporary table needless",
        risk="none for data; each query may take so much",
        measure=Measure(
            "target.tmp_table_size",
            (int(present), proposed),
            "order entry makes few: it shows whether the larger value costs anything",
            settings={"max_heap_table_size": proposed},
        ),
    )


@mariadb_rule(
    "table-cache",
    "tables are closed to open others",
    Severity.SPEED,
    mariadb_manual("optimizing-table_open_cache", "", "Optimizing table_open_cache"),
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
        why="each opening reads the table's definition and takes a global lock",
        change=f"table_open_cache = {proposed}: four times the present, at least the default of "
        f"2000",
        risk="none for data; needs open files: open_files_limit",
        measure=Measure("target.table_open_cache", (int(size), proposed), users=64),
    )


@mariadb_rule(
    "open-files",
    "the server may open fewer files than its sessions and tables need",
    Severity.LOOK,
    mariadb_manual(_SERVER, "#open_files_limit", "open_files_limit"),
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
    mariadb_manual("query-cache", "", "Query cache"),
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
    mariadb_manual(_SERVER, "#thread_cache_size", "thread_cache_size"),
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
        why="making and ending a thread costs more than a short query",
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
    mariadb_manual("handling-too-many-connections", "", "Handling too many connections"),
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
