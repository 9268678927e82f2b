"""The folders of an owned engine: a marked folder with its placements and its snapshots."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loadstone.errors import DiskFullError, TargetError
from loadstone.journal import Entry
from loadstone.placements import filesystem, tree
from loadstone.placements.account import Account
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.local.places import Places

_SOCKET_PATH_LIMIT = 107
"""Bytes of a Unix socket's path: `sun_path` in unix(7), less its last zero."""


class EngineFolders:
    """The folders of one owned engine, all of them journalled."""

    def __init__(
        self,
        spec: TargetSpec,
        context: TargetContext,
        account: Account,
        *,
        log_is_journal: bool = False,
    ) -> None:
        """Makes nothing yet.

        Args:
            spec: Names the folder in which that of the engine is made.
            context: Journal and mark.
            account: That the engine runs as.
            log_is_journal: As of `Places`.
        """
        self._log_is_journal = log_is_journal
        self.account = account
        self.last_reset: dict[str, Any] = {}
        """What the last restore and settle did and how long it took, for the inventory."""
        self._context = context
        self._parent = Path(spec.data) if spec.data else tree.DEFAULT_PARENT
        self._trees: list[Entry] = []
        self._root: Path | None = None
        self._places: Places | None = None

    def open(self, least_bytes: int = 0) -> None:
        """Makes the marked folder, with a folder for snapshots.

        Args:
            least_bytes: Free space without which the engine is not made.

        Raises:
            WrongInputError: If the parent folder is not there or cannot be entered.
            TargetError: If less is free.
        """
        self._root = self._make_tree(self._parent, least_bytes)
        self.make_folder("snapshots")
        self._places = Places(
            self._context.journal,
            self._root,
            self.account,
            self._context.owner,
            log_is_journal=self._log_is_journal,
        )

    def close(self) -> None:
        """Removes everything. The engine must have ended.

        Raises:
            LoadstoneError: If something could not be removed; it stays in the journal.
        """
        if self._places is not None:
            self._places.close()
            self._places = None
        while self._trees:
            self._context.journal.undo(self._trees[-1])
            self._trees.pop()

    @property
    def root(self) -> Path:
        """The marked folder."""
        if self._root is None:
            raise TargetError("the target is not open")
        return self._root

    @property
    def snapshots(self) -> Path:
        """Where snapshots are kept."""
        return self.root / "snapshots"

    @property
    def places(self) -> Places:
        """Where data and log lie."""
        if self._places is None:
            raise TargetError("the target is not open")
        return self._places

    def make_folder(self, name: str) -> Path:
        """Makes a folder that only the engine's account may enter."""
        return self._make_folder(self.root / name)

    def make_socket_folder(self, socket: str) -> Path:
        """Makes a folder for the socket; elsewhere if the path does not fit.

        Args:
            socket: Name of the socket.
        """
        folder = self.root / "socket"
        if not self.socket_fits(folder, socket):
            folder = self._make_tree(tree.DEFAULT_PARENT) / "socket"
        return self._make_folder(folder)

    @staticmethod
    def socket_fits(folder: Path, socket: str) -> bool:
        """Whether a socket can lie there: no path is long, and libpq parts hosts at commas."""
        path = str(folder / socket)
        return "," not in path and len(path.encode()) <= _SOCKET_PATH_LIMIT

    @contextlib.contextmanager
    def blaming_full_disk(self) -> Iterator[None]:
        """Adds to an error of the engine that the disk below its data is full, if it is.

        Raises:
            DiskFullError: Instead of a TargetError within the block.
        """
        try:
            yield
        except TargetError as error:
            full = self._places.disk_full() if self._places else None
            if full is None:
                raise
            raise DiskFullError(f"{full}; {error.message}", advice="free some space") from error

    def inventory(self, data: Path) -> dict[str, Any]:
        """The data folder, its file system and placements, and what the last reset took."""
        return {
            "account": self.account.name,
            "data_folder": str(data),
            "data_folder_bytes": tree.size_bytes(data),
            "file_system": filesystem.of(data),
            "places": self.places.inventory(),
            "last_reset": self.last_reset,
        }

    def _make_tree(self, parent: Path, least_bytes: int = 0) -> Path:
        path, entry = tree.make(
            self._context.journal, parent, self.account, self._context.owner, least_bytes
        )
        self._trees.append(entry)
        return path

    def _make_folder(self, folder: Path) -> Path:
        folder.mkdir(mode=0o700)
        self.account.own(folder)
        return folder


class Stopwatch:
    """The time of each part of a reset, one after the other."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began = time.monotonic()

    def lap(self, part: str) -> None:
        """Notes the seconds since the part before, or since the beginning."""
        now = time.monotonic()
        self.seconds[part] = round(now - self._began, 3)
        self._began = now
