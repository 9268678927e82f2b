"""The targets there are."""

from __future__ import annotations

from loadstone.errors import WrongInputError
from loadstone.targets.base import Target
from loadstone.targets.chdb import ChDB
from loadstone.targets.duckdb import DuckDB
from loadstone.targets.mariadb import MariaDB
from loadstone.targets.none import NoTarget
from loadstone.targets.postgresql import PostgreSQL
from loadstone.targets.spark import Spark
from loadstone.targets.sqlite import SQLite

TARGETS: dict[str, type[Target]] = {
    cls.engine: cls for cls in (PostgreSQL, MariaDB, SQLite, DuckDB, ChDB, Spark, NoTarget)
}


def target_class(engine: str) -> type[Target]:
    """The target of that engine.

    Raises:
        WrongInputError: If there is none.
    """
    if engine not in TARGETS:
        raise WrongInputError(
            f"there is no target {engine!r}", advice=f"choose one of {', '.join(TARGETS)}"
        )
    return TARGETS[engine]
