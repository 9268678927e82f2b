"""Which block device a path is: its serial number, its names, its size."""

from __future__ import annotations

import os
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from loadstone.host.machine import THIS_MACHINE, Absent, Machine, Reading, read
from loadstone.host.proc import SECTOR_BYTES

_SERIALS = ("serial", "device/serial", "wwid", "device/wwid", "dm/uuid", "md/uuid")
"""Below `/sys/block/DISK`: of virtio and loop, NVMe, SCSI, the device mapper and md."""
_BY_ID = "/dev/disk/by-id"


@dataclass(frozen=True)
class BlockIdentity:
    """What tells a device from all others; equal of the same device only.

    Attributes:
        name: The kernel's, as `sdb1`.
        number: `major:minor`.
        size_bytes: Of the device or the partition.
        serial: Of its disk; empty where it has none.
        by_id: Names in `/dev/disk/by-id` that lead to it.
        partition: Its number and first sector, as `2 at 4096`; empty of a whole disk.
        disk_sequence: The kernel's count of disks since it was started: another disk in the same
            place has another. Empty before Linux 5.15.
        backing_file: Of a loop device.
    """

    name: str
    number: str
    size_bytes: int
    serial: str = ""
    by_id: tuple[str, ...] = ()
    partition: str = ""
    disk_sequence: str = ""
    backing_file: str = ""

    def facts(self) -> dict[str, Any]:
        """For the inventory."""
        return asdict(self)

    def text(self) -> str:
        """In a line: `sdb1, serial number S3Z8, 512110190592 bytes`."""
        named = [f"serial number {self.serial}"] if self.serial else list(self.by_id[:1])
        behind = [f"on {self.backing_file}"] if self.backing_file else []
        return ", ".join([self.name, *named, *behind, f"{self.size_bytes} bytes"])

    def lasting(self) -> str:
        """What is the same after the machine was started again, as far as the device tells it."""
        told = self.serial or ",".join(self.by_id) or self.backing_file or self.name
        return " ".join(each for each in (told, self.partition, str(self.size_bytes)) if each)


def number_of(path: Path) -> str | None:
    """`major:minor` of the block device that a path or a link leads to; None if it is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return number_in(found) if stat.S_ISBLK(found.st_mode) else None


def number_in(found: os.stat_result) -> str:
    """`major:minor` of a device file."""
    return f"{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}"


def identify(number: str, machine: Machine = THIS_MACHINE) -> BlockIdentity:
    """Reads what the kernel says of a device.

    Args:
        number: `major:minor`.
        machine: Whose devices are looked at.

    Raises:
        OSError: If the device has gone.
    """
    own = machine.at(f"/sys/dev/block/{number}").resolve()
    whole = own.parent if (own / "partition").exists() else own
    partition = ""
    if whole != own:
        partition = f"{(own / 'partition').read_text().strip()} at {_said(own / 'start')}"
    return BlockIdentity(
        name=own.name,
        number=number,
        size_bytes=int((own / "size").read_text()) * SECTOR_BYTES,
        serial=next((text for each in _SERIALS if (text := _said(whole / each))), ""),
        by_id=_names(number, machine),
        partition=partition,
        disk_sequence=_said(whole / "diskseq"),
        backing_file=_said(whole / "loop" / "backing_file"),
    )


def size_of(path: Path) -> int | None:
    """Bytes of the block device at a path; None if there is none."""
    number = number_of(path)
    return None if number is None else identify(number).size_bytes


def _said(path: Path) -> str:
    found: Reading = read(path)
    return found if isinstance(found, str) else ""


def _names(number: str, machine: Machine) -> tuple[str, ...]:
    folder = machine.at(_BY_ID)
    if isinstance(read(folder), Absent):
        return ()
    return tuple(sorted(each.name for each in folder.iterdir() if number_of(each) == number))
