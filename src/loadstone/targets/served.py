"""What databases have in common that are servers, whoever owns them."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from loadstone.targets.connection import ServerConnection
from loadstone.targets.database import Database

_QUIET_S = 1.0
ANSWER_S = 20.0
"""So long a server may take to say that it is there; after that its connection is cut."""


class SqlClient(ABC):
    """A connection of Loadstone's own to a server.

    One that was quiet is looked at before it is used: whatever cut it, another is opened then.
    """

    def __init__(self) -> None:
        self._used_at_s = time.monotonic()

    def used(self) -> None:
        """A statement has ended."""
        self._used_at_s = time.monotonic()

    def was_quiet(self) -> bool:
        """Whether the last statement is so long ago that the connection may have been cut."""
        return time.monotonic() - self._used_at_s > _QUIET_S

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


@contextlib.contextmanager
def cut_if_silent(connection: int) -> Iterator[None]:
    """Shuts a connection down if the block takes too long: no client library gives up by itself.

    Args:
        connection: The file descriptor of its socket.
    """

    def cut() -> None:
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)

    with socket.socket(fileno=os.dup(connection)) as end:
        timer = threading.Timer(ANSWER_S, cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


class ServedDatabase(Database):
    """A server with one database to work in."""

    client: SqlClient
    """Connected to the work database."""

    @abstractmethod
    def connection(self) -> ServerConnection:
        """To the work database."""

    def execute(self, script: str) -> None:
        """Runs the statements of a script, each in a transaction of its own."""
        self.client.execute(script)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Runs one query; parameters are written `%s`."""
        return self.client.query(sql, parameters)

    @abstractmethod
    def _warm(self) -> str:
        """Reads everything into the caches. Returns what was done."""

    @abstractmethod
    def _calm(self) -> None:
        """Resets the statistics of the running server and makes a checkpoint."""
