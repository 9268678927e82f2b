"""A connection of Loadstone's own to the server: scripts, queries, and what psycopg needs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from loadstone.errors import TargetError
from loadstone.targets.connection import ServerConnection
from loadstone.targets.library import calling, shortened
from loadstone.targets.postgresql import session
from loadstone.targets.postgresql.script import statements
from loadstone.targets.served import SqlClient, cut_if_silent

if TYPE_CHECKING:
    import psycopg


def connect(
    connection: ServerConnection, application: str = "loadstone", *, timeout_s: int = 10
) -> psycopg.Connection[tuple[Any, ...]]:
    """Connects in autocommit mode; the settings under test do not limit the session.

    Raises:
        TargetError: If the server cannot be reached or refuses.
    """
    import psycopg

    place = (
        connection.host
        if connection.host.startswith("/")
        else f"{connection.host}:{connection.port}"
    )

    def cannot(error: Exception) -> TargetError:
        return TargetError(
            f"cannot connect to database {connection.database!r} at {place} as "
            f"{connection.user!r}: {_one_line(error)}",
            advice="check that the server runs, and user, password and pg_hba.conf",
        )

    with calling(cannot):
        opened = psycopg.connect(
            host=connection.host,
            port=connection.port,
            user=connection.user,
            dbname=connection.database,
            password=connection.password,
            application_name=application,
            connect_timeout=timeout_s,
            autocommit=True,
            client_encoding=session.ENCODING,
        )
        opened.execute(session.statements(opened.info.server_version // 10_000))
    return opened


class Client(SqlClient):
    """One connection that is opened when it is needed, shared by threads one at a time."""

    def __init__(self, connection: ServerConnection, application: str = "loadstone") -> None:
        super().__init__()
        self._to = connection
        self._application = application
        self._lock = threading.RLock()
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Runs one statement and returns its rows, if it has any.

        Raises:
            TargetError: With the server's own message.
        """

        def refused(error: Exception) -> TargetError:
            self._drop_if_broken()
            return TargetError(f"{_one_line(error)}, in: {shortened(sql)}")

        with self._lock:
            try:
                with calling(refused):
                    # SQL of our own, not of a stranger: psycopg wants a literal here.
                    cursor = self._opened().execute(sql, parameters or None)
                    return cursor.fetchall() if cursor.description else []
            finally:
                self.used()

    def execute(self, script: str) -> None:
        """Runs the statements of a script, each in a transaction of its own.

        Raises:
            TargetError: With the server's message and the statement that failed.
        """
        with self._lock:
            for statement in statements(script):
                self.query(statement)

    def close(self) -> None:
        """Closes the connection; the next use opens another."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _opened(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._connection is not None and self._was_cut(self._connection):
            self.close()
        if self._connection is None:
            self._connection = connect(self._to, self._application)
        return self._connection

    def _was_cut(self, connection: psycopg.Connection[tuple[Any, ...]]) -> bool:
        import psycopg

        if not connection.closed and self.was_quiet():
            with contextlib.suppress(psycopg.Error), cut_if_silent(connection.fileno()):
                connection.execute("SELECT 1")
        return connection.closed

    def _drop_if_broken(self) -> None:
        if self._connection is not None and (self._connection.broken or self._connection.closed):
            self.close()


def as_target_error() -> contextlib.AbstractContextManager[None]:
    """Turns what psycopg raises within the block into a TargetError."""
    return calling(lambda error: TargetError(_one_line(error)))


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
