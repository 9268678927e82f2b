"""The database file, as Loadstone itself reads and writes it: before and after the load.

DuckDB lets one process at a time open a file for writing, so nothing of this is open under load.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from loadstone.errors import TargetError
from loadstone.targets.library import calling, shortened
from loadstone.targets.own_connection import OwnConnection

ALL = "SELECT lower(name), coalesce(value, ''), scope FROM duckdb_settings()"
"""Name, value and scope of every setting."""
_OWN = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""Nothing is fetched from elsewhere, whatever a query asks for."""


def connect(path: Path | str, settings: Mapping[str, str]) -> duckdb.DuckDBPyConnection:
    """Opens a file, which is made if it is not there.

    Args:
        path: The file; `:memory:` for none.
        settings: Global settings of the engine.

    Raises:
        TargetError: With DuckDB's own message.
    """
    with calling(lambda error: TargetError(f"cannot open {path}: {_first_line(error)}")):
        return duckdb.connect(str(path), config={**_OWN, **settings})


MEANING = frozenset(
    {
        *("default_collation", "default_null_order", "null_order", "default_order"),
        *("dialect_compatibility_mode", "disable_timestamptz_casts", "error_on_division_by_zero"),
        *("ieee_floating_point_ops", "integer_division", "max_execution_time"),
        *("max_expression_depth", "old_implicit_casting", "order_by_non_integer_literal"),
        *("preserve_identifier_case", "regex_match_operator_semantics"),
        *("scalar_subquery_error_on_multiple_rows", "warnings_as_errors"),
    }
)
"""They say what a statement means, or when it is broken off: Loadstone's own have none of them."""


class Database(OwnConnection):
    """One connection of Loadstone's own, opened when needed.

    The engine has the settings of the load, but for those in `MEANING`.
    """

    def __init__(self, path: Path, settings: Mapping[str, str]) -> None:
        super().__init__()
        self.path = path
        self._settings = dict(settings)
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._in_force: dict[str, str] = {}

    def in_force(self) -> dict[str, str]:
        """Every setting, as an engine has it that was opened for the load."""
        with self._lock:
            self._opened()
            return self._in_force

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Runs one statement and returns its rows; parameters are written `%s`, as elsewhere.

        Raises:
            TargetError: With DuckDB's own message.
        """

        def refused(error: Exception) -> TargetError:
            return TargetError(f"{_first_line(error)}, in: {shortened(sql)}")

        # Without parameters a per cent sign is one: the remainder.
        text = sql.replace("%s", "?") if parameters else sql
        with self._lock, calling(refused):
            return self._opened().execute(text, list(parameters)).fetchall()

    def statements(self, script: str) -> Iterable[str]:
        """As DuckDB's parser cuts it."""
        with calling(lambda error: TargetError(_first_line(error))):
            return [statement.query for statement in duckdb.extract_statements(script)]

    def _opened(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            self._connection = connect(self.path, self._settings)
            rows = self._connection.execute(ALL).fetchall()
            self._in_force = {name: value for name, value, _ in rows}
            for name in MEANING & self._settings.keys():
                self._connection.execute(f"RESET GLOBAL {name}")
        return self._connection


def _first_line(error: Exception) -> str:
    return str(error).split("\n", maxsplit=1)[0]
