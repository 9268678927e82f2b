"""What the levels of a host setting may be, and whether a reading is the level that was asked."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass

from loadstone.errors import WrongInputError
from loadstone.host import cpulist
from loadstone.spec.base import Level

_WHOLE = re.compile(r"[+-]?\d+")
_SIZE = re.compile(r"(\d+)\s*(B|kB|KB|MB|GB|TB)")
_BYTES = {"B": 1, "kB": 2**10, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_TRUTH = {"on": "1", "true": "1", "off": "0", "false": "0"}


class Levels(ABC):
    """The levels that a setting takes."""

    @property
    @abstractmethod
    def choices(self) -> str:
        """What may be written, for people."""

    @abstractmethod
    def text(self, level: Level) -> str:
        """The level as it is written to the kernel.

        Raises:
            ValueError: If it is none.
        """

    def same(self, asked: str, seen: str) -> bool:
        """Whether a reading says what was asked for."""
        return asked.split() == seen.split()

    def check(self, name: str, level: Level) -> str:
        """As `text`, with an error that names the setting and its choices.

        Raises:
            WrongInputError: If the level is none of the setting.
        """
        try:
            return self.text(level)
        except ValueError:
            given = str(level).lower() if isinstance(level, bool) else repr(level)
            raise WrongInputError(f"host.{name} takes {self.choices}; given {given}") from None


@dataclass(frozen=True)
class OneOf(Levels):
    """One of some words. Truth values stand for `on` and `off`."""

    words: tuple[str, ...]

    @property
    def choices(self) -> str:
        """The words."""
        return f"one of {', '.join(self.words)}"

    def text(self, level: Level) -> str:
        """The word."""
        text = ("on" if level else "off") if isinstance(level, bool) else str(level).strip()
        if text not in self.words:
            raise ValueError(text)
        return text


@dataclass(frozen=True)
class Whole(Levels):
    """A whole number within bounds; of bytes also with a unit (`256MB`)."""

    least: int
    most: int
    unit: str = ""

    @property
    def choices(self) -> str:
        """The bounds."""
        bounds = f"a whole number from {self.least} to {self.most}"
        return f"{bounds} ({self.unit})" if self.unit else bounds

    def text(self, level: Level) -> str:
        """The number in decimal."""
        text = str(level).strip().lower() if isinstance(level, bool) else str(level).strip()
        if (self.least, self.most) == (0, 1):
            text = _TRUTH.get(text, text)
        if self.unit == "bytes" and (size := _SIZE.fullmatch(text)):
            text = str(int(size[1]) * _BYTES[size[2]])
        if not _WHOLE.fullmatch(text) or not self.least <= int(text) <= self.most:
            raise ValueError(text)
        return str(int(text))


@dataclass(frozen=True)
class Share(Levels):
    """A number within bounds, which need not be whole; or a word for none."""

    least: float
    most: float
    unit: str
    none: str

    @property
    def choices(self) -> str:
        """The bounds, and the word."""
        return f"a number from {self.least:g} to {self.most:g} ({self.unit}), or {self.none}"

    def text(self, level: Level) -> str:
        """The number, as short as it can be, or the word."""
        if level == self.none:
            return self.none
        if isinstance(level, bool):
            raise ValueError(level)  # noqa: TRY004 - all wrong levels are one kind of error
        number = float(level)
        if not self.least <= number <= self.most:
            raise ValueError(level)
        return repr(number).removesuffix(".0")


@dataclass(frozen=True)
class Wholes(Levels):
    """Several whole numbers, separated by blanks: `4096 131072 6291456`."""

    count: int

    @property
    def choices(self) -> str:
        """How many."""
        number = "a whole number" if self.count == 1 else f"{self.count} whole numbers"
        return number if self.count == 1 else f"{number} separated by blanks"

    def text(self, level: Level) -> str:
        """The numbers, a blank between them."""
        words = str(level).replace(",", " ").split()
        if isinstance(level, bool) or len(words) != self.count:
            raise ValueError(str(level))
        return " ".join(str(int(word)) for word in words)


@dataclass(frozen=True)
class Words(Levels):
    """Any text of one line that the kernel takes."""

    @property
    def choices(self) -> str:
        """Anything."""
        return "a text of one line"

    def text(self, level: Level) -> str:
        """The text."""
        text = str(int(level)) if isinstance(level, bool) else str(level).strip()
        if not text or not text.isprintable():
            raise ValueError(text)
        return text


@dataclass(frozen=True)
class Cpus(Levels):
    """A list of processors, as far as this machine has them."""

    present: frozenset[int]
    must_hold: frozenset[int] = frozenset()

    @property
    def choices(self) -> str:
        """The processors there are."""
        within = f"a list of processors within {cpulist.shown(self.present)}"
        if self.must_hold:
            within += f" that holds {cpulist.shown(self.must_hold)}"
        return f"{within}, such as 0 or 0-3,8"

    def text(self, level: Level) -> str:
        """The list, as short as it can be."""
        if isinstance(level, bool | float):
            raise ValueError(level)  # noqa: TRY004 - all wrong levels are one kind of error
        cpus = cpulist.parse(str(level))
        if not cpus <= self.present or not cpus >= self.must_hold:
            raise ValueError(level)
        return cpulist.shown(cpus)
