"""A connection of Loadstone's own to the server: scripts, queries, and what PyMySQL needs."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from loadstone.errors import TargetError
from loadstone.targets.connection import ServerConnection
from loadstone.targets.library import calling, shortened
from loadstone.targets.mariadb import session
from loadstone.targets.mariadb.script import statements
from loadstone.targets.served import SqlClient, cut_if_silent

if TYPE_CHECKING:
    import pymysql

MINE = "/* loadstone */ "
"""Begins every statement of Loadstone's own, so that probes can tell it from load."""
_LOST = (0, 2006, 2013, 2055)
"""Client errors after which the connection is of no use."""


def connect(
    connection: ServerConnection, *, timeout_s: int = 10, local_infile: bool = False
) -> pymysql.connections.Connection[Any]:
    """Connects in autocommit mode; the settings under test do not limit the session.

    Args:
        connection: Where to.
        timeout_s: To wait for an answer.
        local_infile: Statements of the session may name files of this machine.

    Raises:
        TargetError: If the server cannot be reached or refuses.
    """
    import pymysql

    local = connection.host.startswith("/")
    place: dict[str, Any] = (
        {"unix_socket": connection.host}
        if local
        else {"host": connection.host, "port": connection.port}
    )
    where = connection.host if local else f"{connection.host}:{connection.port}"

    def cannot(error: Exception) -> TargetError:
        return TargetError(
            f"cannot connect to database {connection.database!r} at {where} as "
            f"{connection.user!r}: {said(error)}",
            advice="check that the server runs, and user, password and rights; Loadstone logs in "
            "without TLS, by mysql_native_password or unix_socket",
        )

    with calling(cannot):
        opened = pymysql.connect(
            **place,
            user=connection.user,
            password=connection.password or "",
            database=connection.database or None,
            charset="utf8mb4",
            autocommit=True,
            connect_timeout=timeout_s,
            read_timeout=timeout_s,  # a server that greets nobody is no connection either
            local_infile=local_infile,
        )
        with opened.cursor() as cursor:
            for statement in session.STATEMENTS:
                cursor.execute(MINE + statement)
    opened._read_timeout = None  # type: ignore[attr-defined] # statements take as long as they take
    return opened


class Client(SqlClient):
    """One connection that is opened when it is needed, shared by threads one at a time."""

    def __init__(self, connection: ServerConnection) -> None:
        super().__init__()
        self._to = connection
        self._lock = threading.RLock()
        self._connection: pymysql.connections.Connection[Any] | None = None

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Runs one statement and returns its rows, if it has any.

        Raises:
            TargetError: With the server's own message.
        """

        def refused(error: Exception) -> TargetError:
            self._drop_if_lost(error)
            return TargetError(f"{said(error)}, in: {shortened(sql)}")

        with self._lock:
            connection = self._opened()
            try:
                with calling(refused), connection.cursor() as cursor:
                    cursor.execute(MINE + sql, tuple(parameters) or None)
                    return list(cursor.fetchall()) if cursor.description else []
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
            if self._connection is not None and self._connection.open:
                _close(self._connection)
            self._connection = None

    def _opened(self) -> pymysql.connections.Connection[Any]:
        if self._connection is not None and self._was_cut(self._connection):
            self.close()
        if self._connection is None:
            self._connection = connect(self._to)
        return self._connection

    def _drop_if_lost(self, error: Exception) -> None:
        """After an error of another kind than the server's own, too, nothing is known of it."""
        import pymysql

        refused = isinstance(error, pymysql.MySQLError) and error.args
        if not refused or error.args[0] in _LOST:
            self.close()

    def _was_cut(self, connection: pymysql.connections.Connection[Any]) -> bool:
        import pymysql

        if connection.open and self.was_quiet():
            try:
                with cut_if_silent(connection._sock.fileno()):  # type: ignore[attr-defined]
                    connection.ping(reconnect=False)
            except (pymysql.MySQLError, OSError):
                return True
        return not connection.open


def _close(connection: pymysql.connections.Connection[Any]) -> None:
    import pymysql

    try:
        connection.close()
    except (pymysql.MySQLError, OSError):
        connection._force_close()  # type: ignore[attr-defined]


def said(error: BaseException) -> str:
    """What the server said, in one line, with its number."""
    if len(error.args) > 1 and isinstance(error.args[0], int):
        return f"{' '.join(str(error.args[1]).split())} ({error.args[0]})"
    return " ".join(str(error).split())


def number_of(error: TargetError) -> int | None:
    """The server's number of an error that a statement ended with."""
    number = error.__cause__.args[0] if error.__cause__ and error.__cause__.args else None
    return number if isinstance(number, int) else None


def identifier(name: str) -> str:
    """A name in the quotes of MariaDB."""
    return "`" + name.replace("`", "``") + "`"
