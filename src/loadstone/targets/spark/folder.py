"""What lies where in the folder of a database, and which tables it has.

There is no metastore: the tables are declared again in each process that opens the folder.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from loadstone.targets.quoting import escaped

_DECLARED = "tables.json"


def tables(database: Path) -> Path:
    """A folder of Parquet files for each table."""
    return database / "tables"


def temporary(database: Path) -> Path:
    """Where Spark keeps what it exchanges between stages and what does not fit into memory."""
    return database / "tmp"


def log(database: Path) -> Path:
    """What the JVM says."""
    return database / "spark.log"


def declare(database: Path, columns: Mapping[str, str]) -> None:
    """Adds tables.

    Args:
        database: The folder.
        columns: Table: its columns, as `CREATE TABLE` takes them.
    """
    tables(database).mkdir(parents=True, exist_ok=True)
    for table in columns:
        (tables(database) / table).mkdir(exist_ok=True)
    text = json.dumps({**declared(database), **columns}, indent=1)
    (database / _DECLARED).write_text(text, encoding="utf-8")


def declared(database: Path) -> dict[str, str]:
    """Table: its columns."""
    path = database / _DECLARED
    found: dict[str, str] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found


def statements(database: Path) -> list[str]:
    """Statements that make the tables known to a session."""
    return [
        f"CREATE TABLE {name} ({columns}) USING parquet LOCATION {escaped(tables(database) / name)}"
        for name, columns in declared(database).items()
    ]


def tidy(database: Path) -> None:
    """Removes what a JVM has left that has ended."""
    shutil.rmtree(temporary(database), ignore_errors=True)
    log(database).unlink(missing_ok=True)


def size_bytes(database: Path) -> int:
    """Of all files of the tables."""
    return sum(path.stat().st_size for path in tables(database).rglob("*") if path.is_file())
