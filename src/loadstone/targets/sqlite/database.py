"""The database file, as Loadstone itself reads and writes it: beside the load, never in it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.targets.library import calling, shortened
from loadstone.targets.own_connection import OwnConnection
from loadstone.targets.sqlite import pragmas

LEAST_VERSION = (3, 37, 0)
"""The first with STRICT tables."""
_PATIENCE_S = 60.0
"""How long a reader of ours waits for a writer of the load."""
_CACHE_KIB = 64 * 1024


def connect(path: Path) -> sqlite3.Connection:
    """Opens the file, which must exist, with every statement a transaction of its own.

    Raises:
        TargetError: If it cannot be opened.
    """
    with calling(lambda error: TargetError(f"cannot open {path}: {error}")):
        return sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=_PATIENCE_S,
            isolation_level=None,
            check_same_thread=False,
        )


def create(path: Path, layout: Mapping[str, str]) -> None:
    """Makes an empty database of that layout, on the disk.

    Raises:
        TargetError: If SQLite takes another layout.
    """
    path.touch(mode=0o600, exist_ok=False)
    with _used(connect(path)) as connection:
        for name, value in layout.items():
            _set(connection, name, value)
        connection.execute("VACUUM")  # Writes the first page.
    layout_of(path, layout)


def layout_of(path: Path, asked: Mapping[str, str]) -> dict[str, str]:
    """Reads back the settings that belong to the file itself, of those that were asked for.

    Raises:
        TargetError: If the file has another value.
    """
    with _used(connect(path)) as connection:
        return {
            name: _expect(connection, name, value)
            for name, value in asked.items()
            if pragmas.CATALOGUE[name].layout
        }


def apply(path: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """Opens the file as each connection of the load does, and reads every setting back.

    The journal mode WAL stays with the file.

    Returns:
        Setting: what SQLite says of it, in its own spelling.

    Raises:
        TargetError: If SQLite says another value than was asked for.
    """
    found = {}
    with _used(connect(path)) as connection:
        for name, value in settings.items():
            _set(connection, name, value)
        for name, value in settings.items():
            found[name] = _expect(connection, name, value)
    return found


def fold(path: Path) -> None:
    """Brings everything into the one file: no WAL, no journal beside it, all on the disk."""
    with _used(connect(path)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
        if mode != "delete":
            raise TargetError(f"the WAL of {path} cannot be folded in: it is in use")


class Database(OwnConnection):
    """One connection of Loadstone's own, opened when it is needed.

    It is not part of the load and follows none of its settings but those of the file. It must be
    closed before anything else touches the file in this process: closing any descriptor of a file
    takes away all POSIX locks that the process holds on it.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self._connection: sqlite3.Connection | None = None

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Runs one statement and returns its rows; parameters are written `%s`, as elsewhere.

        Raises:
            TargetError: With SQLite's own message.
        """
        # Without parameters a per cent sign is one: the remainder.
        text = sql.replace("%s", "?") if parameters else sql
        with self._lock, calling(lambda error: TargetError(f"{error}, in: {shortened(sql)}")):
            return self._opened().execute(text, tuple(parameters)).fetchall()

    def statements(self, script: str) -> Iterator[str]:
        """By SQLite's own idea of where one ends."""
        return statements(script)

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = connect(self.path)
            self._connection.execute(f"PRAGMA cache_size = {-_CACHE_KIB}")
        return self._connection


def statements(script: str) -> Iterator[str]:
    """The statements of a script, by SQLite's own idea of where one ends."""
    statement = ""
    for piece in script.split(";"):
        statement += piece
        if sqlite3.complete_statement(statement + ";"):
            if statement.strip():
                yield statement.strip()
            statement = ""
        else:
            statement += ";"
    if statement.strip("; \n\t"):
        yield statement.removesuffix(";")


def _set(connection: sqlite3.Connection, name: str, value: str) -> None:
    # Values come from the catalogue: words of its own, or whole numbers.
    written = pragmas.written(pragmas.CATALOGUE[name], value)
    connection.execute(f"PRAGMA {name} = '{written}'").fetchall()


def _expect(connection: sqlite3.Connection, name: str, value: str) -> str:
    pragma = pragmas.CATALOGUE[name]
    found = str(connection.execute(f"PRAGMA {name}").fetchone()[0])
    if not pragmas.same(pragma, value, found):
        raise TargetError(
            f"{name} was set to {pragmas.shown(pragma, value)!r}, but SQLite "
            f"{sqlite3.sqlite_version} says {pragmas.shown(pragma, found)!r}",
            advice="this build of SQLite does not allow it: choose another level",
        )
    return found


@contextlib.contextmanager
def _used(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    try:
        with calling(lambda error: TargetError(f"SQLite: {error}")):
            yield connection
    finally:
        connection.close()
