"""A PostgreSQL that Loadstone makes, starts, stops and removes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.placements import tree
from loadstone.results.record import FactorReading, Notice
from loadstone.spec.base import Level
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import StorageSpec, TargetSpec
from loadstone.targets.base import SettingInfo, TargetContext
from loadstone.targets.connection import ServerConnection
from loadstone.targets.local import snapshots
from loadstone.targets.local.copies import RestoreWork
from loadstone.targets.local.places import Layout
from loadstone.targets.local.sessions import room_for
from loadstone.targets.owned_database import OwnedDatabase
from loadstone.targets.postgresql import (
    binaries,
    catalog,
    safety,
    settings,
    snapshot,
    tablespace,
    values,
)
from loadstone.targets.postgresql.client import Client
from loadstone.targets.postgresql.cluster import INITDB_OPTIONS, Cluster
from loadstone.targets.postgresql.target import EMPTY, PostgreSQL

DATABASE = "loadstone"
_SOCKET_NAME = ".s.PGSQL.5432"


class OwnedPostgreSQL(OwnedDatabase[Cluster], PostgreSQL):
    """One cluster in a folder of its own, with its snapshots beside it."""

    empty_bytes = 128 * 1024**2
    """A new cluster and its first snapshot, each with a first segment of WAL, take about 80 MB."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._binaries = binaries.find(spec.server)
        self.major = self._binaries.major

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """Version and folder of the programs; nothing is started."""
        found = binaries.find(spec.server)
        return {"engine": cls.engine, "version": found.version, "binaries": str(found.folder)}

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Asks the programs."""
        return catalog.info(binaries.find(spec.server), name, level)

    @classmethod
    def for_sessions(cls, spec: TargetSpec, sessions: int) -> dict[str, Level]:
        """`max_connections`, where it is not set."""
        return room_for(sessions, (name.lower() for name in spec.settings))

    @classmethod
    def cautions(cls, spec: TargetSpec, profile: ProfileSpec) -> list[Notice]:
        """That it does not vacuum for as long as others would have to."""
        return settings.cautions(spec.settings, profile.measured_s)

    # -- life ----------------------------------------------------------------------------------
    def open(self) -> None:
        """Makes a new cluster with an empty, marked database, and starts it."""
        engine_folders = self._engine_folders
        engine_folders.open(self.empty_bytes)
        if not binaries.reachable(self._binaries, self._account):
            self._binaries = self._copy_binaries(engine_folders.root)
        log, socket = (
            engine_folders.make_folder("log"),
            engine_folders.make_socket_folder(_SOCKET_NAME),
        )
        self._server = Cluster(
            self._binaries,
            engine_folders.places.use(StorageSpec()).data,
            socket,
            log=log / "postgresql.log",
            account=self._account,
            journal=self.context.journal,
        )
        self._server.initialise()
        self._settings = self._wanted(self.spec.settings)
        self.start()
        first = Client(self._server.connection("postgres"))
        try:
            first.query(f"CREATE DATABASE {DATABASE}")
        finally:
            first.close()
        self.client = Client(self.connection())
        safety.mark(self.client, self.context.owner)
        if self.client.query("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_prewarm'"):
            self.client.query(f"CREATE EXTENSION pg_prewarm SCHEMA {safety.SCHEMA}")
        self.snapshot(EMPTY)

    def make_second_place(self) -> None:
        """Makes a tablespace in a folder on its placement, or beside the data."""
        tablespace.make(self.client, self._engine_folders.places.make_archive())

    # -- use -----------------------------------------------------------------------------------
    def connection(self) -> ServerConnection:
        """By the Unix socket."""
        return self.server.connection(DATABASE)

    def inventory(self) -> dict[str, Any]:
        """Programs, too, and how the cluster was made."""
        return {
            **super().inventory(),
            "binaries": str(self._binaries.folder),
            "initdb_options": list(INITDB_OPTIONS),
            "base_settings": dict(settings.BASE),
        }

    # -- inside --------------------------------------------------------------------------------
    def _place(self, layout: Layout) -> None:
        self.server.folder = layout.data
        snapshot.put_log(layout.data, layout.log, self._account)

    def _in_force(self, wanted: Mapping[str, Level]) -> dict[str, Level]:
        own: dict[str, Level] = {
            "listen_addresses": "",
            "unix_socket_directories": values.listed(self.server.socket),
        }
        return {**settings.BASE, **wanted, **own}

    def _configure(self) -> None:
        self.server.configure(self._settings)

    def _read_back(self, spec: TargetSpec) -> list[FactorReading]:
        readings = settings.read_back(self.client, self._settings, {}, "restart")
        asked = {f"target.{name}" for name in spec.settings}
        return [reading for reading in readings if reading.factor in asked]

    def _stop_to_copy(self) -> None:
        self.stop()
        if not self.server.was_shut_down():
            raise TargetError(
                "PostgreSQL did not shut down cleanly", advice=f"see {self.server.log}"
            )

    def _copy(self, to: Path) -> None:
        data = self.server.folder
        wal = tree.size_bytes(data / "pg_wal")
        needed = tree.size_bytes(data) - wal + min(wal, 2 * snapshot.KEPT_WAL_BYTES)
        tree.check_space(to.parent, needed, "a snapshot")
        with snapshots.copying(to):
            snapshot.take(data, to, self.server.wal_in_use())

    def _put_back(self, copy: Path) -> RestoreWork:
        return snapshot.restore(copy, self.server.folder, self._account)

    def _copy_binaries(self, root: Path) -> binaries.Binaries:
        folder = root / "programs"
        folder.mkdir(mode=0o755)
        copied = binaries.copy(self._binaries, folder)
        if not binaries.reachable(copied, self._account):
            raise TargetError(
                f"{self._account.name} may not run the programs in {self._binaries.folder}, "
                f"nor a copy of them in {folder}",
                advice="name a data folder on a file system that is not mounted noexec",
            )
        return copied
