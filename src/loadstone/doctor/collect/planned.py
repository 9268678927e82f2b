"""The server that an experiment file asks for, as far as its settings say, without starting it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from loadstone.doctor.collect.mariadb import setting as mariadb_setting
from loadstone.doctor.collect.postgresql import setting as postgresql_setting
from loadstone.doctor.facts import (
    MariaDBFacts,
    PostgreSQLFacts,
    Setting,
    Settings,
    SQLiteFacts,
)
from loadstone.errors import WrongInputError
from loadstone.spec.base import Level
from loadstone.spec.model import Experiment
from loadstone.spec.target import TargetSpec
from loadstone.targets.postgresql import binaries, catalog, settings, values

PLANNED = PostgreSQLFacts | MariaDBFacts | SQLiteFacts | None
_READ: Mapping[str, str | None] = {
    "shared_buffers": "8kB",
    "effective_cache_size": "8kB",
    "work_mem": "kB",
    "max_wal_size": "MB",
    "checkpoint_timeout": "s",
    "wal_writer_delay": "ms",
    "checkpoint_completion_target": None,
    "dynamic_shared_memory_type": None,
    "enable_parallel_hash": None,
    "fsync": None,
    "full_page_writes": None,
    "hash_mem_multiplier": None,
    "huge_page_size": "kB",
    "huge_pages": None,
    "ignore_checksum_failure": None,
    "ignore_system_indexes": None,
    "io_method": None,
    "io_workers": None,
    "max_connections": None,
    "max_files_per_process": None,
    "max_parallel_workers": None,
    "max_parallel_workers_per_gather": None,
    "min_dynamic_shared_memory": "MB",
    "random_page_cost": None,
    "synchronous_commit": None,
    "zero_damaged_pages": None,
}
"""PostgreSQL's settings that the rules read of a server that does not run, and their base units
(`pg_settings.unit`)."""
_SIZES = {"k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


def planned_facts(experiment: Experiment) -> PLANNED:
    """What an experiment's own server would be; None for an engine without rules.

    Args:
        experiment: Whose server Loadstone starts.

    Raises:
        WrongInputError: If its server or a setting cannot be.
        TargetError: If the programs of the server are missing.
    """
    engine, size = experiment.target.engine, _size_bytes(experiment)
    if engine == "postgresql":
        found = binaries.find(experiment.target.server)
        return PostgreSQLFacts(
            settings=Settings(dict(_postgresql(found, experiment.target))),
            version=found.version,
            expected_bytes=size,
        )
    if engine == "mariadb":
        return MariaDBFacts(settings=Settings(dict(_mariadb(experiment.target))), data_bytes=size)
    if engine == "sqlite":
        return _sqlite(experiment.target)
    return None


def with_settings(facts: PostgreSQLFacts, given: Mapping[str, Level]) -> PostgreSQLFacts:
    """A running server as it would be under an experiment's settings."""
    changed = {name.lower(): _given(name.lower(), level) for name, level in given.items()}
    return replace(facts, settings=Settings({**facts.settings.by_name, **changed}))


def _size_bytes(experiment: Experiment) -> int | None:
    from loadstone.workloads.registry import workload_of

    return workload_of(experiment.workload).expected_size_bytes()


def _postgresql(found: binaries.Binaries, target: TargetSpec) -> Iterator[tuple[str, Setting]]:
    """The defaults of the programs, then Loadstone's own, then those of the experiment."""
    for name, unit in _READ.items():
        value = catalog.default_of(found, name)
        if value is not None:
            yield name, postgresql_setting(_with_unit(value, unit), value, unit, "default")
    for name, level in {**settings.BASE, **target.settings}.items():
        yield name.lower(), _given(name.lower(), level)


def _with_unit(value: str, unit: str | None) -> str:
    """`16384` of `8kB` as `131072kB`."""
    if unit is None or not value.isdigit():
        return value
    digits = "".join(each for each in unit if each.isdigit())
    return f"{int(value) * int(digits or 1)}{unit[len(digits) :]}"


def _given(name: str, level: Level) -> Setting:
    text, unit = values.text(level), _READ.get(name)
    try:
        value = values.normalised(text, "real", unit)
    except ValueError:
        value = text
    return postgresql_setting(text, value, unit, "experiment")


def _mariadb(target: TargetSpec) -> Iterator[tuple[str, Setting]]:
    """The defaults of the programs, then Loadstone's own, then those of the experiment."""
    from loadstone.targets.mariadb import binaries as programs
    from loadstone.targets.mariadb.catalog import plain_name, variables
    from loadstone.targets.mariadb.settings import BASE

    for variable in variables(programs.find(target.server)).values():
        yield variable.name, mariadb_setting(variable.default)
    for name, level in {**BASE, **target.settings}.items():
        yield plain_name(name), mariadb_setting(_in_bytes(values.text(level)))


def _in_bytes(text: str) -> str:
    """A size as MariaDB reads it, `128M`, in bytes; anything else as it is."""
    unit = text[-1:].lower()
    if unit in _SIZES and text[:-1].isdigit():
        return str(int(text[:-1]) * _SIZES[unit])
    return text


def _sqlite(target: TargetSpec) -> SQLiteFacts:
    from loadstone.targets.sqlite.pragmas import CATALOGUE, canonical, shown

    def value(name: str) -> str:
        pragma = CATALOGUE[name]
        given = target.settings.get(name)
        return shown(pragma, pragma.default if given is None else canonical(pragma, given))

    page = value("page_size").removesuffix("B").strip()
    if not page.isdigit():
        raise WrongInputError(f"page_size cannot be {page!r}")
    return SQLiteFacts(
        path="the experiment's database",
        page_bytes=int(page),
        journal_mode=value("journal_mode"),
        synchronous=value("synchronous"),
    )
