"""A database on a server that Loadstone makes, starts, stops and removes."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from loadstone.errors import TargetError
from loadstone.placements import tree
from loadstone.placements.account import server_account
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.design import Failure
from loadstone.spec.model import OutageKind
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.blame import AskedSettings
from loadstone.targets.local import copies, full_disk, snapshots
from loadstone.targets.local.copies import RestoreWork
from loadstone.targets.local.engine_folders import EngineFolders, Stopwatch
from loadstone.targets.local.places import Layout
from loadstone.targets.owned_server import OwnedServer
from loadstone.targets.served import ServedDatabase
from loadstone.targets.server_outage import server_outage

ServerT = TypeVar("ServerT", bound=OwnedServer)


class OwnedDatabase(ServedDatabase, Generic[ServerT]):
    """A server in a folder of its own, with its snapshots beside it.

    An engine makes its server in `open`, and says how it is placed, configured and copied.
    """

    accounts: ClassVar[tuple[str, ...]] = ()
    """That the server runs as the first of, where Loadstone is root; default: `postgres`."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._account = server_account(*self.accounts)
        self._engine_folders = EngineFolders(spec, context, self._account)
        self._server: ServerT | None = None
        self._settings: dict[str, Level] = {}
        self._asked = AskedSettings()

    # -- what an engine says -------------------------------------------------------------------
    @abstractmethod
    def _place(self, layout: Layout) -> None:
        """Has the stopped server keep its data there from now on; they are put back next."""

    @abstractmethod
    def _in_force(self, wanted: Mapping[str, Level]) -> dict[str, Level]:
        """All settings of the next start."""

    @abstractmethod
    def _configure(self) -> None:
        """Writes the settings in force for the next start."""

    @abstractmethod
    def _read_back(self, spec: TargetSpec) -> list[FactorReading]:
        """Reads the settings that `spec` names from the running server."""

    @abstractmethod
    def _stop_to_copy(self) -> None:
        """Stops the server with everything in its files, and little beside the data.

        Raises:
            TargetError: If it did not shut down cleanly.
        """

    @abstractmethod
    def _copy(self, to: Path) -> None:
        """Copies the data of the stopped server into a folder that is not there yet."""

    @abstractmethod
    def _put_back(self, copy: Path) -> RestoreWork:
        """Makes the data of the stopped server equal to the copy."""

    def _folders(self) -> tuple[Path, ...]:
        """Where its files are that can be in the page cache."""
        return (self.server.folder,)

    # -- life ----------------------------------------------------------------------------------
    @property
    def server(self) -> ServerT:
        """Its processes.

        Raises:
            TargetError: If the target is not open.
        """
        if self._server is None:
            raise TargetError(f"the {self.engine} target is not open")
        return self._server

    def close(self) -> None:
        """Ends the server whatever state it is in, and removes its folders."""
        self._disconnect()
        if self._server is not None:
            self._server.end()
            self._server = None
        self._engine_folders.close()

    def start(self) -> None:
        """Starts the server with the settings in force; does nothing if it runs.

        After a power loss its file systems are mounted again first.
        """
        self._engine_folders.places.recover()
        if not self.server.runs:
            self._configure()
            self.server.start(self._asked.changed())
            self._asked.worked()

    def stop(self) -> None:
        """Stops it with a last checkpoint."""
        self._disconnect()
        self.server.stop()

    def crash(self, failure: Failure) -> None:
        """Kills all its processes, after what its disks had not flushed was thrown away."""
        if failure == "power-loss":
            self._engine_folders.places.power_loss()
        self.server.crash(failure)
        self._disconnect()

    def outage(self, kind: OutageKind) -> AbstractContextManager[None]:
        """Pauses, stops or kills it, or fills its disk, for as long as the block lasts."""
        if kind == "full-disk":
            return self._full_disk()
        return server_outage(self, self.server, kind)

    def check_alive(self) -> None:
        """Looks at the process."""
        with self._engine_folders.blaming_full_disk():
            self.server.check_alive()

    # -- state ---------------------------------------------------------------------------------
    def snapshot(self, key: str) -> None:
        """Copies the data while the server is down for a moment."""
        self.analyse()
        self._stop_to_copy()
        self._copy(snapshots.folder_of(self._engine_folders.snapshots, key))
        self.start()

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Replaces the data by the copy and starts the server with these settings."""
        server, copy = self.server, snapshots.existing(self._engine_folders.snapshots, key)
        stopwatch = Stopwatch()
        self._disconnect()
        server.end()
        self._place(self._engine_folders.places.use(spec.storage, tree.size_bytes(copy)))
        stopwatch.lap("place_s")
        with snapshots.copying(server.folder):
            restored = self._put_back(copy)
        stopwatch.lap("copy_s")
        self._settings = self._wanted(spec.settings)
        server.options = spec.process
        server.log.unlink(missing_ok=True)
        self.start()
        settings = self._read_back(spec)
        stopwatch.lap("start_s")
        self._engine_folders.last_reset = {**asdict(restored), **stopwatch.seconds}
        return [*settings, *self._engine_folders.places.readings(), *server.readings()]

    def copy_snapshot(self, key: str, to: Path) -> None:
        """Copies a snapshot to a folder that is not there yet, for later runs.

        Raises:
            TargetError: If it does not fit there.
        """
        snapshot = snapshots.existing(self._engine_folders.snapshots, key)
        tree.check_space(to.parent, tree.size_bytes(snapshot), "a state that is kept")
        with snapshots.copying(to):
            copies.take(snapshot, to)

    def adopt_snapshot(self, key: str, folder: Path) -> None:
        """Has a copy that `copy_snapshot` made be the snapshot of that key; it is only read.

        Args:
            key: Of which there is no snapshot yet.
            folder: Of the copy, of a server of the same version.
        """
        snapshots.folder_of(self._engine_folders.snapshots, key).symlink_to(folder)

    def settle(self, cache: str) -> None:
        """Reads everything, or restarts the server with nothing of it in the page cache."""
        stopwatch = Stopwatch()
        done = self._warm() if cache == "warm" else self._chill()
        self._calm()
        self._engine_folders.places.make_durable()
        stopwatch.lap("settle_s")
        self._engine_folders.last_reset |= {"cache": done, **stopwatch.seconds}

    # -- observation ---------------------------------------------------------------------------
    def inventory(self) -> dict[str, Any]:
        """That of its engine, account, data folder and its file system."""
        return {**super().inventory(), **self._engine_folders.inventory(self.server.folder)}

    def log_path(self) -> Path | None:
        """The log since the last restore."""
        return self._server.log if self._server else None

    def data_folder(self) -> Path:
        """The tables; the log of changes may lie elsewhere."""
        return self.server.folder

    def server_pid(self) -> int | None:
        """The first process."""
        return self.server.pid

    def server_cpu_s(self) -> float | None:
        """CPU of all its processes."""
        return self.server.cpu_s()

    # -- inside --------------------------------------------------------------------------------
    def _wanted(self, settings: Mapping[str, Level]) -> dict[str, Level]:
        """All settings of the next start, which is asked for these."""
        self._asked.ask(settings)
        return self._in_force(settings)

    def _disconnect(self) -> None:
        if hasattr(self, "client"):
            self.client.close()

    def _chill(self) -> str:
        self.stop()
        count = sum(map(copies.drop_from_page_cache, self._folders()))
        self.start()
        return f"server restarted, {count} files dropped from the page cache"

    @contextlib.contextmanager
    def _full_disk(self) -> Iterator[None]:
        root = self._engine_folders.places.own_file_system()
        try:
            with full_disk.filled(root):
                yield
        finally:
            self.start()
