"""chDB in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import chdb
import pyarrow as pa

from loadstone.runner.engines.base import Form, QueryPlan, Rows
from loadstone.runner.engines.cells import AMOUNTS, MEMBERS
from loadstone.runner.engines.connections import FileConnection
from loadstone.runner.plan import RefusalError
from loadstone.runner.session import FailureError
from loadstone.runner.usage import EngineMeter
from loadstone.targets.arrow_sql import rows_of
from loadstone.targets.chdb.database import STANDARD, said
from loadstone.targets.quoting import escaped

_QUERY = count(1)


class ChDBEngine:
    """One folder.

    Raises:
        RefusalError: It does not open, or a setting is not taken.
    """

    def __init__(self, connection: FileConnection) -> None:
        self._folder = connection.database
        self._settings = {**STANDARD, **connection.settings}
        self._meter = EngineMeter()
        self.pids: Sequence[int] = (os.getpid(),)
        self.temporary: Path | None = Path(self._folder) / "tmp"
        if not Path(self._folder).is_dir():
            raise RefusalError("connection.database", f"{self._folder} is no folder")
        try:
            # It holds the engine; sessions come and go.
            self._first = self._opened()
            self.version = f"chDB {chdb.__version__} (ClickHouse {chdb.engine_version})"
        except RuntimeError as error:
            raise RefusalError("connection", said(error)) from error

    def connect(self) -> ChDBChannel:
        """Opens a session.

        Raises:
            FailureError: The engine does not.
        """
        with _failing():
            return ChDBChannel(self._opened(), self._opened(), self._meter, self._folder)

    def cpu_s(self) -> float:
        """Processor time of ClickHouse's threads and within its calls."""
        return self._meter.total_s()

    def close(self) -> None:
        """Closes the folder."""
        with self._meter.call():
            self._first.close()

    def _opened(self) -> Any:
        with self._meter.call():
            connection = chdb.connect(self._folder)
            for name, value in self._settings.items():
                connection.query(f"SET {name} = '{value}'")
            return connection


class ChDBChannel:
    """A session, and another that can break off what it runs."""

    form: Form = "fixed"

    def __init__(self, connection: Any, other: Any, meter: EngineMeter, folder: str) -> None:
        self._connection = connection
        self._other = other
        self._meter = meter
        self._folder = folder
        self._present = ""

    def run(self, sql: str) -> Rows:
        """Runs one statement and reads all its rows.

        Raises:
            FailureError: ClickHouse refuses it, or was interrupted.
        """
        # The id of a query cannot be set: a comment tells this one from others.
        self._present = f"loadstone {next(_QUERY)}"
        with _failing(), self._meter.call():
            return rows_of(self._connection.query(f"/* {self._present} */ {sql}", "ArrowTable"))

    def load_cells(self, table: str, chunks: Iterator[bytes]) -> None:
        """Adds rows by way of a file that ClickHouse reads, where the database is.

        Raises:
            FailureError: ClickHouse refuses them, or was interrupted, or the file cannot be
                written.
        """
        amounts = ", ".join(f"if(isNaN({name}), NULL, {name})" for name in AMOUNTS)
        types = [*(f"{name} Int16" for name in MEMBERS), *(f"{name} Float64" for name in AMOUNTS)]
        with _writing(), NamedTemporaryFile(prefix="loadstone-cells-", dir=self._folder) as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            source = f"file({escaped(file.name)}, 'RowBinary', '{', '.join(types)}')"
            self.run(f"INSERT INTO {table} SELECT {', '.join(MEMBERS)}, {amounts} FROM {source}")

    def change(self, statements: Sequence[str]) -> None:
        """Runs statements one after the other: there are no transactions.

        Raises:
            FailureError: ClickHouse refuses one, or was interrupted; those before it stay done.
        """
        for statement in statements:
            self.run(statement)

    def explain(self, sql: str, *, execute: bool) -> QueryPlan:
        """The plan; ClickHouse does not say what its execution showed.

        Raises:
            FailureError: ClickHouse refuses it, or was interrupted.
        """
        text = "\n".join(str(row[0]) for row in self.run(f"EXPLAIN {sql}"))
        return QueryPlan(text, text)

    def spilled_bytes(self) -> int | None:
        """None: its temporary files are watched while a statement runs."""
        return None

    def interrupt(self) -> None:
        """Breaks off what runs."""
        with suppress(RuntimeError):
            self._other.query(f"KILL QUERY WHERE startsWith(query, '/* {self._present} */') ASYNC")

    def close(self) -> None:
        """Says goodbye."""
        with suppress(RuntimeError), self._meter.call():
            self._connection.close()
            self._other.close()


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FailureError("cells", f"the cells cannot be written: {error}") from error


@contextmanager
def _failing() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        code = str(error).removeprefix("Code: ").partition(".")[0]
        raise FailureError(code if code.isdigit() else "chdb_error", said(error)) from error
    except (pa.ArrowInvalid, OSError) as error:  # an interrupted query may end within its answer
        raise FailureError("chdb_error", f"the answer is cut off: {error}") from error
