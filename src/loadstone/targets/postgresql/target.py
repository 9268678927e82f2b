"""The target `postgresql`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.errors import TargetError
from loadstone.probes.base import Probe
from loadstone.results.limits import SESSIONS
from loadstone.results.record import FactorReading, Fingerprint
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target
from loadstone.targets.capabilities import SECOND_PLACE, STATEMENTS
from loadstone.targets.dialect import Dialect
from loadstone.targets.postgresql import (
    address,
    bulk,
    ddl,
    fingerprint,
    settings,
    state,
    tablespace,
)
from loadstone.targets.postgresql.client import Client
from loadstone.targets.postgresql.first import FIRST_FILE
from loadstone.targets.postgresql.session import READING_ALL, SETTINGS
from loadstone.targets.postgresql.statistics import StatisticsProbe
from loadstone.targets.postgresql.waits import WaitsProbe
from loadstone.targets.schema import Table
from loadstone.targets.served import ServedDatabase

if TYPE_CHECKING:
    from pathlib import Path

    from loadstone.probes.marks import Mark, SampleTable
    from loadstone.targets.happenings import ServerLog

EMPTY = "empty"
"""Snapshot of the work database before any data was loaded."""


class PostgreSQL(ServedDatabase):
    """PostgreSQL 13 or newer: `embedded`, `local`, `local:MAJOR`, or an address."""

    engine = "postgresql"
    first_file = FIRST_FILE
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
            STATEMENTS,
        }
    )
    dialect = Dialect("postgresql")
    storage_roles = ("data", "log", "archive")
    risks = settings.RISKS
    client: Client
    major: int
    """Major version, known after `open`."""

    @classmethod
    def for_spec(cls, spec: TargetSpec) -> type[Target]:
        """By whether it names an address."""
        from loadstone.targets.postgresql.owned import OwnedPostgreSQL
        from loadstone.targets.postgresql.remote import RemotePostgreSQL

        return RemotePostgreSQL if address.is_address(spec.server) else OwnedPostgreSQL

    @classmethod
    def plain_name(cls, name: str) -> str:
        """Case does not matter."""
        return name.lower()

    @classmethod
    def exhaustions(cls, spec: TargetSpec) -> Mapping[str, str]:
        """`too_many_connections`."""
        return {"53300": SESSIONS}

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Puts the state back that `open` left."""
        return self.restore(EMPTY, spec)

    @contextmanager
    def reading_all(self) -> Iterator[None]:
        """With parallel workers and memory for them."""
        for name, level in READING_ALL.items():
            self.query(f"SET {name} = '{level}'")
        try:
            yield
        finally:
            with suppress(TargetError):  # a session that is gone has no settings
                for name in READING_ALL:
                    self.query(f"RESET {name}")

    def analyse(self) -> None:
        """Makes the planner's statistics of all tables."""
        state.analyse(self.client)

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
        return fingerprint.take(self.client, tables)

    def size_bytes(self) -> int:
        """Size of the work database."""
        return fingerprint.size_bytes(self.client)

    def index_names(self, table: str) -> set[str]:
        """The valid ones, as the catalogue has them."""
        rows = self.query(
            "SELECT indexrelid::regclass::text FROM pg_index "
            "WHERE indrelid = to_regclass(%s) AND indisvalid",
            (table,),
        )
        return {name for (name,) in rows}

    def moved(self, table: str) -> set[str]:
        """Those in the tablespace."""
        return tablespace.held(self.client, table)

    def log_bytes(self) -> int:
        """Where the next record of the WAL comes."""
        position = "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"
        return int(self.client.value(f"SELECT {position}"))

    def probes(self) -> list[Probe]:
        """Counters once a second, waits ten times a second."""
        connection = self.connection()
        return [StatisticsProbe(connection), WaitsProbe(connection)]

    @classmethod
    def happenings(cls, samples: SampleTable, log: ServerLog) -> list[Mark]:
        """What its probes and its log tell."""
        from loadstone.targets.postgresql.happenings import happenings

        return happenings(samples, log)

    def inventory(self) -> dict[str, Any]:
        """Version, settings that are not the default, extensions, size."""
        client = self.client
        return {
            "engine": self.engine,
            "version": client.value("SHOW server_version"),
            "version_text": client.value("SELECT version()"),
            "settings": {
                name: {"value": value, "unit": unit, "source": source}
                for name, value, unit, source in client.query(
                    f"SELECT name, setting, unit, source FROM {SETTINGS} "
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
        }

    def _warm(self) -> str:
        state.warm(self.connection())
        return "every table and index read into shared buffers"

    def _calm(self) -> None:
        state.reset_statistics(self.client, self.major)
        self.client.query("CHECKPOINT")
