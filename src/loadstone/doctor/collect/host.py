"""What there is to see of this machine. Reads only."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from loadstone.doctor.facts import DiskFacts, HostFacts, PlaceFacts
from loadstone.host.below import counters, ground_of
from loadstone.host.cgroup import Bounds, bounds_of
from loadstone.host.cpu import setting as cpu_setting
from loadstone.host.disks import disk_below, whole_disk
from loadstone.host.frequency import policies
from loadstone.host.machine import THIS_MACHINE, Absent, Machine, read
from loadstone.host.proc import parse_meminfo, parse_mountinfo, parse_stat
from loadstone.placements.network import dropping_server
from loadstone.probes.inventory import NOT_AVAILABLE, host_inventory

_CPU = "/sys/devices/system/cpu"
_CLOCKS = "/sys/devices/system/clocksource/clocksource0/available_clocksource"
_VIRTUAL_NAMES = ("vd", "xvd")
_VIRTUAL_MODELS = ("virtual", "qemu", "vmware", "msft", "google persistentdisk", "elastic block")


def host_facts(
    folder: Path, machine: Machine = THIS_MACHINE, pid: int | Literal["self"] | None = "self"
) -> HostFacts:
    """This machine, and the place of a folder.

    Args:
        folder: Where the data of the server, or of experiments, lies.
        machine: In tests another.
        pid: The process whose bounds count; None for that of a server that was not found: then
            those of the machine count, not those of this shell.
    """
    inventory = host_inventory(folder)
    bounds = Bounds() if pid is None else bounds_of(pid, machine)
    shared = None if pid is None else _shared_memory(pid, machine)
    memory = parse_meminfo(machine.at("/proc/meminfo").read_text())
    events = _counters(machine.at("/proc/vmstat"))
    smt = _text(machine, f"{_CPU}/smt/active")
    soft, hard = _limits(inventory)
    limit, most = _frequency_limit(machine)
    return HostFacts(
        name=str(inventory["name"]),
        cores=_cores(pid, bounds),
        memory_bytes=bounds.memory.limit_bytes if bounds.memory else memory["MemTotal"],
        processor_quota=bounds.cpu.cpus if bounds.cpu else None,
        throttled_percent=_throttled_percent(bounds),
        memory_limit_bytes=bounds.memory.limit_bytes if bounds.memory else None,
        memory_limit_kills=bounds.memory.killed() if bounds.memory else 0,
        shared_memory_bytes=shared and shared.f_blocks * shared.f_frsize,
        shared_memory_free_bytes=shared and shared.f_bavail * shared.f_frsize,
        available_bytes=memory.get("MemAvailable"),
        swap_total_bytes=memory.get("SwapTotal", 0),
        swap_used_bytes=memory.get("SwapTotal", 0) - memory.get("SwapFree", 0),
        swapped_in_pages=events.get("pswpin", 0),
        oom_kills=events.get("oom_kill", 0),
        huge_pages=memory.get("HugePages_Total", 0),
        huge_pages_free=max(memory.get("HugePages_Free", 0) - memory.get("HugePages_Rsvd", 0), 0),
        huge_page_bytes=memory.get("Hugepagesize", 2 * 1024**2),
        transparent_huge_pages=_known(inventory["transparent_huge_pages"]),
        sysctl={
            name: value
            for name, value in _of(inventory, "sysctl").items()
            if value != NOT_AVAILABLE
        },
        governor=_known(inventory["cpu_governor"]),
        energy_preference=_setting("cpu.energy_preference", machine),
        frequency_limit_khz=limit,
        frequency_most_khz=most,
        prefetchers=_setting("cpu.prefetchers", machine),
        turbo=_turbo(machine),
        smt=None if smt is None else smt == "1",
        clock_source=_known(inventory["clock_source"]),
        clock_sources=tuple((_text(machine, _CLOCKS) or "").split()),
        virtualisation=_known(inventory["virtualisation"]),
        steal_percent=_steal_percent(machine),
        numa_nodes=len(list(machine.at("/sys/devices/system/node").glob("node[0-9]*"))) or 1,
        mitigations=_of(inventory, "mitigations"),
        nofile=soft,
        nofile_hard=hard,
        place=_place(folder, inventory, machine),
    )


def _place(folder: Path, inventory: Mapping[str, Any], machine: Machine) -> PlaceFacts:
    mount = _of(_of(inventory, "mounts"), str(folder))
    options = f"{mount.get('options', '')},{mount.get('file_system_options', '')}"
    name = disk_below(folder, machine)
    return PlaceFacts(
        folder=str(folder),
        mounted_at=mount.get("folder", "?"),
        file_system=mount.get("file_system", "unknown"),
        options=tuple(dict.fromkeys(option for option in options.split(",") if option)),
        size_bytes=mount.get("size_bytes"),
        free_bytes=mount.get("free_bytes"),
        disk=None if isinstance(name, Absent) else disk_facts(name, machine),
        nearest=_nearest(folder, name, machine),
        drops_flushes=dropping_server(folder),
    )


def _nearest(folder: Path, disk: str | Absent, machine: Machine) -> DiskFacts | None:
    """The device of the file system itself, if another lies below it."""
    layers = ground_of(folder, machine).layers
    name = whole_disk(layers[0][0], machine) if layers else disk
    return None if isinstance(name, Absent) or name == disk else disk_facts(name, machine)


def disk_facts(name: str, machine: Machine = THIS_MACHINE) -> DiskFacts:
    """What the kernel says of a disk."""
    queue = f"/sys/block/{name}/queue"
    schedulers = (_text(machine, f"{queue}/scheduler") or "").split()
    chosen = [word for word in schedulers if word.startswith("[")]
    rotational = _text(machine, f"{queue}/rotational")
    model = (_text(machine, f"/sys/block/{name}/device/model") or "").lower()
    counted = counters(machine).get(name)
    return DiskFacts(
        name=name,
        write_cache=_text(machine, f"{queue}/write_cache"),
        flushes=None if counted is None else counted.flushes,
        writes=None if counted is None else counted.writes,
        rotational=None if rotational is None else rotational == "1",
        virtual=name.startswith(_VIRTUAL_NAMES) or any(word in model for word in _VIRTUAL_MODELS),
        scheduler=chosen[0].strip("[]") if chosen else None,
        schedulers=tuple(word.strip("[]") for word in schedulers),
        read_ahead_kb=_whole(_text(machine, f"{queue}/read_ahead_kb")),
    )


def _cores(pid: int | str | None, bounds: Bounds) -> int:
    """Processors that a process may run on; fewer if it has a smaller quota of their time."""
    try:
        allowed = len(os.sched_getaffinity(0 if pid in (None, "self") else int(pid or 0)))
    except OSError:
        allowed = os.cpu_count() or 1
    return min(allowed, math.ceil(bounds.cpu.cpus)) if bounds.cpu else allowed


def _throttled_percent(bounds: Bounds) -> float:
    periods, throttled = bounds.cpu.periods() if bounds.cpu else (0, 0)
    return 100 * throttled / periods if periods else 0.0


def _shared_memory(pid: int | str, machine: Machine) -> os.statvfs_result | None:
    """`/dev/shm` as a process sees it; None where that cannot be seen."""
    own = machine.at("/dev/shm")  # noqa: S108
    for path in (machine.at(f"/proc/{pid}/root/dev/shm"), own):
        # Of another user's process the kernel shows the mounts only: if they are ours, it is ours.
        if path == own and _device_of(own, pid, machine) != _device_of(own, "self", machine):
            return None
        with contextlib.suppress(OSError):
            return os.statvfs(path)
    return None


def _device_of(folder: Path, pid: int | str, machine: Machine) -> str | None:
    """The device that a process sees at a folder of this machine."""
    try:
        mounts = parse_mountinfo(machine.at(f"/proc/{pid}/mountinfo").read_text())
    except (OSError, ValueError):
        return None
    return next((each["device"] for each in mounts if each["folder"] == str(folder)), None)


def _limits(inventory: Mapping[str, Any]) -> tuple[int | None, int | None]:
    soft, _, hard = str(_of(inventory, "limits").get("nofile", "")).partition(" / ")
    return _whole(soft), _whole(hard)


def _setting(name: str, machine: Machine) -> str | None:
    """The present value of a host setting; None where the machine has none."""
    value = cpu_setting(name, machine).read()
    return value if isinstance(value, str) else None


def _frequency_limit(machine: Machine) -> tuple[int | None, int | None]:
    """The lowest upper limit of a frequency domain in kHz, and what its hardware has."""
    found = []
    for path in policies(machine, "scaling_max_freq"):
        limit, most = (_whole(read(file)) for file in (path, path.with_name("cpuinfo_max_freq")))
        if limit and most:
            found.append((limit, most))
    return min(found, key=lambda pair: pair[0] / pair[1], default=(None, None))


def _turbo(machine: Machine) -> bool | None:
    off = _text(machine, f"{_CPU}/intel_pstate/no_turbo")
    if off is not None:
        return off == "0"
    boost = _text(machine, f"{_CPU}/cpufreq/boost")
    return None if boost is None else boost == "1"


def _steal_percent(machine: Machine) -> float | None:
    cpu = parse_stat(machine.at("/proc/stat").read_text()).cpu
    return 100 * cpu.steal / cpu.total if cpu.total else None


def _counters(path: Path) -> dict[str, int]:
    try:
        pairs = (line.split() for line in path.read_text().splitlines())
        return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}
    except OSError:
        return {}


def _of(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A part of the inventory; empty if it could not be had."""
    part = values.get(name)
    return part if isinstance(part, dict) else {}


def _known(value: object) -> str | None:
    return None if value == NOT_AVAILABLE else str(value)


def _whole(text: object) -> int | None:
    return int(text) if isinstance(text, str) and text.isdigit() else None


def _text(machine: Machine, path: str) -> str | None:
    try:
        return machine.at(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
