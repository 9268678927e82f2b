"""Where the database file lies, and the copies of it that were kept."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError, WrongInputError
from loadstone.experiments.model import StorageSpec, TargetSpec
from loadstone.results.record import FactorReading
from loadstone.targets.base import TargetContext
from loadstone.targets.local import copies, filesystem, tree
from loadstone.targets.local.account import Account
from loadstone.targets.local.places import Places

NAME = "loadstone.db"
_READ_BYTES = 1024**2


class Store:
    """A marked folder with the database, on a placement or not, and its snapshots."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        self._context = context
        # The engine runs in the driver, and the driver as whoever started Loadstone.
        account = self._account = Account(str(os.geteuid()), os.geteuid(), os.getegid(), False)
        parent = Path(spec.data) if spec.data else tree.DEFAULT_PARENT
        self._root, self._entry = tree.make(context.journal, parent, account, context.owner)
        self._places = Places(context.journal, self._root, account, context.owner)
        self._last: copies.Restored | None = None

    @property
    def database(self) -> Path:
        """The database file; another one after `clear` and `put_back`."""
        return self._places.layout.data / NAME

    def clear(self, storage: StorageSpec) -> None:
        """Makes the placement, with nothing on it."""
        folder = self._places.use(storage).data
        for path in folder.iterdir():
            path.unlink()
        self._last = None

    def keep(self, key: str) -> None:
        """Copies the data, which nobody uses, and which are in the one file."""
        kept = self._kept(key)
        tree.check_space(self._root, tree.size_bytes(self.database.parent), "a snapshot")
        shutil.rmtree(kept, ignore_errors=True)
        with _copying(kept):
            copies.take(self.database.parent, kept)

    def put_back(self, key: str, storage: StorageSpec) -> None:
        """Makes the placement hold the kept data and nothing else, and has them on the disk.

        Raises:
            WrongInputError: If nothing was kept under `key`.
            TargetError: If there is no space.
        """
        kept = self._kept(key)
        if not kept.is_dir():
            raise WrongInputError(f"there is no snapshot {key!r} to restore")
        folder = self._places.use(storage, tree.size_bytes(kept)).data
        with _copying(folder):
            self._last = copies.restore(kept, folder, self._account)

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
        self._places.make_durable()

    def power_loss(self) -> None:
        """Throws away what was not flushed."""
        self._places.power_loss()

    def recover(self) -> None:
        """Mounts again what lost its power."""
        self._places.recover()

    def readings(self) -> list[FactorReading]:
        """One for each placement."""
        return self._places.readings()

    def inventory(self) -> dict[str, Any]:
        """Folder, file system, placements, and what the last restoration had to write."""
        folder = self.database.parent
        return {
            "data_folder": str(folder),
            "data_folder_bytes": tree.size_bytes(folder),
            "file_system": filesystem.of(folder),
            "storage": self._places.inventory(),
            "last_reset": {"written_bytes": self._last.written_bytes} if self._last else {},
        }

    def close(self) -> None:
        """Removes everything."""
        self._places.close()
        self._context.journal.undo(self._entry)

    def _kept(self, key: str) -> Path:
        plain = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", key)
        name = key if plain else hashlib.sha256(key.encode()).hexdigest()[:32]
        return self._root / "snapshots" / name


@contextlib.contextmanager
def _copying(to: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise TargetError(
            f"the data could not be copied to {to}: {error.strerror}",
            advice="free some space, or name another data folder",
        ) from error
