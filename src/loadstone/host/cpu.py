"""Processors: governor, SMT, turbo, which are online."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import TargetError, WrongInputError
from loadstone.host import cpulist
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
        reason = super().unavailable(level)
        files = self.files()
        if reason or level is None or isinstance(files, Absent):
            return reason
        for path in files:
            offered = read(path.with_name("scaling_available_governors"))
            if isinstance(offered, str) and str(level) not in offered.split():
                return f"absent: {path.parent} offers only {', '.join(offered.split())}"
        return None


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
    present = machine.cpus("present") or frozenset({0})
    known: dict[str, HostSetting] = {
        "cpu.online": Online(
            "cpu.online",
            "processors that are used; CPU 0 always is",
            Cpus(present, must_hold=frozenset({0})),
            _HOTPLUG,
            FIRST + 1,
            machine=machine,
        ),
        "cpu.smt": Smt("cpu.smt", "hyper-threads", _SWITCH, _HOTPLUG, FIRST, machine=machine),
        "cpu.governor": Governor(
            "cpu.governor",
            "how the frequency is chosen",
            OneOf(_GOVERNORS),
            _SOURCE,
            EARLY,
            machine=machine,
        ),
        "cpu.turbo": Turbo(
            "cpu.turbo",
            "frequencies above the nominal one",
            _SWITCH,
            _SOURCE,
            EARLY,
            machine=machine,
        ),
    }
    if name not in known:
        raise WrongInputError(f"there is no host.{name}; {near(name, known)}")
    return known[name]


def all_known(machine: Machine) -> Iterator[HostSetting]:
    """Each of them."""
    for name in ("governor", "smt", "turbo", "online"):
        yield setting(f"{PREFIX}.{name}", machine)


def _switches(machine: Machine) -> list[Path]:
    """The `online` file of every processor but CPU 0."""
    found = machine.at(_CPU).glob("cpu[0-9]*/online")
    return sorted(
        (path for path in found if path.parent.name != "cpu0"),
        key=lambda path: int(path.parent.name[3:]),
    )
