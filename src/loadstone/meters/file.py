"""A file of the user's own that holds watts, or joules that count up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from loadstone.journal import Journal
from loadstone.meters.base import Channel, Found, MeterError
from loadstone.meters.figure import Unit, read_figure
from loadstone.meters.polled import PolledMeter, Value
from loadstone.spec.meters import FileSpec

CHANNEL = "value"
FORMS: dict[Unit, Literal["counter", "gauge"]] = {"W": "gauge", "J": "counter"}
_MOST_BYTES = 4096


class FileMeter(PolledMeter[FileSpec]):
    """Reads the file again at each reading; its last line that is not empty counts."""

    kind = "file"

    @classmethod
    def found(cls, root: Path) -> list[Found]:
        """Nobody but the user knows of such a file."""
        return [Found(cls.kind, CHANNEL, missing="name the file: path: FILE, scope: SCOPE")]

    def prepare(self, journal: Journal) -> Sequence[Channel]:
        """Reads it once."""
        _, invalid = read_figure(self._line(), self.spec.unit)
        if invalid:
            raise MeterError(
                f"the meter {self.name} cannot be read: "
                f"{self.spec.path} holds no figure: {invalid}",
                advice="write one number into it: watts, or with unit: J joules that count up",
            )
        return [Channel(CHANNEL, self.spec.scope, FORMS[self.spec.unit])]

    def ask(self) -> Sequence[Value]:
        """The number in it."""
        return [Value(CHANNEL, *read_figure(self._line(), self.spec.unit))]

    def close(self) -> None:
        """Nothing is open."""

    def _line(self) -> str:
        try:
            with Path(self.spec.path).expanduser().open("rb") as file:
                text = file.read(_MOST_BYTES).decode(errors="replace")
        except (OSError, RuntimeError) as error:  # RuntimeError: no home
            reason = error.strerror if isinstance(error, OSError) else error
            raise MeterError(f"{self.spec.path} cannot be read: {reason}") from None
        return next((line for line in reversed(text.splitlines()) if line.strip()), "")
