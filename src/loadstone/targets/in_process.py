"""What targets have in common whose engine lives in the load generator's process: one file each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from loadstone.errors import TargetError, WrongInputError
from loadstone.results.record import FactorReading, Fingerprint
from loadstone.secret import shown
from loadstone.spec.base import Level
from loadstone.spec.design import Failure
from loadstone.spec.problems import near
from loadstone.spec.target import ProcessSpec, StorageSpec, TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.blame import AskedSettings, not_started
from loadstone.targets.database import Database
from loadstone.targets.local.file_store import FileStore
from loadstone.targets.local.unfit import refuse_unfit_folders
from loadstone.targets.own_connection import OwnConnection

EMBEDDED = "embedded"


class InProcessTarget(Database):
    """An engine without a server. Loadstone's own connection is closed while there is load."""

    in_process = True
    unfit_signs: ClassVar[str] = ""
    """Signs in the name of a folder that mean something else to the engine."""
    serves = False
    title: ClassVar[str]
    """Name of the engine, for people."""
    runs_in: ClassVar[str]
    """The program of the load generator that the engine is part of."""
    storage_roles = ("data",)
    file_name: ClassVar[str]

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._store: FileStore | None = None
        self._connection: OwnConnection | None = None
        self._settings: dict[str, Level] = {}
        self._asked = AskedSettings()

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """Says where the engine runs; refuses what only a server has."""
        cls.check_server(spec.server)
        if spec.process != ProcessSpec():
            raise WrongInputError(
                f"{cls.title} has no server process: it runs in {cls.runs_in}",
                advice="use host.generator.cpus for its processors",
            )
        cls.check_own()
        refuse_unfit_folders(spec, cls.title, cls.unfit_signs)
        return {"engine": cls.engine, "runs in": cls.runs_in}

    @classmethod
    def check_server(cls, server: str) -> None:
        """Refuses what is nowhere.

        Raises:
            WrongInputError: If the engine has no such server.
        """
        if server != EMBEDDED:
            raise WrongInputError(
                f"{cls.title} has no server {shown(server)}; {near(server, [EMBEDDED])}",
                advice=f"server: embedded is the {cls.title} of {cls.runs_in}",
            )

    @classmethod
    def check_own(cls) -> None:
        """Looks whether the engine's library in this process can be used.

        Raises:
            TargetError: If it is too old.
        """

    @abstractmethod
    def create(self, path: Path, layout: Mapping[str, Level]) -> None:
        """Makes an empty database of that layout."""

    @abstractmethod
    def opened(self, path: Path) -> OwnConnection:
        """Loadstone's own connection to a file, which is opened (and recovered) now."""

    @abstractmethod
    def fold(self, path: Path) -> None:
        """Brings everything into the one file, on the disk; nobody else uses it."""

    @abstractmethod
    def read_back(self, path: Path, spec: TargetSpec) -> list[FactorReading]:
        """Opens the file as the load does and reads back each setting that `spec` names."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Settings, layout and build of the engine, for the inventory."""

    @abstractmethod
    def fingerprint_of(self, data: OwnConnection, tables: Mapping[str, str]) -> Fingerprint:
        """Rows and sums of the tables."""

    # -- life ----------------------------------------------------------------------------------
    def open(self) -> None:
        """Makes an empty database in a folder of its own."""
        self.check_own()
        self._store = FileStore(self.file_name, self.spec, self.context)
        self.empty(self.spec.model_copy(update={"storage": StorageSpec()}))

    def close(self) -> None:
        """Removes the folder."""
        self.stop()
        if self._store is not None:
            self._store.close()
            self._store = None

    def start(self) -> None:
        """Mounts what lost its power, and opens the database, which recovers from its log."""
        self.store.recover()
        try:
            self._connection = self.opened(self.store.database)
        except TargetError as error:
            if not (changed := self._asked.changed()):
                raise
            said = error.message.removeprefix(f"{self.title} does not start: ")
            raise not_started(self.title, said, changed) from error
        self._asked.worked()

    def stop(self) -> None:
        """Closes Loadstone's own connection."""
        if self._connection is not None:
            self._connection.close()

    def crash(self, failure: Failure) -> None:
        """Closes Loadstone's own connection and, in a power loss, cuts the power of the disk.

        There is no server to kill: the engine is in the generator, whose connections are still
        open, so that closing this one writes nothing of theirs.
        """
        self.stop()
        if failure == "power-loss":
            self.store.power_loss()

    # -- state ---------------------------------------------------------------------------------
    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Makes a new file in the layout of `spec`."""
        self.stop()
        self.store.clear(spec.storage)
        self.create(self.store.database, self.layout(spec))
        return self._begin(spec)

    def analyse(self) -> None:
        """Makes the statistics of all tables."""
        self.data.execute("ANALYZE")

    def snapshot(self, key: str) -> None:
        """Analyses, brings everything into the one file, and copies it."""
        self.analyse()
        self.stop()
        self.fold(self.store.database)
        self.store.keep(key)
        self.start()

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Puts the copy back and opens it with the settings of `spec`."""
        self.stop()
        self.store.put_back(key, spec.storage)
        return self._begin(spec)

    def settle(self, cache: str) -> None:
        """Reads the file into the page cache, or takes it out, with no connection open.

        The cache of the engine itself is empty at the start of each trial: it is the generator's.
        """
        self.stop()
        self.store.settle(cache)

    def make_way(self) -> None:
        """Closes Loadstone's own connection."""
        self.stop()

    def check_alive(self) -> None:
        """Nothing runs that could end: the generator's end is noticed by who started it."""

    # -- use -----------------------------------------------------------------------------------
    def fingerprint(self, tables: Mapping[str, str]) -> Fingerprint:
        """Rows and sums of the tables."""
        return self.fingerprint_of(self.data, tables)

    def execute(self, script: str) -> None:
        """Runs the statements of a script."""
        self.data.execute(script)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Runs one query; parameters are written `%s`."""
        return self.data.query(sql, parameters)

    def inventory(self) -> dict[str, Any]:
        """Settings, layout, build, size, and where the file lies."""
        return {
            "engine": self.engine,
            "runs in": self.runs_in,
            **self.facts(),
            "size_bytes": self.size_bytes(),
            **self.store.inventory(),
        }

    def data_folder(self) -> Path:
        """The database's."""
        return self.store.database.parent

    def log_path(self) -> Path | None:
        """The engine writes no log for people."""
        return None

    def server_cpu_s(self) -> float | None:
        """No server: the generator tells the CPU of the engine in its ticks."""
        return None

    # -- inside --------------------------------------------------------------------------------
    @property
    def store(self) -> FileStore:
        """Where the file is."""
        if self._store is None:
            raise TargetError(f"the {self.title} target is not open")
        return self._store

    @property
    def data(self) -> OwnConnection:
        """Loadstone's own connection."""
        if self._connection is None:
            raise TargetError(f"the {self.title} target is not open")
        return self._connection

    def _begin(self, spec: TargetSpec) -> list[FactorReading]:
        """Opens the file as `spec` says, and reads back what it names."""
        self._settings = dict(spec.settings)
        self._asked.ask(spec.settings)
        self.start()
        readings = self.read_back(self.store.database, spec)
        return [*readings, *self.store.readings()]
