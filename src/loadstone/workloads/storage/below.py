"""What lies below the files of a test, read before and after it: devices, page cache, server.

A reading is a table of figures, as `Workload.observe` returns it. Its names hold what it is of:
`layer 0 loop3 write_bytes`.
"""

from __future__ import annotations

import platform
import stat
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from loadstone.host.below import Ground, counters, ground_of, ground_of_device
from loadstone.host.direct_writes import DirectWrites, try_beside
from loadstone.host.machine import THIS_MACHINE, Machine
from loadstone.host.memory_group import BoundedGroup
from loadstone.host.page_cache import Cached, cached_below
from loadstone.placements.flushes import ServerFlushes

_COUNTERS = ("read_bytes", "write_bytes", "flushes")
_LAYER, _JOURNAL, _ON, _ENDS, _SERVER = "layer", "journal", "on", "ends on", "server"
_FILE, _GROUP, _SERVED, _DIRECT, _KERNEL = "file", "group", "served", "direct", "kernel"
_DROPS_PAGES = "btrfs"
"""It may make direct writes in the page cache, and leaves no page there to see."""


@dataclass(frozen=True)
class Moved:
    """What devices have moved between two readings; those of a layer together."""

    names: tuple[str, ...]
    read_bytes: int = 0
    write_bytes: int = 0
    flushes: int = 0
    fua: bool = False
    """They take writes that are durable when answered, instead of flushes."""

    @property
    def name(self) -> str:
        """Of all of them."""
        return "+".join(self.names)

    @property
    def shared(self) -> bool:
        """A disk serves everybody; a loop device the one file system on it."""
        return not all(name.startswith(("loop", "zram", "md")) for name in self.names)


@dataclass(frozen=True)
class MemoryBound:
    """A limit of memory and page cache together.

    Attributes:
        limit_bytes: As the kernel shows it.
        reached: How often it was met: pages had to be given back.
    """

    limit_bytes: int
    reached: int


@dataclass(frozen=True)
class Below:
    """What happened below the files between two readings.

    Attributes:
        file_system: Of the files.
        layers: The nearest first.
        journal: Of an external journal.
        ends_on: The kind of file system below the last layer, if it is not a disk of this machine.
        cached: Of the files, afterwards.
        cached_before: Of the files, at the first reading.
        served: The load reaches the files by a server, which has them in its own page cache.
        server: What a server of ours does with flushes, if there is one.
        memory: Of the load, if a control group bounds it.
        direct: How direct writes to the files are made, where pages do not show it.
        kernel: Which made them so.
    """

    file_system: str
    layers: tuple[Moved, ...] = ()
    journal: Moved | None = None
    ends_on: str | None = None
    cached: Cached | None = None
    cached_before: Cached | None = None
    served: bool = False
    server: ServerFlushes | None = None
    memory: MemoryBound | None = None
    direct: DirectWrites | None = None
    kernel: str | None = None

    @property
    def nearest(self) -> Moved | None:
        """The devices that the file system lies on."""
        return self.layers[0] if self.layers else None


def read(
    path: Path,
    server: ServerFlushes | None = None,
    machine: Machine = THIS_MACHINE,
    *,
    served: bool = False,
) -> dict[str, float]:
    """Reads all there is to see below a folder or a block device.

    Args:
        path: Of the files, or of the device.
        server: What a server of ours does with flushes.
        machine: Whose counters.
        served: As of `Below`.
    """
    is_device = stat.S_ISBLK(path.stat().st_mode)
    ground = ground_of_device(path, machine) if is_device else ground_of(path, machine)
    figures = {**_of_devices(ground, machine), f"{_ON} {ground.file_system}": 1.0}
    figures |= {_SERVED: 1.0} if served else {}
    if ground.ends_on is not None:
        figures[f"{_ENDS} {ground.ends_on}"] = 1.0
    for file, held in cached_below(path).items():
        figures |= _told(f"{_FILE} {file}", asdict(held))
    if ground.file_system == _DROPS_PAGES and path.is_dir() and not served:
        figures |= _of_direct_writes(path)
    if server is not None:
        figures |= _told(_SERVER, asdict(server))
    return figures


def read_group(group: BoundedGroup | None) -> dict[str, float]:
    """Reads the control group of the load, if it has one."""
    if group is None:
        return {}
    return {f"{_GROUP} {name}": float(value) for name, value in group.counters().items()}


def between(
    before: Mapping[str, float], after: Mapping[str, float], files: Collection[str] = ()
) -> Below | None:
    """What two readings say together; None if nothing could be read.

    Args:
        before: At the beginning of a phase.
        after: At its end.
        files: Whose pages are of interest; all, if none of them is there: a disk has no files.
    """
    kind = _word(after, _ON)
    if kind is None:
        return None
    return Below(
        kind,
        tuple(_moved(before, after, _LAYER)),
        next(iter(_moved(before, after, _JOURNAL)), None),
        _word(after, _ENDS),
        _cached(after, files),
        _cached(before, files),
        _SERVED in after,
        _server(after),
        _bound(before, after),
        _direct(after, files),
        _word(after, _KERNEL),
    )


def _told(place: str, values: Mapping[str, float | None]) -> dict[str, float]:
    """What is known of a place, as figures."""
    return {f"{place} {name}": float(each) for name, each in values.items() if each is not None}


def _of_devices(ground: Ground, machine: Machine) -> dict[str, float]:
    known = counters(machine)
    places = [(f"{_LAYER} {depth}", names) for depth, names in enumerate(ground.layers)]
    places += [(f"{_JOURNAL} 0", (ground.journal,))] if ground.journal else []
    figures: dict[str, float] = {}
    for place, names in places:
        for name in names:
            if name in known:
                for counter in _COUNTERS:
                    figures[f"{place} {name} {counter}"] = float(getattr(known[name], counter))
                figures[f"{place} {name} fua"] = float(_takes_durable_writes(name, machine))
    return figures


def _of_direct_writes(folder: Path) -> dict[str, float]:
    """How they are made to each file of a folder, and by which kernel."""
    found = {f"{_KERNEL} {platform.release()}": 1.0}
    for path in (each for each in folder.iterdir() if each.is_file()):
        tried = try_beside(path)
        if tried is not None:
            found |= _told(f"{_DIRECT} {path.name}", asdict(tried))
    return found


def _takes_durable_writes(name: str, machine: Machine) -> bool:
    """Whether the kernel sends FUA instead of a flush: never to what it says writes through."""
    queue = machine.at(f"/sys/class/block/{name}").resolve() / "queue"
    if not queue.is_dir():  # a partition has that of its disk
        queue = queue.parent.parent / "queue"
    try:
        fua = (queue / "fua").read_text().strip()
        cache = (queue / "write_cache").read_text().strip()
    except OSError:
        return False
    return fua == "1" and cache == "write back"


def _moved(before: Mapping[str, float], after: Mapping[str, float], place: str) -> list[Moved]:
    found: dict[int, dict[str, dict[str, float]]] = {}
    for key, value in after.items():
        if key.startswith(f"{place} "):
            _, depth, name, counter = key.split()
            rise = value if counter == "fua" else value - before.get(key, value)
            found.setdefault(int(depth), {}).setdefault(name, {})[counter] = rise
    return [_together(by_name) for _, by_name in sorted(found.items())]


def _together(by_name: Mapping[str, Mapping[str, float]]) -> Moved:
    def total(counter: str) -> int:
        return int(sum(each[counter] for each in by_name.values()))

    return Moved(
        tuple(sorted(by_name)),
        total("read_bytes"),
        total("write_bytes"),
        total("flushes"),
        fua=total("fua") > 0,
    )


def _word(figures: Mapping[str, float], place: str) -> str | None:
    return next((key[len(place) + 1 :] for key in figures if key.startswith(f"{place} ")), None)


def _cached(figures: Mapping[str, float], files: Collection[str]) -> Cached | None:
    own = [Cached(**each) for each in _of_files(figures, _FILE, files)]
    return sum(own[1:], own[0]) if own else None


def _direct(figures: Mapping[str, float], files: Collection[str]) -> DirectWrites | None:
    """Of all files together: one that is written in the page cache is enough."""
    own = _of_files(figures, _DIRECT, files)
    if not own:
        return None
    return DirectWrites(
        buffered=any(each["buffered"] for each in own), no_cow=all(each["no_cow"] for each in own)
    )


def _of_files(
    figures: Mapping[str, float], place: str, files: Collection[str]
) -> list[dict[str, int]]:
    """What is told of these files; of all, if of none of them."""
    found: dict[str, dict[str, int]] = {}
    for key, value in figures.items():
        if key.startswith(f"{place} "):
            name, _, what = key.removeprefix(f"{place} ").rpartition(" ")
            found.setdefault(name, {})[what] = int(value)
    return [each for name, each in found.items() if name in files] or list(found.values())


def _bound(before: Mapping[str, float], after: Mapping[str, float]) -> MemoryBound | None:
    limit, reached = f"{_GROUP} limit_bytes", f"{_GROUP} reached"
    if limit not in after:
        return None
    return MemoryBound(int(after[limit]), int(after[reached] - before.get(reached, 0)))


def _server(figures: Mapping[str, float]) -> ServerFlushes | None:
    values = {
        key.removeprefix(f"{_SERVER} "): int(value)
        for key, value in figures.items()
        if key.startswith(f"{_SERVER} ")
    }
    if not values:
        return None
    left_kernel, claims = values.pop("left_kernel", None), bool(values.pop("claims_no_cache", 0))
    return ServerFlushes(left_kernel=left_kernel, claims_no_cache=claims, **values)
