"""The target `sqlite`."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.errors import TargetError, WrongInputError
from loadstone.experiments.model import Failure, Level, ProcessSpec, StorageSpec, TargetSpec
from loadstone.experiments.problems import near
from loadstone.probes.base import Probe
from loadstone.results.record import FactorReading, Fingerprint
from loadstone.targets.base import Connection, SettingInfo, Target, TargetContext
from loadstone.targets.dialect import Dialect
from loadstone.targets.schema import Table
from loadstone.targets.sqlite import database, ddl, fingerprint, pragmas
from loadstone.targets.sqlite.database import Database
from loadstone.targets.sqlite.probe import FilesProbe
from loadstone.targets.sqlite.store import Store

if TYPE_CHECKING:
    from loadstone.probes.marks import Mark, SampleTable
    from loadstone.targets.happenings import ServerLog

EMBEDDED = "embedded"


class SQLite(Target):
    """SQLite in the load driver's own process: one file, no server."""

    engine = "sqlite"
    capabilities: ClassVar[frozenset[str]] = frozenset({"sql", "bulk"})
    dialect = Dialect("sqlite", scaled_decimals=True, counted_instants=True)
    in_process = True

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._store: Store | None = None
        self._database: Database | None = None
        self._settings: dict[str, Level] = {}
        self._loading = False

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """Says where the engine runs; refuses what only a server has."""
        if spec.server != EMBEDDED:
            raise WrongInputError(
                f"SQLite has no server {spec.server!r}; {near(spec.server, [EMBEDDED])}",
                advice="server: embedded is the SQLite of the load driver",
            )
        if spec.storage.log is not None:
            raise WrongInputError(
                "SQLite keeps its journal or WAL beside the database",
                advice="name storage.data only",
            )
        if spec.process != ProcessSpec():
            raise WrongInputError(
                "SQLite has no server process: it runs in the load driver",
                advice="use host.generator.cpus for its processors",
            )
        _check_own_sqlite()
        return {"engine": cls.engine, "runs in": "the load driver"}

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

    # -- life ----------------------------------------------------------------------------------
    def open(self) -> None:
        """Makes an empty database in a folder of its own."""
        _check_own_sqlite()
        self._store = Store(self.spec, self.context)
        self.empty(self.spec.model_copy(update={"storage": StorageSpec()}))

    def close(self) -> None:
        """Removes the folder."""
        self.stop()
        if self._store is not None:
            self._store.close()
            self._store = None

    def start(self) -> None:
        """Mounts what lost its power, and opens the database, which replays its WAL or journal."""
        store = self._opened()
        store.recover()
        self._database = Database(store.database)
        database.apply(store.database, self._session())
        self._database.value("SELECT count(*) FROM sqlite_schema")

    def stop(self) -> None:
        """Closes Loadstone's own connection, the last one: SQLite then folds its WAL in."""
        if self._database is not None:
            self._database.close()

    def crash(self, failure: Failure) -> None:
        """Closes Loadstone's own connection and, in a power loss, cuts the power of the disk.

        There is no server to kill: the engine is in the driver. Whoever runs the driver kills it,
        before this in a `kill` and after it in a power loss.
        """
        self.stop()
        if failure == "power-loss":
            self._opened().power_loss()

    # -- state ---------------------------------------------------------------------------------
    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Makes a new file in the layout of `spec`."""
        store = self._opened()
        self.stop()
        store.clear(spec.storage)
        layout = {name: str(value) for name, value in self.layout(spec).items()}
        database.create(store.database, layout)
        return self._begin(spec)

    def snapshot(self, key: str) -> None:
        """Analyses, brings everything into the one file, and copies it."""
        store = self._opened()
        self._data().execute("ANALYZE")
        self.stop()
        database.fold(store.database)
        store.keep(key)
        self.start()

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Puts the copy back and opens it with the settings of `spec`."""
        self.stop()
        self._opened().put_back(key, spec.storage)
        return self._begin(spec)

    def settle(self, cache: str) -> None:
        """Reads the file into the page cache, or takes it out, with no connection open.

        The cache of SQLite itself is empty at the start of each trial: it is the driver's.
        """
        self.stop()
        self._opened().settle(cache)

    def check_alive(self) -> None:
        """Nothing runs that could end: the end of the driver is noticed by who started it."""

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
    def fingerprint(self, tables: Mapping[str, str]) -> Fingerprint:
        """Rows and sums of the tables."""
        return fingerprint.take(self._data(), tables)

    def size_bytes(self) -> int:
        """Size of the database, without WAL and journal."""
        return fingerprint.size_bytes(self._data())

    def connection(self) -> Connection:
        """The file, and what each connection of the driver sets."""
        session = self._session()
        # Read back as a number of pages, which the driver would not take for "on"; it is anyway.
        if session.get("cache_spill") == "1":
            del session["cache_spill"]
        return Connection(
            protocol="sqlite",
            database=str(self._opened().database),
            settings={
                name: pragmas.written(pragmas.CATALOGUE[name], value)
                for name, value in session.items()
            },
        )

    def execute(self, script: str) -> None:
        """Runs the statements of a script."""
        self._data().execute(script)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Runs one query; parameters are written `%s`."""
        return self._data().query(sql, parameters)

    def probes(self) -> list[Probe]:
        """The sizes of the files."""
        session = self._session()
        pages = int(session.get("wal_autocheckpoint", 1000))
        page_bytes = int(str(self.layout(self._spec())["page_size"]))
        return [FilesProbe(self._opened().database, pages * page_bytes)]

    @classmethod
    def happenings(cls, samples: SampleTable, log: ServerLog) -> list[Mark]:
        """What its probes tell."""
        from loadstone.targets.sqlite.happenings import happenings

        return happenings(samples)

    def inventory(self) -> dict[str, Any]:
        """Settings, layout, build, size, and where the file lies."""
        session = {name: _shown(name, value) for name, value in self._session().items()}
        return {
            "engine": self.engine,
            "runs in": "the load driver",
            "version_of_checks": sqlite3.sqlite_version,
            "settings": session,
            "base_settings": dict(pragmas.BASE),
            "fixed": {
                name: self._data().value(f"PRAGMA {name}")
                for name, pragma in pragmas.CATALOGUE.items()
                if pragma.layout
            },
            "size_bytes": self.size_bytes(),
            **self._opened().inventory(),
        }

    def log_path(self) -> Path | None:
        """SQLite writes no log."""
        return None

    def index_names(self, table: str) -> set[str]:
        """As the file's schema has them."""
        rows = self.query(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = %s", (table,)
        )
        return {name for (name,) in rows}

    def server_cpu_s(self) -> float | None:
        """No server: the driver tells the CPU of the engine in its ticks."""
        return None

    # -- inside --------------------------------------------------------------------------------
    def _opened(self) -> Store:
        if self._store is None:
            raise TargetError("the SQLite target is not open")
        return self._store

    def _data(self) -> Database:
        if self._database is None:
            raise TargetError("the SQLite target is not open")
        return self._database

    def _spec(self) -> TargetSpec:
        return self.spec.model_copy(update={"settings": self._settings})

    def _session(self) -> dict[str, str]:
        """What each connection of the load sets, in SQLite's own spelling."""
        found = pragmas.canonical_all({**pragmas.BASE, **self._settings})
        if self._loading:
            found["foreign_keys"] = "0"
        return {name: value for name, value in found.items() if not pragmas.CATALOGUE[name].layout}

    def _begin(self, spec: TargetSpec) -> list[FactorReading]:
        """Opens the file as `spec` says, and reads back what it names."""
        self._settings, self._loading = dict(spec.settings), False
        self.start()
        path = self._opened().database
        asked = pragmas.canonical_all(spec.settings)
        found = database.apply(path, self._session()) | database.layout_of(path, asked)
        readings = [
            FactorReading(
                factor=f"target.{name}",
                requested=level,
                read_back=_shown(name.lower(), found[name.lower()]),
                unsafe=_is_unsafe(name.lower(), level),
                how=pragmas.info(name, level).needs,
            )
            for name, level in spec.settings.items()
        ]
        return [*readings, *self._opened().readings()]


def _shown(name: str, value: str) -> str:
    return pragmas.shown(pragmas.CATALOGUE[name], value)


def _is_unsafe(name: str, level: Level) -> bool:
    pragma = pragmas.CATALOGUE[name]
    unsafe = {pragmas.canonical(pragma, each) for each in pragma.unsafe}
    return pragmas.canonical(pragma, level) in unsafe


def _check_own_sqlite() -> None:
    if sqlite3.sqlite_version_info < database.LEAST_VERSION:
        wanted = ".".join(map(str, database.LEAST_VERSION))
        raise TargetError(
            f"Python's SQLite is {sqlite3.sqlite_version}; its tables need {wanted}",
            advice="use a Python with a newer SQLite, for example one of uv's own",
        )
