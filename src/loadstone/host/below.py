"""The block devices below a folder, layer by layer, and what each has moved so far.

A file on a loop file system lies on two: the loop device, and the disk that holds its image. Who
asks whether I/O went past the page cache looks at the first, whose counters are of that file system
alone; who asks what the disk did looks at the last, whose counters are of everybody.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from loadstone.host.machine import THIS_MACHINE, Machine
from loadstone.host.mounts import block_device, mount_of
from loadstone.host.proc import DiskCounters, parse_diskstats

DeviceOf = Callable[[Path], str | None]
MountOf = Callable[[Path], dict[str, str] | None]

_DEEPEST = 8
_LAYERED = ("overlay", "overlayfs")


@dataclass(frozen=True)
class Ground:
    """What a folder lies on.

    Attributes:
        file_system: Of the folder itself: `ext4`, `overlay`, `tmpfs`.
        layers: Names of block devices, the nearest first. A layer of several is a file system or a
            device with members.
        journal: The device of an external journal of ext4.
        ends_on: The kind of file system below the last layer, if the kernel has no device below
            that one: `fuse.nbdfuse`, `nfs4`, `tmpfs`.
        ends_at: The file there, that the last loop device shows.
    """

    file_system: str
    layers: tuple[tuple[str, ...], ...] = ()
    journal: str | None = None
    ends_on: str | None = None
    ends_at: Path | None = None


def ground_of(
    folder: Path,
    machine: Machine = THIS_MACHINE,
    device_of: DeviceOf = block_device,
    mounted: MountOf = mount_of,
) -> Ground:
    """Follows a folder down to the disk.

    Args:
        folder: One that exists.
        machine: Whose `/sys` and `/proc` are read.
        device_of: Tells `major:minor` of the device of a folder.
        mounted: Tells the mount of a folder.
    """
    kind = (mounted(folder) or {}).get("file_system", "unknown")
    layers, ends_on = _below_folder(folder, machine, device_of, mounted, _DEEPEST)
    journal = _journal(layers[0][0], machine) if layers and kind == "ext4" else None
    last = layers[-1][0] if layers and ends_on is not None else None
    return Ground(kind, tuple(layers), journal, ends_on, _backing(last, machine) if last else None)


def ground_of_device(device: Path, machine: Machine = THIS_MACHINE) -> Ground:
    """The same of a block device, which has no file system."""
    number = device.stat().st_rdev
    layers, ends_on = _below_device(
        f"{os.major(number)}:{os.minor(number)}", machine, block_device, mount_of, _DEEPEST
    )
    return Ground("none", tuple(layers), None, ends_on)


def counters(machine: Machine = THIS_MACHINE) -> dict[str, DiskCounters]:
    """What each block device has moved since boot, by its name; nothing where it is not told."""
    try:
        text = machine.at("/proc/diskstats").read_text()
    except OSError:
        return {}
    return {disk.name: disk.counters for disk in parse_diskstats(text)}


def _below_folder(
    folder: Path, machine: Machine, device_of: DeviceOf, mounted: MountOf, left: int
) -> tuple[list[tuple[str, ...]], str | None]:
    mount = mounted(folder) or {}
    kind = mount.get("file_system", "unknown")
    if left == 0:
        return [], kind
    if kind in _LAYERED:
        upper = Path(_option(mount.get("file_system_options", ""), "upperdir"))
        if upper.is_absolute() and upper.exists():
            return _below_folder(upper, machine, device_of, mounted, left - 1)
        return [], kind
    number = device_of(folder)
    if number is None:
        return [], kind
    members = _btrfs_members(number, machine) if kind == "btrfs" else ()
    if len(members) > 1:
        return [members], None
    return _below_device(number, machine, device_of, mounted, left)


def _below_device(
    number: str, machine: Machine, device_of: DeviceOf, mounted: MountOf, left: int
) -> tuple[list[tuple[str, ...]], str | None]:
    link = machine.at(f"/sys/dev/block/{number}")
    if not link.exists():
        return [], "unknown"
    name = link.resolve().name
    layer: list[tuple[str, ...]] = [(name,)]
    file = _backing(name, machine)
    if file is not None:
        if not file.exists():  # of another mount table, or gone
            return layer, "unknown"
        below, ends_on = _below_folder(file.parent, machine, device_of, mounted, left - 1)
        return layer + below, ends_on
    slaves = machine.at(f"/sys/class/block/{name}/slaves")
    members = tuple(sorted(each.name for each in slaves.iterdir())) if slaves.is_dir() else ()
    return layer + ([members] if members else []), None


def _backing(name: str, machine: Machine) -> Path | None:
    """The file that a loop device shows; None for any other device."""
    try:
        text = machine.at(f"/sys/class/block/{name}/loop/backing_file").read_text()
    except OSError:
        return None
    return Path(text.strip().removesuffix(" (deleted)"))


def _btrfs_members(number: str, machine: Machine) -> tuple[str, ...]:
    """All devices of the btrfs that one of them, as `major:minor`, belongs to."""
    for listing in machine.at("/sys/fs/btrfs").glob("*/devices"):
        names = sorted(each.name for each in listing.iterdir())
        numbers = {_number(name, machine) for name in names}
        if number in numbers:
            return tuple(names)
    return ()


def _number(name: str, machine: Machine) -> str:
    try:
        return machine.at(f"/sys/class/block/{name}/dev").read_text().strip()
    except OSError:
        return ""


def _journal(device: str, machine: Machine) -> str | None:
    """The device that holds the journal of an ext4, if it is another: its thread bears the name."""
    try:
        pid = machine.at(f"/sys/fs/ext4/{device}/journal_task").read_text().strip()
        thread = machine.at(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None
    # An internal journal's thread is called `jbd2/loop0-8`, with the inode of the journal.
    name = thread.removeprefix("jbd2/")
    return name if name != thread and not name.startswith(f"{device}-") else None


def _option(options: str, name: str) -> str:
    values = [text.partition("=")[2] for text in options.split(",") if text.startswith(f"{name}=")]
    return values[0] if values else os.curdir
