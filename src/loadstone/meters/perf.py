"""Energy events of the processor, by `perf stat`, which runs through the trial.

Each line is the energy of an interval, over all sockets. An interval that perf did not count has
none, so a line becomes the mean power of its interval. The counters are those of powercap: the same
package is one counter, whichever of the two ways it is read.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.journal import Journal
from loadstone.meters import programs
from loadstone.meters.base import REAL_ROOT, Channel, Found, MeterError, Reading
from loadstone.meters.figure import why_none
from loadstone.meters.polled import ToldMeter
from loadstone.spec.meters import PerfSpec, Scope

PROGRAM = "perf"
EVENTS = "sys/bus/event_source/devices/power/events"
_POWERCAP = "sys/class/powercap"
FIRST_S = 5.0
"""So long, and two intervals, perf may take for its first line."""
_PARTS = {"energy-cores": "energy-pkg", "energy-gpu": "energy-pkg"}
"""Events of what lies within the package."""
SCOPES: dict[str, Scope] = {
    "energy-pkg": "package",
    "energy-cores": "package",
    "energy-gpu": "package",
    "energy-ram": "dram",
    "energy-psys": "platform",
}


@dataclass(frozen=True)
class Interval:
    """A line: the energy of an event up to a moment since perf began."""

    to_s: float
    channel: str
    joules: float
    invalid: str = ""


def read_interval(line: str) -> Interval | None:
    """Reads a line of `perf stat -x ; -I`.

    Args:
        line: As `1.000123;43.26;Joules;power/energy-pkg/;1000123;100.00;;`, or with `<not counted>`
            or `<not supported>` in the place of the figure.

    Returns:
        None of a line that is another one.
    """
    fields = line.split(";")
    if len(fields) < 4 or not fields[3].startswith("power/"):
        return None
    channel = fields[3].removeprefix("power/").rstrip("/")
    try:
        to_s = float(fields[0])
    except ValueError:
        return None
    if fields[1].startswith("<"):
        return Interval(to_s, channel, 0.0, f"perf says {fields[1]}")
    try:
        joules = float(fields[1])
    except ValueError:
        return Interval(to_s, channel, 0.0, "perf says no number")
    return Interval(to_s, channel, joules, why_none(joules, "J"))


class PerfMeter(ToldMeter[PerfSpec]):
    """Runs perf, and takes its lines as they come."""

    kind = "perf"
    machine_wide = frozenset[Scope]({"package", "dram"})

    def __init__(self, spec: PerfSpec, root: Path = REAL_ROOT) -> None:
        super().__init__(spec, root)
        self._lines: programs.Lines | None = None
        self._began_at: dict[str, float] = {}
        """Channel: end of its last interval, by perf's own clock."""

    @classmethod
    def found(cls, root: Path) -> list[Found]:
        """Each energy event that the kernel knows."""
        events = _events(root)
        if not events:
            return [Found(cls.kind, scope="package", missing=_no_events(root))]
        missing = "" if shutil.which(PROGRAM) else f"the program {PROGRAM} is not installed"
        twin = "package" if any((root / _POWERCAP).glob("*:*")) else ""
        return [
            Found(
                cls.kind,
                event,
                SCOPES[event],
                "energy event of the processor, all sockets together",
                missing=missing,
                twin_of=f"powercap, {twin}" if twin and event == "energy-pkg" else "",
            )
            for event in events
        ]

    def prepare(self, journal: Journal) -> Sequence[Channel]:
        """Starts perf, and waits for its first lines."""
        events = [event for event in _events(self.root) if self._wanted(event)]
        if not events:
            raise MeterError(f"the meter {self.name} cannot be read: {_no_events(self.root)}")
        every_ms = max(10, round(self.spec.every * 1000))
        names = ",".join(f"power/{event}/" for event in events)
        options = ["-a", "-x", ";", "--log-fd", "1", "-I", str(every_ms), "-e", names]
        self._lines = programs.Lines([PROGRAM, "stat", *options], PROGRAM, journal)
        counted = self._first(self._lines, set(events))
        return [
            Channel(
                event,
                SCOPES[event],
                "gauge",
                mean_over_s=every_ms / 1000,
                parts_of=_PARTS.get(event, "") if _PARTS.get(event) in counted else "",
            )
            for event in events
            if event in counted
        ]

    def read(self) -> list[Reading]:
        """The lines since the last time, each placed by its arrival."""
        if self._lines is None:
            raise MeterError(f"the meter {self.name} is not open")
        ended, told = self._lines.ended(), self._lines.take()
        if not told and ended:
            raise MeterError(f"the meter {self.name} has died: {ended}")
        return self.kept(
            Reading(interval.channel, t_s, self._watts(interval), invalid=interval.invalid)
            for t_s, line in told
            if (interval := read_interval(line)) is not None
        )

    def close(self) -> None:
        """Ends perf."""
        lines, self._lines = self._lines, None
        if lines is not None:
            lines.close()

    def helpers(self) -> Sequence[int]:
        """Perf runs on."""
        return () if self._lines is None else (self._lines.pid,)

    def _wanted(self, event: str) -> bool:
        return not self.spec.channels or event in self.spec.channels

    def _first(self, lines: programs.Lines, events: set[str]) -> set[str]:
        """Which events are counted, by the first line of each."""
        until = time.monotonic() + FIRST_S + 2 * self.spec.every
        counted: set[str] = set()
        refused: dict[str, str] = {}
        while len(counted) + len(refused) < len(events):
            if not lines.wait(until - time.monotonic()):
                why = lines.ended() or "perf said nothing"
                raise MeterError(f"the meter {self.name} cannot be read: {why}")
            for _, line in lines.take():
                interval = read_interval(line)
                if interval is not None and interval.channel in events:
                    self._watts(interval)
                    if interval.invalid:
                        refused[interval.channel] = interval.invalid
                    else:
                        counted.add(interval.channel)
        if not counted:
            why = next(iter(refused.values()))
            raise MeterError(f"the meter {self.name} cannot be read: {why}")
        return counted

    def _watts(self, interval: Interval) -> float:
        """Mean power of an interval, by perf's own clock."""
        began_s = self._began_at.get(interval.channel, 0.0)
        self._began_at[interval.channel] = interval.to_s
        length_s = interval.to_s - began_s
        return interval.joules / length_s if length_s > 0 else 0.0


def _events(root: Path) -> list[str]:
    folder = root / EVENTS
    return [event for event in SCOPES if (folder / event).is_file()]


def _no_events(root: Path) -> str:
    return f"{root / EVENTS} has no energy events: the processor, or its hypervisor, shows none"
