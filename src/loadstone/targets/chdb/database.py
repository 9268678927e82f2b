"""The folder of a database, as Loadstone itself reads and writes it: before and after the load.

A process holds one folder at a time, and a folder belongs to one process: nothing of this is open
under load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadstone.errors import TargetError
from loadstone.targets.arrow_sql import bound, rows_of
from loadstone.targets.library import calling, shortened
from loadstone.targets.own_connection import OwnConnection

if TYPE_CHECKING:
    import pyarrow as pa

STANDARD: Mapping[str, str] = {"join_use_nulls": "1", "aggregate_functions_null_for_empty": "1"}
"""What every session has: an outer join without a match gives NULL, and so does the sum of no rows,
as the SQL standard says.
"""


class Database(OwnConnection):
    """A connection of Loadstone's own, opened when needed: it has none of the load's settings."""

    def __init__(self, path: Path, settings: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.path = path
        self._settings = {**STANDARD, **(settings or {})}

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Runs one statement and returns its rows.

        Args:
            sql: The statement; parameters are written `%s`.
            parameters: Texts and numbers.

        Raises:
            TargetError: With ClickHouse's own message.
        """
        text = bound(sql, parameters)

        def refused(error: Exception) -> TargetError:
            return TargetError(f"{said(error)}, in: {shortened(text)}")

        with self._lock, calling(refused):
            table: pa.Table | None = self._opened().query(text, "ArrowTable")
            return rows_of(table)

    def _opened(self) -> Any:
        if self._connection is None:
            import chdb

            with calling(self._cannot):
                self._connection = chdb.connect(str(self.path))
                for name, value in self._settings.items():
                    self._connection.query(f"SET {name} = '{value}'")
        return self._connection

    def _cannot(self, error: Exception) -> TargetError:
        with suppress(Exception):
            self.close()
        return TargetError(f"cannot open {self.path}: {said(error)}")


def said(error: Exception) -> str:
    """ClickHouse's message, without the numbers around it."""
    text = str(error).partition("DB::Exception: ")[2] or str(error)
    return text.strip().partition("\n")[0]
