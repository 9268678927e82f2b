"""What lies below the files of a test, read before and after it: devices, page cache, server.

A reading is a table of figures, as `Workload.observe` returns it. Its names hold what it is of:
`layer 0 loop3 write_bytes`.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from loadstone.host.below import Ground, counters, ground_of, ground_of_device
from loadstone.host.machine import THIS_MACHINE, Machine
from loadstone.host.memory_group import BoundedGroup
from loadstone.host.page_cache import Cached, cached_below
from loadstone.placements.flushes import ServerFlushes

_COUNTERS = ("read_bytes", "write_bytes", "flushes")
_LAYER, _JOURNAL, _ON, _ENDS, _SERVER = "layer", "journal", "on", "ends on", "server"
_GROUP = "group"


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
        server: What a server of ours does with flushes, if there is one.
        memory: Of the load, if a control group bounds it.
    """

    file_system: str
    layers: tuple[Moved, ...] = ()
    journal: Moved | None = None
    ends_on: str | None = None
    cached: Cached | None = None
    cached_before: Cached | None = None
    server: ServerFlushes | None = None
    memory: MemoryBound | None = None

    @property
    def nearest(self) -> Moved | None:
        """The devices that the file system lies on."""
        return self.layers[0] if self.layers else None


def read(
    path: Path, server: ServerFlushes | None = None, machine: Machine = THIS_MACHINE
) -> dict[str, float]:
    """Reads all there is to see below a folder or a block device.

    Args:
        path: Of the files, or of the device.
        server: What a server of ours does with flushes.
        machine: Whose counters.
    """
    is_device = stat.S_ISBLK(path.stat().st_mode)
    ground = ground_of_device(path, machine) if is_device else ground_of(path, machine)
    held = cached_below(path)
    figures = {**_of_devices(ground, machine), f"{_ON} {ground.file_system}": 1.0}
    if ground.ends_on is not None:
        figures[f"{_ENDS} {ground.ends_on}"] = 1.0
    for name, value in asdict(held).items():
        if value is not None:
            figures[name] = float(value)
    if server is not None:
        figures |= {f"{_SERVER} {name}": float(value) for name, value in asdict(server).items()}
    return figures


def read_group(group: BoundedGroup | None) -> dict[str, float]:
    """Reads the control group of the load, if it has one."""
    if group is None:
        return {}
    return {f"{_GROUP} {name}": float(value) for name, value in group.counters().items()}


def between(before: Mapping[str, float], after: Mapping[str, float]) -> Below | None:
    """What two readings say together; None if nothing could be read.

    Args:
        before: At the beginning of a phase.
        after: At its end.
    """
    kind = _word(after, _ON)
    if kind is None:
        return None
    return Below(
        kind,
        tuple(_moved(before, after, _LAYER)),
        next(iter(_moved(before, after, _JOURNAL)), None),
        _word(after, _ENDS),
        _cached(after),
        _cached(before),
        _server(after),
        _bound(before, after),
    )


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


def _cached(figures: Mapping[str, float]) -> Cached | None:
    if "resident_bytes" not in figures:
        return None
    dirty = figures.get("dirty_bytes")
    return Cached(
        int(figures["resident_bytes"]),
        int(figures["size_bytes"]),
        None if dirty is None else int(dirty),
    )


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
    return ServerFlushes(**values) if values else None
