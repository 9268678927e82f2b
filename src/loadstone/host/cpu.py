"""Processors: governor, SMT, turbo, which are online; and the table of all settings of `cpu`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import TargetError, WrongInputError
from loadstone.host import cpulist, frequency, idle, prefetchers
from loadstone.host.levels import Cpus, OneOf
from loadstone.host.machine import THIS_MACHINE, Absent, Denied, Machine, Reading, read, write
from loadstone.host.settings import EARLY, FIRST, HostSetting
from loadstone.spec.base import Level
from loadstone.spec.problems import near

PREFIX = "cpu"

_CPU = "/sys/devices/system/cpu"
_GOVERNORS = ("performance", "powersave", "schedutil", "ondemand", "conservative", "userspace")
_SWITCH = OneOf(("on", "off"))
_SOURCE = "https://docs.kernel.org/admin-guide/pm/cpufreq.html"
_HOTPLUG = "https://docs.kernel.org/core-api/cpu_hotplug.html"


@dataclass(frozen=True)
class Governor(HostSetting):
    """The governor of every frequency domain."""

    machine: Machine = THIS_MACHINE

    def files(self) -> list[Path] | Absent:
        """One for each domain."""
        folder = self.machine.at(f"{_CPU}/cpufreq")
        found = sorted(folder.glob("policy*/scaling_governor"))
        return found or Absent(f"{folder}/policy*/scaling_governor is missing")

    def unavailable(self, level: Level | None = None) -> str | None:
        """Also asks the domains whether they have the governor."""
        return super().unavailable(level) or frequency.not_offered(
            self.files(), "scaling_available_governors", level
        )

    def companions(self) -> list[Path]:
        """With performance the driver also sets the energy preference."""
        return frequency.policies(self.machine, "energy_performance_preference")


@dataclass(frozen=True)
class Smt(HostSetting):
    """Hyper-threads."""

    machine: Machine = THIS_MACHINE

    def files(self) -> list[Path] | Absent:
        """The control, unless the processor has no threads."""
        path = self.machine.at(f"{_CPU}/smt/control")
        present = read(path)
        if present in ("notsupported", "notimplemented", "forceoff"):
            return Absent(
                f"{path} says {present}: the processor has no threads, or its owner shut them off"
            )
        return [path]

    def companions(self) -> list[Path]:
        """Turning SMT on brings every thread online, also those that were not before."""
        return _switches(self.machine)


@dataclass(frozen=True)
class Turbo(HostSetting):
    """Frequencies above the nominal one."""

    machine: Machine = THIS_MACHINE

    def files(self) -> list[Path] | Absent:
        """Of the Intel driver, else of the generic one."""
        paths = [self._intel, self.machine.at(f"{_CPU}/cpufreq/boost")]
        found = [path for path in paths if path.exists()]
        return found[:1] or Absent(f"{paths[0]} and {paths[1]} are missing")

    def companions(self) -> list[Path]:
        """The generic driver sets the upper limit anew."""
        return frequency.policies(self.machine, "scaling_max_freq")

    def shown(self, value: str) -> str:
        """The Intel driver's switch is the other way round."""
        return "on" if (value == "1") != self._intel.exists() else "off"

    def written(self, text: str) -> str:
        """The switch."""
        return "1" if (text == "on") != self._intel.exists() else "0"

    @property
    def _intel(self) -> Path:
        return self.machine.at(f"{_CPU}/intel_pstate/no_turbo")


@dataclass(frozen=True)
class Online(HostSetting):
    """Which processors are used. CPU 0 always is, so that one is left."""

    machine: Machine = THIS_MACHINE

    def files(self) -> list[Path] | Absent:
        """A switch for each but CPU 0."""
        found = _switches(self.machine)
        pattern = self.machine.at(f"{_CPU}/cpu[1-9]*/online")
        return found or Absent(f"{pattern} is missing: no processor can be taken offline")

    def read(self) -> Reading:
        """The list of those that are online."""
        found = self.files()
        if isinstance(found, Absent):
            return found
        online = self.machine.cpus("online")
        return cpulist.shown(online) if online else Denied("the list of processors cannot be read")

    def set(self, text: str) -> None:
        """Brings online what is in the list, then takes offline what is not."""
        wanted = cpulist.parse(text) | {0}
        switches = {int(path.parent.name[3:]): path for path in _switches(self.machine)}
        for cpu, path in sorted(switches.items(), key=lambda pair: pair[0] not in wanted):
            switch = "1" if cpu in wanted else "0"
            if read(path) == switch:
                continue
            try:
                write(path, switch)
            except OSError as error:
                raise TargetError(
                    f"host.{self.name} cannot be set to {text}: {path}: {error.strerror}"
                ) from error


def setting(name: str, machine: Machine) -> HostSetting:
    """The setting of that name.

    Raises:
        WrongInputError: If there is none.
    """
    if name.startswith(f"{idle.STATE}."):
        return idle.state(name, machine)
    known = _known(machine)
    if name not in known:
        raise WrongInputError(f"there is no host.{name}; {near(name, known)}")
    return known[name]


def all_known(machine: Machine) -> Iterator[HostSetting]:
    """Each of them; `cpu.idle.STATE` is there for each state beside them."""
    yield from _known(machine).values()


def problems(wanted: dict[str, str], machine: Machine) -> Iterator[tuple[str, str]]:
    """Settings that do not go with each other: name, and what is wrong.

    Args:
        wanted: Name: level of all that one trial sets.
        machine: Says the others' present values.
    """
    yield from frequency.problems(wanted, machine)
    yield from idle.problems(wanted)
    yield from prefetchers.problems(wanted)


def moved_with(name: str) -> tuple[str, ...]:
    """Other settings whose readings change along with one of `cpu`."""
    if name.startswith(f"{idle.STATE}."):
        return (idle.DEEPEST,)
    if name in prefetchers.EACH:
        return (prefetchers.ALL,)
    if name == prefetchers.ALL:
        return prefetchers.EACH
    return ("cpu.online",) if name == "cpu.smt" else frequency.moved_with(name)


def _known(machine: Machine) -> dict[str, HostSetting]:
    own = _own(machine)
    rest = (frequency.known(machine), idle.known(machine), prefetchers.known(machine))
    return own | {name: each for part in rest for name, each in part.items()}


def _own(machine: Machine) -> dict[str, HostSetting]:
    """Governor, SMT, turbo, and which processors are online."""
    present = machine.cpus("present") or frozenset({0})
    return {
        frequency.GOVERNOR: Governor(
            frequency.GOVERNOR,
            "how the frequency is chosen",
            OneOf(_GOVERNORS),
            _SOURCE,
            EARLY,
            machine=machine,
        ),
        "cpu.smt": Smt("cpu.smt", "hyper-threads", _SWITCH, _HOTPLUG, FIRST, machine=machine),
        frequency.TURBO: Turbo(
            frequency.TURBO,
            "frequencies above the nominal one",
            _SWITCH,
            _SOURCE,
            EARLY,
            machine=machine,
        ),
        "cpu.online": Online(
            "cpu.online",
            "processors that are used; CPU 0 always is",
            Cpus(present, must_hold=frozenset({0})),
            _HOTPLUG,
            FIRST + 1,
            machine=machine,
        ),
    }


def _switches(machine: Machine) -> list[Path]:
    """The `online` file of every processor but CPU 0."""
    found = machine.at(_CPU).glob("cpu[0-9]*/online")
    return sorted(
        (path for path in found if path.parent.name != "cpu0"),
        key=lambda path: int(path.parent.name[3:]),
    )
