"""The target `sqlite`."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.errors import TargetError
from loadstone.probes.base import Probe
from loadstone.results.record import FactorReading, Fingerprint
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import SettingInfo, TargetContext
from loadstone.targets.connection import InProcessConnection
from loadstone.targets.dialect import Dialect
from loadstone.targets.in_process import InProcessTarget
from loadstone.targets.own_connection import OwnConnection
from loadstone.targets.risks import is_unsafe
from loadstone.targets.schema import Table
from loadstone.targets.sqlite import database, ddl, fingerprint, pragmas
from loadstone.targets.sqlite.database import Database
from loadstone.targets.sqlite.first import FIRST_FILE
from loadstone.targets.sqlite.probe import SQLiteProbe

if TYPE_CHECKING:
    from loadstone.probes.marks import Mark, SampleTable
    from loadstone.targets.happenings import ServerLog


class SQLite(InProcessTarget):
    """SQLite in the load driver's own process: one file, no server."""

    engine = "sqlite"
    first_file = FIRST_FILE
    title = "SQLite"
    runs_in = "the load driver"
    file_name = "loadstone.db"
    capabilities: ClassVar[frozenset[str]] = frozenset({"sql", "transactions", "bulk"})
    risks = pragmas.RISKS
    dialect = Dialect("sqlite", scaled_decimals=True, counted_instants=True)

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._loading = False

    @classmethod
    def check_own(cls) -> None:
        """Python's SQLite, which Loadstone's own connection uses, must know the tables."""
        if sqlite3.sqlite_version_info < database.LEAST_VERSION:
            wanted = ".".join(map(str, database.LEAST_VERSION))
            raise TargetError(
                f"Python's SQLite is {sqlite3.sqlite_version}; its tables need {wanted}",
                advice="use a Python with a newer SQLite, for example one of uv's own",
            )

    @classmethod
    def plain_name(cls, name: str) -> str:
        """Case does not matter."""
        return name.lower()

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Looks the pragma up."""
        return pragmas.info(name, level)

    @classmethod
    def layout(cls, spec: TargetSpec) -> dict[str, Level]:
        """Page size, auto-vacuum and encoding, those of SQLite where the spec says nothing."""
        asked = pragmas.canonical_all(spec.settings)
        return {
            name: asked.get(name, pragma.default)
            for name, pragma in pragmas.CATALOGUE.items()
            if pragma.layout
        }

    # -- life and state ------------------------------------------------------------------------
    def create(self, path: Path, layout: Mapping[str, Level]) -> None:
        """Makes an empty file."""
        database.create(path, {name: str(value) for name, value in layout.items()})

    def opened(self, path: Path) -> OwnConnection:
        """Sets the settings that stay with the file, and replays its WAL or journal."""
        database.apply(path, self._session())
        connection = Database(path)
        connection.query("SELECT count(*) FROM sqlite_schema")
        return connection

    def fold(self, path: Path) -> None:
        """No WAL, no journal beside the file."""
        database.fold(path)

    def create_tables(self, tables: Sequence[Table]) -> None:
        """Makes them with their keys; references are not enforced until `finish_tables`."""
        self.execute(ddl.create(tables))
        self._loading = True

    def finish_tables(self, tables: Sequence[Table]) -> None:
        """Adds the indexes, then checks every reference.

        Raises:
            TargetError: If a row refers to one that is not there.
        """
        self._loading = False
        self.execute(ddl.finish(tables))
        for table in tables:
            broken = self.query(f"PRAGMA foreign_key_check({table.name})")
            if broken:
                raise TargetError(
                    f"{len(broken)} rows of {table.name} refer to rows that are not there, "
                    f"the first to {broken[0][2]}"
                )

    # -- use -----------------------------------------------------------------------------------
    def fingerprint_of(self, data: OwnConnection, tables: Mapping[str, str]) -> Fingerprint:
        """Rows and sums of the tables."""
        return fingerprint.take(data, tables)

    def size_bytes(self) -> int:
        """Size of the database, without WAL and journal."""
        return fingerprint.size_bytes(self.data)

    def connection(self) -> InProcessConnection:
        """The file, and what each connection of the driver sets."""
        session = self._session()
        # Read back as a number of pages, which the driver would not take for "on"; it is anyway.
        if session.get("cache_spill") == "1":
            del session["cache_spill"]
        return InProcessConnection(
            protocol="sqlite",
            database=str(self.store.database),
            settings={
                name: pragmas.written(pragmas.CATALOGUE[name], value)
                for name, value in session.items()
            },
        )

    def probes(self) -> list[Probe]:
        """The sizes of the files."""
        session = self._session()
        pages = int(session.get("wal_autocheckpoint", 1000))
        page_bytes = int(str(self.layout(self._spec())["page_size"]))
        return [SQLiteProbe(self.store.database, pages * page_bytes)]

    @classmethod
    def happenings(cls, samples: SampleTable, log: ServerLog) -> list[Mark]:
        """What its probes tell."""
        from loadstone.targets.sqlite.happenings import happenings

        return happenings(samples)

    def facts(self) -> dict[str, Any]:
        """Settings, layout and build."""
        session = {name: _shown(name, value) for name, value in self._session().items()}
        return {
            "version_of_checks": sqlite3.sqlite_version,
            "settings": session,
            "base_settings": dict(pragmas.BASE),
            "fixed": {
                name: self.query(f"PRAGMA {name}")[0][0]
                for name, pragma in pragmas.CATALOGUE.items()
                if pragma.layout
            },
        }

    def index_names(self, table: str) -> set[str]:
        """As the file's schema has them."""
        rows = self.query(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = %s", (table,)
        )
        return {name for (name,) in rows}

    # -- inside --------------------------------------------------------------------------------
    def _spec(self) -> TargetSpec:
        return self.spec.model_copy(update={"settings": self._settings})

    def _session(self) -> dict[str, str]:
        """What each connection of the load sets, in SQLite's own spelling."""
        found = pragmas.canonical_all({**pragmas.BASE, **self._settings})
        if self._loading:
            found["foreign_keys"] = "0"
        return {name: value for name, value in found.items() if not pragmas.CATALOGUE[name].layout}

    def _begin(self, spec: TargetSpec) -> list[FactorReading]:
        self._loading = False
        return super()._begin(spec)

    def read_back(self, path: Path, spec: TargetSpec) -> list[FactorReading]:
        """Each pragma, as a connection of the load has it."""
        asked = pragmas.canonical_all(spec.settings)
        found = database.apply(path, self._session()) | database.layout_of(path, asked)
        return [
            FactorReading(
                factor=f"target.{name}",
                requested=level,
                read_back=_shown(name.lower(), found[name.lower()]),
                unsafe=is_unsafe(
                    pragmas.RISKS, name.lower(), _shown(name.lower(), found[name.lower()])
                ),
                how=pragmas.info(name, level).needs,
            )
            for name, level in spec.settings.items()
        ]


def _shown(name: str, value: str) -> str:
    return pragmas.shown(pragmas.CATALOGUE[name], value)
