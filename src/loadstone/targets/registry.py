"""The targets there are."""

from __future__ import annotations

from loadstone.errors import WrongInputError
from loadstone.registered import Registered, unfit_class
from loadstone.spec.problems import near
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target

TARGETS: Registered[type[Target]] = Registered(
    {
        "postgresql": "loadstone.targets.postgresql:PostgreSQL",
        "mariadb": "loadstone.targets.mariadb:MariaDB",
        "sqlite": "loadstone.targets.sqlite:SQLite",
        "duckdb": "loadstone.targets.duckdb:DuckDB",
        "chdb": "loadstone.targets.chdb:ChDB",
        "spark": "loadstone.targets.spark:Spark",
        "jvm": "loadstone.targets.jvm:Jvm",
        "folder": "loadstone.targets.folder:Folder",
        "device": "loadstone.targets.device:Device",
        "nbd": "loadstone.targets.network_storage:Nbd",
        "iscsi": "loadstone.targets.network_storage:Iscsi",
        "nfs": "loadstone.targets.network_storage:Nfs",
        "http": "loadstone.targets.http:Http",
        "sql-dashboards": "loadstone.targets.sql_dashboards:SqlDashboards",
        "superset": "loadstone.targets.superset:Superset",
        "local": "loadstone.targets.plain:Local",
        "gridengine": "loadstone.targets.gridengine:GridEngine",
        "slurm": "loadstone.targets.slurm:Slurm",
        "none": "loadstone.targets.none:NoTarget",
    },
    group="loadstone.targets",
    unfit=unfit_class(Target, named_by="engine"),
)

SCHEMES = {"postgres": "postgresql", "mysql": "mariadb", "https": "http"}
"""Schemes of addresses that are not the name of their engine."""


def engine_of_scheme(scheme: str) -> str:
    """The engine that addresses of that scheme are of, if there is one."""
    return SCHEMES.get(scheme, scheme)


def no_target(engine: str) -> str:
    """Why there is no target of that engine."""
    return TARGETS.left_out.get(engine) or (
        f"there is no target {engine!r}; {near(engine, TARGETS)}"
    )


def target_class(engine: str) -> type[Target]:
    """The target of that engine, for what does not depend on where it is.

    Raises:
        WrongInputError: If there is none that can be used.
    """
    if engine not in TARGETS:
        raise WrongInputError(no_target(engine))
    return TARGETS[engine]


def target_for(spec: TargetSpec) -> type[Target]:
    """The target that `spec` describes: where it is decides too, not the engine alone.

    Raises:
        WrongInputError: If there is none.
    """
    return target_class(spec.engine).for_spec(spec)


def register_undoing() -> None:
    """Imports every target, with which each registers how its changes are undone."""
    for _ in TARGETS.values():
        pass
