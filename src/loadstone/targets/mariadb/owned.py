"""A MariaDB server that Loadstone makes, starts, stops and removes."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.placements import tree
from loadstone.placements.account import server_account
from loadstone.results.record import FactorReading
from loadstone.spec.model import Failure, Level, OutageKind, StorageSpec, TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.connection import ServerConnection
from loadstone.targets.local import copies, kept
from loadstone.targets.local.copies import Restored
from loadstone.targets.local.outages import Service
from loadstone.targets.local.premises import Laps, Premises
from loadstone.targets.mariadb import binaries, catalog, processes, settings, state, values
from loadstone.targets.mariadb.client import Client
from loadstone.targets.mariadb.instance import INSTALL_OPTIONS, USER, Folders, Instance
from loadstone.targets.mariadb.server import Server

DATABASE = "loadstone"
KEPT_REDO_BYTES = 96 * 1024**2
"""Redo log that a snapshot keeps: MariaDB's own default of `innodb_log_file_size`."""
LEAST_FREE_BYTES = 256 * 1024**2
"""New data files and redo log with their first snapshot take about 230 MB."""
BINLOG = "binlog"
"""Begin of the names of the binary log's files, which lie with the redo log."""
_SOCKET_NAME = "mariadb.sock"
_INSTALL = f"""
FLUSH PRIVILEGES;
CREATE USER {USER}@localhost;
GRANT ALL PRIVILEGES ON *.* TO {USER}@localhost WITH GRANT OPTION;
CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
"""


class OwnedServer(Server):
    """One server in a folder of its own, with its snapshots beside it."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        self._spec = spec
        self._context = context
        self._account = server_account("mysql", "postgres")
        self._binaries = binaries.find(spec.server)
        self._premises = Premises(spec, context, self._account)
        self._instance: Instance | None = None
        self._settings: dict[str, Level] = {}

    # -- life ----------------------------------------------------------------------------------
    def open(self) -> None:
        """Makes a new server with an empty database, and starts it."""
        self._premises.open()
        root = self._premises.root
        tree.check_space(root, LEAST_FREE_BYTES, "a new server")
        self._premises.make_folder("log")
        folders = self._place(StorageSpec(), 0)
        self._instance = Instance(self._binaries, self._account, folders, root)
        self._instance.socket = self._premises.make_socket_folder(_SOCKET_NAME) / _SOCKET_NAME
        self.client = Client(self.connection())
        self.empty(self._spec)

    def close(self) -> None:
        """Ends the server whatever state it is in, and removes its folders."""
        self._disconnect()
        if self._instance is not None:
            self._instance.end(self._context.journal)
            self._instance = None
        self._premises.close()

    def start(self) -> None:
        """Starts the server with the settings in force; does nothing if it runs.

        After a power loss its file systems are mounted again first.
        """
        instance = self._opened()
        self._premises.places.recover()
        if processes.server_of(instance.folders.data) is not None:
            return
        instance.make_folders()
        instance.configure(self._option_texts())
        instance.start(self._context.journal, self._settings)

    def stop(self) -> None:
        """Stops it with everything written to its data files."""
        self._stop_cleanly()

    def crash(self, failure: Failure) -> None:
        """Kills it, after what its disks had not flushed was thrown away."""
        if failure == "power-loss":
            self._premises.places.power_loss()
        self._opened().crash()
        self._disconnect()

    def outage(self, kind: OutageKind) -> AbstractContextManager[None]:
        """Pauses it, kills it, or fills its disk, for as long as the block lasts."""
        data = self._opened().folders.data
        return Service(
            name=f"MariaDB in {data}",
            journal=self._context.journal,
            places=self._premises.places,
            processes=lambda: processes.all_of(data),
            kill=lambda: self.crash("kill"),
            start=self.start,
        ).outage(kind)

    # -- state ---------------------------------------------------------------------------------
    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Restores the empty server of that layout, which is made when it is first asked for."""
        instance, layout = self._opened(), settings.layout(self._binaries, spec.settings)
        key = f"empty {json.dumps(layout)}"
        if not kept.folder_of(self._premises.snapshots, key).is_dir():
            self._disconnect()
            instance.stop(self._context.journal, immediate=True)
            instance.folders = self._place(StorageSpec(), 0)
            options = {name: str(level) for name, level in layout.items()}
            instance.initialise(self._context.journal, options, _INSTALL)
            instance.stop(self._context.journal)
            self._copy(key)
        return self.restore(key, spec)

    def analyse(self) -> None:
        """Makes the planner's statistics of all tables."""
        state.analyse(self.client)

    def snapshot(self, key: str) -> None:
        """Copies the folders while the server is down for a moment."""
        instance = self._opened()
        state.analyse(self.client)
        self.client.query("SET GLOBAL innodb_fast_shutdown = 0")
        self._stop_cleanly()
        if tree.size_bytes(instance.folders.redo) > KEPT_REDO_BYTES:
            self._shrink_redo()
        self._copy(key)
        self.start()

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Replaces the folders by the copy and starts the server with these settings."""
        instance, copy = self._opened(), kept.existing(self._premises.snapshots, key)
        laps = Laps()
        self._disconnect()
        instance.stop(self._context.journal, immediate=True)
        instance.folders = self._place(spec.storage, tree.size_bytes(copy))
        laps.end("place_s")
        restored = self._put_back(copy)
        laps.end("copy_s")
        self._settings = {**settings.BASE, **spec.settings}
        instance.server.options = spec.process
        instance.log.unlink(missing_ok=True)
        self.start()
        readings = settings.read_back(self.client, spec.settings, {}, "restart")
        laps.end("start_s")
        self._premises.last_reset = {**asdict(restored), **laps.seconds}
        return [*readings, *self._premises.places.readings(), *instance.server.readings()]

    def settle(self, cache: str) -> None:
        """Reads everything, or restarts the server with nothing of it in the page cache."""
        laps = Laps()
        folders = self._opened().folders
        if cache == "warm":
            count = state.warm(self.connection())
            done = f"{count} indexes and tables read into the buffer pool"
        else:
            self._stop_cleanly()
            count = sum(map(copies.drop_from_page_cache, (folders.data, folders.redo)))
            self.start()
            done = f"server restarted, {count} files dropped from the page cache"
        state.purge(self.client)
        state.flush(self.client)
        state.reset_statistics(self.client)
        self._premises.places.make_durable()
        laps.end("settle_s")
        self._premises.last_reset |= {"cache": done, **laps.seconds}

    def check_alive(self) -> None:
        """Looks at the process."""
        with self._premises.blaming_full_disk():
            self._opened().check_alive()

    # -- use -----------------------------------------------------------------------------------
    def connection(self) -> ServerConnection:
        """By the Unix socket."""
        return self._opened().connection(DATABASE)

    def log_path(self) -> Path | None:
        """The log since the last restore."""
        return self._instance.log if self._instance else None

    def cpu_s(self) -> float | None:
        """CPU of the server's process."""
        return processes.cpu_s(self._opened().folders.data)

    def pid(self) -> int | None:
        """Its only process."""
        server = processes.server_of(self._opened().folders.data)
        return None if server is None else server.pid

    def data_folder(self) -> Path:
        """The tables; the redo log may lie elsewhere."""
        return self._opened().folders.data

    def inventory(self) -> dict[str, Any]:
        """Programs, account, folders and their file systems."""
        folders = self._opened().folders
        return {
            "binaries": str(self._binaries.server),
            "install_options": list(INSTALL_OPTIONS),
            "base_settings": dict(settings.BASE),
            "redo_folder": str(folders.redo),
            **self._premises.inventory(folders.data),
        }

    # -- inside --------------------------------------------------------------------------------
    def _opened(self) -> Instance:
        if self._instance is None:
            raise TargetError("the MariaDB target is not open")
        return self._instance

    def _place(self, storage: StorageSpec, data_bytes: int) -> Folders:
        """Makes the placements of a trial, for a stopped server whose data are put back next."""
        layout = self._premises.places.use(storage, data_bytes)
        return Folders.on(layout.data, layout.log)

    def _disconnect(self) -> None:
        if hasattr(self, "client"):
            self.client.close()

    def _stop_cleanly(self) -> None:
        self._disconnect()
        instance = self._opened()
        running = processes.server_of(instance.folders.data) is not None
        if not instance.stop(self._context.journal) and running:
            raise TargetError("MariaDB did not shut down cleanly", advice=f"see {instance.log}")

    def _shrink_redo(self) -> None:
        """Has the stopped server make its redo log small, whatever size the load had."""
        held = self._settings
        self._settings = {**held, "innodb_log_file_size": KEPT_REDO_BYTES}
        self.start()
        self._stop_cleanly()
        self._settings = held

    def _copy(self, key: str) -> None:
        folders, copy = self._opened().folders, kept.folder_of(self._premises.snapshots, key)
        needed = tree.size_bytes(folders.data) + tree.size_bytes(folders.redo)
        tree.check_space(self._premises.snapshots, needed, "a snapshot")
        with kept.copying(copy):
            copies.take(folders.data, copy / "data")
            # Its index names files by their full paths, which a restore may change.
            binlog = {each.relative_to(folders.redo) for each in folders.redo.glob(f"{BINLOG}*")}
            copies.take(folders.redo, copy / "redo", binlog)

    def _put_back(self, copy: Path) -> Restored:
        instance = self._opened()
        instance.make_folders()
        with kept.copying(instance.folders.data):
            data = copies.restore(copy / "data", instance.folders.data, self._account)
            redo = copies.restore(copy / "redo", instance.folders.redo, self._account)
        return Restored(data.files + redo.files, data.written_bytes + redo.written_bytes)

    def _option_texts(self) -> dict[str, str]:
        """The settings in force, as the option file of the next start has them."""
        known = catalog.variables(self._binaries)
        found: dict[str, str] = {}
        for name, level in self._settings.items():
            variable = known.get(catalog.plain_name(name))
            if variable is None:
                raise TargetError(f"MariaDB {self._binaries.short_version} has no setting {name!r}")
            found[variable.option] = variable.text(level)
        if "log_bin" in found:
            on = values.normalised(found.pop("log_bin"), "BOOLEAN") == "ON"
            name = str(self._opened().folders.redo / BINLOG)
            found |= {"log_bin": name} if on else {"skip_log_bin": "ON"}
        return found
