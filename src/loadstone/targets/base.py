"""The system under test, as workloads and the conductor see it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from loadstone.errors import TargetError
from loadstone.journal import Journal
from loadstone.probes.base import Probe
from loadstone.results.record import FactorReading, Fingerprint, Notice
from loadstone.spec.model import Failure, Level, OutageKind, ProfileSpec, TargetSpec
from loadstone.targets.dialect import Dialect
from loadstone.targets.schema import Table

if TYPE_CHECKING:
    from loadstone.probes.marks import Mark, SampleTable
    from loadstone.targets.happenings import ServerLog


@dataclass(frozen=True)
class Connection:
    """How the driver reaches the target. `password` is handed over in the environment only."""

    protocol: str
    host: str = ""
    port: int = 0
    user: str = ""
    database: str = ""
    password: str | None = field(default=None, repr=False)
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of each session of an engine that lives in the driver."""


@dataclass(frozen=True)
class SettingInfo:
    """What is known of a setting of the target before it is set."""

    name: str
    needs: str
    """`reload`, `restart`, or `new data` if it is fixed when data is made."""
    unsafe_levels: tuple[str, ...] = ()
    """Levels that can lose acknowledged commits."""
    default: str = ""
    unit: str = ""
    refused: str | None = None
    """Why it cannot be a factor, if it cannot."""


@dataclass(frozen=True)
class TargetContext:
    """What a target is given to work with."""

    journal: Journal
    owner: str
    """Mark written into what Loadstone creates (the experiment's name)."""
    force: bool = False
    """The user allowed the use of a database that is not marked as Loadstone's."""


class Target(ABC):
    """A system under test.

    Life: `open`, `empty`, the workload's `build`, `snapshot`, then for each trial `restore` and
    load; finally `close`. Adding an engine is one module and one line in `targets.registry`.
    """

    engine: ClassVar[str]
    capabilities: ClassVar[frozenset[str]]
    """Names of `targets.capabilities`."""
    dialect: ClassVar[Dialect]
    in_process: ClassVar[bool] = False
    """The engine runs within the driver: its CPU is part of the driver's."""
    usual_keys: ClassVar[Literal["none", "keys", "foreign"]] = "foreign"
    """What its owners make for queries over most rows: nothing, primary keys, or foreign keys with
    an index each as well."""
    files_form: ClassVar[Literal["parquet", "csv"]] = "csv"
    """Of the files that it loads best."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        self.spec = spec
        self.context = context

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    @abstractmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """What would be used (version, binaries, address), without starting anything.

        Raises:
            WrongInputError: If the spec cannot work, with the reason.
        """

    @classmethod
    @abstractmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """What setting `name` to `level` would need, without starting anything where possible.

        Raises:
            WrongInputError: If there is no such setting, or the level is not one of its values.
        """

    @classmethod
    def offers(cls, spec: TargetSpec) -> frozenset[str]:
        """The capabilities of a target as `spec` has it."""
        return cls.capabilities

    @classmethod
    def for_sessions(cls, spec: TargetSpec, sessions: int) -> dict[str, Level]:
        """The settings by which an owned server lets so many sessions in.

        Args:
            spec: Its own settings stay as they are.
            sessions: Open at a time at most.

        Returns:
            Nothing where its defaults are enough, and for a server at an address.
        """
        return {}

    @classmethod
    def layout(cls, spec: TargetSpec) -> dict[str, Level]:
        """The settings of `spec` that are fixed when data is made, such as the block size.

        Data of one layout cannot be restored into another.
        """
        return {}

    @classmethod
    def cautions(cls, spec: TargetSpec, profile: ProfileSpec) -> list[Notice]:
        """What a reader of figures should know of a target as `spec` has it, under this load."""
        return []

    # -- life ----------------------------------------------------------------------------------
    @abstractmethod
    def open(self) -> None:
        """Starts the server (owned) or connects (address); refuses a database that is not ours."""

    @abstractmethod
    def close(self) -> None:
        """Stops what it started and removes what it made. Works after any failure."""

    @abstractmethod
    def start(self) -> None:
        """Starts an owned server with the settings in force."""

    @abstractmethod
    def stop(self) -> None:
        """Stops an owned server cleanly."""

    @abstractmethod
    def crash(self, failure: Failure) -> None:
        """Lets an owned server fail; `start` afterwards brings it back.

        Args:
            failure: `kill`: SIGKILL to all its processes at once. `power-loss`: what the volatile
                devices below its data were not asked to flush is thrown away first.

        Raises:
            TargetError: If there is nothing to fail: no owned server, no volatile device.
        """

    def outage(self, kind: OutageKind) -> AbstractContextManager[None]:
        """Puts an owned server out of service for as long as the block lasts.

        Args:
            kind: `pause`, `kill` or `full-disk`.

        Raises:
            TargetError: If it is not Loadstone's own server, or its disk cannot be filled.
        """
        raise TargetError(f"{self.engine} has no server that could be out of service")

    # -- state ---------------------------------------------------------------------------------
    @abstractmethod
    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Makes the target empty, in the layout of `spec`, and starts it as `spec` says.

        Returns:
            As `restore`.
        """

    @abstractmethod
    def snapshot(self, key: str) -> None:
        """Keeps the present data under `key`, analysed and checkpointed, to be restored."""

    @abstractmethod
    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Puts the kept data back where `spec` wants it and starts the server as `spec` says.

        Args:
            key: Of an earlier `snapshot`, of the same layout.
            spec: Of a trial: settings, storage and process are followed; engine, server and data
                are those of the experiment.

        Returns:
            One reading for each setting, placement and process option that `spec` names, read back
            from the running server.

        Raises:
            TargetError: If the server refuses a setting or reads back another value.
        """

    @abstractmethod
    def settle(self, cache: str) -> None:
        """The last step before load: caches, statistics and checkpoint in their declared state.

        It comes after `restore`, the workload's `prepare` and `fingerprint`, which read the data
        and would spoil a cold cache. The server runs afterwards, its statistics are reset, a
        checkpoint was just made and autovacuum is in its declared state.

        Args:
            cache: `warm` (all relations read) or `cold` (the server restarted and the data dropped
                from the page cache, where allowed).
        """

    def make_way(self) -> None:  # noqa: B027 - a server makes way by itself
        """The load comes next: an engine that lives in its process is left to it alone."""

    @abstractmethod
    def check_alive(self) -> None:
        """Looks whether the server still runs; cheap enough for once a second.

        Raises:
            TargetError: If a server that Loadstone started has ended.
        """

    @abstractmethod
    def create_tables(self, tables: Sequence[Table]) -> None:
        """Makes empty tables, ready to be loaded in bulk."""

    def load_files(self, table: Table, files: Sequence[Path], *, sessions: int) -> None:
        """Stores the rows of files in a table that was made for them.

        Args:
            table: Whose columns are those of the files, in their order.
            files: In `files_form`; CSV with a header line, and quotes where they are needed.
            sessions: That may load at a time.

        Raises:
            TargetError: If the target does not offer `files`, or refuses a row.
        """
        raise TargetError(f"{self.engine} loads no files")

    @abstractmethod
    def analyse(self) -> None:
        """Makes the statistics of all tables that the engine plans queries with."""

    @abstractmethod
    def finish_tables(self, tables: Sequence[Table]) -> None:
        """Adds the keys and indexes that are better made after the load."""

    @abstractmethod
    def fingerprint(self, tables: Mapping[str, str]) -> Fingerprint:
        """Rows and sums of the tables.

        Args:
            tables: Table name: SQL expression over a row, an integer of 64 bits at most, whose
                sum is taken without overflow: the same data gives the same sums on every engine.
        """

    @abstractmethod
    def size_bytes(self) -> int:
        """Size of the database (relations and indexes), without logs."""

    # -- use -----------------------------------------------------------------------------------
    @abstractmethod
    def connection(self) -> Connection:
        """For the driver."""

    @abstractmethod
    def execute(self, script: str) -> None:
        """Runs a script of statements, outside a transaction block, one after the other."""

    @abstractmethod
    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Runs one query and returns its rows."""

    @abstractmethod
    def index_names(self, table: str) -> set[str]:
        """Names of the indexes of a table that are complete and in use."""

    def make_second_place(self) -> None:
        """Makes the place that tables can be moved to, empty; the next `restore` removes it.

        It lies where the spec of the last `restore` has its archive.

        Raises:
            TargetError: If the target does not offer `second-place`.
        """
        raise TargetError(f"{self.engine} has no second place for tables")

    def moved(self, table: str) -> set[str]:
        """Of a table and its indexes, the names of those that lie in the second place."""
        return set()

    def log_bytes(self) -> int | None:
        """How much the engine has written to its log so far; None where that is not known.

        The difference of two readings counts.
        """
        return None

    @abstractmethod
    def probes(self) -> list[Probe]:
        """Samplers of this engine."""

    @classmethod
    def happenings(cls, samples: SampleTable, log: ServerLog) -> list[Mark]:
        """What the engine did in the background during a trial: checkpoints, log switches, waits.

        Args:
            samples: Of its probes, of the stretch that is asked about.
            log: Of the trial.
        """
        return []

    @abstractmethod
    def inventory(self) -> dict[str, Any]:
        """Version, and every setting that is not the default."""

    @abstractmethod
    def log_path(self) -> Path | None:
        """The server's own log, if it can be read from here."""

    def data_folder(self) -> Path | None:
        """Where the data lie; None if that is not on this machine, or not known."""
        return None

    def server_pid(self) -> int | None:
        """The first process of Loadstone's own server; None of any other, or if it is down."""
        return None

    @abstractmethod
    def server_cpu_s(self) -> float | None:
        """CPU seconds used so far by the server's processes, if it runs on this machine."""
