"""The system under test, as workloads and the conductor see it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from loadstone.experiments.journal import Journal
from loadstone.experiments.model import Level, TargetSpec
from loadstone.probes.base import Probe
from loadstone.results.record import FactorReading, Fingerprint


@dataclass(frozen=True)
class Connection:
    """How the driver reaches the target. `password` is handed over in the environment only."""

    protocol: str
    host: str = ""
    port: int = 0
    user: str = ""
    database: str = ""
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class SettingInfo:
    """What is known of a setting of the target before it is set."""

    name: str
    needs: str
    """`reload` or `restart`."""
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

    Life: `open`, the workload's `build`, `snapshot`, then for each trial `restore` and load;
    finally `close`. Adding an engine is one module and one line in `targets.registry`.
    """

    engine: ClassVar[str]
    capabilities: ClassVar[frozenset[str]]

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
    def crash(self) -> None:
        """Kills an owned server as a power cut would (SIGKILL to all its processes)."""

    # -- state ---------------------------------------------------------------------------------
    @abstractmethod
    def snapshot(self, key: str) -> None:
        """Keeps the present data under `key`, analysed and checkpointed, to be restored."""

    @abstractmethod
    def restore(self, key: str, settings: Mapping[str, Level]) -> list[FactorReading]:
        """Puts the kept data back and starts the server with the settings.

        Args:
            key: Of an earlier `snapshot`.
            settings: Every setting that must differ from the engine's defaults.

        Returns:
            One reading per setting, read back from the running server.

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

    @abstractmethod
    def check_alive(self) -> None:
        """Looks whether the server still runs; cheap enough for once a second.

        Raises:
            TargetError: If a server that Loadstone started has ended.
        """

    @abstractmethod
    def fingerprint(self, tables: Mapping[str, str]) -> Fingerprint:
        """Rows and sums of the tables.

        Args:
            tables: Table name: SQL expression over a row whose sum is taken.
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
    def probes(self) -> list[Probe]:
        """Samplers of this engine."""

    @abstractmethod
    def inventory(self) -> dict[str, Any]:
        """Version, and every setting that is not the default."""

    @abstractmethod
    def log_path(self) -> Path | None:
        """The server's own log, if it can be read from here."""

    @abstractmethod
    def server_cpu_s(self) -> float | None:
        """CPU seconds used so far by the server's processes, if it runs on this machine."""
