"""DuckDB in this process: one database for a file, a cursor for each session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

import duckdb
import pyarrow as pa

from loadstone.runner.engines.connections import FileConnection
from loadstone.runner.plan import RefusalError
from loadstone.runner.session import CONFLICT, INVALIDATED, FailureError
from loadstone.runner.settings import differs
from loadstone.runner.usage import EngineMeter

Rows = list[tuple[object, ...]]

_OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""No run fetches or loads code that the plan does not name."""
_IO, _OTHER = "duckdb_io", "duckdb_error"
_CLASSES: tuple[tuple[type[duckdb.Error], str], ...] = (
    (duckdb.FatalException, INVALIDATED),
    (duckdb.InternalException, INVALIDATED),
    (duckdb.IOException, _IO),
    (duckdb.ConstraintException, "duckdb_constraint"),
    (duckdb.OutOfMemoryException, "duckdb_memory"),
    (duckdb.InterruptException, "duckdb_interrupt"),
)
_INVALIDATED = "database has been invalidated"
"""In the message of whatever is asked of a database after a fatal error."""
_CONFLICTS = ("conflict", "has been altered", "has been dropped")
"""In the messages of transactions that lost against another."""
_FILE = re.compile(r"could not .*\bfile\b")
"""In that of a commit whose log was not written."""


def failure_of(error: duckdb.Error) -> FailureError:
    """The failure that an error of DuckDB is counted as."""
    message = str(error)
    return FailureError(_class_of(error, message), message)


def _class_of(error: duckdb.Error, message: str) -> str:
    if _INVALIDATED in message:
        return INVALIDATED
    if isinstance(error, duckdb.TransactionException):
        return _class_of_transaction(message.lower())
    known = (error_class for kind, error_class in _CLASSES if isinstance(error, kind))
    return next(known, _OTHER)


def _class_of_transaction(message: str) -> str:
    if any(word in message for word in _CONFLICTS):
        return CONFLICT
    return _IO if _FILE.search(message) else _OTHER


class Link:
    """A session's cursor. Statements run in transactions of their own unless one was begun."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, meter: EngineMeter) -> None:
        self._cursor = cursor
        self._meter = meter

    def ask(self, sql: str) -> Rows:
        """Runs one statement and reads all its rows.

        Raises:
            FailureError: DuckDB refuses it.
        """
        with self._calling():
            rows: Rows = self._cursor.execute(sql).fetchall()
            return rows

    def append(self, table: str, rows: pa.Table) -> None:
        """Appends rows, whose columns are those of the table in their order.

        Raises:
            FailureError: DuckDB does not take them.
        """
        with self._calling():
            # DuckDB finds `rows` by its name, among the variables of this function. An Arrow table
            # is the fastest way in: the appender of the Python API takes tuples, at seven times
            # the cost.
            self._cursor.execute(f"INSERT INTO {table} SELECT * FROM rows")

    @contextmanager
    def undoing(self) -> Iterator[None]:
        """Rolls back what was begun within it, if it fails."""
        try:
            yield
        except BaseException:
            # After a failed COMMIT or a fatal error there is nothing to roll back.
            with suppress(FailureError):
                self.ask("ROLLBACK")
            raise

    def interrupt(self) -> None:
        """Breaks off the statement that another thread runs."""
        self._cursor.interrupt()

    def close(self) -> None:
        """Says goodbye."""
        with self._meter.call():
            self._cursor.close()

    @contextmanager
    def _calling(self) -> Iterator[None]:
        with self._meter.call():
            try:
                yield
            except duckdb.Error as error:
                raise failure_of(error) from error


class Database:
    """The file of a plan.

    After a fatal error DuckDB refuses everything until the database is opened again, which this
    process can do only when no cursor is left: the last session that comes for a new one does it.

    Raises:
        RefusalError: The file is not there or is none of DuckDB's, or a setting is not taken.
    """

    def __init__(self, connection: FileConnection, meter: EngineMeter) -> None:
        self._path = Path(connection.database)
        self._settings = {**_OFFLINE, **connection.settings}
        self._meter = meter
        self._lock = Lock()
        self._links = 0
        self._is_lost = False
        if not self._path.is_file():
            raise RefusalError("connection.database", f"{self._path} is no file")
        try:
            self._root = self._open()
        except duckdb.IOException as error:
            raise RefusalError("connection.database", _first_line(error)) from error
        except duckdb.Error as error:
            field = _setting_of(connection.settings)
            raise RefusalError(field, _first_line(error)) from error
        _check(self._root, connection.settings)

    @property
    def version(self) -> str:
        """Name and version of the engine."""
        return f"DuckDB {duckdb.__version__}"

    def connect(self) -> Link:
        """Opens a cursor; give it back.

        Raises:
            FailureError: The database was lost and cannot be opened yet.
        """
        with self._lock, self._meter.call():
            try:
                if self._is_lost:
                    self._reopen()
                link = Link(self._root.cursor(), self._meter)
            except duckdb.Error as error:
                raise failure_of(error) from error
            self._links += 1
            return link

    def give_back(self, link: Link, *, is_lost: bool = False) -> None:
        """Closes a cursor, after a fatal error with `is_lost`."""
        link.close()
        with self._lock:
            self._links -= 1
            self._is_lost = self._is_lost or is_lost

    def close(self) -> None:
        """Closes the database, which writes a checkpoint."""
        with self._meter.call():
            self._root.close()

    def _reopen(self) -> None:
        if self._links:
            raise FailureError(INVALIDATED, f"{self._links} sessions still hold the lost database")
        self._root.close()
        self._root = self._open()
        self._is_lost = False

    def _open(self) -> duckdb.DuckDBPyConnection:
        config: dict[str, str | bool | int | float | list[str]] = dict(self._settings)
        return duckdb.connect(self._path, config=config)


def _check(root: duckdb.DuckDBPyConnection, settings: Mapping[str, str]) -> None:
    """Reads every setting back."""
    for name, asked in settings.items():
        # A result that is not read to its end would keep its transaction open, and the log with it.
        rows = root.execute("SELECT value FROM duckdb_settings() WHERE name = ?", [name]).fetchall()
        if not rows or differs(asked, str(rows[0][0])):
            has = f"has {rows[0][0]}" if rows else "has none of this name"
            raise RefusalError(
                f"connection.settings.{name}", f"{asked} was asked for, but DuckDB {has}"
            )


def _setting_of(settings: Mapping[str, str]) -> str:
    """Which setting DuckDB does not take: it does not say that of a value."""
    for name, value in settings.items():
        try:
            duckdb.connect(config={name: value}).close()
        except duckdb.Error:
            return f"connection.settings.{name}"
    return "connection.settings"


def _first_line(error: duckdb.Error) -> str:
    return str(error).splitlines()[0]
