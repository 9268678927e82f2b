"""Clocks and idle states of the machine's processors: what the watts of a level come from."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

from loadstone.host.machine import THIS_MACHINE, Machine
from loadstone.probes.base import Probe
from loadstone.probes.counted import Counted
from loadstone.results.machine_state import ProcessorStates
from loadstone.results.sample import Sample

_FREQUENCY = "frequency_mhz"
_OF_TIME = 0.002
"""Reading the files may take so much of the time of one processor: many processors less often."""


class ProcessorStatesProbe(Probe):
    """Reads cpufreq and cpuidle of all processors, every two seconds.

    Args:
        machine: Whose `/sys` is read; another root in tests.
    """

    name = "host.processors"
    interval_s = 2.0

    def __init__(self, machine: Machine = THIS_MACHINE) -> None:
        self._machine = machine
        self._clocks: list[Path] = []
        self._states: dict[Path, str] = {}
        """File that counts microseconds in an idle state: the state."""
        self._frequencies: list[tuple[float, float]] = []
        self._idle = Counted()
        self._due_s = 0.0

    def start(self) -> None:
        """Finds the files; a machine without them is told nothing of."""
        self._clocks, self._states = [], {}
        for cpu in sorted(self._machine.at("/sys/devices/system/cpu").glob("cpu[0-9]*")):
            clock = cpu / "cpufreq" / "scaling_cur_freq"
            if _number(clock) is not None:
                self._clocks.append(clock)
            for state in sorted(cpu.glob("cpuidle/state[0-9]*")):
                if (name := _text(state / "name")) and _number(state / "time") is not None:
                    self._states[state / "time"] = name

    def sample(self, t_s: float) -> list[Sample]:
        """Mean clock now, and the share of each idle state since the time before."""
        if t_s < self._due_s or not (self._clocks or self._states):
            return []
        began = time.thread_time()
        values: dict[str, float] = {}
        if clocks := [mhz for file in self._clocks if (mhz := _megahertz(file)) is not None]:
            values[_FREQUENCY] = fmean(clocks)
            self._frequencies.append((t_s, values[_FREQUENCY]))
        self._idle.add(t_s, self._counters())
        values |= {f"idle_{name}_share": share for name, share in self._idle.last_rates().items()}
        self._due_s = t_s + (time.thread_time() - began) / _OF_TIME
        return [Sample(t_s, self.name, metric, value) for metric, value in values.items()]

    def stop(self) -> None:
        """Nothing is left open."""

    def states(self, from_s: float, to_s: float) -> ProcessorStates | None:
        """Of an interval of the trial; None if this machine tells nothing.

        Args:
            from_s: Begin on the trial's clock.
            to_s: Its end.
        """
        clocks = [mhz for t_s, mhz in self._frequencies if from_s <= t_s <= to_s]
        idle = {name: min(1.0, share) for name, share in self._idle.rates(from_s, to_s).items()}
        if not clocks and not idle:
            return None
        return ProcessorStates(frequency_mhz=fmean(clocks) if clocks else None, idle=idle)

    def _counters(self) -> Mapping[str, float]:
        """State: seconds in it, mean over the processors that have it."""
        found: dict[str, list[float]] = {}
        for file, name in self._states.items():
            if (us := _number(file)) is not None:
                found.setdefault(name, []).append(us / 1e6)
        return {name: fmean(values) for name, values in found.items()}


def _megahertz(file: Path) -> float | None:
    kilohertz = _number(file)
    return None if kilohertz is None else kilohertz / 1e3


def _number(file: Path) -> float | None:
    """What a file counts; None of one that is missing, unreadable, or has no number."""
    try:
        return float(_text(file))
    except ValueError:
        return None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
