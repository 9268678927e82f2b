"""A PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import psycopg

from loadstone.runner.engines.base import Form, QueryPlan, Rows
from loadstone.runner.engines.connections import ServerConnection
from loadstone.runner.engines.server import ServerEngine
from loadstone.runner.plan import RefusalError
from loadstone.runner.session import LOST, FailureError

_CONNECT_S = 30
_FLUSHES_WHEN_ASKED = 150_000
"""Version from which statistics can be had at once; before, they may be those of half a second ago,
and a step's bytes would count as the next one's."""
_SPILLED = "SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()"


class PostgreSQLEngine(ServerEngine):
    """A server.

    Raises:
        RefusalError: It does not answer.
    """

    def __init__(self, connection: ServerConnection, server_pid: int | None) -> None:
        super().__init__(connection, server_pid)
        try:
            with self._opened() as opened:
                self.version = f"PostgreSQL {opened.info.parameter_status('server_version')}"
        except Exception as error:  # psycopg has more than its own: of text that is none
            raise RefusalError("connection", str(error).strip()) from error

    def connect(self) -> PostgreSQLChannel:
        """Opens a session.

        Raises:
            FailureError: The server does not.
        """
        with _failing():
            return PostgreSQLChannel(self._opened())

    def _opened(self) -> psycopg.Connection:
        own = self._connection
        return psycopg.connect(
            host=own.host,
            port=own.port,
            user=own.user,
            dbname=own.database,
            password=self._password,
            connect_timeout=_CONNECT_S,
            application_name="loadstone-runner",
            autocommit=True,
        )


class PostgreSQLChannel:
    """A session. Values arrive as text: their decoding is not the server's time."""

    form: Form = "copy"

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def run(self, sql: str) -> Rows:
        """Runs one statement and reads all its rows.

        Raises:
            FailureError: The server refuses it, is gone, or was interrupted.
        """
        with _failing():
            cursor = self._connection.execute(sql.encode())
            return [] if cursor.description is None else [*cursor.fetchall()]

    def load_cells(self, table: str, chunks: Iterator[bytes]) -> None:
        """Adds rows by one `COPY`.

        Raises:
            FailureError: The server refuses it, is gone, or was interrupted; nothing was added.
        """
        command = f"COPY {table} FROM STDIN (FORMAT BINARY)".encode()
        with _failing(), self._connection.cursor() as cursor, cursor.copy(command) as copy:
            for chunk in chunks:
                copy.write(chunk)

    def change(self, statements: Sequence[str]) -> None:
        """Runs statements in one transaction.

        Raises:
            FailureError: The server refuses one, is gone, or was interrupted; nothing has changed.
        """
        with _failing(), self._connection.transaction():
            for statement in statements:
                self._connection.execute(statement.encode())

    def explain(self, sql: str, *, execute: bool) -> QueryPlan:
        """The plan; executed, with rows, times and buffers of each node.

        Raises:
            FailureError: The server refuses it, is gone, or was interrupted.
        """
        words = "EXPLAIN (ANALYZE, BUFFERS)" if execute else "EXPLAIN"
        lines = [str(row[0]) for row in self.run(f"{words} {sql}")]
        nodes = [line.partition("  (cost=")[0] for line in lines if "  (cost=" in line]
        return QueryPlan("\n".join(lines), "\n".join(nodes))

    def spilled_bytes(self) -> int | None:
        """What all sessions of this database have written to temporary files, from 15 on.

        Raises:
            FailureError: The server is gone.
        """
        if self._connection.info.server_version < _FLUSHES_WHEN_ASKED:
            return None
        self.run("SELECT pg_stat_force_next_flush()")
        ((spilled,),) = self.run(_SPILLED)
        return int(str(spilled))

    def interrupt(self) -> None:
        """Asks the server to break off what runs."""
        with suppress(psycopg.Error):
            self._connection.cancel_safe(timeout=_CONNECT_S)

    def close(self) -> None:
        """Says goodbye."""
        self._connection.close()


@contextmanager
def _failing() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        message = str(error).strip().partition("\n")[0]
        if error.sqlstate is None or error.sqlstate.startswith(("08", "57P")):
            raise FailureError(LOST, message) from error
        raise FailureError(error.sqlstate, message) from error
