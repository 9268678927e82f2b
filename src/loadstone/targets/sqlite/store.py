"""Where the database file lies, and the copies of it that were kept."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from loadstone.experiments.model import StorageSpec, TargetSpec
from loadstone.results.record import FactorReading
from loadstone.targets.base import TargetContext
from loadstone.targets.local import copies, filesystem, kept, tree
from loadstone.targets.local.account import own_account
from loadstone.targets.local.premises import Premises

NAME = "loadstone.db"
_READ_BYTES = 1024**2


class Store:
    """A marked folder with the database, on a placement or not, and its snapshots."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        """Makes the folder.

        The engine runs in the driver, and the driver as whoever started Loadstone.
        """
        self._premises = Premises(spec, context, own_account())
        self._premises.open()
        self._last: copies.Restored | None = None

    @property
    def database(self) -> Path:
        """The database file; another one after `clear` and `put_back`."""
        return self._premises.places.layout.data / NAME

    def clear(self, storage: StorageSpec) -> None:
        """Makes the placement, with nothing on it."""
        folder = self._premises.places.use(storage).data
        for path in folder.iterdir():
            path.unlink()
        self._last = None

    def keep(self, key: str) -> None:
        """Copies the data, which nobody uses, and which are in the one file."""
        data, copy = self.database.parent, kept.folder_of(self._premises.snapshots, key)
        tree.check_space(copy.parent, tree.size_bytes(data), "a snapshot")
        shutil.rmtree(copy, ignore_errors=True)
        with kept.copying(copy):
            copies.take(data, copy)

    def put_back(self, key: str, storage: StorageSpec) -> None:
        """Makes the placement hold the kept data and nothing else, and has them on the disk.

        Raises:
            WrongInputError: If nothing was kept under `key`.
            TargetError: If there is no space.
        """
        copy = kept.existing(self._premises.snapshots, key)
        folder = self._premises.places.use(storage, tree.size_bytes(copy)).data
        with kept.copying(folder):
            self._last = copies.restore(copy, folder, self._premises.account)

    def warm(self) -> str:
        """Reads the file into the page cache. Returns what was done."""
        with self.database.open("rb", buffering=0) as file:
            while file.read(_READ_BYTES):
                pass
        return "the file read into the page cache"

    def cool(self) -> str:
        """Takes the file out of the page cache. Returns what was done."""
        with self.database.open("rb") as file:
            os.fsync(file.fileno())
        count = copies.drop_from_page_cache(self.database.parent)
        return f"{count} files dropped from the page cache"

    def make_durable(self) -> None:
        """Brings everything to the medium: a later power loss takes only what comes after."""
        self._premises.places.make_durable()

    def power_loss(self) -> None:
        """Throws away what was not flushed."""
        self._premises.places.power_loss()

    def recover(self) -> None:
        """Mounts again what lost its power."""
        self._premises.places.recover()

    def readings(self) -> list[FactorReading]:
        """One for each placement."""
        return self._premises.places.readings()

    def inventory(self) -> dict[str, Any]:
        """Folder, file system, placements, and what the last restoration had to write."""
        folder = self.database.parent
        return {
            "data_folder": str(folder),
            "data_folder_bytes": tree.size_bytes(folder),
            "file_system": filesystem.of(folder),
            "storage": self._premises.places.inventory(),
            "last_reset": {"written_bytes": self._last.written_bytes} if self._last else {},
        }

    def close(self) -> None:
        """Removes everything."""
        self._premises.close()
