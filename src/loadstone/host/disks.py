"""Which disk is below a folder: partitions, loop devices and overlays are followed down to it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from loadstone.host.machine import Absent, Machine
from loadstone.host.mounts import block_device, mount_of

DeviceOf = Callable[[Path], str | None]
"""`major:minor` of the block device under a folder."""

_DEEPEST = 8
"""Layers that are followed; more means a circle."""
_LAYERS = ("overlay", "overlayfs")


def disk_below(
    folder: Path, machine: Machine, device_of: DeviceOf = block_device, depth: int = 0
) -> str | Absent:
    """Name of the disk (`vda`) that holds a folder, or of the nearest that exists above it.

    Args:
        folder: Where data lie or will lie.
        machine: Whose devices are looked at.
        device_of: Tells the device of a folder.
        depth: Layers that were passed already.
    """
    if depth > _DEEPEST:
        return Absent(f"{folder} lies below more than {_DEEPEST} layers: name the disk")
    device = device_of(folder)
    if device is not None:
        return _disk_of_device(device, machine, device_of, depth)
    mount = mount_of(folder) or {}
    kind = mount.get("file_system", "unknown")
    upper = Path(_option(mount.get("file_system_options", ""), "upperdir"))
    if kind in _LAYERS and upper.is_absolute() and upper.exists():
        return disk_below(upper, machine, device_of, depth + 1)
    return Absent(f"{folder} lies on a file system of kind {kind}, which has no block queue")


def whole_disk(name: str, machine: Machine) -> str | Absent:
    """The disk of that name, or the one that the partition of that name is part of."""
    link = machine.at(f"/sys/class/block/{name}")
    if not link.exists():
        return Absent(f"{link} is missing; this machine has {', '.join(names(machine)) or 'none'}")
    if (link / "partition").exists():
        return link.resolve().parent.name
    return name


def names(machine: Machine) -> list[str]:
    """Names of all block devices but loop devices that hold nothing."""
    folder = machine.at("/sys/block")
    found = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return [
        name
        for name in found
        if not name.startswith("loop") or (folder / name / "loop/backing_file").exists()
    ]


def _disk_of_device(device: str, machine: Machine, device_of: DeviceOf, depth: int) -> str | Absent:
    link = machine.at(f"/sys/dev/block/{device}")
    if not link.exists():
        return Absent(f"{link} is missing")
    disk = whole_disk(link.resolve().name, machine)
    if isinstance(disk, Absent):
        return disk
    folder = machine.at(f"/sys/class/block/{disk}")
    backing = folder / "loop/backing_file"
    if backing.exists():
        return disk_below(Path(backing.read_text().strip()), machine, device_of, depth + 1)
    members = sorted(path.name for path in _listed(folder / "slaves"))
    if len(members) == 1:
        number = (machine.at(f"/sys/class/block/{members[0]}") / "dev").read_text().strip()
        return _disk_of_device(number, machine, device_of, depth + 1)
    if members:
        return Absent(f"{disk} is made of {', '.join(members)}: name one, as host.queue.NAME....")
    return disk


def _option(options: str, name: str) -> str:
    """The value of a mount option; `.` if it is not given."""
    values = [text.partition("=")[2] for text in options.split(",") if text.startswith(f"{name}=")]
    return values[0] if values else os.curdir


def _listed(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []
