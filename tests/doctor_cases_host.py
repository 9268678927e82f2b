"""Of each rule about a host or a SQLite file: a fault, and the same with nothing wrong."""

from __future__ import annotations

from doctor_facts import (
    GB,
    MB,
    disk,
    host,
    place,
    sqlite,
    sysctl,
)

from loadstone.doctor.facts import Facts

Case = tuple[Facts, Facts, str]
"""Where the rule fires, where it is just silent, and what the advice must say."""

CASES: dict[str, Case] = {
    "host.processor-quota": (
        host(processor_quota=0.5, throttled_percent=99.2),
        host(processor_quota=0.5, throttled_percent=4.0),
        "a quota of 0.5 processors, used up in 99 %",
    ),
    "host.memory-limit": (
        host(memory_limit_bytes=2 * GB, memory_limit_kills=3),
        host(memory_limit_bytes=2 * GB, memory_limit_kills=0),
        "3 processes killed in a group with a limit of 2 GB",
    ),
    "host.swap-in-use": (
        host(swap_total_bytes=8 * GB, swap_used_bytes=GB, swapped_in_pages=5),
        host(swap_total_bytes=8 * GB, swap_used_bytes=GB, swapped_in_pages=0),
        "1 GB of 8 GB",
    ),
    "host.swappiness": (
        host(swap_total_bytes=GB),
        sysctl("vm.swappiness", 10, swap_total_bytes=GB),
        "vm.swappiness = 60",
    ),
    "host.transparent-huge-pages": (
        host(transparent_huge_pages="always"),
        host(transparent_huge_pages="never"),
        "always",
    ),
    "host.huge-pages-unused": (
        host(huge_pages=1000, huge_pages_free=1000),
        host(huge_pages=1000, huge_pages_free=100),
        "1000 of 1000",
    ),
    "host.overcommit": (
        sysctl("vm.overcommit_memory", 1),
        sysctl("vm.overcommit_memory", 0),
        "vm.overcommit_memory = 1",
    ),
    "host.oom-kills": (host(oom_kills=2), host(oom_kills=0), "2 processes"),
    "host.dirty-pages": (
        sysctl("vm.dirty_background_ratio", 20),
        sysctl("vm.dirty_background_ratio", 12),
        "vm.dirty_background_ratio = 3 (256MB of 8 GB",
    ),
    "host.zone-reclaim": (
        sysctl("vm.zone_reclaim_mode", 1),
        sysctl("vm.zone_reclaim_mode", 0),
        "= 1",
    ),
    "host.nofile": (host(nofile=1024), host(nofile=4096), "1024"),
    "host.somaxconn": (
        sysctl("net.core.somaxconn", 128),
        sysctl("net.core.somaxconn", 1024),
        "= 128",
    ),
    "host.governor": (host(governor="powersave"), host(governor="schedutil"), "powersave"),
    "host.energy-preference": (
        host(energy_preference="balance_power"),
        host(energy_preference="balance_performance"),
        "balance_power",
    ),
    "host.frequency-limited": (
        host(frequency_limit_khz=2_100_000, frequency_most_khz=3_700_000),
        host(frequency_limit_khz=3_700_000, frequency_most_khz=3_700_000),
        "scaling_max_freq is 2100MHz; cpuinfo_max_freq is 3700MHz",
    ),
    "host.prefetchers-off": (
        host(prefetchers="off: l2, l1_ip"),
        host(prefetchers="on"),
        "off: l2, l1_ip",
    ),
    "host.turbo-off": (host(turbo=False), host(turbo=True), "off"),
    "host.smt": (host(smt=True), host(smt=False), "SMT"),
    "host.clock-source": (host(clock_source="hpet"), host(clock_source="kvm-clock"), "echo tsc"),
    "host.virtual-machine": (host(virtualisation="kvm"), host(virtualisation="none"), "kvm"),
    "host.steal": (host(steal_percent=7.5), host(steal_percent=1.5), "7.5 %"),
    "host.numa-balancing": (
        sysctl("kernel.numa_balancing", 1, numa_nodes=2),
        sysctl("kernel.numa_balancing", 1, numa_nodes=1),
        "2 nodes",
    ),
    "host.mitigations": (
        host(mitigations={"spectre_v1": "Mitigation: barriers", "mds": "Vulnerable"}),
        host(mitigations={"mds": "Not affected"}),
        "vulnerable: mds",
    ),
    "host.access-time": (
        place(options=("rw",)),
        place(options=("rw", "relatime")),
        "noatime",
    ),
    "host.barriers-off": (
        place(options=("rw", "noatime", "nobarrier")),
        place(options=("rw", "noatime", "barrier")),
        "nobarrier",
    ),
    "host.data-writeback": (
        place(options=("noatime", "data=writeback")),
        place(options=("noatime", "data=ordered")),
        "data=writeback",
    ),
    "host.volatile-storage": (place(file_system="tmpfs"), place(file_system="xfs"), "tmpfs"),
    "host.nfs-soft": (
        place(file_system="nfs4", options=("rw", "soft")),
        place(file_system="nfs4", options=("rw", "hard")),
        "soft",
    ),
    "host.disk-space": (place(free_bytes=3 * GB), place(free_bytes=6 * GB), "3 GB of 100 GB"),
    "host.flushes-not-sent": (
        disk(write_cache="write through", flushes=0, writes=12_000),
        disk(write_cache="write back", flushes=0, writes=12_000),
        "0 flushes and 12,000 writes",
    ),
    "host.flushes-dropped": (
        place(drops_flushes="fuamode=discard"),
        place(drops_flushes=None),
        "fuamode=discard",
    ),
    "host.flushes-unseen": (
        disk(virtual=True, flushes=7, writes=9),
        disk(virtual=False, flushes=7, writes=9),
        "7 flushes and 9 writes",
    ),
    "host.scheduler": (disk(scheduler="bfq"), disk(scheduler="bfq", rotational=True), "echo none"),
    "host.read-ahead": (disk(read_ahead_kb=8192), disk(read_ahead_kb=1024), "8192"),
    "sqlite.damaged": (sqlite(damage="page 7: bad"), sqlite(damage=None), "page 7"),
    "sqlite.hot-journal": (sqlite(hot_journal=True), sqlite(hot_journal=False), "-journal"),
    "sqlite.journal-off": (sqlite(journal_mode="memory"), sqlite(journal_mode="wal"), "memory"),
    "sqlite.synchronous-off": (sqlite(synchronous="off"), sqlite(synchronous="full"), "off"),
    "sqlite.synchronous-normal": (
        sqlite(synchronous="normal"),
        sqlite(synchronous="extra"),
        "normal",
    ),
    "sqlite.rollback-journal": (
        sqlite(journal_mode="delete"),
        sqlite(journal_mode="wal"),
        "delete",
    ),
    "sqlite.network-file-system": (
        sqlite(place(file_system="nfs4").host),
        sqlite(place(file_system="xfs").host),
        "nfs4",
    ),
    "sqlite.wal-size": (sqlite(wal_bytes=GB), sqlite(wal_bytes=60 * MB), "1 GB"),
    "sqlite.page-size": (sqlite(page_bytes=1024), sqlite(page_bytes=8192), "1024"),
    "sqlite.free-pages": (sqlite(free_pages=50_000), sqlite(free_pages=20_000), "195 MB"),
}
