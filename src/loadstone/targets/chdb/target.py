"""The target `chdb`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from loadstone.errors import TargetError
from loadstone.probes.base import Probe
from loadstone.protocol.programs import RUNNER, Program
from loadstone.results.record import FactorReading, Fingerprint
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import SettingInfo, TargetContext
from loadstone.targets.chdb import ddl, settings
from loadstone.targets.chdb.database import STANDARD, Database
from loadstone.targets.chdb.first import FIRST_FILE
from loadstone.targets.connection import InProcessConnection
from loadstone.targets.database import fingerprint_of
from loadstone.targets.dialect import Dialect
from loadstone.targets.in_process import InProcessTarget
from loadstone.targets.own_connection import OwnConnection
from loadstone.targets.quoting import escaped
from loadstone.targets.risks import is_unsafe
from loadstone.targets.schema import Table


class ChDB(InProcessTarget):
    """ClickHouse in the process of Loadstone's runner: one folder, no server."""

    engine = "chdb"
    first_file = FIRST_FILE
    title = "chDB"
    runs_in = "the runner"
    file_name = ""
    unfit_signs = "*?{}"
    generator: ClassVar[Program] = RUNNER
    capabilities: ClassVar[frozenset[str]] = frozenset({"sql", "files", "cells", "changes"})
    usual_keys = "keys"
    files_form = "parquet"
    dialect = Dialect("clickhouse", literals_are_doubles=True)
    risks = settings.RISKS

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._read: dict[str, str] = {}

    @classmethod
    def check_own(cls) -> None:
        """ChDB is a large library that not everyone installs."""
        if find_spec("chdb") is None:
            raise TargetError(
                "chDB is not installed", advice="install Loadstone with it: loadstone[chdb]"
            )

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Asks chDB itself."""
        return settings.info(name, level)

    # -- life and state ------------------------------------------------------------------------
    def create(self, path: Path, layout: Mapping[str, Level]) -> None:
        """The folder is made when it is first opened."""

    def opened(self, path: Path) -> OwnConnection:
        """Opens the folder; what is set up and checked does not hang on the load's settings."""
        connection = Database(path)
        connection.query("SELECT 1")
        return connection

    def fold(self, path: Path) -> None:
        """Rows are in parts, each of which is whole."""

    def read_back(self, path: Path, spec: TargetSpec) -> list[FactorReading]:
        """Each setting, as a session of the load has it.

        Raises:
            TargetError: If it has another value than was asked for.
        """
        session = Database(path, settings.written_all(spec.settings))
        try:
            readings = [_reading(session, name, level) for name, level in spec.settings.items()]
        finally:
            session.close()
        self._read = {
            name: str(each.read_back) for name, each in zip(spec.settings, readings, strict=True)
        }
        return readings

    def create_tables(self, tables: Sequence[Table]) -> None:
        """Makes them, sorted by their keys."""
        for statement in ddl.create(tables):
            self.query(statement)

    def load_files(self, table: Table, files: Sequence[Path], *, sessions: int) -> None:
        """Reads the files; ClickHouse's own threads share the work."""
        for path in files:
            self.query(f"INSERT INTO {table.name} SELECT * FROM file({escaped(path)}, 'Parquet')")

    def finish_tables(self, tables: Sequence[Table]) -> None:
        """Merges the parts of each table into one: else they would be merged under load."""
        for table in tables:
            self.query(f"OPTIMIZE TABLE {table.name} FINAL")

    def analyse(self) -> None:
        """ClickHouse keeps statistics with the parts."""

    # -- use -----------------------------------------------------------------------------------
    def fingerprint_of(self, data: OwnConnection, tables: Mapping[str, str]) -> Fingerprint:
        """Rows and sums of the tables; sums have 128 bits."""
        rows: dict[str, int] = {}
        sums: dict[str, str] = {}
        for table, expression in tables.items():
            total_of = f"toString(coalesce(sum(toInt128({expression})), 0))"
            ((count, total),) = data.query(f"SELECT count(), {total_of} FROM {table}")
            rows[table], sums[table] = count, total
        return fingerprint_of(rows, sums, self.size_bytes())

    def size_bytes(self) -> int:
        """Size of all parts that are in use."""
        ((size,),) = self.query(
            "SELECT coalesce(sum(bytes_on_disk), 0) FROM system.parts WHERE active"
        )
        return int(size)

    def connection(self) -> InProcessConnection:
        """The folder, and the settings with which the runner opens sessions."""
        return InProcessConnection(
            protocol="chdb",
            program=self.generator,
            database=str(self.store.database),
            settings=settings.written_all(self._settings),
        )

    def probes(self) -> list[Probe]:
        """None: the folder belongs to the runner while there is load."""
        return []

    def facts(self) -> dict[str, Any]:
        """Version, and every setting that is not the default."""
        ((version,),) = self.query("SELECT version()")
        return {"version": version, "settings": {**STANDARD, **self._read}}

    def index_names(self, table: str) -> set[str]:
        """A table is sorted by its key and has no indexes."""
        return set()


def _reading(session: Database, name: str, level: Level) -> FactorReading:
    asked = settings.canonical(name, level)
    ((found,),) = session.query(settings.VALUE, (name,))
    if asked != found:
        raise TargetError(f"{name} was set to {asked!r}, but chDB has {found!r}")
    return FactorReading(
        factor=f"target.{name}",
        requested=level,
        read_back=found,
        unsafe=is_unsafe(settings.RISKS, name, found),
        how=settings.info(name, level).needs,
    )
