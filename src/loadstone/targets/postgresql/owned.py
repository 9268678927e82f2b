"""A server that Loadstone makes, starts, stops and removes."""

from __future__ import annotations

from collections.abc import Mapping
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
from loadstone.targets.local.outages import Service
from loadstone.targets.local.premises import Laps, Premises
from loadstone.targets.postgresql import (
    binaries,
    processes,
    safety,
    settings,
    snapshot,
    state,
    tablespace,
)
from loadstone.targets.postgresql.client import Client
from loadstone.targets.postgresql.cluster import INITDB_OPTIONS, Cluster
from loadstone.targets.postgresql.server import Server

DATABASE = "loadstone"
_SOCKET_NAME = ".s.PGSQL.5432"


class OwnedServer(Server):
    """One cluster in a folder of its own, with its snapshots beside it."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        self._spec = spec
        self._context = context
        self._account = server_account()
        self._binaries = binaries.find(spec.server)
        self.major = self._binaries.major
        self._premises = Premises(spec, context, self._account)
        self._cluster: Cluster | None = None
        self._settings: dict[str, Level] = {}

    # -- life ----------------------------------------------------------------------------------
    def open(self) -> None:
        """Makes a new cluster with an empty, marked database, and starts it."""
        premises = self._premises
        premises.open()
        if not binaries.reachable(self._binaries, self._account):
            self._binaries = self._copy_binaries(premises.root)
        log, socket = premises.make_folder("log"), premises.make_socket_folder(_SOCKET_NAME)
        data = premises.places.use(StorageSpec()).data
        self._cluster = Cluster(self._binaries, self._account, data, socket, log / "postgresql.log")
        self._cluster.initialise(self._context.journal)
        self._settings = self._merged(self._spec.settings)
        self.start()
        first = Client(self._cluster.connection("postgres"))
        try:
            first.query(f"CREATE DATABASE {DATABASE}")
        finally:
            first.close()
        self.client = Client(self.connection())
        safety.mark(self.client, self._context.owner)
        if self.client.query("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_prewarm'"):
            self.client.query(f"CREATE EXTENSION pg_prewarm SCHEMA {safety.SCHEMA}")

    def close(self) -> None:
        """Ends the server whatever state it is in, and removes its folders."""
        self._disconnect()
        if self._cluster is not None:
            self._cluster.end(self._context.journal)
            self._cluster = None
        self._premises.close()

    def start(self) -> None:
        """Starts the server with the settings in force; does nothing if it runs.

        After a power loss its file systems are mounted again first.
        """
        cluster = self._opened()
        self._premises.places.recover()
        if processes.postmaster_of(cluster.data) is not None:
            return
        cluster.configure(self._settings)
        cluster.start(self._context.journal, self._settings)

    def stop(self) -> None:
        """Stops it with a last checkpoint."""
        self._disconnect()
        self._opened().stop(self._context.journal)

    def crash(self, failure: Failure) -> None:
        """Kills all its processes, after what its disks had not flushed was thrown away."""
        if failure == "power-loss":
            self._premises.places.power_loss()
        self._opened().crash(failure)
        self._disconnect()

    def outage(self, kind: OutageKind) -> AbstractContextManager[None]:
        """Pauses it, kills it, or fills its disk, for as long as the block lasts."""
        cluster = self._opened()
        return Service(
            name=f"PostgreSQL in {cluster.data}",
            journal=self._context.journal,
            places=self._premises.places,
            processes=lambda: processes.all_of(cluster.data),
            kill=lambda: self.crash("kill"),
            start=self.start,
        ).outage(kind)

    # -- state ---------------------------------------------------------------------------------
    def analyse(self) -> None:
        """Makes the planner's statistics of all tables."""
        state.analyse(self.client)

    def snapshot(self, key: str) -> None:
        """Copies the data folder while the server is down for a moment."""
        cluster = self._opened()
        state.analyse(self.client)
        self.stop()
        if not cluster.was_shut_down():
            raise TargetError("PostgreSQL did not shut down cleanly", advice=f"see {cluster.log}")
        copy = kept.folder_of(self._premises.snapshots, key)
        wal = tree.size_bytes(cluster.data / "pg_wal")
        needed = tree.size_bytes(cluster.data) - wal + min(wal, 2 * snapshot.KEPT_WAL_BYTES)
        tree.check_space(copy.parent, needed, "a snapshot")
        with kept.copying(copy):
            snapshot.take(cluster.data, copy, cluster.wal_in_use())
        self.start()

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Replaces the data folder by the copy and starts the server with these settings."""
        cluster, copy = self._opened(), kept.existing(self._premises.snapshots, key)
        laps = Laps()
        self._disconnect()
        cluster.end(self._context.journal)
        self._place(spec.storage, tree.size_bytes(copy))
        laps.end("place_s")
        with kept.copying(cluster.data):
            restored = snapshot.restore(copy, cluster.data, self._account)
        laps.end("copy_s")
        self._settings = self._merged(spec.settings)
        cluster.server.options = spec.process
        cluster.log.unlink(missing_ok=True)
        self.start()
        readings = settings.read_back(self.client, self._settings, {}, "restart")
        laps.end("start_s")
        self._premises.last_reset = {**asdict(restored), **laps.seconds}
        asked = {f"target.{name}" for name in spec.settings}
        own = [reading for reading in readings if reading.factor in asked]
        return [*own, *self._premises.places.readings(), *cluster.server.readings()]

    def settle(self, cache: str) -> None:
        """Reads everything, or restarts the server with nothing of it in the page cache."""
        laps = Laps()
        if cache == "warm":
            state.warm(self.connection())
            done = "every table and index read into shared buffers"
        else:
            self.stop()
            count = copies.drop_from_page_cache(self._opened().data)
            self.start()
            done = f"server restarted, {count} files dropped from the page cache"
        state.reset_statistics(self.client, self.major)
        self.client.query("CHECKPOINT")
        self._premises.places.make_durable()
        laps.end("settle_s")
        self._premises.last_reset |= {"cache": done, **laps.seconds}

    def make_tablespace(self) -> None:
        """In a folder on its placement, or beside the data."""
        tablespace.make(self.client, self._premises.places.make_archive())

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
        return self._cluster.log if self._cluster else None

    def cpu_s(self) -> float | None:
        """CPU of postmaster and all its children."""
        return processes.cpu_s(self._opened().data)

    def pid(self) -> int | None:
        """The postmaster."""
        postmaster = processes.postmaster_of(self._opened().data)
        return None if postmaster is None else postmaster.pid

    def data_folder(self) -> Path:
        """The cluster."""
        return self._opened().data

    def inventory(self) -> dict[str, Any]:
        """Programs, account, data folder and its file system."""
        cluster = self._opened()
        return {
            "binaries": str(self._binaries.folder),
            "initdb_options": list(INITDB_OPTIONS),
            "base_settings": dict(settings.BASE),
            **self._premises.inventory(cluster.data),
        }

    # -- inside --------------------------------------------------------------------------------
    def _opened(self) -> Cluster:
        if self._cluster is None:
            raise TargetError("the PostgreSQL target is not open")
        return self._cluster

    def _place(self, storage: StorageSpec, data_bytes: int) -> None:
        """Makes the placements of a trial, for a stopped server whose data are put back next."""
        cluster = self._opened()
        layout = self._premises.places.use(storage, data_bytes)
        cluster.data = layout.data
        snapshot.put_log(layout.data, layout.log, self._account)

    def _disconnect(self) -> None:
        if hasattr(self, "client"):
            self.client.close()

    def _merged(self, wanted: Mapping[str, Level]) -> dict[str, Level]:
        own: dict[str, Level] = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._opened().socket),
        }
        return {**settings.BASE, **wanted, **own}

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
