"""MariaDB's memory: buffer pool, huge pages, temporary tables."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts, MariaDBFacts
from loadstone.doctor.model import Advice, Measure, Severity
from loadstone.doctor.rules.base import (
    MARIADB_INNODB,
    MARIADB_TUNING,
    MARIADB_VARIABLES,
    kernel,
    mariadb_manual,
    mariadb_rule,
    round_size,
    share,
)
from loadstone.units import format_size

GB = 1024**3
MB = 1024**2
_INNODB = f"{MARIADB_INNODB}/innodb-system-variables"
_SERVER = f"{MARIADB_VARIABLES}/server-system-variables"
_POOL = f"{MARIADB_INNODB}/innodb-buffer-pool"


@mariadb_rule(
    "buffer-pool",
    "innodb_buffer_pool_size is small for the memory and the data",
    Severity.SPEED,
    mariadb_manual(
        f"{MARIADB_TUNING}/mariadb-memory-allocation",
        "MariaDB Memory Allocation: 70 % of available memory",
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
        "of memory (the manual: 70 % of what is available to it) and 125 % of the data",
        risk="none for data; too much ends in swap. It can be changed while the server runs, in "
        "some versions only up to innodb_buffer_pool_size_max",
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
    mariadb_manual(f"{_INNODB}#innodb_buffer_pool_size", "innodb_buffer_pool_size"),
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
        why="sessions, temporary tables and the system need memory too, or the machine swaps or "
        "the kernel kills the server: the manual goes up to 80 %",
        change=f"innodb_buffer_pool_size = {proposed} ({format_size(proposed)}): 60 % of memory",
        risk="none for data",
        measure=Measure("target.innodb_buffer_pool_size", (int(present), proposed)),
    )


@mariadb_rule(
    "hit-rate",
    "many page requests go to the disk although all data would fit into memory",
    Severity.SPEED,
    mariadb_manual(
        f"{_POOL}#dumping-and-restoring-the-buffer-pool",
        "InnoDB Buffer Pool: Dumping and Restoring the Buffer Pool",
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
        f"{_POOL}#innodb_buffer_pool_size", "InnoDB Buffer Pool: innodb_buffer_pool_size"
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
    mariadb_manual(f"{_SERVER}#tmp_table_size", "tmp_table_size"),
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
    "large-pages",
    "large_pages is on, and there are too few huge pages for the buffer pool",
    Severity.LOOK,
    mariadb_manual(f"{_SERVER}#large_pages", "large_pages"),
)
def large_pages(server: MariaDBFacts, host: HostFacts | None) -> Advice | None:
    """Fewer are in use, or free before the start, than the buffer pool needs."""
    pool = server.settings.number("innodb_buffer_pool_size")
    if host is None or pool is None or not server.settings.on("large_pages"):
        return None
    needed = int(pool // host.huge_page_bytes) + 1
    used = host.huge_pages - host.huge_pages_free
    if (used if server.running else host.huge_pages_free) >= 0.9 * needed:
        return None
    return Advice(
        seen=f"large_pages = ON; innodb_buffer_pool_size = {format_size(pool)} needs {needed} huge "
        f"pages of {format_size(host.huge_page_bytes)}; vm.nr_hugepages = {host.huge_pages}, "
        f"{host.huge_pages_free} free",
        why="what finds no huge pages lies in pages of 4 kB, with no more than a warning in the "
        "log; huge pages that are too few for it are lost to everything else",
        change=f"vm.nr_hugepages = {needed + 16}, LimitMEMLOCK=infinity in the service, and a "
        "restart; or large_pages = OFF",
        risk="none for data; that memory is lost to everything else",
        measure=Measure(
            "host.vm.nr_hugepages",
            (host.huge_pages, host.huge_pages + needed + 16),
            settings={"large_pages": "ON"},
        ),
    )


@mariadb_rule(
    "transparent-huge-pages",
    "the kernel gives the server huge pages that it did not ask for",
    Severity.LOOK,
    kernel("Transparent Hugepage Support", "admin-guide/mm/transhuge.html"),
)
def transparent_huge_pages(server: MariaDBFacts, host: HostFacts | None) -> Advice | None:
    """They are forced on every process, and more than a tenth of the server's memory is in them."""
    process = server.process
    if host is None or process is None or host.transparent_huge_pages != "always":
        return None
    huge, resident = process.transparent_huge_bytes or 0, process.resident_bytes or 0
    if share(huge, resident) <= 10:
        return None
    return Advice(
        seen=f"{format_size(huge)} of the server's {format_size(resident)} are transparent huge "
        "pages; /sys/kernel/mm/transparent_hugepage/enabled = always",
        why="a whole 2 MB is taken where 4 kB are used, and what the allocator gives back in parts "
        "stays taken: the server can grow beyond what its settings say",
        change="write madvise to that file at boot, and restart the server; with large_pages = ON "
        "the buffer pool still has huge pages",
        risk="none for data; other programs on this machine may lose a little",
        measure=Measure("host.transparent_hugepages", ("always", "madvise")),
    )
