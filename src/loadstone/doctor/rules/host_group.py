"""Limits of the control group that the server, or this shell, runs in."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts
from loadstone.doctor.model import Advice, Severity
from loadstone.doctor.rules.base import host_rule, kernel
from loadstone.units import format_size


@host_rule(
    "processor-quota",
    "the control group stops its processes because their time is used up",
    Severity.SPEED,
    kernel("CFS Bandwidth Control", "scheduler/sched-bwc.html"),
)
def processor_quota(host: HostFacts) -> Advice | None:
    """It has a quota, which was used up in more than 5 % of the periods."""
    if host.processor_quota is None or host.throttled_percent <= 5:
        return None
    return Advice(
        seen=f"a quota of {host.processor_quota:.3g} processors, used up in "
        f"{host.throttled_percent:.0f} % of its periods",
        why="when the time of a period is used up all processes of the group stand still until the "
        "next one, those that hold locks too: it shows in the high percentiles",
        change="a larger quota, or none: docker run --cpus, limits.cpu in Kubernetes, CPUQuota= in "
        "systemd; else fewer sessions and workers",
        risk="none for data; other programs on this machine get less",
        measure="the quota is set outside of Loadstone: measure before and after",
    )


@host_rule(
    "memory-limit",
    "processes were killed because their control group met its limit of memory",
    Severity.LOOK,
    kernel("Control Group v2: Memory", "admin-guide/cgroup-v2.html#memory"),
)
def memory_limit(host: HostFacts) -> Advice | None:
    """The group's own counter is not zero."""
    if host.memory_limit_bytes is None or not host.memory_limit_kills:
        return None
    return Advice(
        seen=f"{host.memory_limit_kills} processes killed in a group with a limit of "
        f"{format_size(host.memory_limit_bytes)}",
        why="if one of them is a database's, all its sessions end and it must recover; the page "
        "cache of its files counts for the limit too, but is given back first",
        change="a higher limit (docker run --memory, limits.memory in Kubernetes, MemoryMax= in "
        "systemd), or a database whose cache + sessions x memory of each is below it",
        risk="none for data; less cache may mean more reading",
        measure="the load that fills the memory is yours: nothing of Loadstone's own is like it",
    )
