"""What the host is: hardware, kernel, mounts, limits, versions; what cannot be had is said so."""

from __future__ import annotations

import json
import os
import platform
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import loadstone
from loadstone.errors import LoadstoneError
from loadstone.host.cgroup import bounds_of, groups_of_v2
from loadstone.host.mounts import block_device, mount_of
from loadstone.host.proc import parse_meminfo
from loadstone.probes import hardware

NOT_AVAILABLE = "not available"
_TOOL_LIMIT_S = 5.0
_SYSCTLS = (
    "vm.dirty_background_bytes",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_expire_centisecs",
    "vm.dirty_ratio",
    "vm.dirty_writeback_centisecs",
    "vm.nr_hugepages",
    "vm.overcommit_memory",
    "vm.swappiness",
    "vm.zone_reclaim_mode",
    "kernel.numa_balancing",
    "kernel.sched_autogroup_enabled",
    "net.core.somaxconn",
    "net.ipv4.tcp_congestion_control",
)
_MEMORY = ("MemTotal", "SwapTotal", "HugePages_Total", "Hugepagesize")
_CGROUP = ("cpu.max", "cpu.weight", "cpuset.cpus.effective", "memory.max", "memory.high", "io.max")
_SETTINGS_OF_DISKS = frozenset({"sched", "ra", "rota"})
_DISK_COLUMNS = "NAME,TYPE,SIZE,MODEL,ROTA,SCHED,RA,PHY-SEC,LOG-SEC,DISC-GRAN,MAJ:MIN"


Standing = dict[str, dict[str, Any]]
"""Facts of a host that stand while it runs, by what they hang on: `_state`."""


def host_inventory(
    *folders: Path,
    programs: Mapping[str, Callable[[], str]] | None = None,
    standing: Standing | None = None,
) -> dict[str, Any]:
    """What the host is, in the figures that decide performance.

    Args:
        folders: Where data and results lie; their mounts and disks are described.
        programs: Those that make load, each with what asks it for its version.
        standing: Facts that are not asked for again; those that were asked for are added.
    """
    settings = _careful(hardware.processor_settings)
    known = {} if standing is None else standing.setdefault(_state(settings), {})
    parts: dict[str, Callable[[], Any]] = {
        "name": socket.gethostname,
        "memory_bytes": _memory,
        "firmware_settings": hardware.firmware_settings,
        "processor_settings": lambda: settings,
        "kernel": lambda: platform.uname().release,
        "system": _system,
        "kernel_command_line": lambda: _text("/proc/cmdline"),
        "mitigations": lambda: _folder("/sys/devices/system/cpu/vulnerabilities"),
        "clock_source": lambda: _text(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource"
        ),
        "cpu_governor": lambda: _text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "transparent_huge_pages": lambda: _chosen("/sys/kernel/mm/transparent_hugepage/enabled"),
        "sysctl": lambda: {name: _sysctl(name) for name in _SYSCTLS},
        "mounts": lambda: {str(folder): _mount(folder) for folder in folders},
        "cgroup": _cgroup,
        "limits": _limits,
        "versions": lambda: _versions(programs or {}),
    }
    standing_parts = {} if known else _standing_parts()
    with ThreadPoolExecutor(max_workers=4) as pool:
        asked = {name: pool.submit(_careful, ask) for name, ask in (parts | standing_parts).items()}
        answers = {name: answer.result() for name, answer in asked.items()}
    known.update({name: answers[name] for name in standing_parts})
    return {**answers, **known, "disks": _with_settings(known["disks"])}


def changed(standing: Standing) -> dict[str, Any]:
    """Facts that were taken to stand, and are others now: name, and what is there now.

    Args:
        standing: As `host_inventory` has left them. What was switched or plugged is no such change.
    """
    known = standing.get(_state(_careful(hardware.processor_settings)), {})
    now = {name: _careful(ask) for name, ask in _standing_parts().items()} if known else {}
    return {name: value for name, value in now.items() if _plain(value) != _plain(known[name])}


def _standing_parts() -> dict[str, Callable[[], Any]]:
    return {
        "processor": _processor,
        "memory_modules": hardware.memory_modules,
        "firmware": hardware.firmware,
        "virtualisation": _virtualisation,
        "disks": _disks,
    }


def _state(settings: object) -> str:
    """What the facts that stand hang on: which processors and disks there are, and what is set."""
    cpu = Path("/sys/devices/system/cpu")
    sizes = {each.name: _text(str(each / "size")) for each in _block_devices()}
    return json.dumps([_text(str(cpu / "online")), _text(str(cpu / "smt/active")), settings, sizes])


def _plain(value: Any) -> Any:
    """Without what changes from one moment to the next: clocks, settings of disks."""
    if isinstance(value, dict):
        return {n: each for n, each in value.items() if not ("MHz" in n or n == "BogoMIPS")}
    return [_settled(each) for each in value] if isinstance(value, list) else value


def _settled(device: dict[str, Any]) -> dict[str, Any]:
    inner = {"children": [_settled(each) for each in device.get("children", ())]}
    return {name: each for name, each in device.items() if name not in _SETTINGS_OF_DISKS} | inner


def _block_devices() -> list[Path]:
    folder = Path("/sys/class/block")
    return sorted(folder.iterdir()) if folder.exists() else []


def _with_settings(devices: Any) -> Any:
    """Disks with the settings that each has now: they are no facts that stand."""
    if not isinstance(devices, list):
        return devices
    found = []
    for device in devices:
        own = dict(device)
        settings = _settings_of(Path("/sys/class/block") / str(device.get("name")))
        own |= {name: value for name, value in settings.items() if name in device}
        if "children" in device:
            own["children"] = _with_settings(device["children"])
        found.append(own)
    return found


def _settings_of(device: Path) -> dict[str, Any]:
    """Of a partition those of its disk; as lsblk tells them."""
    folder = device.resolve()
    queue = folder / "queue" if (folder / "queue").exists() else folder.parent / "queue"
    ahead, turns = _text(str(queue / "read_ahead_kb")), _text(str(queue / "rotational"))
    chosen = _text(str(queue / "scheduler")).partition("[")[2].partition("]")[0]
    return {
        "sched": chosen or None,
        "ra": int(ahead) if ahead.isdecimal() else ahead,
        "rota": {"0": False, "1": True}.get(turns, turns),
    }


def _careful(ask: Callable[[], Any]) -> Any:
    """An answer, or `not available`: an odd host is no reason to fail a trial."""
    try:
        return ask()
    except (OSError, ValueError, KeyError, IndexError, TypeError, LoadstoneError):
        return NOT_AVAILABLE


def _processor() -> dict[str, Any]:
    """From lscpu; from `/proc/cpuinfo` where that is missing."""
    told = _tool_json("lscpu", "-J")
    if told is not None:
        fields = {entry["field"].rstrip(":"): entry["data"] for entry in _flat(told["lscpu"])}
        return {
            name: value
            for name, value in fields.items()
            if value is not None and not name.startswith(("Flags", "Vulnerability"))
        }
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return {"Model name": line.partition(":")[2].strip(), "CPU(s)": str(os.cpu_count())}
    return {"CPU(s)": str(os.cpu_count())}


def _flat(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Newer versions of lscpu nest their fields."""
    found = []
    for entry in entries:
        found.append(entry)
        found += _flat(entry.get("children", []))
    return found


def _memory() -> dict[str, int]:
    memory = parse_meminfo(Path("/proc/meminfo").read_text())
    return {name: memory[name] for name in _MEMORY if name in memory}


def _system() -> str:
    return str(platform.freedesktop_os_release()["PRETTY_NAME"])


def _virtualisation() -> str:
    """`none`, or the kind of virtual machine, and of the container in it: `kvm, docker`."""
    if shutil.which("systemd-detect-virt"):
        kinds = [kind for kind in map(_detected, ("--vm", "--container")) if kind]
        if kinds:
            return ", ".join(kind for kind in kinds if kind != "none") or "none"
    maker = " ".join(
        text
        for name in ("sys_vendor", "product_name")
        if (text := _text(f"/sys/class/dmi/id/{name}")) != NOT_AVAILABLE
    )
    if "hypervisor" in Path("/proc/cpuinfo").read_text().split():
        return f"virtual machine ({maker or 'unknown'})"
    return f"none ({maker})" if maker else "none"


def _detected(what: str) -> str:
    """`none`, or a kind; a container hides the machine that it runs in where both are asked for."""
    answer = subprocess.run(
        ["systemd-detect-virt", what],
        capture_output=True,
        text=True,
        timeout=_TOOL_LIMIT_S,
        check=False,
    )
    return answer.stdout.strip()


def _mount(folder: Path) -> dict[str, Any]:
    mount = mount_of(folder)
    free = shutil.disk_usage(folder)
    return {
        **(mount or {}),
        "block_device": _careful(lambda: block_device(folder)) or NOT_AVAILABLE,
        "size_bytes": free.total,
        "free_bytes": free.free,
    }


def _disks() -> Any:
    """From lsblk; from `/sys/block` where that is missing."""
    told = _tool_json("lsblk", "-J", "-b", "-o", _DISK_COLUMNS)
    if told is not None:
        return told["blockdevices"]
    return [
        {"name": device.name, **_settings_of(device)}
        for device in sorted(Path("/sys/block").iterdir())
    ]


def _cgroup() -> dict[str, str]:
    """The limits that this process runs under: those in force, and what the files of v2 say."""
    bounds, found = bounds_of(), {}
    if bounds.cpu is not None:
        found["cpus"] = f"{bounds.cpu.cpus:g}"
    if bounds.memory is not None:
        found["memory_bytes"] = str(bounds.memory.limit_bytes)
    levels = groups_of_v2()
    if levels:
        found["group"] = f"/{levels[0].relative_to(levels[-1])}".replace("/.", "/")
    for level in levels:
        for name in _CGROUP:
            value = _text(str(level / name))
            if value not in (NOT_AVAILABLE, "", "max", "max 100000"):
                found.setdefault(name, value)
    return found


def _limits() -> dict[str, str]:
    names = {"nofile": "RLIMIT_NOFILE", "memlock": "RLIMIT_MEMLOCK", "nproc": "RLIMIT_NPROC"}
    return {
        name: " / ".join(_limit(value) for value in resource.getrlimit(getattr(resource, constant)))
        for name, constant in names.items()
    } | {"cpus_allowed": str(len(os.sched_getaffinity(0)))}


def _limit(value: int) -> str:
    return "unlimited" if value == resource.RLIM_INFINITY else str(value)


def _versions(programs: Mapping[str, Callable[[], str]]) -> dict[str, str]:
    return {
        "loadstone": loadstone.__version__,
        "python": sys.version.split()[0],
        **{name: _careful(ask) for name, ask in programs.items()},
    }


def _sysctl(name: str) -> str:
    return _text("/proc/sys/" + name.replace(".", "/"))


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return NOT_AVAILABLE


def _chosen(path: str) -> str:
    """The word in brackets, as `always [madvise] never` has it."""
    text = _text(path)
    return text.partition("[")[2].partition("]")[0] or text


def _folder(path: str) -> dict[str, str]:
    return {file.name: _text(str(file)) for file in sorted(Path(path).iterdir())}


def _tool_json(*command: str) -> dict[str, Any] | None:
    """What a tool says as JSON; None if it is missing or fails."""
    try:
        answer = subprocess.run(command, capture_output=True, timeout=_TOOL_LIMIT_S, check=True)
        told = json.loads(answer.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return told if isinstance(told, dict) else None
