"""The folder of a database, as Loadstone itself reads and writes it: before and after the load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.targets.arrow_sql import bound, rows_of
from loadstone.targets.library import calling, shortened
from loadstone.targets.own_connection import OwnConnection
from loadstone.targets.spark import folder
from loadstone.targets.spark.jvm import JVM, said


class Database(OwnConnection):
    """Loadstone's own JVM, with the settings of the load; started when it is needed."""

    def __init__(self, path: Path, settings: Mapping[str, str]) -> None:
        super().__init__()
        self.path = path
        self._settings = settings
        self._connection: JVM | None = None

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Runs one statement and returns its rows.

        Args:
            sql: The statement; parameters are written `%s`.
            parameters: Texts and numbers.

        Raises:
            TargetError: With Spark's own message.
        """
        text = bound(sql, parameters)

        def refused(error: Exception) -> TargetError:
            return TargetError(f"{said(error)}, in: {shortened(text)}")

        with self._lock, calling(refused):
            return rows_of(self.opened().session.sql(text).toArrow())

    def declare(self, columns: Mapping[str, str]) -> None:
        """Makes tables, and has them known to each session to come.

        Args:
            columns: Table: its columns, as `CREATE TABLE` takes them.
        """
        with self._lock:
            self.close()
            folder.declare(self.path, columns)

    def load(self, table: str, files: Sequence[Path]) -> None:
        """Adds the rows of Parquet files to a table, with the table's types.

        Raises:
            TargetError: With Spark's message, if a value is none of its column's type.
        """

        def refused(error: Exception) -> TargetError:
            return TargetError(f"{said(error)}, while {table} was loaded")

        with self._lock, calling(refused):
            session = self.opened().session
            session.read.parquet(*map(str, files)).createOrReplaceTempView("loaded")
            session.sql(f"INSERT INTO {table} SELECT * FROM loaded")

    def setting(self, name: str) -> str:
        """The value of a setting, as the session has it."""
        with self._lock, calling(lambda error: TargetError(f"{said(error)}, asked for {name}")):
            session = self.opened().session
            found = session.conf.get(name, None)
            return str(session.sparkContext.getConf().get(name, "") if found is None else found)

    @property
    def version(self) -> str:
        """Spark's."""
        with self._lock:
            return self.opened().version

    def opened(self) -> JVM:
        """The JVM, which is started now if it does not run."""
        if self._connection is None or self._connection.has_ended:
            self.close()
            self._connection = JVM(self.path, self._settings)
        return self._connection
