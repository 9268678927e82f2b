"""Settings of a block queue: that of the disk below the data, or of a disk that is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.host.disks import disk_below, whole_disk
from loadstone.host.levels import Levels, OneOf, Whole
from loadstone.host.machine import Absent, Machine
from loadstone.host.settings import EARLY, USUAL, AbsentSetting, FileSetting, HostSetting
from loadstone.spec.problems import near

PREFIX = "queue"

_SOURCE = "https://docs.kernel.org/admin-guide/abi-stable.html"
_INT = 2**31 - 1
_SCHEDULERS = ("none", "mq-deadline", "kyber", "bfq")
WRITE_THROUGH = "write through"
"""The kernel believes that the device has no volatile cache, and sends it no flushes any more."""


@dataclass(frozen=True)
class _Field:
    about: str
    levels: Levels
    rank: int = USUAL
    unsafe: tuple[str, ...] = ()
    moves: tuple[str, ...] = ()
    """Files below the queue that the kernel changes along with it."""


_FIELDS: dict[str, _Field] = {
    "scheduler": _Field(
        "order in which requests go to the disk",
        OneOf(_SCHEDULERS),
        EARLY,
        moves=("nr_requests", "wbt_lat_usec", "iosched/*"),
    ),
    "read_ahead_kb": _Field("what is read ahead of a sequential reader", Whole(0, _INT, "kB")),
    "nr_requests": _Field("requests that may wait", Whole(4, _INT), moves=("iosched/*",)),
    "wbt_lat_usec": _Field(
        "latency of reads above which write-back is throttled; 0 never", Whole(0, _INT, "us")
    ),
    "rq_affinity": _Field(
        "0 anywhere, 1 and 2 complete a request near where it was made", Whole(0, 2)
    ),
    "nomerges": _Field("0 merge adjacent requests, 1 simple merges only, 2 never", Whole(0, 2)),
    "write_cache": _Field(
        f"what the kernel believes of the disk's cache; {WRITE_THROUGH} stops flushes",
        OneOf(("write back", WRITE_THROUGH)),
        unsafe=(WRITE_THROUGH,),
    ),
}


def setting(name: str, data: Path | Absent, machine: Machine) -> HostSetting:
    """`queue.FIELD` of the disk below the data, or `queue.DISK.FIELD`.

    Args:
        name: Without `host.`.
        data: Where the data lie, or why that is no folder of this machine.
        machine: Whose disks.

    Raises:
        WrongInputError: If a queue has no such field.
    """
    _, _, rest = name.partition(".")
    disk_name, _, field_name = rest.rpartition(".")
    if field_name not in _FIELDS:
        hint = near(field_name, _FIELDS)
        raise WrongInputError(f"there is no host.{name}: a queue has no {field_name!r}; {hint}")
    field = _FIELDS[field_name]
    disk = whole_disk(disk_name, machine) if disk_name else _below(data, machine)
    if isinstance(disk, Absent):
        return AbsentSetting(
            name, field.about, field.levels, _SOURCE, field.rank, field.unsafe, reason=disk.reason
        )
    queue = machine.at(f"/sys/block/{disk}/queue")
    return FileSetting(
        name,
        field.about,
        field.levels,
        _SOURCE,
        field.rank,
        field.unsafe,
        path=queue / field_name,
        moved_with_it=tuple(queue / file for file in field.moves),
    )


def all_known(data: Path | Absent, machine: Machine) -> Iterator[HostSetting]:
    """Each field of the disk below the data."""
    for field in _FIELDS:
        yield setting(f"{PREFIX}.{field}", data, machine)


def _below(data: Path | Absent, machine: Machine) -> str | Absent:
    return data if isinstance(data, Absent) else disk_below(data, machine)
