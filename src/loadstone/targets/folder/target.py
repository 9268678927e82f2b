"""A folder as a system under test: what it lies on is measured, with no server between."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from loadstone.errors import TargetError, WrongInputError
from loadstone.placements.flushes import ServerFlushes
from loadstone.placements.journal_place import refuse_unfit
from loadstone.placements.place import parse
from loadstone.protocol.programs import DRIVER, Program
from loadstone.results.record import FactorReading, Notice
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import ProcessSpec, StorageSpec, TargetSpec, default_server
from loadstone.targets.base import Target, TargetContext
from loadstone.targets.capabilities import FOLDERS, OVERWRITING, SYNCS
from loadstone.targets.connection import Connection
from loadstone.targets.local.file_store import FileStore


@dataclass(frozen=True)
class FolderConnection(Connection):
    """Where the files are; whoever makes the load opens them itself."""

    files: ClassVar[int] = 0

    folder: Path
    program: Program = DRIVER
    host: str = ""

    def plan(self) -> dict[str, Any]:
        """The folder."""
        return {"protocol": "files", "folder": str(self.folder)}


class Folder(Target):
    """A marked folder below `data`, or on a placement."""

    engine = "folder"
    capabilities: ClassVar[frozenset[str]] = frozenset(
        {"file-access", FOLDERS, OVERWRITING, *SYNCS}
    )
    storage_roles = ("data", "log")
    """The log is the journal of the data's file system, an ext4."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._store: FileStore | None = None

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """The folder, which is one that is there: a mistyped one would be on another disk."""
        if spec.server != default_server(spec.engine) or spec.process != ProcessSpec():
            raise WrongInputError("target folder has no server", advice="leave server out")
        if spec.data and not Path(spec.data).is_dir():
            raise WrongInputError(
                f"there is no folder {spec.data}", advice="make it, or name another"
            )
        data, log = (spec.storage.named.get(role) for role in cls.storage_roles)
        if log is not None:
            refuse_unfit(parse(data) if data else None, parse(log))
        return {"engine": cls.engine} | ({"data": spec.data} if spec.data else {})

    @classmethod
    def cautions(cls, spec: TargetSpec, profile: ProfileSpec) -> list[Notice]:
        """What placements show less of than their names say."""
        data = parse(spec.storage.data) if spec.storage.data else None
        if data is None:
            return []
        found = []
        if data.overhead_only:
            found.append(
                Notice(
                    code="overhead-only",
                    severity="warning",
                    message=f"{data.text}: its members share one disk, so the figures show what "
                    f"{data.level} costs, and not what it gives",
                    advice="give the members a speed of their own: "
                    f"nbd:{data.file_system},{data.level},rate=100MB",
                )
            )
        if "log" in spec.storage.named and "data=journal" not in data.mount_options:
            found.append(
                Notice(
                    code="journal-of-metadata",
                    severity="info",
                    message=f"{data.text}: without data=journal its journal holds metadata only, "
                    "so that writes over what is there hardly touch it",
                    advice="add data=journal to have all writes go to the journal first",
                )
            )
        return found

    @property
    def store(self) -> FileStore:
        """The folder, while the target is open."""
        if self._store is None:
            raise TargetError("the target is not open")
        return self._store

    def open(self) -> None:
        """Makes the folder."""
        self._store = FileStore("", self.spec, self.context, log_is_journal=True)
        self.store.clear(StorageSpec())

    def close(self) -> None:
        """Removes it."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def stop(self) -> None:
        """Gives up its placement: another system has its turn, and the disk to itself."""
        self.store.clear(StorageSpec())

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Removes all files."""
        self.store.clear(spec.storage)
        return self.store.readings()

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Keeps the files where the placement stays: the workload makes those that it needs."""
        self.store.place(spec.storage)
        return self.store.readings()

    def laying_out(self, names: Sequence[str]) -> AbstractContextManager[Sequence[Path]]:
        """In the folder; what an earlier trial left beside them goes."""
        self.store.keep_only(names)
        return nullcontext([self.store.database / name for name in names])

    def settle(self, cache: str) -> None:
        """Reads the files into the page cache, or takes them out; all is on the medium."""
        self.store.settle(cache)

    def connection(self) -> FolderConnection:
        """Where the files are."""
        return FolderConnection(self.store.database)

    def inventory(self) -> dict[str, Any]:
        """Where it lies."""
        return {"engine": self.engine, **self.store.inventory()}

    def flushes_counted(self) -> ServerFlushes | None:
        """Of the server of a placement."""
        return self.store.flushes_counted()

    def data_folder(self) -> Path:
        """The folder."""
        return self.store.database
