"""A program of the user's own that prints watts, or joules that count up.

A program that runs on is started once, and each line that it prints is a reading. One that ends
after its answer is started anew at each reading, which costs the lab more.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from loadstone.journal import Journal
from loadstone.meters import programs
from loadstone.meters.base import REAL_ROOT, Channel, Found, MeterError, Reading
from loadstone.meters.figure import read_figure
from loadstone.meters.file import CHANNEL, FORMS
from loadstone.meters.polled import PolledMeter, Value
from loadstone.spec.meters import CommandSpec

FIRST_S = 10.0
"""So long, and two intervals, a program may take for its first line."""
ANSWER_S = 30.0
"""So long one that is started anew may take each time."""
ENDS_S = 0.5
"""A program that has ended so soon after its first line answers once."""


class CommandMeter(PolledMeter[CommandSpec]):
    """Runs the program."""

    kind = "command"

    def __init__(self, spec: CommandSpec, root: Path = REAL_ROOT) -> None:
        super().__init__(spec, root)
        self._lines: programs.Lines | None = None

    @classmethod
    def found(cls, root: Path) -> list[Found]:
        """Nobody but the user knows of such a program."""
        missing = "name the program: command: [PROGRAM, WORD ...], scope: SCOPE"
        return [Found(cls.kind, CHANNEL, missing=missing)]

    def prepare(self, journal: Journal) -> Sequence[Channel]:
        """Starts it, waits for its first line, and sees whether it runs on."""
        self._lines = lines = programs.Lines(self.spec.command, self._program, journal)
        if not lines.wait(FIRST_S + 2 * self.spec.every):
            lines.wait_ended(ENDS_S)
            raise self._unfit(lines.ended() or "it prints nothing")
        _, first = lines.take()[0]
        _, invalid = read_figure(first, self.spec.unit)
        if invalid:
            raise self._unfit(invalid)
        if lines.wait_ended(ENDS_S):
            ended = lines.failed()
            lines.close()
            self._lines = None
            if ended:
                raise self._unfit(ended)
        return [Channel(CHANNEL, self.spec.scope, FORMS[self.spec.unit])]

    def ask(self) -> Sequence[Value]:
        """Runs it to its end; its last line counts."""
        text = programs.ask(self.spec.command, ANSWER_S, self._program)
        last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
        return [Value(CHANNEL, *read_figure(last, self.spec.unit))]

    def read(self) -> list[Reading]:
        """The lines since the last time, each placed by its arrival; or one answer."""
        if self._lines is None:
            return super().read()
        ended, told = self._lines.ended(), self._lines.take()
        if not told and ended:
            raise MeterError(f"the meter {self.name} has died: {ended}")
        return self.kept(
            Reading(CHANNEL, t_s, *read_figure(line, self.spec.unit)) for t_s, line in told
        )

    def close(self) -> None:
        """Ends it, with all that it has started."""
        lines, self._lines = self._lines, None
        if lines is not None:
            lines.close()

    def helpers(self) -> Sequence[int]:
        """One that runs on is the lab's."""
        return () if self._lines is None else (self._lines.pid,)

    @property
    def _program(self) -> str:
        """Its name; its other words may hold a secret."""
        return Path(self.spec.command[0]).name

    def _unfit(self, why: str) -> MeterError:
        return MeterError(
            f"the meter {self.name} cannot be read: {why}",
            advice="the program prints one number a line: watts, or with unit: J joules that "
            "count up",
        )
