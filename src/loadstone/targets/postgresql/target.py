"""The target `postgresql`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.probes.base import Probe
from loadstone.results.record import FactorReading, Fingerprint, Notice
from loadstone.spec.model import Level, ProfileSpec, TargetSpec
from loadstone.targets.base import SettingInfo, TargetContext
from loadstone.targets.capabilities import SECOND_PLACE
from loadstone.targets.dialect import Dialect
from loadstone.targets.local.sessions import room_for
from loadstone.targets.postgresql import (
    address,
    binaries,
    bulk,
    catalog,
    ddl,
    fingerprint,
    remote,
    settings,
    tablespace,
)
from loadstone.targets.postgresql.owned import OwnedServer
from loadstone.targets.postgresql.remote import AddressServer
from loadstone.targets.postgresql.server import Server
from loadstone.targets.postgresql.statistics import StatisticsProbe
from loadstone.targets.postgresql.waits import WaitsProbe
from loadstone.targets.schema import Table
from loadstone.targets.served import ServedTarget

if TYPE_CHECKING:
    from pathlib import Path

    from loadstone.probes.marks import Mark, SampleTable
    from loadstone.targets.happenings import ServerLog

EMPTY = "empty"
"""Snapshot of the work database before any data was loaded."""


class PostgreSQL(ServedTarget):
    """PostgreSQL 13 or newer: `embedded`, `local`, `local:MAJOR`, or an address."""

    engine = "postgresql"
    capabilities: ClassVar[frozenset[str]] = frozenset(
        {
            "sql",
            "transactions",
            "procedures",
            "bulk",
            "files",
            "cells",
            "changes",
            SECOND_PLACE,
        }
    )
    dialect = Dialect("postgresql")
    storage_roles = ("data", "log", "archive")

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._server: Server = (
            AddressServer(spec, context)
            if address.is_address(spec.server)
            else OwnedServer(spec, context)
        )

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """Version and folder of the programs, or the address; nothing is started or reached."""
        if address.is_address(spec.server):
            return {"engine": cls.engine, "address": address.parse(spec).shown}
        found = binaries.find(spec.server)
        return {"engine": cls.engine, "version": found.version, "binaries": str(found.folder)}

    @classmethod
    def offers(cls, spec: TargetSpec) -> frozenset[str]:
        """No second place at an address: its folder would be made on the server's machine."""
        at_address = address.is_address(spec.server)
        return cls.capabilities - {SECOND_PLACE} if at_address else cls.capabilities

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Asks the programs, or the server at the address."""
        if address.is_address(spec.server):
            return remote.setting(spec, name, level)
        return catalog.info(binaries.find(spec.server), name, level)

    @classmethod
    def for_sessions(cls, spec: TargetSpec, sessions: int) -> dict[str, Level]:
        """`max_connections`, where it is not set."""
        if address.is_address(spec.server):
            return {}
        return room_for(sessions, (name.lower() for name in spec.settings))

    @classmethod
    def cautions(cls, spec: TargetSpec, profile: ProfileSpec) -> list[Notice]:
        """That a server of Loadstone's does not vacuum for as long as others would have to."""
        at_address = address.is_address(spec.server)
        return [] if at_address else settings.cautions(spec.settings, profile.measured_s)

    def open(self) -> None:
        """Makes a cluster, or connects; refuses a database that is not Loadstone's."""
        self._server.open()
        self._server.snapshot(EMPTY)

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Puts the state back that `open` left."""
        return self._server.restore(EMPTY, spec)

    def create_tables(self, tables: Sequence[Table]) -> None:
        """Makes them bare: COPY is fastest without keys and indexes."""
        self.execute(ddl.create(tables))

    def load_files(self, table: Table, files: Sequence[Path], *, sessions: int) -> None:
        """Copies the files, each in a session of its own."""
        bulk.load(self.connection(), table, files, sessions=sessions)

    def finish_tables(self, tables: Sequence[Table]) -> None:
        """Adds all keys and indexes."""
        self.execute(ddl.finish(tables))

    def fingerprint(self, tables: Mapping[str, str]) -> Fingerprint:
        """Rows and sums of the tables."""
        return fingerprint.take(self._server.client, tables)

    def size_bytes(self) -> int:
        """Size of the work database."""
        return fingerprint.size_bytes(self._server.client)

    def index_names(self, table: str) -> set[str]:
        """The valid ones, as the catalogue has them."""
        rows = self.query(
            "SELECT indexrelid::regclass::text FROM pg_index "
            "WHERE indrelid = to_regclass(%s) AND indisvalid",
            (table,),
        )
        return {name for (name,) in rows}

    def make_second_place(self) -> None:
        """Makes a tablespace."""
        self._server.make_tablespace()

    def moved(self, table: str) -> set[str]:
        """Those in the tablespace."""
        return tablespace.held(self._server.client, table)

    def log_bytes(self) -> int:
        """Where the next record of the WAL comes."""
        position = "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"
        return int(self._server.client.value(f"SELECT {position}"))

    def probes(self) -> list[Probe]:
        """Counters once a second, waits ten times a second."""
        connection = self._server.connection()
        return [StatisticsProbe(connection), WaitsProbe(connection)]

    @classmethod
    def happenings(cls, samples: SampleTable, log: ServerLog) -> list[Mark]:
        """What its probes and its log tell."""
        from loadstone.targets.postgresql.happenings import happenings

        return happenings(samples, log)

    def inventory(self) -> dict[str, Any]:
        """Version, settings that are not the default, extensions, size, and where the data lie."""
        client = self._server.client
        return {
            "engine": self.engine,
            "version": client.value("SHOW server_version"),
            "version_text": client.value("SELECT version()"),
            "settings": {
                name: {"value": value, "unit": unit, "source": source}
                for name, value, unit, source in client.query(
                    "SELECT name, setting, unit, source FROM pg_settings "
                    "WHERE source NOT IN ('default', 'override', 'client') ORDER BY name"
                )
            },
            "fixed": dict(
                client.query(
                    "SELECT name, setting FROM pg_settings WHERE name IN ('block_size', "
                    "'wal_block_size', 'wal_segment_size', 'data_checksums', 'server_encoding')"
                )
            ),
            "extensions": dict(client.query("SELECT extname, extversion FROM pg_extension")),
            "size_bytes": self.size_bytes(),
            **self._server.inventory(),
        }
