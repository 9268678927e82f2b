"""What a host setting is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import TargetError
from loadstone.host.levels import Levels
from loadstone.host.machine import Absent, Denied, Reading, chosen, denied, read, write
from loadstone.spec.base import Level

FIRST, EARLY, USUAL, LATE = 10, 30, 50, 70
"""Ranks: what moves other settings with it is set before them."""


@dataclass(frozen=True)
class HostSetting(ABC):
    """A setting of the machine that files of the kernel show and change."""

    name: str
    """Without `host.`: `vm.dirty_ratio`."""
    about: str
    """One line for people."""
    levels: Levels
    source: str
    """Where it is documented."""
    rank: int = USUAL
    unsafe_levels: tuple[str, ...] = ()
    """Levels under which acknowledged commits can be lost."""

    @abstractmethod
    def files(self) -> list[Path] | Absent:
        """The files that are written, or why there are none."""

    def companions(self) -> list[Path]:
        """Files that the kernel may change along with it; put back after its own."""
        return []

    @property
    def register(self) -> int | None:
        """Number of the model-specific register whose devices its files are; None: texts."""
        return None

    def read(self) -> Reading:
        """The present value, as a level is written."""
        found = self.files()
        if isinstance(found, Absent):
            return found
        seen = []
        for path in found:
            value = read(path)
            if not isinstance(value, str):
                return value
            seen.append((path, self.shown(chosen(value))))
        return one(seen)

    def shown(self, value: str) -> str:
        """A value of the kernel, as a level is written."""
        return " ".join(value.split())

    def written(self, text: str) -> str:
        """A checked level, as the kernel takes it."""
        return text

    def check(self, level: Level) -> str:
        """The level as text.

        Raises:
            WrongInputError: If it is none of this setting, with the choices.
        """
        return self.levels.check(self.name, level)

    def unsafe(self, level: Level) -> bool:
        """Whether acknowledged commits can be lost at this level."""
        return self.check(level) in self.unsafe_levels

    def unavailable(self, level: Level | None = None) -> str | None:
        """Why this machine cannot set it (to this level): absent, or denied; None if it can.

        Nothing is changed.
        """
        present = self.read()
        if isinstance(present, Absent):
            return f"absent: {present.reason}"
        if isinstance(present, Denied):
            return f"denied: {present.reason}"
        reason = next(filter(None, (self._denied(path) for path in self._written_files())), None)
        return f"denied: {reason}" if reason else None

    def set(self, text: str) -> None:
        """Writes a checked level.

        Raises:
            TargetError: If the kernel refuses it.
        """
        for path in self._written_files():
            try:
                write(path, self.written(text))
            except OSError as error:
                raise TargetError(
                    f"host.{self.name} cannot be set to {text!r}: {path}: {error.strerror}",
                    advice=f"it takes {self.levels.choices}",
                ) from error

    def same(self, asked: str, seen: str) -> bool:
        """Whether a reading says what was asked for."""
        return self.levels.same(asked, seen)

    def differs(self, asked: str, seen: str) -> str:
        """What to say when it reads back otherwise."""
        return f"host.{self.name} was set to {asked!r}, but reads back {seen!r}"

    def probed(self, path: Path) -> bool:
        """Whether the value that is there may be written again without any change."""
        return True

    def _denied(self, path: Path) -> str | None:
        present = read(path) if self.probed(path) else None
        return denied(path, chosen(present) if isinstance(present, str) else None)

    def _written_files(self) -> list[Path]:
        found = self.files()
        if isinstance(found, Absent):
            raise TargetError(f"host.{self.name} cannot be set: {found.reason}")
        return found


@dataclass(frozen=True)
class FileSetting(HostSetting):
    """A setting of one file that the family knows."""

    path: Path = Path()
    moved_with_it: tuple[Path, ...] = ()
    """Files that the kernel may change along with it; the last part may be `*`."""

    def files(self) -> list[Path] | Absent:
        """The file."""
        return [self.path]

    def companions(self) -> list[Path]:
        """Those that are there; a last part of `*` stands for every file of a folder."""
        return [
            found
            for path in self.moved_with_it
            for found in sorted(path.parent.glob(path.name))
            if found.is_file()
        ]

    def unavailable(self, level: Level | None = None) -> str | None:
        """Also looks whether the kernel offers the level, where its file lists the choices."""
        reason, listed = super().unavailable(level), read(self.path)
        if reason or level is None or not isinstance(listed, str) or "[" not in listed:
            return reason
        offered = listed.replace("[", "").replace("]", "").split()
        if self.check(level) in offered:
            return None
        return f"absent: {self.path} offers only {', '.join(offered)}"


@dataclass(frozen=True)
class AbsentSetting(HostSetting):
    """A setting that this machine has not, with the reason."""

    reason: str = ""

    def files(self) -> list[Path] | Absent:
        """None."""
        return Absent(self.reason)


def one(seen: Sequence[tuple[Path, str]]) -> str:
    """One value for all files, or each with where it is."""
    values = {value for _, value in seen}
    if len(values) == 1:
        return values.pop()
    return ", ".join(f"{path.parent.name}: {value}" for path, value in seen)
