"""A folder of files as a system under test. It has one setting, and fails with the load."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from loadstone.errors import WrongInputError
from loadstone.protocol.programs import RUNNER
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.design import Failure
from loadstone.spec.target import StorageSpec, TargetSpec
from loadstone.targets.base import SettingInfo, Target, TargetContext
from loadstone.targets.connection import InProcessConnection
from loadstone.targets.local.file_store import FileStore
from loadstone.targets.risks import Risk, Risks, is_unsafe

SYNC = "sync"
LEVELS = {"on": "on", "off": "off", "true": "on", "false": "off"}


class Folder(Target):
    """A folder of files."""

    engine = "toy-folder"
    in_process = True
    storage_roles = ("data",)
    capabilities: ClassVar[frozenset[str]] = frozenset({"append"})
    risks: ClassVar[Risks] = {SYNC: Risk.of(safe="on", unsafe="off")}

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._store: FileStore | None = None
        self._sync = "on"

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """There is one: whether what was appended is on the disk before it is acknowledged."""
        if name != SYNC:
            return super().setting(spec, name, level)
        if str(level).lower() not in LEVELS:
            raise WrongInputError(f"sync is on or off; given {level!r}")
        made = LEVELS[str(level).lower()]
        return SettingInfo(SYNC, "restart", is_unsafe(cls.risks, SYNC, made), default="on")

    @property
    def store(self) -> FileStore:
        """The folder, while the target is open."""
        assert self._store is not None
        return self._store

    def open(self) -> None:
        """Makes the folder."""
        self._store = FileStore("", self.spec, self.context)
        self.store.clear(StorageSpec())

    def close(self) -> None:
        """Removes it."""
        if self._store is not None:
            self._store.close()

    def start(self) -> None:
        """Mounts what lost its power."""
        self.store.recover()

    def crash(self, failure: Failure) -> None:
        """Whoever writes dies with the load; here the disk loses its power."""
        if failure == "power-loss":
            self.store.power_loss()

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Removes all files."""
        self.store.clear(spec.storage)
        return self._begin(spec)

    def snapshot(self, key: str) -> None:
        """Copies the files."""
        self.store.keep(key)

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Puts the copy back."""
        self.store.put_back(key, spec.storage)
        return self._begin(spec)

    def settle(self, cache: str) -> None:
        """Reads the files into the page cache, or takes them out."""
        self.store.settle(cache)

    def connection(self) -> InProcessConnection:
        """Where the files are, and how to write them."""
        settings = {SYNC: self._sync}
        return InProcessConnection("folder", str(self.store.database), settings, program=RUNNER)

    def inventory(self) -> dict[str, Any]:
        """Its setting, and where it lies."""
        return {"engine": self.engine, SYNC: self._sync, **self.store.inventory()}

    def data_folder(self) -> Path:
        """The folder."""
        return self.store.database

    def _begin(self, spec: TargetSpec) -> list[FactorReading]:
        level = spec.settings.get(SYNC, "on")
        self._sync = LEVELS[str(level).lower()]
        if SYNC not in spec.settings:
            return self.store.readings()
        reading = FactorReading(
            factor=f"target.{SYNC}",
            requested=level,
            read_back=self.connection().settings[SYNC],
            unsafe=self._sync == "off",
            how="restart",
        )
        return [reading, *self.store.readings()]
