"""Rows of CSV files into a table, by COPY."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from loadstone.targets.connection import ServerConnection
from loadstone.targets.local.at_once import at_once
from loadstone.targets.postgresql.client import as_target_error, connect
from loadstone.targets.schema import Table

_BLOCK_BYTES = 1 << 20


def load(
    connection: ServerConnection, table: Table, files: Sequence[Path], *, sessions: int
) -> None:
    """Copies files into a table, so many at a time.

    Raises:
        TargetError: If the server refuses a row.
    """
    at_once([partial(_copy, connection, table, path) for path in files], sessions)


def _copy(connection: ServerConnection, table: Table, path: Path) -> None:
    columns = ", ".join(column.name for column in table.columns)
    command = f"COPY {table.name} ({columns}) FROM STDIN (FORMAT csv, HEADER true)"
    with (
        connect(connection) as opened,
        path.open("rb") as file,
        as_target_error(),
        opened.cursor().copy(command.encode()) as copy,
    ):
        while block := file.read(_BLOCK_BYTES):
            copy.write(block)
