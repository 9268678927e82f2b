"""DuckDB in this process."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loadstone.runner.database import Database, Link
from loadstone.runner.engines.base import Form, QueryPlan, Rows
from loadstone.runner.engines.cells import table_of
from loadstone.runner.engines.connections import FileConnection
from loadstone.runner.session import FailureError
from loadstone.runner.usage import EngineMeter


class DuckDBEngine:
    """One database file.

    Raises:
        RefusalError: The file is not there or is none of DuckDB's, or a setting is not taken.
    """

    def __init__(self, connection: FileConnection) -> None:
        self._meter = EngineMeter()
        self._database = Database(connection, self._meter)
        self.version = self._database.version
        self.pids: Sequence[int] = (os.getpid(),)
        link = self._database.connect()
        ((folder,),) = link.ask("SELECT current_setting('temp_directory')")
        self._database.give_back(link)
        self.temporary: Path | None = Path(str(folder))

    def connect(self) -> DuckDBChannel:
        """Opens a cursor.

        Raises:
            FailureError: The database was lost and cannot be opened yet.
        """
        return DuckDBChannel(self._database)

    def cpu_s(self) -> float:
        """Processor time of DuckDB's threads and within its calls."""
        return self._meter.total_s()

    def close(self) -> None:
        """Closes the database."""
        self._database.close()


class DuckDBChannel:
    """A cursor."""

    form: Form = "fixed"

    def __init__(self, database: Database) -> None:
        self._database = database
        self._link: Link = database.connect()
        self._is_lost = False

    def run(self, sql: str) -> Rows:
        """Runs one statement and reads all its rows.

        Raises:
            FailureError: DuckDB refuses it, or was interrupted.
        """
        with self._noting():
            return self._link.ask(sql)

    def load_cells(self, table: str, chunks: Iterator[bytes]) -> None:
        """Adds rows in one transaction.

        Raises:
            FailureError: DuckDB refuses them, or was interrupted; nothing was added.
        """
        with self._noting(), self._link.undoing():
            self._link.ask("BEGIN")
            for chunk in chunks:
                self._link.append(table, table_of(chunk))
            self._link.ask("COMMIT")

    def change(self, statements: Sequence[str]) -> None:
        """Runs statements in one transaction.

        Raises:
            FailureError: DuckDB refuses one, or was interrupted; nothing has changed.
        """
        with self._noting(), self._link.undoing():
            for statement in ("BEGIN", *statements, "COMMIT"):
                self._link.ask(statement)

    def explain(self, sql: str, *, execute: bool) -> QueryPlan:
        """The plan; executed, with the rows and the time of each operator.

        Raises:
            FailureError: DuckDB refuses it, or was interrupted.
        """
        words = "EXPLAIN ANALYZE" if execute else "EXPLAIN"
        text = "\n".join(str(row[-1]) for row in self.run(f"{words} {sql}"))
        ((_, tree),) = self.run(f"EXPLAIN (FORMAT json) {sql}")
        return QueryPlan(text, "\n".join(_operators(json.loads(str(tree)), 0)))

    def spilled_bytes(self) -> int | None:
        """None: its temporary files are watched while a statement runs."""
        return None

    def interrupt(self) -> None:
        """Breaks off what runs."""
        self._link.interrupt()

    def close(self) -> None:
        """Gives the cursor back."""
        self._database.give_back(self._link, is_lost=self._is_lost)

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Remembers whether the engine has given up the database."""
        try:
            yield
        except FailureError as error:
            self._is_lost = self._is_lost or error.is_fatal
            raise


def _operators(nodes: Sequence[Mapping[str, Any]], depth: int) -> Iterator[str]:
    for node in nodes:
        told = node.get("extra_info", {})
        about = [told[name] for name in ("Table", "Join Type", "Conditions") if name in told]
        yield " ".join([depth * "  " + str(node["name"]).strip(), *map(str, about)])
        yield from _operators(node.get("children", ()), depth + 1)
