"""What targets have in common that are servers with one database to work in."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError, WrongInputError
from loadstone.journal import Entry
from loadstone.results.record import FactorReading, Fingerprint
from loadstone.spec.model import Failure, OutageKind, TargetSpec
from loadstone.targets.address import Address
from loadstone.targets.base import TargetContext
from loadstone.targets.connection import ServerConnection
from loadstone.targets.database import Database


class SqlClient(ABC):
    """A connection of Loadstone's own to a server."""

    @abstractmethod
    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Runs one statement and returns its rows, if it has any.

        Raises:
            TargetError: With the server's own message.
        """

    @abstractmethod
    def execute(self, script: str) -> None:
        """Runs the statements of a script, each in a transaction of its own.

        Raises:
            TargetError: With the server's message and the statement that failed.
        """

    @abstractmethod
    def close(self) -> None:
        """Closes the connection; the next use opens another."""

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The first column of the only row of a query."""
        return self.query(sql, parameters)[0][0]


class Server(ABC):
    """A server with one database to work in, whoever owns it."""

    client: SqlClient
    """Connected to the work database."""

    @abstractmethod
    def open(self) -> None:
        """Makes the work database usable, or refuses."""

    @abstractmethod
    def close(self) -> None:
        """Leaves everything as `open` found it."""

    @abstractmethod
    def start(self) -> None:
        """Starts an owned server."""

    @abstractmethod
    def stop(self) -> None:
        """Stops an owned server cleanly."""

    @abstractmethod
    def crash(self, failure: Failure) -> None:
        """Lets an owned server fail."""

    @abstractmethod
    def outage(self, kind: OutageKind) -> AbstractContextManager[None]:
        """Puts an owned server out of service for a while."""

    @abstractmethod
    def analyse(self) -> None:
        """Makes the planner's statistics of all tables."""

    @abstractmethod
    def snapshot(self, key: str) -> None:
        """Keeps the data of the work database."""

    @abstractmethod
    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Puts kept data back, and starts the server as `spec` says."""

    @abstractmethod
    def settle(self, cache: str) -> None:
        """Caches, statistics and checkpoint before load."""

    @abstractmethod
    def check_alive(self) -> None:
        """Raises a TargetError if an owned server has ended."""

    @abstractmethod
    def connection(self) -> ServerConnection:
        """To the work database."""

    @abstractmethod
    def log_path(self) -> Path | None:
        """The server's log."""

    @abstractmethod
    def cpu_s(self) -> float | None:
        """CPU seconds of its processes so far."""

    @abstractmethod
    def pid(self) -> int | None:
        """Its first process, if it runs on this machine and is Loadstone's."""

    @abstractmethod
    def data_folder(self) -> Path | None:
        """Where its data lie, if it is Loadstone's."""

    @abstractmethod
    def inventory(self) -> dict[str, Any]:
        """What is special to this way of having a server."""


class AddressServer(Server):
    """A server that somebody else runs: Loadstone borrows a database and settings of it."""

    _address: Address
    _context: TargetContext
    _aside: Entry | None
    """What puts the owner's data back."""
    _snapshots: dict[str, tuple[str, Entry]]
    """By key: the name of each in the server, and what drops it."""

    def start(self) -> None:
        """Cannot be."""
        raise self._not_ours("started")

    def stop(self) -> None:
        """Cannot be."""
        raise self._not_ours("stopped")

    def crash(self, failure: Failure) -> None:
        """Cannot be."""
        raise self._not_ours("crashed")

    def outage(self, kind: OutageKind) -> AbstractContextManager[None]:
        """Cannot be."""
        raise self._not_ours("put out of service")

    def check_alive(self) -> None:
        """Whether it lives is its owner's business; the driver counts errors."""

    def connection(self) -> ServerConnection:
        """To the work database."""
        return self._address.connection()

    def log_path(self) -> Path | None:
        """The log is not ours to read."""
        return None

    def cpu_s(self) -> float | None:
        """Unknown from here."""
        return None

    def pid(self) -> int | None:
        """Unknown from here."""
        return None

    def data_folder(self) -> Path | None:
        """Unknown from here."""
        return None

    def inventory(self) -> dict[str, Any]:
        """Only the address."""
        return {"address": self._address.shown}

    def refuse_cold(self, cache: str) -> None:
        """Raises a TargetError unless the caches are to be warm."""
        if cache != "warm":
            raise TargetError(
                "the caches of a server at an address cannot be emptied from here",
                advice="use cache: warm, or a server that Loadstone starts",
            )

    def _snapshot(self, key: str) -> str:
        if key not in self._snapshots:
            raise WrongInputError(f"there is no snapshot {key!r} to restore")
        return self._snapshots[key][0]

    def _give_back(self) -> None:
        """Puts the owner's data back and drops the snapshots."""
        if self._aside is not None:
            self._context.journal.undo(self._aside)
            self._aside = None
        for key in list(self._snapshots):
            self._context.journal.undo(self._snapshots[key][1])
            del self._snapshots[key]

    def _not_ours(self, done: str) -> TargetError:
        return TargetError(
            f"the server at {self._address.shown} cannot be {done} from here",
            advice="use a server that Loadstone starts: embedded or local",
        )


def no_setting(name: str) -> WrongInputError:
    """For a setting that the server at an address does not have."""
    return WrongInputError(f"the server at the address has no setting {name!r}")


def check_range(
    name: str, text: str, number: float, bounds: tuple[str | None, str | None], unit: str = ""
) -> None:
    """Raises a WrongInputError if a number is not within the bounds that the server told."""
    least, greatest = bounds
    if not float(least or "-inf") <= number <= float(greatest or "inf"):
        raise WrongInputError(
            f"{name} cannot be {text!r}",
            advice=f"choose from {least} to {greatest}{' of ' + unit if unit else ''}",
        )


class ServedTarget(Database):
    """A target whose engine is a server: owned by Loadstone, or at an address."""

    _server: Server

    def close(self) -> None:
        """Removes the owned server, or gives the database at the address back as it was."""
        self._server.close()

    def start(self) -> None:
        """Starts an owned server; one at an address cannot be."""
        self._server.start()

    def stop(self) -> None:
        """Stops an owned server cleanly."""
        self._server.stop()

    def crash(self, failure: Failure) -> None:
        """Kills all processes of an owned server at once."""
        self._server.crash(failure)

    def outage(self, kind: OutageKind) -> AbstractContextManager[None]:
        """Pauses or kills an owned server, or fills its disk, for as long as the block lasts."""
        return self._server.outage(kind)

    def analyse(self) -> None:
        """Makes the planner's statistics of all tables."""
        self._server.analyse()

    def snapshot(self, key: str) -> None:
        """Analyses, flushes and copies."""
        self._server.snapshot(key)

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Puts the copy back, applies the settings and reads them back."""
        return self._server.restore(key, spec)

    def settle(self, cache: str) -> None:
        """Brings the caches into their state, resets the statistics and checkpoints."""
        self._server.settle(cache)

    def check_alive(self) -> None:
        """Looks whether an owned server still runs."""
        self._server.check_alive()

    def connection(self) -> ServerConnection:
        """To the work database."""
        return self._server.connection()

    def execute(self, script: str) -> None:
        """Runs the statements of a script, each in a transaction of its own."""
        self._server.client.execute(script)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Runs one query; parameters are written `%s`."""
        return self._server.client.query(sql, parameters)

    def log_path(self) -> Path | None:
        """The log of an owned server since the last restore."""
        return self._server.log_path()

    def data_folder(self) -> Path | None:
        """Of an owned server."""
        return self._server.data_folder()

    def server_pid(self) -> int | None:
        """The first process of an owned server."""
        return self._server.pid()

    def server_cpu_s(self) -> float | None:
        """CPU seconds of an owned server since its start."""
        return self._server.cpu_s()


def fingerprint_of(rows: Mapping[str, int], sums: Mapping[str, str], size: int) -> Fingerprint:
    """The fingerprint of data; its digest is the same on every engine that holds the same data.

    Args:
        rows: Table: number of rows.
        sums: Table: sum over its rows, as a plain integer.
        size: Bytes of the database.
    """
    digest = hashlib.sha256(json.dumps([rows, sums], sort_keys=True).encode()).hexdigest()
    return Fingerprint(rows=dict(rows), sums=dict(sums), size_bytes=size, digest=digest)
