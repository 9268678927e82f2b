"""Idle states (C-states) of processors: how deep they may sleep, and each state by its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from loadstone.errors import TargetError, WrongInputError
from loadstone.host import cpulist
from loadstone.host.levels import OneOf
from loadstone.host.machine import THIS_MACHINE, Absent, Machine, Reading, read, write
from loadstone.host.settings import EARLY, HostSetting
from loadstone.spec.base import Level

DEEPEST, STATE = "cpu.deepest_idle", "cpu.idle"
"""`cpu.idle.C6` is one state."""

_CPUS = "/sys/devices/system/cpu"
_SOURCE = "https://docs.kernel.org/admin-guide/pm/cpuidle.html"
_USUAL = ("POLL", "C1", "C1E", "C2", "C3", "C6", "C7", "C7s", "C8", "C9", "C10")
"""Names that drivers give; which of them there are the machine says."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9 _-]*")


@dataclass(frozen=True)
class _State:
    """An idle state of one processor, from the shallowest to the deepest."""

    cpu: int
    name: str
    switch: Path
    """Its file `disable`: 1 where it is not used."""


@dataclass(frozen=True)
class DeepestIdle(HostSetting):
    """States up to this one are used, deeper ones are not."""

    machine: Machine = THIS_MACHINE

    def files(self) -> list[Path] | Absent:
        """A switch for each state of each processor."""
        return _switches(self.machine)

    def read(self) -> Reading:
        """The deepest state that is used; where processors differ, with their numbers."""
        found = self.files()
        if isinstance(found, Absent):
            return found
        seen = {}
        for cpu, states in _by_cpu(self.machine).items():
            used = []
            for state in states:
                switch = read(state.switch)
                if not isinstance(switch, str):
                    return switch
                used.append(switch == "0")
            seen[cpu] = _deepest(states, used)
        return _one(seen)

    def unavailable(self, level: Level | None = None) -> str | None:
        """Also asks every processor whether it has the state."""
        reason = super().unavailable(level)
        if reason or level is None:
            return reason
        wanted = self.check(level)
        for cpu, states in _by_cpu(self.machine).items():
            names = [state.name for state in states]
            if wanted not in names:
                return f"absent: cpu{cpu} has only the idle states {', '.join(names)}"
        return None

    def set(self, text: str) -> None:
        """Switches the deeper ones off and the rest on."""
        self._written_files()
        for states in _by_cpu(self.machine).values():
            names = [state.name for state in states]
            if text not in names:
                raise TargetError(
                    f"host.{self.name} cannot be set to {text!r}: cpu{states[0].cpu} has only the "
                    f"idle states {', '.join(names)}"
                )
            for place, state in enumerate(states):
                _switch(self.name, text, state, on=place <= names.index(text))


@dataclass(frozen=True)
class IdleState(HostSetting):
    """One state, by its name, on every processor that has it."""

    machine: Machine = THIS_MACHINE

    def files(self) -> list[Path] | Absent:
        """Its switches."""
        all_of_them = _switches(self.machine)
        if isinstance(all_of_them, Absent):
            return all_of_them
        state = self.name.removeprefix(f"{STATE}.")
        found = [each.switch for each in _states(self.machine) if each.name == state]
        names = ", ".join(_names(self.machine))
        return found or Absent(f"no processor has an idle state {state}; there are {names}")

    def read(self) -> Reading:
        """`on` or `off`; where processors differ, with their numbers."""
        found = self.files()
        if isinstance(found, Absent):
            return found
        seen = {}
        for path in found:
            switch = read(path)
            if not isinstance(switch, str):
                return switch
            seen[_cpu_of(path)] = self.shown(switch)
        return _one(seen)

    def shown(self, value: str) -> str:
        """The switch is the other way round."""
        return "off" if value == "1" else "on"

    def written(self, text: str) -> str:
        """The switch."""
        return "0" if text == "on" else "1"


def known(machine: Machine) -> dict[str, HostSetting]:
    """The one that holds for all states."""
    return {
        DEEPEST: DeepestIdle(
            DEEPEST,
            "deepest idle state (C-state) that processors may enter",
            OneOf(_names(machine) or _USUAL),
            _SOURCE,
            EARLY + 4,
            machine=machine,
        )
    }


def state(name: str, machine: Machine) -> HostSetting:
    """`cpu.idle.NAME`.

    Raises:
        WrongInputError: If no state can have that name.
    """
    if not _NAME.fullmatch(name.removeprefix(f"{STATE}.")):
        raise WrongInputError(f"there is no host.{name}: write a state's name, as host.{STATE}.C6")
    about = "whether an idle state (C-state) is used"
    return IdleState(name, about, OneOf(("on", "off")), _SOURCE, EARLY + 5, machine=machine)


def problems(wanted: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Settings of states beside the one for all of them."""
    for name in wanted:
        if DEEPEST in wanted and name.startswith(f"{STATE}."):
            yield name, f"host.{name} and host.{DEEPEST} exclude each other: name one of them"


def _deepest(states: list[_State], used: list[bool]) -> str:
    """The last state of those in use, or each in use where one before it is not."""
    names = [state.name for state, on in zip(states, used, strict=True) if on]
    if not names:
        return "none"
    runs = [on for on, _ in groupby(used)]
    return names[-1] if runs in ([True], [True, False]) else f"only {', '.join(names)}"


def _one(seen: dict[int, str]) -> str:
    """One value for all processors, or each with the processors that have it."""
    by_text: dict[str, list[int]] = {}
    for cpu, text in seen.items():
        by_text.setdefault(text, []).append(cpu)
    if len(by_text) == 1:
        return next(iter(by_text))
    return "; ".join(f"{text} (cpu {cpulist.shown(cpus)})" for text, cpus in by_text.items())


def _cpu_of(switch: Path) -> int:
    """The processor of `cpu0/cpuidle/state1/disable`."""
    return int(switch.parents[2].name.removeprefix("cpu"))


def _switch(name: str, text: str, state: _State, *, on: bool) -> None:
    value = "0" if on else "1"
    if read(state.switch) == value:
        return
    try:
        write(state.switch, value)
    except OSError as error:
        raise TargetError(
            f"host.{name} cannot be set to {text!r}: {state.switch}: {error.strerror}"
        ) from error


def _switches(machine: Machine) -> list[Path] | Absent:
    found = [state.switch for state in _states(machine)]
    pattern = machine.at(f"{_CPUS}/cpu0/cpuidle")
    return found or Absent(f"{pattern}/state*/disable is missing: the kernel sees no idle states")


def _by_cpu(machine: Machine) -> dict[int, list[_State]]:
    return {
        cpu: list(states) for cpu, states in groupby(_states(machine), key=lambda state: state.cpu)
    }


def _names(machine: Machine) -> tuple[str, ...]:
    """Of all processors, each once."""
    return tuple(dict.fromkeys(state.name for state in _states(machine)))


def _states(machine: Machine) -> list[_State]:
    """All of them, by processor and depth."""
    found = []
    for switch in machine.at(_CPUS).glob("cpu[0-9]*/cpuidle/state[0-9]*/disable"):
        name = read(switch.with_name("name"))
        cpu = _cpu_of(switch)
        depth = int(switch.parent.name.removeprefix("state"))
        if isinstance(name, str):
            found.append((cpu, depth, _State(cpu, name, switch)))
    return [each for _, _, each in sorted(found, key=lambda entry: entry[:2])]
