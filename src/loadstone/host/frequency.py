"""How fast processors may run: the mode of the driver, the energy preference, the limits.

Each is set in every frequency domain (`cpufreq/policy*`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import TargetError
from loadstone.host.levels import OneOf
from loadstone.host.machine import THIS_MACHINE, Absent, Machine, read
from loadstone.host.quantities import Quantity
from loadstone.host.settings import EARLY, FIRST, HostSetting
from loadstone.spec.base import Level

GOVERNOR, TURBO, PREFERENCE, MODE = (
    "cpu.governor", "cpu.turbo", "cpu.energy_preference", "cpu.pstate_mode",
)  # fmt: skip
LEAST, MOST = "cpu.min_freq", "cpu.max_freq"

CLOCK = Quantity(
    "a frequency",
    "2400MHz or 2.4GHz",
    (("MHz", 1000), ("GHz", 1_000_000), ("kHz", 1)),
    least=100_000,
    most=10_000_000,
)
"""Of the kernel in kHz."""

_CPU = "/sys/devices/system/cpu"
_INTEL = "https://docs.kernel.org/admin-guide/pm/intel_pstate.html"
_CPUFREQ = "https://docs.kernel.org/admin-guide/pm/cpufreq.html"
_PREFERENCES = ("performance", "balance_performance", "balance_power", "power")
_MODES = ("active", "passive", "guided")
_OF_DRIVER = ("no_turbo", "max_perf_pct", "min_perf_pct")
"""Files of the Intel driver that begin anew when its mode changes."""


def policies(machine: Machine, file: str) -> list[Path]:
    """A file of every frequency domain that has it."""
    found = machine.at(f"{_CPU}/cpufreq").glob(f"policy[0-9]*/{file}")
    return sorted(found, key=lambda path: int(path.parent.name.removeprefix("policy")))


def not_offered(files: list[Path] | Absent, known: str, level: Level | None) -> str | None:
    """Why a frequency domain cannot have a level; None if all can, or if they do not say.

    Args:
        files: Of the setting, one for each domain.
        known: Name of the file beside each that has the levels of its domain.
        level: None: any.
    """
    if level is None or isinstance(files, Absent):
        return None
    for path in files:
        offered = read(path.with_name(known))
        if isinstance(offered, str) and str(level) not in offered.split():
            return f"absent: {path.parent} offers only {', '.join(offered.split())}"
    return None


@dataclass(frozen=True)
class EnergyPreference(HostSetting):
    """What the processor leans to where it chooses its frequency itself."""

    machine: Machine = THIS_MACHINE

    def files(self) -> list[Path] | Absent:
        """One for each domain."""
        found = policies(self.machine, "energy_performance_preference")
        pattern = self.machine.at(f"{_CPU}/cpufreq/policy*/energy_performance_preference")
        return found or Absent(f"{pattern} is missing: the processor takes no such hint")

    def unavailable(self, level: Level | None = None) -> str | None:
        """Also asks the domains whether they have the preference."""
        return super().unavailable(level) or not_offered(
            self.files(), "energy_performance_available_preferences", level
        )

    def set(self, text: str) -> None:
        """Writes it; a refusal has mostly one cause, which is said."""
        try:
            super().set(text)
        except TargetError as error:
            governor = "while the governor is performance, the driver takes no other preference"
            raise TargetError(error.message, advice=governor) from error


@dataclass(frozen=True)
class PstateMode(HostSetting):
    """Who chooses the frequency: the processor (active), the kernel (passive), or both (guided)."""

    machine: Machine = THIS_MACHINE

    def files(self) -> list[Path] | Absent:
        """Of the driver that is there."""
        paths = [self._intel, self.machine.at(f"{_CPU}/amd_pstate/status")]
        found = [path for path in paths if path.exists()]
        return found[:1] or Absent(
            f"{paths[0]} and {paths[1]} are missing: another driver sets the frequency, or none"
        )

    def companions(self) -> list[Path]:
        """The driver is registered anew: all that was set of frequencies begins at its default."""
        moved = ("scaling_governor", "energy_performance_preference", *_LIMITS.values())
        own = (self._intel.with_name(name) for name in _OF_DRIVER)
        return [
            *(path for name in moved for path in policies(self.machine, name)),
            *(path for path in own if path.exists()),
        ]

    def unavailable(self, level: Level | None = None) -> str | None:
        """Also says that the Intel driver guides nothing."""
        reason = super().unavailable(level)
        if reason is None and level == "guided" and self._intel.exists():
            return "absent: intel_pstate has no guided mode; it offers only active, passive"
        return reason

    def probed(self, path: Path) -> bool:
        """Writing the mode again could register the driver again."""
        return False

    @property
    def _intel(self) -> Path:
        return self.machine.at(f"{_CPU}/intel_pstate/status")


@dataclass(frozen=True)
class FrequencyLimit(HostSetting):
    """The lowest or the highest frequency that may be chosen."""

    machine: Machine = THIS_MACHINE

    def files(self) -> list[Path] | Absent:
        """One for each domain."""
        file = _LIMITS[self.name]
        found = policies(self.machine, file)
        pattern = self.machine.at(f"{_CPU}/cpufreq/policy*/{file}")
        return found or Absent(f"{pattern} is missing: the frequency cannot be limited here")

    def companions(self) -> list[Path]:
        """The kernel keeps the lower limit at or below the upper one."""
        (other,) = (file for name, file in _LIMITS.items() if name != self.name)
        return policies(self.machine, other)

    def shown(self, value: str) -> str:
        """In MHz."""
        return CLOCK.shown(value)

    def written(self, text: str) -> str:
        """In kHz."""
        return CLOCK.written(text)

    def unavailable(self, level: Level | None = None) -> str | None:
        """Also asks the domains how far they go."""
        reason = super().unavailable(level)
        files = self.files()
        if reason or level is None or isinstance(files, Absent):
            return reason
        wanted = int(self.written(self.check(level)))
        for path in files:
            least, most = (read(path.with_name(f"cpuinfo_{end}_freq")) for end in ("min", "max"))
            if not isinstance(least, str) or not isinstance(most, str):
                continue
            if not int(least) <= wanted <= int(most):
                return (
                    f"absent: {path.parent} goes from {CLOCK.shown(least)} to {CLOCK.shown(most)}"
                )
        return None

    def differs(self, asked: str, seen: str) -> str:
        """Says who bounds it."""
        return f"{super().differs(asked, seen)}: the driver or the firmware bounds it"


_LIMITS = {LEAST: "scaling_min_freq", MOST: "scaling_max_freq"}


def known(machine: Machine) -> dict[str, HostSetting]:
    """The settings of frequencies, by name; governor and turbo are among those of `cpu`."""
    return {
        MODE: PstateMode(
            MODE,
            "who chooses the frequency: the processor (active), the kernel (passive), both",
            OneOf(_MODES),
            _INTEL,
            FIRST + 5,
            machine=machine,
        ),
        PREFERENCE: EnergyPreference(
            PREFERENCE,
            "what the processor leans to, where it chooses its frequency itself",
            OneOf(_PREFERENCES),
            _INTEL,
            EARLY + 1,
            machine=machine,
        ),
        MOST: FrequencyLimit(
            MOST, "highest frequency that is used", CLOCK, _CPUFREQ, EARLY + 2, machine=machine
        ),
        LEAST: FrequencyLimit(
            LEAST, "lowest frequency that is used", CLOCK, _CPUFREQ, EARLY + 3, machine=machine
        ),
    }


def problems(wanted: dict[str, str], machine: Machine) -> Iterator[tuple[str, str]]:
    """Levels that do not go with each other, or with what is there: name, and what is wrong.

    Args:
        wanted: Name: level of all that one trial sets.
        machine: Says the others' present values.
    """
    least, most = (_in_force(name, wanted, machine) for name in (LEAST, MOST))
    if {LEAST, MOST} & set(wanted) and (CLOCK.count(least) or 0) > (CLOCK.count(most) or 0) > 0:
        name = LEAST if LEAST in wanted else MOST
        yield name, f"host.{LEAST} ({least}) must not be above host.{MOST} ({most})"
    preference = wanted.get(PREFERENCE, "performance")
    if preference == "performance" or _in_force(MODE, wanted, machine) not in ("active", ""):
        return
    governor = wanted.get(GOVERNOR)
    if governor is None:
        found = {read(path) for path in policies(machine, "scaling_governor")}
        governor = "performance" if found == {"performance"} else ""
    if governor == "performance":
        yield (
            PREFERENCE,
            f"host.{PREFERENCE} ({preference}) does not go with the governor performance: the "
            f"driver refuses it; set host.{GOVERNOR} to powersave",
        )


def moved_with(name: str) -> tuple[str, ...]:
    """Other settings that the kernel may change along with one of `cpu`."""
    moved: dict[str, tuple[str, ...]] = {
        GOVERNOR: (PREFERENCE,),
        TURBO: (MOST,),
        MODE: (GOVERNOR, PREFERENCE, LEAST, MOST, TURBO),
        LEAST: (MOST,),
        MOST: (LEAST,),
    }
    return moved.get(name, ())


def _in_force(name: str, wanted: dict[str, str], machine: Machine) -> str:
    """The level of a setting in the trial; empty where nothing is known."""
    value = wanted.get(name) or known(machine)[name].read()
    return value if isinstance(value, str) else ""
