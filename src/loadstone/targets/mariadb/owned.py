"""A MariaDB that Loadstone makes, starts, stops and removes."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.placements import tree
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.target import StorageSpec, TargetSpec
from loadstone.targets.base import SettingInfo, TargetContext
from loadstone.targets.connection import ServerConnection
from loadstone.targets.local import copies, snapshots
from loadstone.targets.local.copies import RestoreWork
from loadstone.targets.local.places import Layout
from loadstone.targets.local.sessions import room_for
from loadstone.targets.local.unfit import refuse_unfit_folders
from loadstone.targets.mariadb import binaries, catalog, settings, state, values
from loadstone.targets.mariadb.client import Client
from loadstone.targets.mariadb.instance import INSTALL_OPTIONS, USER, Folders, Instance
from loadstone.targets.mariadb.target import MariaDB
from loadstone.targets.owned_database import OwnedDatabase

DATABASE = "loadstone"
KEPT_REDO_BYTES = 96 * 1024**2
"""Redo log that a snapshot keeps: MariaDB's own default of `innodb_log_file_size`."""
BINLOG = "binlog"
"""Begin of the names of the binary log's files, which lie with the redo log."""
_SOCKET_NAME = "mariadb.sock"
_INSTALL = f"""
FLUSH PRIVILEGES;
CREATE USER {USER}@localhost;
GRANT ALL PRIVILEGES ON *.* TO {USER}@localhost WITH GRANT OPTION;
CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
"""


_UNFIT_SIGNS = ":;"
"""They part the folders of a list: of temporary files, and of redo logs."""


_STATEMENTS = "max_prepared_stmt_count"
_FEWEST_STATEMENTS = 16_382
"""Its default, of all sessions together."""
_MOST_STATEMENTS = 1_048_576
"""The most that every version takes."""
_STATEMENTS_OF_SESSION = 100
"""No session of a load prepares more: order entry has 33."""


class OwnedMariaDB(OwnedDatabase[Instance], MariaDB):
    """One server in a folder of its own, with its snapshots beside it."""

    accounts = ("mysql", "postgres")
    empty_bytes = 256 * 1024**2
    """New data files and redo log with their first snapshot take about 230 MB."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._binaries = binaries.find(spec.server)

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """Version and path of the server; nothing is started."""
        found = binaries.find(spec.server)
        refuse_unfit_folders(spec, "MariaDB", _UNFIT_SIGNS)
        return {"engine": cls.engine, "version": found.version, "binaries": str(found.server)}

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Asks the programs."""
        return settings.info(binaries.find(spec.server), spec, name, level)

    @classmethod
    def for_sessions(cls, spec: TargetSpec, sessions: int) -> dict[str, Level]:
        """`max_connections` and `max_prepared_stmt_count`, where they are not set."""
        said = {catalog.plain_name(name) for name in spec.settings}
        return room_for(sessions, said) | _room_for_statements(sessions, said)

    @classmethod
    def layout(cls, spec: TargetSpec) -> dict[str, Level]:
        """Page size, tablespaces and row format, where they are not the defaults."""
        return settings.layout(binaries.find(spec.server), spec.settings)

    # -- life ----------------------------------------------------------------------------------
    def open(self) -> None:
        """Makes a new server with an empty database, and starts it."""
        engine_folders = self._engine_folders
        engine_folders.open(self.empty_bytes)
        log = engine_folders.make_folder("log") / "mariadb.log"
        layout = engine_folders.places.use(StorageSpec())
        self._server = Instance(
            self._binaries,
            Folders.on(layout.data, layout.log),
            engine_folders.make_socket_folder(_SOCKET_NAME) / _SOCKET_NAME,
            log=log,
            account=self._account,
            journal=self.context.journal,
        )
        self.client = Client(self.connection())
        self.empty(self.spec)

    def stop(self) -> None:
        """Stops it with everything written to its data files.

        Raises:
            TargetError: If it says itself that it did not.
        """
        self._disconnect()
        if self.server.stop() not in (0, None):
            raise TargetError("MariaDB did not shut down cleanly", advice=f"see {self.server.log}")

    # -- state ---------------------------------------------------------------------------------
    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Restores the empty server of that layout, which is made when it is first asked for."""
        layout = settings.layout(self._binaries, spec.settings)
        key = f"empty {json.dumps(layout)}"
        copy = snapshots.folder_of(self._engine_folders.snapshots, key)
        if not copy.is_dir():
            self._disconnect()
            self.server.end()
            self._place(self._engine_folders.places.use(StorageSpec()))
            options = {name: str(level) for name, level in layout.items()}
            self.server.initialise(options, _INSTALL)
            self.server.end()
            self._copy(copy)
        return self.restore(key, spec)

    # -- use -----------------------------------------------------------------------------------
    def connection(self) -> ServerConnection:
        """By the Unix socket."""
        return self.server.connection(DATABASE)

    def inventory(self) -> dict[str, Any]:
        """Programs, too, and how the server was made."""
        return {
            **super().inventory(),
            "binaries": str(self._binaries.server),
            "install_options": list(INSTALL_OPTIONS),
            "base_settings": dict(settings.BASE),
            "redo_folder": str(self.server.folders.redo),
        }

    # -- inside --------------------------------------------------------------------------------
    def _place(self, layout: Layout) -> None:
        self.server.move(Folders.on(layout.data, layout.log))

    def _in_force(self, wanted: Mapping[str, Level]) -> dict[str, Level]:
        return {**settings.BASE, **wanted}

    def _configure(self) -> None:
        self.server.make_folders()
        self.server.configure(self._option_texts())

    def _read_back(self, spec: TargetSpec) -> list[FactorReading]:
        return settings.read_back(self.client, spec.settings, {}, "restart")

    def _stop_to_copy(self) -> None:
        self.client.query("SET GLOBAL innodb_fast_shutdown = 0")
        self.stop()
        if tree.size_bytes(self.server.folders.redo) > KEPT_REDO_BYTES:
            self._shrink_redo()

    def _shrink_redo(self) -> None:
        """Has the stopped server make its redo log small, whatever size the load had."""
        held = self._settings
        self._settings = {**held, "innodb_log_file_size": KEPT_REDO_BYTES}
        self.start()
        self.stop()
        self._settings = held

    def _copy(self, to: Path) -> None:
        folders = self.server.folders
        needed = tree.size_bytes(folders.data) + tree.size_bytes(folders.redo)
        tree.check_space(to.parent, needed, "a snapshot")
        with snapshots.copying(to):
            copies.take(folders.data, to / "data")
            # Its index names files by their full paths, which a restore may change.
            binlog = {each.relative_to(folders.redo) for each in folders.redo.glob(f"{BINLOG}*")}
            copies.take(folders.redo, to / "redo", binlog)

    def _put_back(self, copy: Path) -> RestoreWork:
        self.server.make_folders()
        folders = self.server.folders
        data = copies.restore(copy / "data", folders.data, self._account)
        redo = copies.restore(copy / "redo", folders.redo, self._account)
        return RestoreWork(data.files + redo.files, data.written_bytes + redo.written_bytes)

    def _folders(self) -> tuple[Path, ...]:
        return (self.server.folders.data, self.server.folders.redo)

    def _calm(self) -> None:
        state.purge(self.client)
        state.flush(self.client)
        state.reset_statistics(self.client)

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
            name = str(self.server.folders.redo / BINLOG)
            found |= {"log_bin": name} if on else {"skip_log_bin": "ON"}
        return found


def _room_for_statements(sessions: int, said: Collection[str]) -> dict[str, Level]:
    """The setting that lets so many sessions prepare what they need: nothing is reserved by it."""
    wanted = min(_MOST_STATEMENTS, sessions * _STATEMENTS_OF_SESSION)
    return {} if wanted <= _FEWEST_STATEMENTS or _STATEMENTS in said else {_STATEMENTS: wanted}
