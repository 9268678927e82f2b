"""The server that an experiment file asks for, as far as its settings say, without starting it."""

from __future__ import annotations

import subprocess
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
from loadstone.experiments.model import Experiment, Level, TargetSpec
from loadstone.targets.postgresql import binaries, settings, values

PLANNED = PostgreSQLFacts | MariaDBFacts | SQLiteFacts | None
_BASE_UNITS = {
    "shared_buffers": "8kB",
    "effective_cache_size": "8kB",
    "work_mem": "kB",
    "max_wal_size": "MB",
    "checkpoint_timeout": "s",
    "wal_writer_delay": "ms",
}
"""Base units (`pg_settings.unit`) of the settings that the rules read as sizes and times."""
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
    output = subprocess.run(
        [str(found.program("postgres")), "--describe-config"],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
        env={"LC_ALL": "C"},
    ).stdout
    for line in output.splitlines():
        name, *rest = line.split("\t")
        if len(rest) > 4:
            yield name, _default(name, rest[2], rest[3])
    for name, level in {**settings.BASE, **target.settings}.items():
        yield name.lower(), _given(name.lower(), level)


def _default(name: str, kind: str, value: str) -> Setting:
    """A default as `--describe-config` writes it: in base units, truth values as words."""
    if kind == "BOOLEAN":
        return Setting("on" if value.lower() in ("true", "on") else "off")
    unit = _BASE_UNITS.get(name)
    return postgresql_setting(_with_unit(value, unit), value, unit, "default")


def _with_unit(value: str, unit: str | None) -> str:
    if unit is None or not value.isdigit():
        return value
    digits = "".join(each for each in unit if each.isdigit())
    return f"{int(value) * int(digits or 1)}{unit[len(digits) :]}"


def _given(name: str, level: Level) -> Setting:
    text, unit = values.text(level), _BASE_UNITS.get(name)
    try:
        value = values.normalised(text, "real", unit)
    except ValueError:
        value = text
    return postgresql_setting(text, value, unit, "experiment")


def _mariadb(target: TargetSpec) -> Iterator[tuple[str, Setting]]:
    """The defaults of the programs, then Loadstone's own, then those of the experiment."""
    from loadstone.targets.mariadb import binaries as programs
    from loadstone.targets.mariadb import catalog
    from loadstone.targets.mariadb.settings import BASE

    for variable in catalog.variables(programs.find(target.server)).values():
        yield variable.name, mariadb_setting(variable.default)
    for name, level in {**BASE, **target.settings}.items():
        yield catalog.plain_name(name), mariadb_setting(_in_bytes(values.text(level)))


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
