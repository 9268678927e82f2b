"""The sysctls that matter for performance, with what they take; others work too, unlisted."""

from __future__ import annotations

from dataclasses import dataclass

from loadstone.host.levels import Levels, Whole, Wholes, Words

_DOCS = "https://docs.kernel.org/admin-guide/sysctl"
_INT = 2**31 - 1
_LONG = 2**63 - 1
_ULONG = 2**64 - 1
_PERCENT = Whole(0, 100, "percent")
_CENTISECS = Whole(0, _INT, "hundredths of a second")
_SWITCH = Whole(0, 1)


@dataclass(frozen=True)
class KnownSysctl:
    """What is known of a sysctl without asking a kernel."""

    about: str
    levels: Levels
    source: str


def _vm(about: str, levels: Levels) -> KnownSysctl:
    return KnownSysctl(about, levels, f"{_DOCS}/vm.html")


def _kernel(about: str, levels: Levels) -> KnownSysctl:
    return KnownSysctl(about, levels, f"{_DOCS}/kernel.html")


def _net(about: str, levels: Levels) -> KnownSysctl:
    return KnownSysctl(about, levels, f"{_DOCS}/net.html")


def _ip(about: str, levels: Levels) -> KnownSysctl:
    return KnownSysctl(about, levels, "https://docs.kernel.org/networking/ip-sysctl.html")


def _fs(about: str, levels: Levels) -> KnownSysctl:
    return KnownSysctl(about, levels, f"{_DOCS}/fs.html")


KNOWN: dict[str, KnownSysctl] = {
    "vm.dirty_ratio": _vm("dirty memory at which a writer must write itself", _PERCENT),
    "vm.dirty_bytes": _vm("the same in bytes; sets dirty_ratio to 0", Whole(8192, _LONG, "bytes")),
    "vm.dirty_background_ratio": _vm("dirty memory at which write-back begins", _PERCENT),
    "vm.dirty_background_bytes": _vm(
        "the same in bytes; sets dirty_background_ratio to 0", Whole(1, _LONG, "bytes")
    ),
    "vm.dirty_expire_centisecs": _vm("age at which dirty memory is written", _CENTISECS),
    "vm.dirty_writeback_centisecs": _vm("how often write-back wakes; 0 never", _CENTISECS),
    "vm.dirtytime_expire_seconds": _vm("age at which lazytime inodes are written", Whole(0, _INT)),
    "vm.swappiness": _vm("how readily memory is swapped instead of cache dropped", Whole(0, 200)),
    "vm.vfs_cache_pressure": _vm("how readily directory entries and inodes go", Whole(0, _INT)),
    "vm.page-cluster": _vm("pages read from swap at once, as a power of two", Whole(0, 31)),
    "vm.min_free_kbytes": _vm("memory kept free", Whole(1, _INT, "kB")),
    "vm.watermark_scale_factor": _vm(
        "distance between the watermarks of reclaim", Whole(1, 3000, "ten-thousandths of memory")
    ),
    "vm.zone_reclaim_mode": _vm("reclaim on a NUMA node before memory of another", Whole(0, 7)),
    "vm.overcommit_memory": _vm("0 guess, 1 always, 2 never beyond the limit", Whole(0, 2)),
    "vm.overcommit_ratio": _vm("limit of commitment, of memory", Whole(0, _INT, "percent")),
    "vm.overcommit_kbytes": _vm(
        "the same in kB; sets overcommit_ratio to 0", Whole(1, _LONG, "kB")
    ),
    "vm.nr_hugepages": _vm("huge pages that are kept ready", Whole(0, _INT, "pages")),
    "vm.nr_overcommit_hugepages": _vm("huge pages beyond those, on demand", Whole(0, _INT)),
    "vm.hugetlb_shm_group": _vm("group that may use huge pages by shmget", Whole(0, _INT)),
    "vm.compaction_proactiveness": _vm("how much is compacted ahead of need", _PERCENT),
    "vm.max_map_count": _vm("memory maps of one process", Whole(1, _INT)),
    "kernel.numa_balancing": _kernel(
        "pages follow the processor that uses them (0 off, 1 on, 2 tiers)", Whole(0, 3)
    ),
    "kernel.sched_autogroup_enabled": _kernel("each session a group of its own", _SWITCH),
    "kernel.sched_rt_runtime_us": _kernel(
        "real-time processes' share of each period", Whole(-1, _INT, "us")
    ),
    "kernel.sched_cfs_bandwidth_slice_us": _kernel(
        "slices in which quotas are handed out", Whole(1, _INT, "us")
    ),
    "kernel.sched_migration_cost_ns": _kernel(
        "time for which a process counts as warm (older kernels)", Whole(0, _INT, "ns")
    ),
    "kernel.sched_min_granularity_ns": _kernel(
        "least time a process runs (older kernels)", Whole(100_000, 1_000_000_000, "ns")
    ),
    "kernel.timer_migration": _kernel("timers may move to a processor that is awake", _SWITCH),
    "kernel.nmi_watchdog": _kernel("watch for hard lock-ups", _SWITCH),
    "kernel.randomize_va_space": _kernel("random addresses", Whole(0, 2)),
    "kernel.shmmax": _kernel("largest System V segment", Whole(0, _ULONG, "bytes")),
    "kernel.shmall": _kernel("System V memory in all", Whole(0, _ULONG, "pages")),
    "kernel.shmmni": _kernel("System V segments in all", Whole(0, 2**24)),
    "kernel.sem": _kernel("semaphores: per set, in all, per call, sets", Wholes(4)),
    "kernel.io_uring_disabled": _kernel("0 for all, 1 for a group, 2 for nobody", Whole(0, 2)),
    "net.core.somaxconn": _net("longest queue of connections to accept", Whole(0, _INT)),
    "net.core.netdev_max_backlog": _net("packets waiting for a processor", Whole(0, _INT)),
    "net.core.rmem_max": _net("largest receive buffer", Whole(2304, _INT, "bytes")),
    "net.core.wmem_max": _net("largest send buffer", Whole(4608, _INT, "bytes")),
    "net.core.rmem_default": _net("receive buffer of a socket", Whole(2304, _INT, "bytes")),
    "net.core.wmem_default": _net("send buffer of a socket", Whole(4608, _INT, "bytes")),
    "net.core.busy_poll": _net("how long poll and select spin", Whole(0, _INT, "us")),
    "net.core.busy_read": _net("how long reads spin", Whole(0, _INT, "us")),
    "net.ipv4.tcp_rmem": _ip("receive buffer of TCP: least, default, most", Wholes(3)),
    "net.ipv4.tcp_wmem": _ip("send buffer of TCP: least, default, most", Wholes(3)),
    "net.ipv4.tcp_congestion_control": _ip("the algorithm, such as cubic or bbr", Words()),
    "net.ipv4.tcp_max_syn_backlog": _ip("half-open connections that are kept", Whole(0, _INT)),
    "net.ipv4.tcp_slow_start_after_idle": _ip("begin anew after a pause", _SWITCH),
    "net.ipv4.tcp_tw_reuse": _ip("reuse ports in TIME-WAIT", Whole(0, 2)),
    "net.ipv4.tcp_fin_timeout": _ip("life of an orphan in FIN-WAIT-2", Whole(0, _INT, "s")),
    "net.ipv4.ip_local_port_range": _ip("ports for outgoing connections", Wholes(2)),
    "net.ipv4.tcp_notsent_lowat": _ip(
        "unsent bytes above which a socket is full", Whole(0, 2**32 - 1, "bytes")
    ),
    "fs.file-max": _fs("open files in all", Whole(1, _LONG)),
    "fs.nr_open": _fs("most that the limit of a process can be", Whole(64, _INT)),
    "fs.aio-max-nr": _fs("asynchronous requests in all", Whole(0, _LONG)),
}

EXCLUSIVE: tuple[tuple[str, str], ...] = (
    ("vm.dirty_ratio", "vm.dirty_bytes"),
    ("vm.dirty_background_ratio", "vm.dirty_background_bytes"),
    ("vm.overcommit_ratio", "vm.overcommit_kbytes"),
)
"""Pairs of which one is in force: writing it makes the kernel set the other to 0."""

REFUSED: dict[str, str] = {
    "kernel.modules_disabled": "once set it stays until the next boot",
    "kernel.kexec_load_disabled": "once set it stays until the next boot",
    "kernel.unprivileged_bpf_disabled": "once set it stays until the next boot",
    "kernel.yama.ptrace_scope": "its strictest level stays until the next boot",
    "kernel.ns_last_pid": "every new process changes it",
    "kernel.hostname": "it names the machine and changes no speed",
    "kernel.domainname": "it names the machine and changes no speed",
    "kernel.core_pattern": "it names a program that the kernel starts",
    "kernel.modprobe": "it names a program that the kernel starts",
    "kernel.poweroff_cmd": "it names a program that the kernel starts",
}
"""Sysctls that could not be put back, or have no place in an experiment."""


def by_shape(present: str) -> Levels:
    """What an unlisted sysctl takes, judged by the value that is there."""
    words = present.split()
    if words and all(word.lstrip("-").isdigit() for word in words):
        return Wholes(len(words))
    return Words()
