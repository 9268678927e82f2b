"""The settings of DuckDB that can be varied, as the engine itself knows them.

What a setting is called, which values it takes and how it gives them back is asked of a database in
memory. Source of the meanings: https://duckdb.org/docs/stable/configuration/overview.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import duckdb

from loadstone.errors import WrongInputError
from loadstone.spec.base import Level
from loadstone.spec.problems import near
from loadstone.targets.base import SettingInfo
from loadstone.targets.duckdb.database import ALL, connect
from loadstone.targets.quoting import quoted
from loadstone.targets.risks import Risk, Risks, is_unsafe

LAYOUT = ("default_block_size", "storage_compatibility_version")
"""Fixed when the file is made."""
_NEXT_START, _NEW_DATA = "restart", "new data"
RISKS: Risks = {"fsync_mode": Risk.of(safe="standard full", unsafe="none")}
"""Levels under which acknowledged commits can be lost."""
_OUTSIDE = re.compile(
    r"access_mode|allow.*|.*extension.*|.*secret.*|.*http.*|password|user(name)?|custom_.*|"
    r"lock_configuration|home_directory|file_search_path|enable_external_access|"
    r"disabled_filesystems|temp_directory|temp_file_encryption|duckdb_api|errors_as_json"
)
"""They say what the engine may reach and where it keeps things."""
_FOLLOWING = frozenset(
    {
        *("worker_threads", "max_memory", "wal_autocheckpoint", "null_order", "profile_output"),
        *("streaming_buffer_size", "user", "write_buffer_row_group_memory_limit"),
        "secret_directory",
    }
)
"""Other names of settings that are told already, and what follows memory, threads or the home."""
_TESTING = re.compile(
    r"debug_.*|.*_?log(s|ging|_types|_query_path)?(_.*)?|.*profil.*|tracked_metrics|"
    r"disable_database_invalidation|.*_transaction_invalidation_policy"
)
"""They are for those who look for faults in the engine."""


def info(name: str, level: Level) -> SettingInfo:
    """What setting `name` to `level` needs and risks.

    Raises:
        WrongInputError: If there is no such setting, or the level is not one of its values.
    """
    known = _known()
    if name.lower() not in known:
        raise WrongInputError(
            f"DuckDB {duckdb.__version__} has no setting {name!r}; {near(name.lower(), known)}",
            advice="SELECT * FROM duckdb_settings() lists them",
        )
    default, scope = known[name.lower()]
    refused = _refused(name.lower(), scope)
    made = None if refused else canonical(name, level)
    return SettingInfo(
        name=name.lower(),
        needs=_NEW_DATA if name.lower() in LAYOUT else _NEXT_START,
        unsafe=refused is None and is_unsafe(RISKS, name.lower(), made),
        default=default,
        refused=refused,
    )


def plain_name(name: str) -> str:
    """One name for the two that some settings have, whatever its case."""
    return _aliases().get(name.lower(), name.lower())


def default(name: str) -> str:
    """What DuckDB has on this machine without the setting."""
    return _known()[name][0]


def changed(values: Mapping[str, str]) -> dict[str, str]:
    """The settings of an engine that are not those of DuckDB by default, each told once."""
    return {
        name: value
        for name, value in values.items()
        if name not in _FOLLOWING and value != default(name)
    }


def canonical(name: str, level: Level) -> str:
    """The level as DuckDB gives it back.

    Raises:
        WrongInputError: If it is not a value of the setting.
    """
    text = written(level)
    if text.endswith("%"):
        raise WrongInputError(
            f"{name} cannot be {text!r} here: a share means another size on each machine",
            advice="write a size such as 2GB",
        )
    return _canonical(name.lower(), text)


def canonical_all(settings: Mapping[str, Level]) -> dict[str, str]:
    """The settings by their names and in the spelling of DuckDB.

    Raises:
        WrongInputError: If one of them is none.
    """
    return {name.lower(): canonical(name, level) for name, level in settings.items()}


def written_all(settings: Mapping[str, Level]) -> dict[str, str]:
    """The settings as DuckDB takes them."""
    return {name.lower(): written(level) for name, level in settings.items()}


def written(level: Level) -> str:
    """A level as DuckDB takes it."""
    return ("true" if level else "false") if isinstance(level, bool) else str(level).strip()


def same(asked: str, found: str) -> bool:
    """Whether DuckDB took a value; it keeps some words in the case in which they were given."""
    return asked.lower() == found.lower()


def _refused(name: str, scope: str) -> str | None:
    if scope != "GLOBAL":
        return "it belongs to one connection and not to the engine"
    if _OUTSIDE.fullmatch(name):
        return "it says what the engine may reach or where it keeps things, not how it works"
    if _TESTING.fullmatch(name):
        return "it is for those who look for faults in the engine"
    return None


@cache
def _known() -> dict[str, tuple[str, str]]:
    """Setting: its default here and its scope."""
    with connect(":memory:", {}) as connection:
        rows = connection.execute(ALL).fetchall()
    return {name: (value, scope) for name, value, scope in rows}


@cache
def _aliases() -> dict[str, str]:
    """Second name of a setting: its first one."""
    asked = "SELECT lower(unnest(aliases)), lower(name) FROM duckdb_settings()"
    with connect(":memory:", {}) as connection:
        return dict(connection.execute(asked).fetchall())


@cache
def _canonical(name: str, text: str) -> str:
    with connect(":memory:", {}) as connection:
        try:
            connection.execute(f"SET GLOBAL {name} = {quoted(text)}")
            found = connection.execute(
                "SELECT value FROM duckdb_settings() WHERE name = ?", [name]
            ).fetchone()
        except duckdb.Error as error:
            said = str(error).split(": ", maxsplit=1)[-1].split("\n", maxsplit=1)[0]
            raise WrongInputError(f"{name} cannot be {text!r}: {said}") from error
    return str(found[0]) if found is not None else text
