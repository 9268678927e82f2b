"""The target `duckdb`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import duckdb

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
from loadstone.targets.duckdb import ddl, settings
from loadstone.targets.duckdb.database import Database, connect
from loadstone.targets.duckdb.first import FIRST_FILE
from loadstone.targets.duckdb.probe import DuckDBProbe
from loadstone.targets.in_process import InProcessTarget
from loadstone.targets.library import calling
from loadstone.targets.own_connection import OwnConnection
from loadstone.targets.quoting import read_by_duckdb
from loadstone.targets.risks import is_unsafe
from loadstone.targets.schema import Table

if TYPE_CHECKING:
    from loadstone.probes.marks import Mark, SampleTable
    from loadstone.targets.happenings import ServerLog


class DuckDB(InProcessTarget):
    """DuckDB in the process of Loadstone's runner: one file, no server."""

    engine = "duckdb"
    first_file = FIRST_FILE
    title = "DuckDB"
    runs_in = "the runner"
    file_name = "loadstone.duckdb"
    unfit_signs = "?\\"
    generator: ClassVar[Program] = RUNNER
    capabilities: ClassVar[frozenset[str]] = frozenset({"sql", "bulk", "files", "cells", "changes"})
    usual_keys = "none"
    files_form = "parquet"
    dialect = Dialect("duckdb")
    risks = settings.RISKS

    @classmethod
    def plain_name(cls, name: str) -> str:
        """Case does not matter, and some settings have two names."""
        return settings.plain_name(name)

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Asks DuckDB itself."""
        return settings.info(name, level)

    @classmethod
    def layout(cls, spec: TargetSpec) -> dict[str, Level]:
        """Block size and version of the format, those of DuckDB where the spec says nothing."""
        asked = settings.canonical_all(spec.settings)
        return {name: asked.get(name, settings.default(name)) for name in settings.LAYOUT}

    # -- life and state ------------------------------------------------------------------------
    def create(self, path: Path, layout: Mapping[str, Level]) -> None:
        """Makes an empty file."""
        connect(path, settings.written_all(layout)).close()
        path.chmod(0o600)

    def opened(self, path: Path) -> OwnConnection:
        """Opens the file with the settings of the load, and replays its WAL."""
        connection = Database(path, settings.written_all(self._settings))
        connection.query("SELECT count(*) FROM duckdb_tables()")
        return connection

    def fold(self, path: Path) -> None:
        """No WAL beside the file."""
        with (
            calling(lambda error: TargetError(f"the WAL of {path} cannot be folded in: {error}")),
            connect(path, {"fsync_mode": "STANDARD"}) as connection,
        ):
            connection.execute("FORCE CHECKPOINT")

    def read_back(self, path: Path, spec: TargetSpec) -> list[FactorReading]:
        """Each setting, as an engine that was opened with all of them has it.

        Raises:
            TargetError: If it has another value than was asked for.
        """
        values = self._all_settings() | {"default_block_size": str(self._block_bytes())}
        return [
            _reading(name, level, values[name.lower()]) for name, level in spec.settings.items()
        ]

    def create_tables(self, tables: Sequence[Table]) -> None:
        """Makes them with their keys."""
        self.execute(ddl.create(tables))

    def load_files(self, table: Table, files: Sequence[Path], *, sessions: int) -> None:
        """Reads the files; DuckDB's own threads share the work."""
        names = ", ".join(map(read_by_duckdb, files))
        self.query(f"INSERT INTO {table.name} SELECT * FROM read_parquet([{names}])")

    def finish_tables(self, tables: Sequence[Table]) -> None:
        """Adds the indexes."""
        self.execute(ddl.finish(tables))

    # -- use -----------------------------------------------------------------------------------
    def fingerprint_of(self, data: OwnConnection, tables: Mapping[str, str]) -> Fingerprint:
        """Rows and sums of the tables; sums have 128 bits."""
        rows: dict[str, int] = {}
        sums: dict[str, str] = {}
        for table, expression in tables.items():
            ((count, total),) = data.query(
                f"SELECT count(*), coalesce(sum(e), 0) FROM (SELECT {expression} AS e FROM {table})"
            )
            if not isinstance(total, int):
                raise TargetError(
                    f"the checksum of {table} is no integer but {total!r}: {expression}"
                )
            rows[table], sums[table] = count, str(total)
        return fingerprint_of(rows, sums, self.size_bytes())

    def size_bytes(self) -> int:
        """Size of the database: all its blocks, and the WAL, where rows are until a checkpoint."""
        ((size,),) = self.query("SELECT total_blocks * block_size FROM pragma_database_size()")
        wal = self.store.database.with_name(self.file_name + ".wal")
        return int(size) + (wal.stat().st_size if wal.exists() else 0)

    def connection(self) -> InProcessConnection:
        """The file, and the settings with which the runner opens it."""
        return InProcessConnection(
            protocol="duckdb",
            program=self.generator,
            database=str(self.store.database),
            settings=settings.written_all(self._settings),
        )

    def probes(self) -> list[Probe]:
        """The sizes of the files."""
        return [DuckDBProbe(self.store.database)]

    @classmethod
    def happenings(cls, samples: SampleTable, log: ServerLog) -> list[Mark]:
        """What its probes tell."""
        from loadstone.targets.duckdb.happenings import happenings

        return happenings(samples)

    def facts(self) -> dict[str, Any]:
        """Version, block size, and every setting that is not the default."""
        return {
            "version": duckdb.__version__,
            "settings": settings.changed(self._all_settings()),
            "block_size_bytes": self._block_bytes(),
        }

    def index_names(self, table: str) -> set[str]:
        """As the file's catalogue has them."""
        rows = self.query("SELECT index_name FROM duckdb_indexes() WHERE table_name = %s", (table,))
        return {name for (name,) in rows}

    # -- inside --------------------------------------------------------------------------------
    def _all_settings(self) -> dict[str, str]:
        data = self.data
        assert isinstance(data, Database)  # noqa: S101 - `opened` makes nothing else
        return data.in_force()

    def _block_bytes(self) -> int:
        ((size,),) = self.query("SELECT block_size FROM pragma_database_size()")
        return int(size)


def _reading(name: str, level: Level, found: str) -> FactorReading:
    asked = settings.canonical(name, level)
    if not settings.same(asked, found):
        raise TargetError(f"{name} was set to {asked!r}, but DuckDB has {found!r}")
    return FactorReading(
        factor=f"target.{name}",
        requested=level,
        read_back=found,
        unsafe=is_unsafe(settings.RISKS, name.lower(), found),
        how=settings.info(name, level).needs,
    )
