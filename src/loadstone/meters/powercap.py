"""Energy counters of the processor, as the kernel's powercap shows them (RAPL).

Source: https://docs.kernel.org/power/powercap/powercap.html. A zone is a folder with a name. Zones
lie in each other, and `/sys/class/powercap` has a flat link to each of them: a zone is read once.
The number in the folder's name is not that of the socket; the name tells it (`package-1`).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from loadstone.host.machine import Absent, Denied, Machine, read
from loadstone.journal import Journal
from loadstone.meters.base import Channel, Found, MeterError
from loadstone.meters.polled import PolledMeter, Value
from loadstone.spec.meters import PowercapSpec, Scope

_TREE = "/sys/devices/virtual/powercap"
_LINKS = "/sys/class/powercap"
_CPUS = "/sys/devices/system/cpu"
_ENERGY, _RANGE, _NAME = "energy_uj", "max_energy_range_uj", "name"
_MICRO = 1e6
_PACKAGE = re.compile(r"package-(\d+)(?:-die-\d+)?")
_SCOPES: dict[str, Scope] = {
    "core": "package",
    "uncore": "package",
    "dram": "dram",
    "psys": "platform",
}
_INSIDE = ("core", "uncore")
"""Zones that are parts of their package; memory is none."""
_WAYS = {
    "intel-rapl": "MSR",
    "intel-rapl-mmio": "memory-mapped registers",
    "intel-rapl-tpmi": "TPMI",
}
_NONE = (
    f"{_LINKS} has no zone with {_ENERGY}: a virtual machine, a container from which they are "
    "hidden, a processor without such counters, or the module intel_rapl_msr is not loaded"
)
_ROOT_ONLY = f"{_ENERGY} is readable by root only"


@dataclass(frozen=True)
class Zone:
    """A folder with a counter.

    Attributes:
        folder: Where it is.
        names: Those of the zones that it lies in, and its own: `("package-0", "dram")`.
        channel: What it is called here; no other zone is.
        twin_of: The channel that shows the same counter another way.
    """

    folder: Path
    names: tuple[str, ...]
    channel: str = ""
    twin_of: str = ""

    @property
    def control(self) -> str:
        """The way by which the kernel reads it: `intel-rapl-mmio`."""
        return self.folder.name.partition(":")[0]

    @property
    def scope(self) -> Scope:
        """Of what it counts the energy."""
        name = self.names[-1]
        return "package" if _PACKAGE.fullmatch(name) else _SCOPES.get(name, "board")

    @property
    def what(self) -> str:
        """For people."""
        way = _WAYS.get(self.control, self.control)
        return f"energy of {' / '.join(self.names)}, by {way} ({self.folder.name})"

    @property
    def missing(self) -> str:
        """Why its counter cannot be read; empty: it can."""
        text = read(self.folder / _ENERGY)
        if isinstance(text, Denied):
            allowed = os.access(self.folder / _ENERGY, os.R_OK)
            return text.reason if allowed else _ROOT_ONLY
        return text.reason if isinstance(text, Absent) else ""


class PowercapMeter(PolledMeter[PowercapSpec]):
    """Reads the counter of every zone."""

    kind = "powercap"
    machine_wide = frozenset[Scope]({"package", "dram"})
    _zones: Sequence[Zone] = ()

    @classmethod
    def found(cls, root: Path) -> list[Found]:
        """The zones below a root."""
        found = [
            Found(cls.kind, each.channel, each.scope, each.what, each.missing, each.twin_of)
            for each in zones_below(root)
        ]
        return found or [Found(cls.kind, missing=_NONE)]

    def prepare(self, journal: Journal) -> Sequence[Channel]:
        """Looks for the zones; one that is wanted and cannot be read ends it."""
        zones = zones_below(self.root)
        if not zones:
            raise MeterError(_NONE)
        wanted = set(self.spec.channels) or {each.channel for each in zones if not each.twin_of}
        for zone in zones:
            if zone.channel in wanted and zone.missing:
                raise MeterError(
                    f"{zone.channel}: {zone.missing}",
                    advice="run as root, or name the zones that can be read with channels",
                )
        self._zones = [each for each in zones if not each.missing]
        return [_channel(zone, self._zones) for zone in self._zones]

    def ask(self) -> Sequence[Value]:
        """Reads every counter once."""
        values = [_value(zone) for zone in self._zones]
        if all(each.invalid for each in values):
            raise MeterError(values[0].invalid)
        return values

    def lacks(self, scope: Scope) -> str:
        """Whether each socket of the machine has a zone."""
        sockets = _sockets(self.root)
        matches = [_PACKAGE.fullmatch(zone.names[0]) for zone in self._zones]
        having = {match[1] for match in matches if match}
        if scope != "package" or len(having) >= sockets:
            return ""
        return f"{len(having)} of {sockets} sockets have a zone: not the power of all processors"

    def close(self) -> None:
        """Nothing is open."""


def zones_below(root: Path) -> list[Zone]:
    """All zones with a counter, each once; those that show the same counter name the first.

    Args:
        root: `/`, or a tree that stands for it.
    """
    bare = sorted(_bare_zones(root), key=lambda each: (each.control, _order(each.folder.name)))
    first: dict[tuple[str, ...], Zone] = {}
    for zone in bare:
        first.setdefault(zone.names, zone)
    often = Counter(names[-1] for names in first)
    zones = []
    for zone in bare:
        channel = zone.names[-1] if often[zone.names[-1]] == 1 else "/".join(zone.names)
        same = first[zone.names]
        if same is zone:
            zones.append(replace(zone, channel=channel))
        else:
            twin_of = channel if same.control != zone.control else ""
            again = f"{channel}@{zone.folder.name}"
            zones.append(replace(zone, channel=again, twin_of=twin_of))
    return zones


def _bare_zones(root: Path) -> Iterator[Zone]:
    """Zones without a channel yet, from the nested folders, else by the flat links."""
    machine = Machine(root)
    tree, links = machine.at(_TREE), machine.at(_LINKS)
    folders = [Path(at) for at, _, files in os.walk(tree) if _ENERGY in files and _NAME in files]
    if not folders and links.is_dir():
        ends = {each.resolve() for each in links.iterdir()}
        inside = [each for each in ends if each.is_relative_to(root.resolve())]
        folders = [each for each in inside if (each / _ENERGY).exists() and (each / _NAME).exists()]
    for folder in folders:
        names = [
            str(text)
            for each in (*reversed(folder.parents), folder)
            if ":" in each.name and isinstance(text := read(each / _NAME), str)
        ]
        if names:
            yield Zone(folder, tuple(names))


def _order(folder: str) -> list[int]:
    return [int(each) if each.isdigit() else 0 for each in folder.split(":")[1:]]


def _channel(zone: Zone, zones: Sequence[Zone]) -> Channel:
    around = [
        each.channel
        for each in zones
        if each.control == zone.control and each.names == zone.names[:-1]
    ]
    package = _PACKAGE.fullmatch(zone.names[-1])
    is_die = package is not None and zone.names[-1] != f"package-{package[1]}"
    return Channel(
        zone.channel,
        zone.scope,
        "counter",
        range_j=_joules(zone.folder / _RANGE),
        most_w=_most_w(zone.folder),
        parts_of=around[0] if around and zone.names[-1] in _INSIDE else "",
        same_as=zone.twin_of,
        die_of=f"package-{package[1]}" if package is not None and is_die else "",
    )


def _value(zone: Zone) -> Value:
    text = read(zone.folder / _ENERGY)
    if not isinstance(text, str):
        return Value(zone.channel, invalid=text.reason)
    if not text.isdigit():
        return Value(zone.channel, invalid=f"{_ENERGY} of {zone.channel} is no number")
    return Value(zone.channel, int(text) / _MICRO)


def _joules(path: Path) -> float | None:
    """A positive figure of a file in microjoules, or microwatts, without the prefix."""
    text = read(path)
    return int(text) / _MICRO if isinstance(text, str) and text.isdigit() and int(text) else None


def _most_w(folder: Path) -> float | None:
    """The highest of the zone's limits."""
    files = [*folder.glob("constraint_*_power_limit_uw"), *folder.glob("constraint_*_max_power_uw")]
    return max((limit for each in files if (limit := _joules(each))), default=None)


def _sockets(root: Path) -> int:
    """Sockets with processors; 0 if the tree does not say it."""
    ids = Machine(root).at(_CPUS).glob("cpu[0-9]*/topology/physical_package_id")
    return len({text for each in ids if isinstance(text := read(each), str)})
