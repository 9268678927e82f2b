"""A MariaDB server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pymysql
from pymysql.connections import Connection

from loadstone.runner.engines.base import QueryPlan, Rows
from loadstone.runner.engines.connections import ServerConnection
from loadstone.runner.engines.server import ServerEngine
from loadstone.runner.plan import RefusalError
from loadstone.runner.session import CONFLICT, LOST, FailureError

_CONNECT_S = 30
_GONE = {2003, 2006, 2013, 1053, 1927}
"""Not reachable, gone away, lost during query, shut down, killed (Error Codes of MariaDB)."""
_DEADLOCK = {1205, 1213}


class MariaDBEngine(ServerEngine):
    """A server.

    Raises:
        RefusalError: It does not answer.
    """

    def __init__(self, connection: ServerConnection, server_pid: int | None) -> None:
        super().__init__(connection, server_pid)
        try:
            opened = self._opened()
        except Exception as error:  # PyMySQL has more than its own: of a log-in that it lacks
            raise RefusalError("connection", _message(error)) from error
        self.version = f"MariaDB {_asked(opened, 'SELECT version()')}"
        opened.close()

    def connect(self) -> MariaDBChannel:
        """Opens a session.

        Raises:
            FailureError: The server does not.
        """
        with _failing():
            return MariaDBChannel(self)

    def opened(self) -> Connection[Any]:
        """A connection."""
        return self._opened()

    def _opened(self) -> Connection[Any]:
        own = self._connection
        place: dict[str, Any] = (
            {"unix_socket": own.host}
            if own.host.startswith("/")
            else {"host": own.host, "port": own.port}
        )
        return pymysql.connect(
            user=own.user,
            password=self._password or "",
            database=own.database,
            connect_timeout=_CONNECT_S,
            autocommit=True,
            **place,
        )


class MariaDBChannel:
    """A session."""

    def __init__(self, engine: MariaDBEngine) -> None:
        self._engine = engine
        self._connection = engine.opened()
        self._number = int(str(_asked(self._connection, "SELECT connection_id()")))

    def run(self, sql: str) -> Rows:
        """Runs one statement and reads all its rows.

        Raises:
            FailureError: The server refuses it, is gone, or was interrupted.
        """
        with _failing(), self._connection.cursor() as cursor:
            cursor.execute(sql)
            return [*cursor.fetchall()]

    def change(self, statements: Sequence[str]) -> None:
        """Runs statements in one transaction.

        Raises:
            FailureError: The server refuses one, is gone, or was interrupted; nothing has changed.
        """
        with _failing(), self._connection.cursor() as cursor:
            try:
                for statement in ("START TRANSACTION", *statements, "COMMIT"):
                    cursor.execute(statement)
            except pymysql.MySQLError:
                with suppress(pymysql.MySQLError):
                    cursor.execute("ROLLBACK")
                raise

    def explain(self, sql: str, *, execute: bool) -> QueryPlan:
        """The plan as JSON; executed, with what that showed.

        Raises:
            FailureError: The server refuses it, is gone, or was interrupted.
        """
        verb = "ANALYZE" if execute else "EXPLAIN"
        text = "\n".join(str(row[0]) for row in self.run(f"{verb} FORMAT=JSON {sql}"))
        return QueryPlan(text, "\n".join(_accesses(json.loads(text), 0)))

    def spilled_bytes(self) -> int | None:
        """MariaDB counts its temporary tables on disk, not their bytes."""
        return None

    def interrupt(self) -> None:
        """Asks the server to break off what runs, in a session of its own."""
        with suppress(pymysql.MySQLError):
            other = self._engine.opened()
            with other, other.cursor() as cursor:
                cursor.execute(f"KILL QUERY {self._number}")

    def close(self) -> None:
        """Says goodbye."""
        with suppress(pymysql.MySQLError):
            self._connection.close()


def _asked(connection: Connection[Any], sql: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        ((value,),) = cursor.fetchall()
        return value


@contextmanager
def _failing() -> Iterator[None]:
    try:
        yield
    except pymysql.MySQLError as error:
        code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
        if code in _GONE or isinstance(error, pymysql.InterfaceError):
            raise FailureError(LOST, _message(error)) from error
        name = CONFLICT if code in _DEADLOCK else str(code)
        raise FailureError(name, _message(error)) from error


def _message(error: Exception) -> str:
    return str(error.args[-1]) if error.args else str(error)


_TOLD = ("table_name", "access_type", "key", "select_id", "sort_key")


def _accesses(node: object, depth: int) -> Iterator[str]:
    """The operators of a plan in JSON, with the tables and indexes that they use."""
    if isinstance(node, list):
        for part in node:
            yield from _accesses(part, depth)
    elif isinstance(node, dict):
        for name, part in node.items():
            if isinstance(part, dict | list):
                yield f"{depth * '  '}{name}"
                yield from _accesses(part, depth + 1)
            elif name in _TOLD:
                yield f"{depth * '  '}{name}: {part}"
