"""Limits of the power of processor packages (RAPL), by the kernel's powercap interface.

A package can be shown by several interfaces (MSR, MMIO, TPMI), each with a limit of its own, and
the lowest is in force: a level is written to each that is switched on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import TargetError, WrongInputError
from loadstone.host.machine import THIS_MACHINE, Absent, Machine, read
from loadstone.host.quantities import Quantity
from loadstone.host.settings import HostSetting
from loadstone.spec.base import Level
from loadstone.spec.problems import near

PREFIX = "power"

_ZONES = "/sys/class/powercap"
_SOURCE = "https://docs.kernel.org/power/powercap/powercap.html"
_LEAST_WINDOW_US = 4 * 976
"""Windows are counted in units of 976 us, as 2^y (1 + f/4) of them. Of fewer than four units the
kernel loses the fraction when it writes back what it read (intel_rapl_common.c)."""
_POWER = Quantity(
    "power",
    "125W",
    (("W", 1_000_000), ("mW", 1000)),
    least=1_000_000,
    most=2_000_000_000,
    step=125_000,
)
"""The register counts in eighths of a watt."""
_WINDOW = Quantity(
    "a duration",
    "28s or 10ms",
    (("s", 1_000_000), ("ms", 1000)),
    least=4_000,
    most=120_000_000,
    step=1_000,
    cut_share=0.2,
)
"""The register cuts off what is between its steps: a unit, and a fifth at most."""
_FILES = {
    f"{PREFIX}.package_limit": (
        "long_term", "power_limit_uw", _POWER, "power of each package, on average",
    ),
    f"{PREFIX}.package_window": (
        "long_term", "time_window_us", _WINDOW, "time over which that is averaged",
    ),
    f"{PREFIX}.package_short_limit": (
        "short_term", "power_limit_uw", _POWER, "power of each package for a short time",
    ),
    f"{PREFIX}.package_short_window": (
        "short_term", "time_window_us", _WINDOW, "that short time",
    ),
}  # fmt: skip
"""Setting: constraint of the zone, its file, levels, about."""


@dataclass(frozen=True)
class PowerLimit(HostSetting):
    """A figure of one constraint of every package."""

    machine: Machine = THIS_MACHINE

    def files(self) -> list[Path] | Absent:
        """One for each interface of each package whose cap is switched on."""
        zones = _packages(self.machine)
        if not zones:
            folder = self.machine.at(_ZONES)
            return Absent(f"{folder} shows no package: usual in a virtual machine or a container")
        on = [zone for zone in zones if read(zone / "enabled") != "0"]
        if not on:
            return Absent(f"{zones[0]}/enabled says 0: the cap is switched off, no limit holds")
        constraint, file, _, _ = _FILES[self.name]
        found = [path for zone in on if (path := _file(zone, constraint, file)) is not None]
        return found or Absent(
            f"{on[0]} has no constraint {constraint}: its energy is counted, its power not limited"
        )

    def unavailable(self, level: Level | None = None) -> str | None:
        """Also says where the present value could not be put back."""
        reason = super().unavailable(level)
        files = self.files()
        if reason or isinstance(files, Absent) or self.levels is not _WINDOW:
            return reason
        for path in files:
            present = read(path)
            if isinstance(present, str) and present.isdigit() and int(present) < _LEAST_WINDOW_US:
                return (
                    f"denied: {path} says {present} us, which the kernel cannot write back exactly"
                )
        return None

    def shown(self, value: str) -> str:
        """In watts or seconds."""
        return _FILES[self.name][2].shown(value)

    def written(self, text: str) -> str:
        """In microwatts or microseconds."""
        return _FILES[self.name][2].written(text)

    def probed(self, path: Path) -> bool:
        """Writing a window again may round it."""
        return self.levels is not _WINDOW

    def set(self, text: str) -> None:
        """Writes it to each interface; what the firmware has locked is said so."""
        try:
            super().set(text)
        except TargetError as error:
            raise TargetError(
                error.message, advice="the firmware may have locked it: look into its settings"
            ) from error

    def differs(self, asked: str, seen: str) -> str:
        """Says who bounds it."""
        return f"{super().differs(asked, seen)}: the machine bounds it"


def setting(name: str, machine: Machine) -> HostSetting:
    """The setting of that name.

    Raises:
        WrongInputError: If there is none.
    """
    if name not in _FILES:
        raise WrongInputError(f"there is no host.{name}; {near(name, _FILES)}")
    _, _, levels, about = _FILES[name]
    return PowerLimit(name, about, levels, _SOURCE, machine=machine)


def all_known(machine: Machine) -> Iterator[HostSetting]:
    """Each of them."""
    for name in _FILES:
        yield setting(name, machine)


def _packages(machine: Machine) -> list[Path]:
    """The zones of packages; the folder's number is not that of the socket."""
    zones = sorted(machine.at(_ZONES).glob("intel-rapl*:*"))
    names = {zone: read(zone / "name") for zone in zones}
    return [zone for zone, name in names.items() if str(name).startswith("package-")]


def _file(zone: Path, constraint: str, file: str) -> Path | None:
    """`constraint_0_power_limit_uw` of the constraint of that name."""
    for path in sorted(zone.glob("constraint_*_name")):
        if read(path) == constraint:
            found = path.with_name(path.name.removesuffix("name") + file)
            return found if found.exists() else None
    return None
