"""A machine made of files: what the kernel shows below /proc and /sys, as far as it is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from loadstone.host.machine import Machine

_POLICIES = "/sys/devices/system/cpu/cpufreq"

FILES: dict[str, str] = {
    "/proc/sys/vm/dirty_ratio": "20\n",
    "/proc/sys/vm/dirty_bytes": "0\n",
    "/proc/sys/vm/dirty_background_ratio": "10\n",
    "/proc/sys/vm/dirty_background_bytes": "0\n",
    "/proc/sys/vm/swappiness": "60\n",
    "/proc/sys/vm/nr_hugepages": "0\n",
    "/proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n",
    "/proc/sys/net/ipv4/tcp_congestion_control": "cubic\n",
    "/proc/sys/fs/nr_open": "1048576\n",
    "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "/sys/kernel/mm/transparent_hugepage/defrag": "always defer defer+madvise [madvise] never\n",
    "/sys/devices/system/cpu/present": "0-3\n",
    "/sys/devices/system/cpu/online": "0-3\n",
    "/sys/devices/system/cpu/cpu1/online": "1\n",
    "/sys/devices/system/cpu/cpu2/online": "1\n",
    "/sys/devices/system/cpu/cpu3/online": "1\n",
    "/sys/devices/system/cpu/smt/control": "on\n",
    "/sys/devices/system/cpu/intel_pstate/no_turbo": "0\n",
    f"{_POLICIES}/policy0/scaling_governor": "powersave\n",
    f"{_POLICIES}/policy0/scaling_available_governors": "performance powersave\n",
    f"{_POLICIES}/policy1/scaling_governor": "powersave\n",
    f"{_POLICIES}/policy1/scaling_available_governors": "performance powersave\n",
    "/sys/devices/pci/sda/queue/scheduler": "[none] mq-deadline\n",
    "/sys/devices/pci/sda/queue/nr_requests": "256\n",
    "/sys/devices/pci/sda/queue/read_ahead_kb": "128\n",
    "/sys/devices/pci/sda/queue/write_cache": "write back\n",
    "/sys/devices/pci/sda/dev": "8:0\n",
    "/sys/devices/pci/sda/sda1/partition": "1\n",
    "/sys/devices/pci/sda/sda1/dev": "8:1\n",
    "/sys/devices/virtual/dm-0/dev": "252:0\n",
    "/sys/devices/virtual/dm-1/dev": "252:1\n",
}

LINKS: dict[str, str] = {
    "/sys/block/sda": "/sys/devices/pci/sda",
    "/sys/class/block/sda": "/sys/devices/pci/sda",
    "/sys/class/block/sda1": "/sys/devices/pci/sda/sda1",
    "/sys/class/block/dm-0": "/sys/devices/virtual/dm-0",
    "/sys/class/block/dm-1": "/sys/devices/virtual/dm-1",
    "/sys/dev/block/8:0": "/sys/devices/pci/sda",
    "/sys/dev/block/8:1": "/sys/devices/pci/sda/sda1",
    "/sys/dev/block/252:0": "/sys/devices/virtual/dm-0",
    "/sys/dev/block/252:1": "/sys/devices/virtual/dm-1",
    "/sys/devices/virtual/dm-0/slaves/sda1": "/sys/devices/pci/sda/sda1",
    "/sys/devices/virtual/dm-1/slaves/sda": "/sys/devices/pci/sda",
    "/sys/devices/virtual/dm-1/slaves/sda1": "/sys/devices/pci/sda/sda1",
}


def fake_machine(root: Path, change: Mapping[str, str | None] | None = None) -> Machine:
    """Lays the files out below a folder.

    Args:
        root: An empty folder.
        change: File: another text, or None to leave it out.
    """
    machine = Machine(root)
    for path, text in {**FILES, **(change or {})}.items():
        if text is not None:
            file = machine.at(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    for path, target in LINKS.items():
        link = machine.at(path)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(machine.at(target))
    return machine


def texts(machine: Machine) -> dict[str, str]:
    """Every file and what it says."""
    return {
        str(path): path.read_text()
        for path in sorted(machine.root.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
