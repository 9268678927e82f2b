"""Where the database file lies, and the copies of it that were kept."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any

from loadstone.placements import tree
from loadstone.placements.account import own_account
from loadstone.placements.flushes import ServerFlushes
from loadstone.results.record import FactorReading
from loadstone.spec.target import StorageSpec, TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.local import copies, snapshots
from loadstone.targets.local.engine_folders import EngineFolders, Stopwatch

_READ_BYTES = 1024**2


class FileStore:
    """A marked folder with the database, on a placement or not, and its snapshots."""

    def __init__(
        self, name: str, spec: TargetSpec, context: TargetContext, *, log_is_journal: bool = False
    ) -> None:
        """Makes the folder.

        The engine runs in the load generator, and that as whoever started Loadstone.

        Args:
            name: Of the database file; empty: the folder is the database.
            spec: Names the folder in which that of the engine is made.
            context: Journal and mark.
            log_is_journal: As of `Places`.
        """
        self._name = name
        self._engine_folders = EngineFolders(
            spec, context, own_account(), log_is_journal=log_is_journal
        )
        self._engine_folders.open()

    @property
    def database(self) -> Path:
        """The database, a file or a folder; another one after `clear` and `put_back`."""
        return self._folder / self._name

    @property
    def _folder(self) -> Path:
        return self._engine_folders.places.layout.data

    def clear(self, storage: StorageSpec) -> None:
        """Makes the placement, with nothing on it."""
        self.place(storage)
        self.keep_only(())

    def keep_only(self, names: Collection[str]) -> None:
        """Removes everything but the files and folders of these names."""
        for path in self._folder.iterdir():
            if path.name not in names:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def place(self, storage: StorageSpec) -> None:
        """Makes the placement; if it is there already, what lies on it stays."""
        self._engine_folders.places.use(storage)
        self._engine_folders.last_reset = {}

    def keep(self, key: str) -> None:
        """Copies the data, which nobody uses, and which are in the one file."""
        data, copy = self._folder, snapshots.folder_of(self._engine_folders.snapshots, key)
        tree.check_space(copy.parent, tree.size_bytes(data), "a snapshot")
        shutil.rmtree(copy, ignore_errors=True)
        with snapshots.copying(copy):
            copies.take(data, copy)

    def put_back(self, key: str, storage: StorageSpec) -> None:
        """Makes the placement hold the kept data and nothing else, and has them on the disk.

        Raises:
            WrongInputError: If nothing was kept under `key`.
            TargetError: If there is no space.
        """
        copy = snapshots.existing(self._engine_folders.snapshots, key)
        stopwatch = Stopwatch()
        folder = self._engine_folders.places.use(storage, tree.size_bytes(copy)).data
        stopwatch.lap("place_s")
        with snapshots.copying(folder):
            restored = copies.restore(copy, folder, self._engine_folders.account)
        stopwatch.lap("copy_s")
        self._engine_folders.last_reset = {**asdict(restored), **stopwatch.seconds}

    def settle(self, cache: str) -> None:
        """Reads the file into the page cache or takes it out, and brings it to the medium.

        A later power loss then takes only what comes after.
        """
        stopwatch = Stopwatch()
        done = self._warm() if cache == "warm" else self._cool()
        self._engine_folders.places.make_durable()
        stopwatch.lap("settle_s")
        self._engine_folders.last_reset |= {"cache": done, **stopwatch.seconds}

    def power_loss(self) -> None:
        """Throws away what was not flushed."""
        self._engine_folders.places.power_loss()

    def recover(self) -> None:
        """Mounts again what lost its power."""
        self._engine_folders.places.recover()

    def flushes_counted(self) -> ServerFlushes | None:
        """What the server of the data's placement does with flushes."""
        return self._engine_folders.places.flushes_counted()

    def readings(self) -> list[FactorReading]:
        """One for each placement."""
        return self._engine_folders.places.readings()

    def inventory(self) -> dict[str, Any]:
        """Folder, file system, placements, and what the last reset took."""
        return self._engine_folders.inventory(self._folder)

    def close(self) -> None:
        """Removes everything."""
        self._engine_folders.close()

    def _warm(self) -> str:
        files = self._files()
        for path in files:
            with path.open("rb", buffering=0) as file:
                while file.read(_READ_BYTES):
                    pass
        return f"{len(files)} files read into the page cache"

    def _cool(self) -> str:
        for path in self._files():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        count = copies.drop_from_page_cache(self._folder)
        return f"{count} files dropped from the page cache"

    def _files(self) -> list[Path]:
        """The database, or the files below it."""
        if self.database.is_file():
            return [self.database]
        return [path for path in self.database.rglob("*") if path.is_file()]
