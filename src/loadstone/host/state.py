"""The settings of the host that trials change: applied, read back, put back exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.host.lock import HostLock
from loadstone.host.machine import THIS_MACHINE, Machine, chosen, write
from loadstone.host.registers import read_register, write_register
from loadstone.host.registry import host_setting
from loadstone.host.settings import HostSetting
from loadstone.journal import Entry, Journal, undoes
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec

UNDO = "host-setting"
_PASSES = 3
"""Putting back one file can move another: each is looked at again after the rest."""
_MOST_NAMED = 8


@dataclass(frozen=True)
class SavedFile:
    """A file as it was: `shown` when read, `write` to make it so again."""

    path: str
    shown: str
    write: str
    register: int | None = None
    """Of a device of model-specific registers: which one."""

    def now(self) -> str:
        """What it says at present; of a register that cannot be read, why."""
        return _says(Path(self.path), self.register)

    def is_gone(self) -> bool:
        """It went with its device. Without the module msr a register is still there."""
        return self.register is None and not Path(self.path).exists()

    def put_back(self) -> None:
        """Makes it say so again.

        Raises:
            OSError: If the kernel refuses it.
        """
        if self.register is None:
            write(Path(self.path), self.write)
        else:
            write_register(Path(self.path), self.register, int(self.write, 16))


@dataclass(frozen=True)
class _Applied:
    """A setting in force, with what undoes it."""

    setting: HostSetting
    level: Level
    text: str
    before: str
    how: str
    entry: Entry

    def is_for(self, setting: HostSetting, text: str) -> bool:
        return (self.setting.name, self.text) == (setting.name, text) and (
            self.setting.files() == setting.files()
        )


class HostState:
    """What the trials of an experiment have changed of the host so far.

    Settings are held as a stack: put back last first, each brings the host to the very state that
    it was applied to, also where the kernel changes one setting along with another.

    Args:
        journal: Told before every change.
        machine: In tests another.
        locks: Folder of the lock on the host; default: where the machine keeps locks.
    """

    def __init__(
        self, journal: Journal, machine: Machine = THIS_MACHINE, locks: Path | None = None
    ) -> None:
        self._journal = journal
        self._machine = machine
        self._lock = HostLock(UNDO, locks)
        self._applied: list[_Applied] = []

    def apply(self, settings: Mapping[str, Level], target: TargetSpec) -> list[FactorReading]:
        """Brings the host to exactly these settings; all others are as Loadstone found them.

        Args:
            settings: Name without `host.`: level.
            target: Whose data decide which disk `queue.FIELD` means.

        Returns:
            One reading for each, read back just now.

        Raises:
            TargetError: If the host refuses a level or reads back another one.
            RefusedError: If another run changes this host at the moment.
        """
        if settings:
            self._lock.take()
        wanted = self._wanted(settings, target)
        while not self._is_begin_of(wanted):
            self._pop()
        for setting, level in wanted[len(self._applied) :]:
            self._push(setting, level)
        return [self._reading(applied) for applied in self._applied]

    def put_back(self) -> None:
        """Puts everything back, last first.

        Raises:
            ExceptionGroup: If something could not be; it stays in the journal.
        """
        failures = []
        while self._applied:
            try:
                self._pop()
            except Exception as error:  # one failure must not stop the rest
                failures.append(error)
        if failures:
            raise ExceptionGroup("some host settings could not be put back", failures)
        self._lock.release()

    # -- inside --------------------------------------------------------------------------------
    def _wanted(
        self, settings: Mapping[str, Level], target: TargetSpec
    ) -> list[tuple[HostSetting, Level]]:
        found = [
            (host_setting(name, target, self._machine), level) for name, level in settings.items()
        ]
        return sorted(found, key=lambda each: (each[0].rank, each[0].name))

    def _is_begin_of(self, wanted: list[tuple[HostSetting, Level]]) -> bool:
        return len(self._applied) <= len(wanted) and all(
            applied.is_for(setting, setting.check(level))
            for applied, (setting, level) in zip(self._applied, wanted, strict=False)
        )

    def _push(self, setting: HostSetting, level: Level) -> None:
        text, before = setting.check(level), setting.read()
        if not isinstance(before, str):
            raise TargetError(f"host.{setting.name} cannot be set: {before.reason}")
        own = setting.files()
        assert isinstance(own, list)  # noqa: S101 - it was read just now
        saved = [save(path, setting.register) for path in own]
        saved += [save(path) for path in setting.companions()]
        entry = self._journal.before(
            f"set host.{setting.name} to {text} (it is {before})",
            UNDO,
            setting=setting.name,
            files=[asdict(each) for each in saved],
        )
        try:
            setting.set(text)
            _verify(setting, text)
        except TargetError:
            self._journal.undo(entry)
            raise
        how = f"written to {_named(own)}{_moved(saved[len(own) :])}"
        self._applied.append(_Applied(setting, level, text, before, how, entry))

    def _pop(self) -> None:
        self._journal.undo(self._applied.pop().entry)

    def _reading(self, applied: _Applied) -> FactorReading:
        return FactorReading(
            factor=f"host.{applied.setting.name}",
            requested=applied.level,
            read_back=_verify(applied.setting, applied.text),
            before=applied.before,
            unsafe=applied.setting.unsafe(applied.level),
            how=applied.how,
        )


def save(path: Path, register: int | None = None) -> SavedFile:
    """What a file, or a register, says now, and what to write to make it say so again."""
    shown = _says(path, register)
    return SavedFile(str(path), shown, chosen(shown.strip()), register)


@undoes(UNDO)
def undo(data: dict[str, Any]) -> None:
    """Makes every file say what it said before.

    A file that is gone has gone with its device: there is nothing to put back.

    Raises:
        TargetError: If a file says something else in the end.
    """
    # Of two that exclude each other the one that was in force goes first: it zeroes the other.
    files = sorted(
        (SavedFile(**each) for each in data["files"]), key=lambda saved: saved.write == "0"
    )
    refused: dict[str, str] = {}
    for _ in range(_PASSES):
        for saved in _changed(files):
            try:
                saved.put_back()
            except OSError as error:
                refused[saved.path] = f" ({error.strerror})"
        if not _changed(files):
            return
    left = [
        f"{saved.path} says {saved.now().strip()!r}, but said {saved.shown.strip()!r}"
        f"{refused.get(saved.path, '')}"
        for saved in _changed(files)
    ]
    raise TargetError(f"host.{data['setting']} could not be put back: {'; '.join(left)}")


def _changed(files: list[SavedFile]) -> list[SavedFile]:
    there = [saved for saved in files if not saved.is_gone()]
    return [saved for saved in there if saved.now() != saved.shown]


def _says(path: Path, register: int | None) -> str:
    """A file byte for byte, or a register in hexadecimal."""
    if register is None:
        return path.read_bytes().decode(errors="surrogateescape")
    value = read_register(path, register)
    return value if isinstance(value, str) else value.reason


def _verify(setting: HostSetting, text: str) -> str:
    seen = setting.read()
    if not isinstance(seen, str):
        raise TargetError(f"host.{setting.name} cannot be read back: {seen.reason}")
    if not setting.same(text, seen):
        raise TargetError(
            setting.differs(text, seen), advice="choose another level, or leave the setting out"
        )
    return seen


def _named(paths: list[Path]) -> str:
    """The files; of many, which are alike but for a number, the first and how many."""
    if len(paths) <= _MOST_NAMED:
        return ", ".join(map(str, paths))
    return f"{paths[0]} and {len(paths) - 1} files like it"


def _moved(saved: list[SavedFile]) -> str:
    """What the kernel changed along with a setting."""
    moved = [
        f"{Path(each.path).name} {each.write} to {chosen(each.now().strip())}"
        for each in _changed(saved)
    ]
    # Every processor or domain has such a file, and most say the same.
    return f"; the kernel also moved {', '.join(dict.fromkeys(moved))}" if moved else ""
