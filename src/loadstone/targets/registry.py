"""The targets there are."""

from __future__ import annotations

from loadstone.errors import WrongInputError
from loadstone.registered import Registered
from loadstone.targets.base import Target

TARGETS: Registered[Target] = Registered(
    {
        "postgresql": "loadstone.targets.postgresql:PostgreSQL",
        "mariadb": "loadstone.targets.mariadb:MariaDB",
        "sqlite": "loadstone.targets.sqlite:SQLite",
        "duckdb": "loadstone.targets.duckdb:DuckDB",
        "chdb": "loadstone.targets.chdb:ChDB",
        "spark": "loadstone.targets.spark:Spark",
        "none": "loadstone.targets.none:NoTarget",
    }
)


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


def register_undoing() -> None:
    """Imports every target, with which each registers how its changes are undone."""
    for _ in TARGETS.values():
        pass
