"""PostgreSQL's shared memory: huge pages for its buffers, /dev/shm for its parallel queries."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts, PostgreSQLFacts
from loadstone.doctor.model import Advice, Measure, Severity
from loadstone.doctor.rules.base import (
    larger_dev_shm,
    postgresql_manual,
    postgresql_rule,
    setting_size,
)
from loadstone.units import format_size

GB = 1024**3
MB = 1024**2
_SPARE_PAGES = 16
_HUGE_PAGES = postgresql_manual(
    "18.4. Managing Kernel Resources: Linux Huge Pages", "kernel-resources.html#LINUX-HUGE-PAGES"
)


@postgresql_rule(
    "huge-pages", "a large shared memory is mapped in pages of 4 kB", Severity.LOOK, _HUGE_PAGES
)
def huge_pages(server: PostgreSQLFacts, host: HostFacts | None) -> Advice | None:
    """shared_buffers is 1 GB or more and huge pages are off, or none are there for `try`."""
    present = server.settings.number("shared_buffers") or 0
    wish = server.settings.text("huge_pages")
    if host is None or present < GB or wish is None or wish == "on":
        return None
    status = server.activity.huge_pages_status if server.activity else None
    if status == "on":
        return None
    needed, size = _needed(server, host)
    if wish == "try" and status is None and host.huge_pages >= needed:
        return None
    return Advice(
        seen=f"huge_pages = {wish}, not in use; {_there(host)}",
        why=f"{format_size(present)} of buffers in pages of 4 kB need a page table of "
        f"{format_size(present / 4096 * 8)} in each session that touches all of it, and miss the "
        "processor's address cache more often",
        change=f"{_reserve(needed, size, host)}; then huge_pages = try or on",
        risk="none for data; that memory is lost to everything else, and with huge_pages = on the "
        "server does not start if they are missing",
        measure=Measure(
            "host.vm.nr_hugepages",
            (host.huge_pages, host.huge_pages + needed + _SPARE_PAGES),
            settings={"huge_pages": "try"},
        )
        if size == host.huge_page_bytes
        else "Loadstone reserves huge pages of the kernel's usual size only",
    )


@postgresql_rule(
    "huge-pages-missing",
    "the server will not start: it must have huge pages, and there are too few",
    Severity.DATA,
    _HUGE_PAGES,
)
def huge_pages_missing(server: PostgreSQLFacts, host: HostFacts | None) -> Advice | None:
    """huge_pages is on in a server that does not run yet, and too few are free."""
    if host is None or server.activity is not None or server.settings.text("huge_pages") != "on":
        return None
    needed, size = _needed(server, host)
    if size != host.huge_page_bytes or host.huge_pages_free >= needed:
        return None
    return Advice(
        seen=f"huge_pages = on needs {needed} huge pages of {format_size(size)} for shared_buffers "
        f"= {server.settings.text('shared_buffers')}; {_there(host)}",
        why="with on, unlike try, there is no falling back to ordinary pages",
        change=f"{_reserve(needed, size, host)}; or huge_pages = try, or less shared_buffers",
        risk="none for data; that memory is lost to everything else",
        measure="nothing to measure: it does not start",
    )


@postgresql_rule(
    "dev-shm",
    "parallel queries can need more shared memory than /dev/shm has",
    Severity.LOOK,
    postgresql_manual(
        "19.4. Resource Consumption: dynamic_shared_memory_type",
        "runtime-config-resource.html#GUC-DYNAMIC-SHARED-MEMORY-TYPE",
    ),
)
def dev_shm(server: PostgreSQLFacts, host: HostFacts | None) -> Advice | None:
    """Parallel hash joins of as many queries as there are workers for do not fit into it."""
    values = server.settings
    if host is None or host.shared_memory_bytes is None or values.off("enable_parallel_hash"):
        return None
    if values.text("dynamic_shared_memory_type") != "posix":
        return None
    workers = int(values.number("max_parallel_workers") or 0)
    of_query = min(int(values.number("max_parallel_workers_per_gather") or 0), workers)
    if of_query < 1:
        return None
    queries = workers // of_query
    table = (values.number("work_mem") or 4 * MB) * (values.number("hash_mem_multiplier") or 1)
    needed = queries * (of_query + 1) * table - (values.number("min_dynamic_shared_memory") or 0)
    if needed <= host.shared_memory_bytes:
        return None
    proposed = -(-int(2 * needed) // (64 * MB)) * 64
    return Advice(
        seen=f"{format_size(host.shared_memory_bytes)} of /dev/shm; parallel hash joins may take "
        f"{format_size(needed)}: {queries} queries x ({of_query} workers + 1) x work_mem x "
        f"hash_mem_multiplier ({setting_size(table)}), beyond min_dynamic_shared_memory",
        why="a parallel query that finds no room there fails: could not resize shared memory "
        "segment, No space left on device",
        change=f"{larger_dev_shm(f'{proposed}m')}: twice that; or a lower work_mem or "
        "max_parallel_workers_per_gather",
        risk="none for data; what lies in /dev/shm counts as memory",
        measure="nothing to measure: queries fail without it",
    )


def _needed(server: PostgreSQLFacts, host: HostFacts) -> tuple[int, int]:
    """How many huge pages the server needs, and their size."""
    size = int(server.settings.number("huge_page_size") or 0) or host.huge_page_bytes
    told = server.settings.number("shared_memory_size_in_huge_pages") or -1
    buffers = server.settings.number("shared_buffers") or 0
    return int(told) if told > 0 else int(buffers * 1.05 // size + 1), size


def _there(host: HostFacts) -> str:
    return f"vm.nr_hugepages = {host.huge_pages}, {host.huge_pages_free} free"


def _reserve(needed: int, size: int, host: HostFacts) -> str:
    """The setting that reserves them; those of another size than usual have a file of their own."""
    name = "vm.nr_hugepages"
    if size != host.huge_page_bytes:
        name = f"/sys/kernel/mm/hugepages/hugepages-{size // 1024}kB/nr_hugepages"
    return (
        f"{name} = {needed + _SPARE_PAGES}: shared memory of {needed} huge pages of "
        f"{format_size(size)}, and {_SPARE_PAGES} to spare"
    )
