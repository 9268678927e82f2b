"""Whether I/O went past the page cache, judged by what happened.

A file system may refuse O_DIRECT, and it may accept it and not do it: tmpfs does since Linux 6.6,
btrfs buffers every write of a checksummed file since 6.14, overlay and fuse do what is below them.
So the words of open(2) are no evidence. What the load moved is held against what the device below
has moved meanwhile, and against the pages of the files that are in memory afterwards. btrfs leaves
no page there: a direct write of Loadstone's own, beside each file, shows how it makes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from loadstone.units import format_size
from loadstone.workloads.storage.below import Below

ENOUGH = 0.9
"""So much of what the load moved must have been seen at the device. The reading is taken some
milliseconds after the last request, and others may write meanwhile: it is never exact."""
_READ_AHEAD = 4
IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs")


class Way(StrEnum):
    """How the bytes went."""

    PAST = "past the page cache"
    THROUGH = "through the page cache, at least in part"
    MEMORY = "memory only: no device has seen them"
    UNKNOWN = "cannot be told"


@dataclass(frozen=True)
class WayFinding:
    """How the bytes of a test went, and by what that is known."""

    way: Way
    evidence: str


def judge(
    moved_bytes: int,
    written_bytes: int,
    below: Below,
    *,
    emptied: bool = False,
    in_flight_bytes: int = 0,
) -> WayFinding | None:
    """Says how the bytes of a test went.

    Args:
        moved_bytes: By the load, read and written.
        written_bytes: Of them.
        below: What happened below its files meanwhile.
        emptied: The load took the files out of memory before each of its passes, as fio does
            (`invalidate`): pages that are there afterwards have come since.
        in_flight_bytes: Of all requests that the load has in flight at a time.

    Returns:
        None if nothing was moved.
    """
    if moved_bytes <= 0:
        return None
    nearest, held = below.nearest, below.cached
    memory = (
        "what of its files is in memory could not be asked"
        if held is None
        else f"{format_size(held.resident_bytes)} of {format_size(held.size_bytes)} of its files "
        f"in memory {'of the server ' if below.served else ''}afterwards"
    )
    if nearest is None:
        evidence = f"{format_size(moved_bytes)} moved, no device below ({below.ends_on}), {memory}"
        return WayFinding(_without_device(below), evidence)
    seen_bytes = nearest.read_bytes + nearest.write_bytes
    others = ", what others moved there included" if nearest.shared else ""
    evidence = (
        f"{format_size(moved_bytes)} moved, {format_size(seen_bytes)} "
        f"({100 * seen_bytes / moved_bytes:.0f} %) by {nearest.name}{others}, {memory}"
    )
    if seen_bytes < ENOUGH * moved_bytes:
        return WayFinding(Way.THROUGH, evidence)
    if written_bytes and below.direct is not None and below.direct.buffered:
        return WayFinding(Way.THROUGH, f"{evidence}; {_of_direct(below)}")
    few = below.direct is not None and _few(below, in_flight_bytes)
    way = Way.PAST if few else _by_pages(written_bytes, below, emptied=emptied)
    return WayFinding(way, evidence)


def _of_direct(below: Below) -> str:
    """How direct writes were made, where that was tried."""
    flag = "with" if below.direct is not None and below.direct.no_cow else "without"
    return (
        f"{below.file_system} of Linux {below.kernel} made a direct write to a file as these, "
        f"{flag} the flag NOCOW, in the page cache, and leaves no page there"
    )


def _few(below: Below, in_flight_bytes: int) -> bool:
    """Whether so little is in memory that it is that of btrfs's first reads.

    It reads through the page cache into each buffer that was not touched yet, and ahead: three
    times as much was seen. The load has a buffer for each request in flight, new ones in each pass.
    """
    held = below.cached
    return held is not None and held.resident_bytes <= _READ_AHEAD * in_flight_bytes


def _without_device(below: Below) -> Way:
    if below.file_system in IN_MEMORY or below.ends_on in IN_MEMORY:
        return Way.MEMORY
    return Way.THROUGH if below.cached and below.cached.resident_bytes else Way.UNKNOWN


def _by_pages(written_bytes: int, below: Below, *, emptied: bool) -> Way:
    """Of bytes that the device has seen.

    Pages that came in meanwhile were brought by the load. Older ones that held the whole file
    would have answered its reads, had they been asked.
    """
    before, after = below.cached_before, below.cached
    if after is None:
        return Way.UNKNOWN
    if after.resident_bytes == 0:
        return Way.PAST
    if emptied and not below.served:
        return Way.THROUGH
    if before is None:
        return Way.UNKNOWN
    if after.resident_bytes > before.resident_bytes:
        return Way.THROUGH
    whole = after.resident_bytes >= ENOUGH * after.size_bytes
    return Way.PAST if whole and not written_bytes else Way.UNKNOWN
