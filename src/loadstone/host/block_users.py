"""Who uses a block device: mounts, swap, devices on top of it, programs that have it open."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from loadstone.host.block import BlockIdentity, number_in, number_of
from loadstone.host.machine import THIS_MACHINE, Machine
from loadstone.host.proc import parse_mountinfo


def users_of(device: BlockIdentity, machine: Machine = THIS_MACHINE) -> list[str]:
    """Everything that uses a device, each in a few words; empty if nobody does.

    Mounts are looked for in the mount table of every process that may be read: a container has one
    of its own. What nobody can see from here (a mount table without processes) holds the device
    for itself, so that opening it with O_EXCL fails.
    """
    found = [
        *_partitions(device, machine),
        *_holders(device, machine),
        *_loops(device, machine),
        *_swap(device, machine),
        *_mounts(device, machine),
        *_openers(device, machine),
    ]
    return list(dict.fromkeys(found))


def _folder(device: BlockIdentity, machine: Machine) -> Path:
    return machine.at(f"/sys/dev/block/{device.number}").resolve()


def _partitions(device: BlockIdentity, machine: Machine) -> Iterator[str]:
    names = sorted(each.parent.name for each in _folder(device, machine).glob("*/partition"))
    if names:
        yield f"it has partitions: {', '.join(names)}"


def _holders(device: BlockIdentity, machine: Machine) -> Iterator[str]:
    for each in sorted(_folder(device, machine).glob("holders/*")):
        yield f"{each.name} is made of it"


def _loops(device: BlockIdentity, machine: Machine) -> Iterator[str]:
    for file in sorted(machine.at("/sys/block").glob("loop*/loop/backing_file")):
        with contextlib.suppress(OSError):
            if number_of(machine.at(file.read_text().strip())) == device.number:
                yield f"{file.parent.parent.name} is a loop device on it"


def _swap(device: BlockIdentity, machine: Machine) -> Iterator[str]:
    with contextlib.suppress(OSError):
        for line in machine.at("/proc/swaps").read_text().splitlines()[1:]:
            if number_of(machine.at(line.split()[0])) == device.number:
                yield "it is swap space"


def _mounts(device: BlockIdentity, machine: Machine) -> Iterator[str]:
    """Each folder once; of other mount tables the first process that has it."""
    seen = set()
    for pid, process in sorted(_processes(machine), key=lambda each: each[0] != os.getpid()):
        for folder in _mounted(device, process, machine):
            if folder not in seen:
                seen.add(folder)
                yield f"it is mounted at {folder}{_elsewhere(pid, machine)}"


def _mounted(device: BlockIdentity, process: Path, machine: Machine) -> Iterator[str]:
    """File systems with device numbers of their own (btrfs) are known by their source."""
    try:
        table = parse_mountinfo((process / "mountinfo").read_text())
    except (OSError, ValueError):
        return  # it has ended, or is somebody else's
    for each in table:
        source = each["source"]
        known = source.startswith("/") and number_of(machine.at(source)) == device.number
        if known or each["device"] == device.number:
            yield each["folder"]


def _elsewhere(pid: int, machine: Machine) -> str:
    """Names the process whose mount table it is, if that is not Loadstone's own."""
    own, other = (machine.at(f"/proc/{each}/ns/mnt") for each in ("self", pid))
    with contextlib.suppress(OSError):
        if own.readlink() != other.readlink():
            return f" in the mount table of process {pid} ({_name(pid, machine)})"
    return ""


def _openers(device: BlockIdentity, machine: Machine) -> Iterator[str]:
    for pid, process in _processes(machine):
        if pid != os.getpid() and _has_open(process, device.number):
            yield f"process {pid} ({_name(pid, machine)}) has it open"


def _has_open(process: Path, number: str) -> bool:
    try:
        files = list((process / "fd").iterdir())
    except OSError:
        return False  # it has ended, or is somebody else's
    for file in files:
        with contextlib.suppress(OSError):
            found = file.stat()
            if stat.S_ISBLK(found.st_mode) and number_in(found) == number:
                return True
    return False


def _name(pid: int, machine: Machine) -> str:
    try:
        return machine.at(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "ended"


def _processes(machine: Machine) -> Iterator[tuple[int, Path]]:
    for process in machine.at("/proc").iterdir():
        if process.name.isdigit():
            yield int(process.name), process
