"""A part of a system that keeps nothing a trial begins with: a cache, a balancer, a node."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from loadstone.errors import TargetError, WrongInputError
from loadstone.placements.account import server_account
from loadstone.results.record import FactorReading
from loadstone.spec.design import Failure
from loadstone.spec.model import OutageKind
from loadstone.spec.target import StorageSpec, TargetSpec, default_server
from loadstone.targets.base import Target, TargetContext
from loadstone.targets.blame import AskedSettings
from loadstone.targets.local.engine_folders import EngineFolders, Stopwatch
from loadstone.targets.owned_server import OwnedServer
from loadstone.targets.server_outage import server_outage

ServerT = TypeVar("ServerT", bound=OwnedServer)


class OwnedPart(Target, ABC, Generic[ServerT]):
    """One server in a folder of its own, which every trial starts anew.

    A subclass makes the server, and writes what its next start reads.
    """

    serves = True
    accounts: ClassVar[tuple[str, ...]] = ()
    """That the server runs as the first of, where Loadstone is root; default: `postgres`."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._account = server_account(*self.accounts)
        self._engine_folders = EngineFolders(spec, context, self._account)
        self._server: ServerT | None = None
        self._present = spec
        self._asked = AskedSettings()

    # -- what a subclass says ------------------------------------------------------------------
    @abstractmethod
    def make_server(self, folder: Path, log: Path) -> ServerT:
        """Makes the server, which is not started yet.

        Args:
            folder: That it works in; its account owns it.
            log: Its log.
        """

    def configure(self, spec: TargetSpec) -> None:
        """Writes what the next start reads, with the settings of `spec`."""

    def read_back(self, spec: TargetSpec) -> list[FactorReading]:
        """Reads the settings that `spec` names from the running server.

        Raises:
            TargetError: If one reads back as another value.
        """
        return []

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """Its engine; nothing is started."""
        for field, given in (
            ("server", spec.server != default_server(spec.engine)),
            ("storage", spec.storage != StorageSpec()),
            ("password", spec.password is not None),
        ):
            if given:
                raise WrongInputError(
                    f"{cls.engine} is started by Loadstone and keeps nothing",
                    advice=f"leave {field} out",
                )
        return {"engine": cls.engine}

    # -- life ----------------------------------------------------------------------------------
    @property
    def server(self) -> ServerT:
        """Its processes.

        Raises:
            TargetError: If the target is not open.
        """
        if self._server is None:
            raise TargetError(f"the {self.engine} part is not open")
        return self._server

    @property
    def folder(self) -> Path:
        """That the server works in."""
        return self.server.folder

    def open(self) -> None:
        """Makes its folder and starts it."""
        self._engine_folders.open(self.empty_bytes)
        log = self._engine_folders.make_folder("log") / f"{self.engine}.log"
        self._server = self.make_server(self._engine_folders.make_folder("work"), log)
        self._begin(self.spec)

    def close(self) -> None:
        """Ends the server whatever state it is in, and removes its folders."""
        if self._server is not None:
            self._server.end()
            self._server = None
        self._engine_folders.close()

    def start(self) -> None:
        """Starts it with the settings in force; does nothing if it runs."""
        if not self.server.runs:
            self.configure(self._present)
            self.server.start(self._asked.changed())
            self._asked.worked()

    def stop(self) -> None:
        """Stops it cleanly, if it was opened."""
        if self._server is not None:
            self._server.stop()

    def check_ready(self) -> None:
        """Asks the server."""
        if not self.server.is_ready():
            raise TargetError(
                f"{self.server.name} does not answer", advice=f"see {self.server.log}"
            )

    def crash(self, failure: Failure) -> None:
        """Kills all its processes: it keeps nothing, so a power loss is no more."""
        self.server.crash(failure)

    def outage(self, kind: OutageKind) -> AbstractContextManager[None]:
        """Pauses, stops or kills it, for as long as the block lasts."""
        if kind == "full-disk":
            return super().outage(kind)
        return server_outage(self, self.server, kind)

    def check_alive(self) -> None:
        """Looks at the process."""
        self.server.check_alive()

    # -- state ---------------------------------------------------------------------------------
    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Starts it anew, as `spec` says."""
        return self._begin(spec)

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Starts it anew, as `spec` says: it keeps nothing."""
        return self._begin(spec)

    # -- observation ---------------------------------------------------------------------------
    def inventory(self) -> dict[str, Any]:
        """Account, folder, and the command lines of its processes."""
        return {
            "engine": self.engine,
            "account": self._account.name,
            "folder": str(self.folder),
            "server": [each.cmdline() for each in self.server.processes()],
            "last_reset": self._engine_folders.last_reset,
        }

    def log_path(self) -> Path | None:
        """The log since the last start state."""
        return self._server.log if self._server else None

    def server_pid(self) -> int | None:
        """The first process; None if it is not open, or down."""
        return self._server.pid if self._server else None

    def server_cpu_s(self) -> float | None:
        """CPU of all its processes; None if it is not open, or down."""
        return self._server.cpu_s() if self._server else None

    # -- inside --------------------------------------------------------------------------------
    def _begin(self, spec: TargetSpec) -> list[FactorReading]:
        """Ends what runs, and starts the server as `spec` says."""
        stopwatch = Stopwatch()
        self.server.end()
        self._present = spec
        self._asked.ask(spec.settings)
        self.server.options = spec.process
        self.server.log.unlink(missing_ok=True)
        self.start()
        stopwatch.lap("start_s")
        self._engine_folders.last_reset = stopwatch.seconds
        return [*self.read_back(spec), *self.server.readings()]
