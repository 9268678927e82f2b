"""Rows of CSV files into a table, by LOAD DATA."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from loadstone.errors import TargetError
from loadstone.targets.connection import ServerConnection
from loadstone.targets.library import calling
from loadstone.targets.local.at_once import at_once
from loadstone.targets.mariadb.client import connect, said
from loadstone.targets.schema import Table


def load(
    connection: ServerConnection, table: Table, files: Sequence[Path], *, sessions: int
) -> None:
    """Sends files into a table, so many at a time.

    Raises:
        TargetError: If the server refuses a row.
    """
    at_once([partial(_send, connection, table, path) for path in files], sessions)


def _send(connection: ServerConnection, table: Table, path: Path) -> None:
    def refused(error: Exception) -> TargetError:
        return TargetError(f"{path.name} cannot be loaded: {said(error)}")

    columns = ", ".join(column.name for column in table.columns)
    opened = connect(connection, local_infile=True)
    try:
        with calling(refused), opened.cursor() as cursor:
            # References are checked when the keys are added. Unique checks stay: without both,
            # InnoDB locks an empty table as a whole, and sessions that all want that deadlock.
            cursor.execute("SET SESSION foreign_key_checks = 0")
            cursor.execute(
                f"LOAD DATA LOCAL INFILE %s INTO TABLE {table.name} CHARACTER SET utf8mb4 "
                "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' "
                f"LINES TERMINATED BY '\\n' IGNORE 1 LINES ({columns})",
                (str(path),),
            )
            if warnings := cursor.execute("SHOW WARNINGS"):
                first = cursor.fetchone()
                raise TargetError(f"{path.name}: {warnings} warnings, the first: {first}")
    finally:
        opened.close()
