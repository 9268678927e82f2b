"""Sysctls: `vm.dirty_ratio`, `net.ipv4.tcp_rmem`, by their dotted names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.host.levels import Words
from loadstone.host.machine import THIS_MACHINE, Absent, Machine, Reading, read
from loadstone.host.settings import LATE, USUAL, HostSetting
from loadstone.host.sysctl_known import EXCLUSIVE, KNOWN, REFUSED, KnownSysctl, by_shape

PREFIXES = ("vm", "kernel", "net", "fs")

COUNTERPARTS = {one: other for pair in EXCLUSIVE for one, other in (pair, pair[::-1])}
"""Sysctl: the one that the kernel sets to 0 when it is written."""


@dataclass(frozen=True)
class Sysctl(HostSetting):
    """One file below `/proc/sys`."""

    machine: Machine = THIS_MACHINE

    def files(self) -> list[Path]:
        """The file."""
        return [path_of(self.name, self.machine)]

    def companions(self) -> list[Path]:
        """The counterpart that the kernel sets to 0 when this one is written."""
        other = COUNTERPARTS.get(self.name)
        path = path_of(other, self.machine) if other else None
        return [path] if path and path.exists() else []

    def read(self) -> Reading:
        """The value; of a missing one the nearest name that is there."""
        value = super().read()
        if isinstance(value, Absent) and self.name not in KNOWN:
            return Absent(value.reason + _hint(self.name, self.machine))
        return value

    def probed(self, path: Path) -> bool:
        """Writing the 0 of a counterpart would set the one in force to 0."""
        return self.name not in COUNTERPARTS or read(path) != "0"


@dataclass(frozen=True)
class HugePages(Sysctl):
    """`vm.nr_hugepages`: the kernel gives fewer where memory is fragmented."""

    def differs(self, asked: str, seen: str) -> str:
        """Says how many there were."""
        return (
            f"host.{self.name} was set to {asked}, but the kernel found room for {seen} only: "
            "memory is too small or too fragmented"
        )

    def probed(self, path: Path) -> bool:
        """Writing the number again could take or give pages."""
        return False


def setting(name: str, machine: Machine) -> Sysctl:
    """The sysctl of a dotted name; whether the machine has it is another question.

    Raises:
        WrongInputError: If it can be none, or is no matter for an experiment.
    """
    if name in REFUSED:
        raise WrongInputError(f"host.{name} is not for experiments: {REFUSED[name]}")
    path = path_of(name, machine)
    if path.is_dir():
        raise WrongInputError(f"host.{name} is a folder of sysctls: name one of them")
    known = KNOWN.get(name)
    if known is None:
        known = _unlisted(name, machine)
    kind = HugePages if name == "vm.nr_hugepages" else Sysctl
    # Transparent huge pages move min_free_kbytes, so that one is set after them.
    rank = LATE if name == "vm.min_free_kbytes" else USUAL
    return kind(name, known.about, known.levels, known.source, rank, machine=machine)


def path_of(name: str, machine: Machine) -> Path:
    """The file of a sysctl; a `/` within a part of the name stands for a dot (`eth0/1`).

    Raises:
        WrongInputError: If the name leads elsewhere.
    """
    parts = [part.replace("/", ".") for part in name.split(".")]
    if parts[0] not in PREFIXES or len(parts) < 2 or any(part in ("", ".", "..") for part in parts):
        raise WrongInputError(
            f"host.{name} is no sysctl", advice="write it as sysctl does: vm.dirty_ratio"
        )
    return machine.at("/proc/sys").joinpath(*parts)


def all_known(machine: Machine) -> Iterator[Sysctl]:
    """Every listed one, whether or not this machine has it."""
    for name in KNOWN:
        yield setting(name, machine)


def exclusive(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Those of the names that exclude each other: name, and what is wrong."""
    given = set(names)
    for one, other in EXCLUSIVE:
        if one in given and other in given:
            message = (
                f"host.{other} and host.{one} exclude each other: setting one zeroes the other"
            )
            yield other, message


def problems(wanted: dict[str, str], machine: Machine) -> Iterator[tuple[str, str]]:
    """Sysctls that do not go with each other: name, and what is wrong.

    Args:
        wanted: Name: level of all that one trial sets.
        machine: Says the others' present values.
    """
    yield from exclusive(wanted)
    for unit in ("ratio", "bytes"):
        limit, background = f"vm.dirty_{unit}", f"vm.dirty_background_{unit}"
        if limit not in wanted and background not in wanted:
            continue
        most, begin = _number(limit, wanted, machine), _number(background, wanted, machine)
        if most and begin and begin >= most:
            name = background if background in wanted else limit
            yield (
                name,
                f"host.{background} ({begin}) must be below host.{limit} ({most}): the kernel "
                "would silently use half of the latter",
            )


def _number(name: str, wanted: dict[str, str], machine: Machine) -> int:
    """The value in force in the trial; 0 where the counterpart is set or nothing is known."""
    if COUNTERPARTS[name] in wanted:
        return 0
    value = wanted.get(name) or read(path_of(name, machine))
    return int(value) if isinstance(value, str) and value.isdigit() else 0


def _unlisted(name: str, machine: Machine) -> KnownSysctl:
    present = read(path_of(name, machine))
    levels = by_shape(present) if isinstance(present, str) else Words()
    source = f"https://docs.kernel.org/admin-guide/sysctl/{name.partition('.')[0]}.html"
    return KnownSysctl("a sysctl that Loadstone does not describe", levels, source)


def _hint(name: str, machine: Machine) -> str:
    folder = path_of(name, machine).parent
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    here = {f"{name.rpartition('.')[0]}.{each.replace('.', '/')}" for each in names}
    close = difflib.get_close_matches(name, {*here, *KNOWN}, n=1, cutoff=0.8)
    return f"; did you mean {close[0]}?" if close else ""
