"""Where an owned server keeps its data, its log and what moves away: plain folders, or placements.

What an engine does with it::

    places = Places(journal, root, account, owner)      # root: the engine's own marked folder
    layout = places.use(spec.storage, data_bytes)       # before data are put back; server stopped
    ... put data into layout.data and, if it is not None, the log into layout.log ...
    folder = places.make_archive()                      # only if tables are to be moved there
    places.make_durable()                               # the last thing of `settle`
    places.power_loss()                                 # crash("power-loss"); then kill the server
    places.recover()                                    # first thing of the next `start`
    places.close()                                      # server ended

Paths change when the placement does: take them from the last layout, never keep them. What is
written in an absolute path (a configuration, a link to the log) must be written anew after `use`.
Everything is journalled, so `loadstone recover` removes what a killed run left.
"""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage
from typing import Any

import psutil

from loadstone.errors import LoadstoneError, TargetError
from loadstone.journal import Journal
from loadstone.placements.account import Account
from loadstone.placements.flushes import ServerFlushes
from loadstone.placements.journal_place import JournalPlace
from loadstone.placements.mounted import MountedPlace, default_size
from loadstone.placements.place import FILLABLE, IN_MEMORY, Place, parse
from loadstone.results.record import FactorReading
from loadstone.spec.target import StorageSpec

_FULL_BYTES = 1 << 20
"""What is left on a disk to which nothing can be written any more."""


@dataclass(frozen=True)
class Layout:
    """The folders for data and log; both exist, belong to the server's account, and are its own."""

    data: Path
    log: Path | None
    """None: the log is kept with the data."""


class Places:
    """The placements of one server."""

    def __init__(
        self,
        journal: Journal,
        root: Path,
        account: Account,
        owner: str,
        *,
        log_is_journal: bool = False,
    ) -> None:
        """Makes nothing yet.

        Args:
            journal: Told before each change.
            root: A folder that Loadstone made for this server (`tree.make`): plain data, images and
                mount points lie in it.
            account: Of the server.
            owner: Mark of folders that are made elsewhere.
            log_is_journal: What lies on the placement of the log is the journal of the data's file
                system, and no folder.
        """
        self._journal = journal
        self._log_is_journal = log_is_journal
        self._root = root
        self._account = account
        self._owner = owner
        self._open: dict[str, MountedPlace] = {}
        self._plain = root / "data"

    @property
    def layout(self) -> Layout:
        """The folders as the last `use` made them; before that, plain ones."""
        data = self._open.get("data")
        log = None if self._log_is_journal else self._open.get("log")
        return Layout(
            _files(data.folder) if data else self._plain, _files(log.folder) if log else None
        )

    def make_archive(self) -> Path:
        """Makes the folder for what moves away from the data, once after each `use`.

        It lies on the placement of the archive, or else beside the data, on theirs. It is empty,
        and the next `use` removes it with all that is in it.
        """
        place = self._open.get("archive") or self._open.get("data")
        folder = _archive(place.folder if place else self._root)
        folder.mkdir(mode=0o700)
        self._account.own(folder)
        return folder

    def use(self, spec: StorageSpec, data_bytes: int = 0) -> Layout:
        """Makes the placements that are asked for; those that are already in use stay as they are.

        The server must be stopped. A new placement is empty; the data on an old one are gone, and
        so is the archive.

        Args:
            spec: Of the trial.
            data_bytes: Size of the data that will be put there, which decides the size of a
                placement that names none: see `size_for`, as far as space or memory is free.

        Raises:
            TargetError: If one cannot be made; none of the wanted is left half made.
            WrongInputError: If a placement cannot be read.
        """
        wanted = {role: parse(text) for role, text in spec.named.items()}
        stale = {
            role
            for role, held in self._open.items()
            if wanted.get(role) != held.place or held.powerless
        }
        if self._log_is_journal and stale | ({"log"} & (wanted.keys() ^ self._open.keys())):
            stale |= self._open.keys()  # a file system and its journal are made for each other
        for role in reversed(list(self._open)):
            if role in stale:
                self._close(role)
        self._remove_archive()
        for role in sorted(wanted, key=lambda each: self._log_is_journal and each != "log"):
            if role not in self._open:
                self._make(role, wanted[role], data_bytes)
        self._make_plain(needed="data" not in wanted)
        return self.layout

    def make_durable(self) -> None:
        """Brings all that was written so far to the medium, even where flushes are ignored.

        Called when a trial's start state is complete: a later power loss then takes only what the
        load has written.
        """
        for place in self._open.values():
            place.make_durable()

    def power_loss(self) -> None:
        """Throws away what was not flushed, on all devices at once.

        The server's reads and writes fail from now on: kill it, then call `recover`.

        Raises:
            TargetError: If any lies on a device whose power cannot be cut; nothing is lost.
        """
        kinds = {role: each.place for role, each in self._open.items()}
        firm = [place.text for place in kinds.values() if place.kind != "volatile"]
        if "data" not in kinds or firm:
            raise TargetError(
                f"the power of {firm[0] if firm else 'the plain data folder'} cannot be cut",
                advice="put the data, and what lies apart from them, on volatile placements: "
                "storage.data: volatile:ext4",
            )
        for each in self._open.values():
            each.freeze()
        for each in self._open.values():
            each.power_loss()

    def recover(self) -> None:
        """Mounts again what lost its power; nothing if all have theirs. The server must be dead.

        Raises:
            TargetError: If a file system cannot be mounted any more.
        """
        for place in self._open.values():
            place.recover_mount()

    def close(self) -> None:
        """Removes all placements and the plain folder. The server must have ended.

        Raises:
            LoadstoneError: If something could not be removed; it stays in the journal.
        """
        failures: list[LoadstoneError] = []
        for role in reversed(list(self._open)):
            try:
                self._close(role)
            except LoadstoneError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def own_file_system(self) -> Path:
        """The root of the file system that only the data lie on.

        Raises:
            TargetError: If they lie in a plain folder, or in one that a placement names.
        """
        data = self._open.get("data")
        if data is None or data.place.kind not in FILLABLE:
            raise TargetError(
                "the disk of the data cannot be filled: others use it too",
                advice=f"put the data on a placement of its own: storage.data: {FILLABLE[0]}",
            )
        return data.folder

    def disk_full(self) -> str | None:
        """Which placement's image lies on a disk that is full, or None.

        The file system on the image then reports errors of reading and writing, not a lack of
        space: this is what to tell the user when the server has failed.
        """
        if not any(place.has_image for place in self._open.values()):
            return None
        if disk_usage(self._root).free > _FULL_BYTES:
            return None
        texts = ", ".join(place.place.text for place in self._open.values() if place.has_image)
        return f"the disk below the image of {texts} is full: {self._root}"

    def flushes_counted(self) -> ServerFlushes | None:
        """What the server of the data's placement does with flushes; None without one."""
        data = self._open.get("data")
        return data.flushes_counted if data is not None else None

    def readings(self) -> list[FactorReading]:
        """One for each placement in use, as the kernel shows it."""
        return [place.reading(f"storage.{role}") for role, place in self._open.items()]

    def inventory(self) -> dict[str, Any]:
        """Device, mount, image and server of each placement in use."""
        return {role: place.inventory() for role, place in self._open.items()}

    def _make(self, role: str, asked: Place, data_bytes: int) -> None:
        journal = self._log_is_journal and role == "log"
        kind = JournalPlace if journal else MountedPlace
        place = kind(self._journal, asked, self._account)
        log = self._open.get("log")
        if isinstance(log, JournalPlace):
            place.journal = log.device
        work = self._root / "places" / f"{role}-{secrets.token_hex(3)}"
        work.mkdir(parents=True)
        for folder in (work.parent, work):
            folder.chmod(0o711)  # the server's account must pass, and see nothing
        try:
            folder = place.open(work, self._owner, self._size(asked, data_bytes))
            if not journal:
                files = _files(folder)
                files.mkdir(mode=0o700)
                self._account.own(files)
            place.make_durable()
        except BaseException:
            place.close()
            raise
        self._open[role] = place

    def _size(self, place: Place, data_bytes: int) -> int:
        in_memory = place.kind in IN_MEMORY
        free = psutil.virtual_memory().available if in_memory else disk_usage(self._root).free
        return default_size(free, data_bytes)

    def _close(self, role: str) -> None:
        self._open[role].close()
        del self._open[role]

    def _remove_archive(self) -> None:
        mounted = [each for each in self._open.values() if not isinstance(each, JournalPlace)]
        for folder in (self._root, *(place.folder for place in mounted)):
            if _archive(folder).exists():
                shutil.rmtree(_archive(folder))

    def _make_plain(self, *, needed: bool) -> None:
        """The plain data folder is there exactly when it is used, so that none is used unseen."""
        if not needed:
            if self._plain.exists():
                shutil.rmtree(self._plain)
        elif not self._plain.exists():
            self._plain.mkdir(mode=0o700)
            self._account.own(self._plain)


def _files(folder: Path) -> Path:
    """Within the root of a file system, which may hold a lost+found."""
    return folder / "files"


def _archive(folder: Path) -> Path:
    """What moves away from the data, in the same folder as they or in one apart."""
    return folder / "archive"
