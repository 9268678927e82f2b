"""The target `spark`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from loadstone.errors import TargetError
from loadstone.probes.base import Probe
from loadstone.protocol.programs import RUNNER, Program
from loadstone.results.record import FactorReading, Fingerprint
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import SettingInfo
from loadstone.targets.connection import InProcessConnection
from loadstone.targets.database import fingerprint_of
from loadstone.targets.dialect import Dialect
from loadstone.targets.in_process import InProcessTarget
from loadstone.targets.own_connection import OwnConnection
from loadstone.targets.schema import Table
from loadstone.targets.spark import ddl, folder, master, settings
from loadstone.targets.spark.database import Database
from loadstone.targets.spark.first import FIRST_FILE
from loadstone.targets.spark.jvm import check_installed


class Spark(InProcessTarget):
    """Apache Spark: a JVM beside the runner, all of it or the driver of a cluster.

    Its tables are in a folder of Parquet files.
    """

    engine = "spark"
    first_file = FIRST_FILE
    title = "Spark"
    runs_in = "a JVM of the runner"
    file_name = ""
    unfit_signs = "*?{}[],"
    generator: ClassVar[Program] = RUNNER
    capabilities: ClassVar[frozenset[str]] = frozenset({"sql", "files"})
    usual_keys = "none"
    files_form = "parquet"
    dialect = Dialect("spark")
    risks = settings.RISKS

    @classmethod
    def check_own(cls) -> None:
        """PySpark and Java are not installed everywhere."""
        check_installed()

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Asks Spark itself."""
        return settings.info(name, level, is_cluster=master.is_master(spec.server))

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """Says where Spark runs; the master of a cluster is not reached."""
        told = super().describe(spec)
        return told | {"master": spec.server} if master.is_master(spec.server) else told

    @classmethod
    def check_server(cls, server: str) -> None:
        """Takes the master of a cluster."""
        if master.is_master(server):
            master.check(server)
        else:
            super().check_server(server)

    # -- life and state ------------------------------------------------------------------------
    def create(self, path: Path, layout: Mapping[str, Level]) -> None:
        """The folder is there; it has no tables."""

    def opened(self, path: Path) -> OwnConnection:
        """Starts no JVM: the first statement does."""
        return Database(path, self._written())

    def fold(self, path: Path) -> None:
        """Files are whole; what the JVM has left besides is removed."""
        folder.tidy(path)

    def read_back(self, path: Path, spec: TargetSpec) -> list[FactorReading]:
        """Each setting, as a session has it.

        Raises:
            TargetError: If it has another value than was asked for.
        """
        return [self._reading(name, level) for name, level in spec.settings.items()]

    def create_tables(self, tables: Sequence[Table]) -> None:
        """Declares them; each has a folder."""
        self._database.declare({table.name: ddl.columns(table) for table in tables})

    def load_files(self, table: Table, files: Sequence[Path], *, sessions: int) -> None:
        """Reads the files and writes those of the table; Spark's own threads share the work."""
        self._database.load(table.name, files)

    def finish_tables(self, tables: Sequence[Table]) -> None:
        """Parquet tables have neither keys nor indexes."""

    def analyse(self) -> None:
        """Statistics would be the metastore's: Spark goes by those of the Parquet files."""

    # -- use -----------------------------------------------------------------------------------
    def fingerprint_of(self, data: OwnConnection, tables: Mapping[str, str]) -> Fingerprint:
        """Rows and sums of the tables; sums have 38 digits."""
        rows: dict[str, int] = {}
        sums: dict[str, str] = {}
        for table, expression in tables.items():
            ((count, total),) = data.query(
                f"SELECT count(*), CAST(sum(CAST({expression} AS decimal(28, 0))) AS string) "
                f"FROM {table}"
            )
            rows[table], sums[table] = count, total
        return fingerprint_of(rows, sums, self.size_bytes())

    def size_bytes(self) -> int:
        """Size of the files of all tables."""
        return folder.size_bytes(self.store.database)

    def connection(self) -> InProcessConnection:
        """The folder, and the settings with which the runner starts its JVM."""
        return InProcessConnection(
            protocol="spark",
            program=self.generator,
            database=str(self.store.database),
            settings=self._written(),
        )

    def probes(self) -> list[Probe]:
        """None: the JVM is the runner's while there is load."""
        return []

    def facts(self) -> dict[str, Any]:
        """Version, settings that were given, and the Java that runs it."""
        ((version,),) = self.query("SELECT version()")
        java = self.query("SELECT reflect('java.lang.System', 'getProperty', 'java.version')")
        return {
            "version": str(version).partition(" ")[0],
            "java": java[0][0],
            "settings": self._written(),
        }

    def index_names(self, table: str) -> set[str]:
        """Parquet tables have no indexes."""
        return set()

    # -- inside --------------------------------------------------------------------------------
    @property
    def _database(self) -> Database:
        assert isinstance(self.data, Database)  # noqa: S101 - `opened` makes nothing else
        return self.data

    def _written(self) -> dict[str, str]:
        """The settings of the present trial, and the master."""
        server = self.spec.server
        place = {"spark.master": server} if master.is_master(server) else {}
        return settings.written_all(self._settings) | place

    def _reading(self, name: str, level: Level) -> FactorReading:
        asked, found = settings.written(level), self._database.setting(name)
        if asked != found:
            raise TargetError(f"{name} was set to {asked!r}, but Spark has {found!r}")
        return FactorReading(
            factor=f"target.{name}",
            requested=level,
            read_back=found,
            unsafe=self.setting(self.spec, name, level).unsafe,
            how="restart",
        )
