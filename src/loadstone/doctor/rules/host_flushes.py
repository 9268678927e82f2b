"""What becomes of flushes on the disk of the data, as far as it can be seen without writing.

Three answers, as in `placements.flushes`, and none of them from time: the kernel sends none, a
server on this machine says that it drops them, or else it cannot be judged from here.
"""

from __future__ import annotations

from loadstone.doctor.facts import DiskFacts, HostFacts
from loadstone.doctor.model import Advice, Measure, Severity, Source
from loadstone.doctor.rules.base import NOT_SPEED, host_rule, kernel
from loadstone.host.queue import WRITE_THROUGH

_FRESH = "on fresh file systems in files on the same disk"


@host_rule(
    "flushes-not-sent",
    "the kernel sends no flushes to the disk of the data",
    Severity.LOOK,
    kernel("block queue, write_cache", "block/writeback_cache_control.html"),
)
def flushes_not_sent(host: HostFacts) -> Advice | None:
    """The queue of the disk, or of the loop device above it, says `write through`."""
    place = host.place
    devices = (place.nearest, place.disk) if place else ()
    disk = next((each for each in devices if each and each.write_cache == WRITE_THROUGH), None)
    if disk is None:
        return None
    return Advice(
        seen=f"write_cache of {disk.name} is {WRITE_THROUGH}: {_counted(disk)}",
        why="the kernel believes that every write is durable when the disk answers, and no flush "
        "leaves it. That is right for a disk without a volatile cache. A target that says so and "
        "is buffered, and a queue that was set by hand, lose what was synced",
        change="ask the maker, or the keeper of the storage; where there is a cache: "
        f"echo 'write back' > /sys/block/{disk.name}/queue/write_cache",
        risk="each commit waits for the disk: slower, by what the comparison shows",
        measure=Measure("storage.data", ("loop:ext4,write-cache=through", "loop:ext4"), _FRESH),
    )


@host_rule(
    "flushes-dropped",
    "the storage server of the data answers flushes and does nothing",
    Severity.DATA,
    Source(
        "nbdkit-fua-filter(1): fuamode=discard",
        "https://libguestfs.org/nbdkit-fua-filter.1.html",
    ),
)
def flushes_dropped(host: HostFacts) -> Advice | None:
    """A server on this machine, below the data, says on its command line that it drops them."""
    place = host.place
    if place is None or place.drops_flushes is None:
        return None
    return Advice(
        seen=f"{place.folder} lies on a server that was started with {place.drops_flushes}",
        why="flushes arrive there and are dropped: after a power loss commits that were "
        "acknowledged are missing, and the file system itself may be damaged",
        change=f"start the server without {place.drops_flushes}",
        risk="each commit waits for the disk: slower, by what the comparison shows",
        measure=Measure(
            "storage.data",
            ("nbd:ext4,async", "nbd:ext4"),
            "with crash trials, it counts the commits that are lost",
            crash="power-loss",
        ),
    )


@host_rule(
    "flushes-unseen",
    "what a disk of others does with flushes cannot be seen",
    Severity.NOTE,
    kernel("block queue, write_cache", "block/writeback_cache_control.html"),
)
def flushes_unseen(host: HostFacts) -> Advice | None:
    """The disk is a hypervisor's, and the kernel has sent flushes to it."""
    disk = host.place.disk if host.place else None
    if disk is None or not disk.virtual or not disk.flushes:
        return None
    return Advice(
        seen=f"{disk.name} is a disk of a hypervisor: {_counted(disk)}",
        why="the hypervisor may bring them to a disk, keep them in a cache that survives a power "
        "loss, or drop them (cache=unsafe). No figure of this machine tells which: a fast flush is "
        "no proof of a lie, and a slow one none of honesty",
        change="ask who keeps the host; a cut of its power, with crash trials, would tell",
        risk="none: this is a question",
        measure=NOT_SPEED,
    )


def _counted(disk: DiskFacts) -> str:
    if disk.flushes is None or disk.writes is None:
        return "how many flushes it was sent is not counted"
    return f"{disk.flushes:,} flushes and {disk.writes:,} writes were sent to it since boot"
