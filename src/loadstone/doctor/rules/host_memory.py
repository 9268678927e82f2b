"""Memory of the host: swap, huge pages, overcommit, dirty pages, limits of the kernel."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts
from loadstone.doctor.model import Advice, Measure, Severity
from loadstone.doctor.rules.base import (
    MARIADB_LINUX,
    host_rule,
    kernel,
    mariadb_manual,
    postgresql_manual,
    setting_size,
    share,
)
from loadstone.units import format_size

MB = 1024**2
BACKGROUND_BYTES = 256 * MB
"""Dirty memory that a disk of a few hundred MB/s writes in about a second."""


@host_rule(
    "swap-in-use",
    "memory of processes lies in swap and is read back from it",
    Severity.SPEED,
    mariadb_manual(
        f"{MARIADB_LINUX}/configuring-swappiness#why-to-avoid-swapping",
        "Configuring Swappiness: Why to Avoid Swapping",
    ),
)
def swap_in_use(host: HostFacts) -> Advice | None:
    """More than 1 % of memory and 64 MB are swapped out, and pages came back."""
    least = max(64 * MB, host.memory_bytes // 100)
    if host.swap_used_bytes <= least or host.swapped_in_pages == 0:
        return None
    return Advice(
        seen=f"{format_size(host.swap_used_bytes)} of {format_size(host.swap_total_bytes)} swap in "
        f"use, {host.swapped_in_pages} pages read back since boot",
        why="a query that touches swapped memory waits for the disk while it may hold locks, and "
        "a page of a database's cache that lies in swap is worse than one on the disk",
        change="find what fills the memory, and give the database no more than what is left: "
        "cache + sessions x memory of each below "
        f"{format_size(host.memory_bytes)}",
        risk="none for data; less cache may mean more reading",
        measure="the load that fills the memory is yours: nothing of Loadstone's own is like it",
    )


@host_rule(
    "swappiness",
    "the kernel prefers to swap out a database's memory over dropping cached files",
    Severity.LOOK,
    mariadb_manual(
        f"{MARIADB_LINUX}/configuring-swappiness#setting-swappiness-on-linux",
        "Configuring Swappiness: Setting Swappiness on Linux",
    ),
)
def swappiness(host: HostFacts) -> Advice | None:
    """There is swap, and vm.swappiness is above 10."""
    value = host.number("vm.swappiness")
    if host.swap_total_bytes == 0 or value is None or value <= 10:
        return None
    return Advice(
        seen=f"vm.swappiness = {value}, {format_size(host.swap_total_bytes)} of swap",
        why="the kernel swaps out rarely used pages of the database's cache to make room for "
        "cached "
        "files, which the database has in its own cache already",
        change="vm.swappiness = 1 in /etc/sysctl.d, which MariaDB's manual recommends: swap only "
        "to avoid running out of memory",
        risk="none for data; less warning before memory runs out",
        measure=Measure(
            "host.vm.swappiness",
            (value, 1),
            "it shows a difference only when memory is short on this machine",
        ),
    )


@host_rule(
    "transparent-huge-pages",
    "transparent huge pages are forced on every process",
    Severity.SPEED,
    postgresql_manual(
        "19.4. Resource Consumption: huge_pages",
        "runtime-config-resource.html#GUC-HUGE-PAGES",
    ),
)
def transparent_huge_pages(host: HostFacts) -> Advice | None:
    """The kernel's `enabled` is `always`."""
    if host.transparent_huge_pages != "always":
        return None
    return Advice(
        seen="/sys/kernel/mm/transparent_hugepage/enabled = always",
        why="the kernel stops processes to compact memory and gives small allocations 2 MB pages; "
        "PostgreSQL's manual discourages it for degraded performance on some kernels",
        change="write madvise to that file at boot (transparent_hugepage=madvise on the kernel's "
        "command line); programs that want huge pages still get them",
        risk="none for data; other programs on this machine may lose a little",
        measure=Measure("host.transparent_hugepages", ("always", "madvise")),
    )


@host_rule(
    "huge-pages-unused",
    "memory is set aside as huge pages and nobody uses it",
    Severity.LOOK,
    kernel("HugeTLB pages", "admin-guide/mm/hugetlbpage.html"),
)
def huge_pages_unused(host: HostFacts) -> Advice | None:
    """More than 5 % of memory is reserved, and more than nine tenths of it are free."""
    reserved = host.huge_pages * host.huge_page_bytes
    if reserved <= host.memory_bytes * 0.05 or host.huge_pages_free < 0.9 * host.huge_pages:
        return None
    return Advice(
        seen=f"{host.huge_pages_free} of {host.huge_pages} huge pages are free: "
        f"{format_size(host.huge_pages_free * host.huge_page_bytes)}",
        why="reserved huge pages are lost to everything else, the page cache included",
        change="start the database with huge pages (huge_pages = on, large_pages = ON), or give "
        "the "
        "memory back: vm.nr_hugepages = 0",
        risk="none for data",
        measure=Measure("host.vm.nr_hugepages", (host.huge_pages, 0)),
    )


@host_rule(
    "overcommit",
    "the kernel promises more memory than there is, without limit",
    Severity.DATA,
    postgresql_manual(
        "18.4. Managing Kernel Resources: Linux Memory Overcommit",
        "kernel-resources.html#LINUX-MEMORY-OVERCOMMIT",
    ),
)
def overcommit(host: HostFacts) -> Advice | None:
    """vm.overcommit_memory is 1."""
    if host.number("vm.overcommit_memory") != 1:
        return None
    return Advice(
        seen="vm.overcommit_memory = 1",
        why="no allocation is ever refused, so when memory runs out the kernel kills a process, "
        "and "
        "the largest is the database: all sessions end and it recovers from its log",
        change="vm.overcommit_memory = 2 on a machine that is the database's alone, else 0",
        risk="with 2, an allocation beyond swap + vm.overcommit_ratio percent of memory fails: a "
        "query ends with 'out of memory' instead of the server",
        measure="nothing to measure: it decides what happens when memory runs out",
    )


@host_rule(
    "oom-kills",
    "the kernel killed processes because memory ran out",
    Severity.LOOK,
    postgresql_manual(
        "18.4. Managing Kernel Resources: Linux Memory Overcommit",
        "kernel-resources.html#LINUX-MEMORY-OVERCOMMIT",
    ),
)
def oom_kills(host: HostFacts) -> Advice | None:
    """The kernel's counter is not zero."""
    if host.oom_kills == 0:
        return None
    return Advice(
        seen=f"{host.oom_kills} processes killed since boot (oom_kill in /proc/vmstat)",
        why="if one of them is a database's, all its sessions end and it must recover; PostgreSQL "
        "restarts all its processes even if only one session's was killed",
        change="see the kernel's log (dmesg) for which; lower the memory of the database: cache + "
        f"sessions x memory of each below {format_size(host.memory_bytes)}",
        risk="none for data; less cache may mean more reading",
        measure="the load that fills the memory is yours: nothing of Loadstone's own is like it",
    )


@host_rule(
    "dirty-pages",
    "the kernel lets more than 1 GB of written data gather before it begins to write it out",
    Severity.LOOK,
    kernel(
        "sysctl vm, dirty_background_ratio", "admin-guide/sysctl/vm.html#dirty-background-ratio"
    ),
)
def dirty_pages(host: HostFacts) -> Advice | None:
    """vm.dirty_background_bytes, or its ratio of the available memory, is above 1 GB."""
    as_bytes = host.number("vm.dirty_background_bytes") or 0
    ratio = host.number("vm.dirty_background_ratio") or 0
    available = host.available_bytes or host.memory_bytes
    limit = as_bytes or available * ratio // 100
    if limit <= 1024 * MB:
        return None
    proposed = max(1, round(share(BACKGROUND_BYTES, available)))
    formula = f"{setting_size(BACKGROUND_BYTES)} of {format_size(available)} available memory"
    seen = (
        f"vm.dirty_background_bytes = {as_bytes}"
        if as_bytes
        else f"vm.dirty_background_ratio = {ratio} %: {format_size(limit)}"
    )
    return Advice(
        seen=seen,
        why="writes gather for long and then go out at once: an fsync at a commit or at the end of "
        "a checkpoint waits behind gigabytes of them. Databases that write past the page cache "
        "(O_DIRECT) do not notice, and PostgreSQL has most of its own written out early "
        "(checkpoint_flush_after, bgwriter_flush_after)",
        change=f"vm.dirty_background_ratio = {proposed} ({formula}, about a second of a disk's "
        "writing), or in bytes: vm.dirty_background_bytes",
        risk="none for data; a file that is rewritten often is written out more often",
        measure="the limit is set in bytes, and is put back as bytes by hand only"
        if as_bytes
        else Measure(
            "host.vm.dirty_background_ratio",
            (ratio, proposed),
            "watch the 99th percentile: stalls hide in it",
            measure_s=60.0,
        ),
    )


@host_rule(
    "zone-reclaim",
    "memory of one NUMA node is emptied although others have room",
    Severity.SPEED,
    kernel("sysctl vm, zone_reclaim_mode", "admin-guide/sysctl/vm.html#zone-reclaim-mode"),
)
def zone_reclaim(host: HostFacts) -> Advice | None:
    """vm.zone_reclaim_mode is not 0."""
    value = host.number("vm.zone_reclaim_mode")
    if not value:
        return None
    return Advice(
        seen=f"vm.zone_reclaim_mode = {value}",
        why="cached files of the database are thrown away while other nodes have free memory; the "
        "kernel's documentation says to leave it off where data should stay cached",
        change="vm.zone_reclaim_mode = 0",
        risk="none for data",
        measure=Measure("host.vm.zone_reclaim_mode", (value, 0)),
    )


@host_rule(
    "nofile",
    "programs started from this shell may open few files",
    Severity.LOOK,
    postgresql_manual(
        "18.4. Managing Kernel Resources: Resource Limits",
        "kernel-resources.html#KERNEL-RESOURCES-LIMITS",
    ),
)
def nofile(host: HostFacts) -> Advice | None:
    """The soft limit of open files is below 4096."""
    if host.nofile is None or host.nofile >= 4096:
        return None
    hard = f", hard limit {host.nofile_hard}" if host.nofile_hard is not None else ""
    return Advice(
        seen=f"ulimit -n is {host.nofile}{hard}",
        why="a session is a file: servers and load drivers started here end at about as many "
        "sessions, and a database opens and closes its tables' files instead of keeping them",
        change="LimitNOFILE=65536 in the service, or nofile in /etc/security/limits.d",
        risk="none for data",
        measure=Measure(
            "host.server.nofile",
            (host.nofile, 65536),
            "shows whether the database itself runs short; the number of sessions it does not show",
        ),
    )


@host_rule(
    "somaxconn",
    "few connections may wait to be accepted",
    Severity.LOOK,
    kernel("IP sysctl, somaxconn", "networking/ip-sysctl.html#tcp-variables"),
)
def somaxconn(host: HostFacts) -> Advice | None:
    """net.core.somaxconn is below 1024."""
    value = host.number("net.core.somaxconn")
    if value is None or value >= 1024:
        return None
    return Advice(
        seen=f"net.core.somaxconn = {value}",
        why="when many users connect at once, connections beyond this queue are dropped and tried "
        "again after a second",
        change="net.core.somaxconn = 4096, the kernel's own default since Linux 5.4, and a restart "
        "of the server",
        risk="none for data",
        measure=Measure(
            "host.net.core.somaxconn",
            (value, 4096),
            "sessions stay open in it, so only their start is touched",
            users=64,
        ),
    )
