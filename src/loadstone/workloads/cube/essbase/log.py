"""Reads the log of a kit's cycles: what each step took.

The MaxL shell writes a time stamp after each statement, in whole seconds. A step took from the last
stamp before it to its own last one. Where the server says once within a step what that took, and
this agrees with the stamps, its figure is taken: it is finer.

Stamps are those of a clock that may be set meanwhile. Where they cannot be right for a statement
whose time the server says, its figure is right. Where they go back and nothing says by how much,
the cycle is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.text import read_lines
from loadstone.workloads.cube.cycle import LINES, steps_of_cycle
from loadstone.workloads.cube.essbase.settings import KIT_VERSION

FACTS = ("scale", "seed", "load_threads", "calc_threads", "alloc_tasks", "cycles")
"""What a log says of its kit; of a hybrid one also that."""
RESOLUTION_S = 1.0
"""Of time stamps."""
CLOCK_SET_S = 60.0
"""A statement never takes so much longer, and twice, than the calculation in it."""
_TOLD = re.compile(r"loadstone: kit (?P<kit>\d+), (?P<facts>(?:\w+ [\d.e+-]+(?:, )?)+)")
_MARK = re.compile(r"loadstone: cycle (?P<cycle>\d+) step (?P<step>[\w-]+) (?P<border>begins|ends)")
_FAILED = re.compile(r"^\W*loadstone: failed\W*$")
_STAMP = re.compile(
    r"timestamp\b.*?(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2}) (?P<time>\d\d:\d\d:\d\d) "
    r"(?:[A-Z]{3,5} )?(?P<year>\d{4})"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ELAPSED = re.compile(r"Elapsed Time\b.*: *\[(?P<seconds>\d+(?:\.\d+)?)\] *seconds", re.IGNORECASE)
_ERROR = re.compile(r"^\s*ERROR\b")
_SHELL = re.compile(r"Essbase MaxL Shell.*?(?P<release>\d+(?:\.\d+)+)")
_TAKES_ERRORS = LINES
"""Its rejected lines are wanted."""


@dataclass(frozen=True)
class StepTime:
    """A step of a cycle."""

    step: str
    from_s: float
    """Since the first step of the log began; by its time stamps."""
    to_s: float
    server_s: float | None = None
    """What the server says that it took, if that agrees with the stamps."""

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.to_s - self.from_s if self.server_s is None else self.server_s


@dataclass(frozen=True)
class Cycle:
    """A cycle that is whole: all steps, none with an error."""

    number: int
    steps: tuple[StepTime, ...]

    @property
    def seconds(self) -> float:
        """The sum of its steps."""
        return sum(step.seconds for step in self.steps)


@dataclass(frozen=True)
class CycleLog:
    """What a log says."""

    path: Path
    facts: Mapping[str, float]
    """What the kit was made for: `scale`, `seed`, `load_threads`, `cycles` and others."""
    release: str
    """Of the MaxL shell; empty if the log does not say it."""
    began_at: datetime
    """When its first step began, by the shell's clock, whose time zone is not said."""
    cycles: tuple[Cycle, ...]
    left_out: tuple[str, ...]
    """Cycles that are not whole, and why."""
    clock_set: tuple[str, ...] = ()
    """Steps within which the clock was set: the server's figures count."""


def read_log(path: Path) -> CycleLog:
    """Reads the log that `cycle.mxl` writes.

    Raises:
        WrongInputError: If it cannot be read, is none of a kit, has no time stamps, or no cycle in
            it is whole.
    """
    reading = _Reading(path)
    for number, line in enumerate(read_lines(path, errors="replace"), start=1):
        reading.take(number, line)
    return reading.finished()


@dataclass
class _Open:
    """The step that is running."""

    cycle: int
    step: str
    from_: datetime
    stamped: bool = False
    server_s: list[float] = field(default_factory=list)
    since_stamp_s: list[float] = field(default_factory=list)
    """Those of the present statement."""


class _Reading:
    """A log that is being read, line by line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._facts: dict[str, float] | None = None
        self._release = ""
        self._stamp: datetime | None = None
        self._began: datetime | None = None
        self._open: _Open | None = None
        self._steps: dict[int, list[StepTime]] = {}
        self._problems: dict[int, str] = {}
        self._ahead = timedelta()
        """By how much the clock was set forward since the begin."""
        self._clock_set: list[str] = []

    def take(self, number: int, line: str) -> None:
        if match := _MARK.search(line):
            own = int(match["cycle"]), match["step"]
            (self._begin if match["border"] == "begins" else self._end)(number, *own)
        elif match := _STAMP.search(line):
            self._stamped(number, match)
        elif (match := _TOLD.search(line)) and self._facts is None:
            self._facts = self._told(match)
        elif (match := _SHELL.search(line)) and not self._release:
            self._release = match["release"]
        elif self._open is not None:
            self._within(number, line, self._open)

    def finished(self) -> CycleLog:
        if self._facts is None:
            raise WrongInputError(
                f"{self._path} is not the log of a kit's cycles: no line says what the kit is for",
                advice="give the cycle.log that cycle.mxl of `loadstone cube emit-essbase` writes",
            )
        if self._open is not None:
            self._problems.setdefault(self._open.cycle, f"{self._open.step} did not end")
        cycles, left_out = [], []
        expected = steps_of_cycle(hybrid=bool(self._facts["hybrid"]))
        for number in range(1, max([*self._steps, *self._problems, 0]) + 1):
            steps = self._steps.get(number, [])
            if number in self._problems:
                left_out.append(f"cycle {number}: {self._problems[number]}")
            elif tuple(own.step for own in steps) != expected:
                left_out.append(f"cycle {number}: it has {len(steps)} of {len(expected)} steps")
            else:
                cycles.append(Cycle(number, tuple(steps)))
        if not cycles or self._began is None:
            reason = left_out[0] if left_out else "it has no steps"
            raise WrongInputError(
                f"no cycle of {self._path} is whole: {reason}",
                advice="run cycle.mxl again, and read its log",
            )
        return CycleLog(
            self._path,
            self._facts,
            self._release,
            self._began,
            tuple(cycles),
            tuple(left_out),
            tuple(self._clock_set),
        )

    def _told(self, match: re.Match[str]) -> dict[str, float]:
        if int(match["kit"]) != KIT_VERSION:
            raise WrongInputError(
                f"{self._path} is of kit {match['kit']}, this Loadstone reads {KIT_VERSION}"
            )
        words = [own.split() for own in match["facts"].strip(", ").split(", ")]
        found = {name: float(value) for name, value in words}
        lacking = [name for name in FACTS if name not in found]
        if lacking:
            raise WrongInputError(f"{self._path} does not say the {lacking[0]} of its kit")
        return {"hybrid": 0.0, **found}

    def _stamped(self, number: int, match: re.Match[str]) -> None:
        text = f"{match['day']} {match['time']} {match['year']}"
        try:
            own = datetime.strptime(text, "%d %H:%M:%S %Y")
            own = own.replace(month=_MONTHS.index(match["month"]) + 1)
        except ValueError as error:
            raise WrongInputError(f"{self._path}:{number}: no time stamp: {text}") from error
        self._stamp = self._corrected(number, own)
        if self._open is not None:
            self._open.stamped = True
            self._open.since_stamp_s = []

    def _corrected(self, number: int, clock: datetime) -> datetime:
        """A stamp by the clock as it was at the begin."""
        last, own = self._stamp, self._open
        if last is None:
            return clock
        stamped_s = (clock - self._ahead - last).total_seconds()
        told_s = own.since_stamp_s if own is not None else []
        if own is not None and len(told_s) == 1 and _clock_was_set(stamped_s, told_s[0]):
            self._clock_set.append(
                f"cycle {own.cycle} {own.step}: {told_s[0]:g} s, not the {stamped_s:,.0f} s of the "
                f"stamps (line {number})"
            )
            self._ahead += timedelta(seconds=stamped_s - told_s[0])
        elif stamped_s < 0:
            if own is not None:
                reason = f"the clock went back by {-stamped_s:,.0f} s in {own.step} (line {number})"
                self._problems.setdefault(own.cycle, reason)
            self._ahead += timedelta(seconds=stamped_s)
        return clock - self._ahead

    def _begin(self, number: int, cycle: int, step: str) -> None:
        if self._open is not None and (self._open.cycle, self._open.step) == (cycle, step):
            return  # the statement that says the mark, and the mark
        if self._stamp is None:
            raise self._unstamped(number)
        if self._open is not None:
            self._problems.setdefault(self._open.cycle, f"{self._open.step} did not end")
        self._began = self._began or self._stamp
        self._open = _Open(cycle, step, self._stamp)

    def _end(self, number: int, cycle: int, step: str) -> None:
        own = self._open
        if own is None or (own.cycle, own.step) != (cycle, step):
            return
        if not own.stamped or self._stamp is None or self._began is None:
            raise self._unstamped(number)
        from_s = (own.from_ - self._began).total_seconds()
        to_s = (self._stamp - self._began).total_seconds()
        time = StepTime(step, from_s, to_s, _agreed(own.server_s, to_s - from_s))
        self._steps.setdefault(cycle, []).append(time)
        self._open = None

    def _within(self, number: int, line: str, own: _Open) -> None:
        if match := _ELAPSED.search(line):
            own.server_s.append(float(match["seconds"]))
            own.since_stamp_s.append(float(match["seconds"]))
        elif _FAILED.match(line):
            self._problems.setdefault(own.cycle, f"{own.step} failed (line {number})")
        elif _ERROR.match(line) and own.step != _TAKES_ERRORS:
            reason = " ".join(line.split())[:120]
            self._problems.setdefault(own.cycle, f"{own.step} (line {number}): {reason}")

    def _unstamped(self, number: int) -> WrongInputError:
        return WrongInputError(
            f"{self._path}:{number}: a step has no time stamp that is understood",
            advice="give cycle.log, whose lines end as `timestamp: Tue Mar 11 10:24:11 2014`",
        )


def _clock_was_set(stamped_s: float, server_s: float) -> bool:
    """Whether stamps cannot be right for a statement with a calculation that took so long."""
    return not -RESOLUTION_S < stamped_s - server_s < max(CLOCK_SET_S, server_s)


def _agreed(server_s: Sequence[float], stamped_s: float) -> float | None:
    """The server's figure, if there is just one, and the stamps can be a rounding of it."""
    if len(server_s) == 1 and abs(server_s[0] - stamped_s) < RESOLUTION_S:
        return server_s[0]
    return None
