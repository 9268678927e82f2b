"""The settings of ClickHouse that can be varied, as the engine itself knows them.

They are asked of a process of their own: one process holds one database at a time, and Loadstone's
may hold that of the trial. Source of the meanings:
https://clickhouse.com/docs/operations/settings/settings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache

from loadstone.errors import TargetError, WrongInputError
from loadstone.spec.base import Level
from loadstone.spec.problems import near
from loadstone.targets.base import SettingInfo
from loadstone.targets.chdb.database import STANDARD
from loadstone.targets.quoting import escaped
from loadstone.targets.risks import Risk, Risks, is_unsafe
from loadstone.targets.script_process import answer_of

VALUE = "SELECT value FROM system.settings WHERE name = %s"
_ASK = """
import json, sys
import chdb
connection = chdb.connect(":memory:")
try:
    for statement in json.loads(sys.argv[1]):
        answer = connection.query(statement, "JSONCompactStrings")
    print(json.dumps({"rows": json.loads(str(answer))["data"]}))
except RuntimeError as error:
    print(json.dumps({"error": str(error)}))
"""
_OUTSIDE = re.compile(r".*(password|profile|log_|readonly|s3_|http_|hdfs_|azure_|kafka_|url).*")
"""They are about other systems, or about what a session may do or tells."""
RISKS: Risks = {
    "checksum_on_read": Risk.of(safe="1", unsafe="0"),
    "fsync_metadata": Risk.of(safe="1", unsafe="0"),
    "wait_for_async_insert": Risk.of(safe="1", unsafe="0"),
}
"""Levels under which rows that were acknowledged can be lost, or damage goes unnoticed."""


def info(name: str, level: Level) -> SettingInfo:
    """What setting `name` to `level` needs.

    Raises:
        WrongInputError: If there is no such setting, or the level is not one of its values.
    """
    known = _known()
    if name not in known:
        raise WrongInputError(
            f"chDB has no setting {name!r}; {near(name, known)}",
            advice="SELECT name FROM system.settings lists them",
        )
    refused = made = None
    if _OUTSIDE.fullmatch(name):
        refused = "it is about other systems, or about what a session may do, not how it works"
    elif name in STANDARD:
        refused = "Loadstone sets it, so that answers are those of standard SQL"
    else:
        made = canonical(name, level)
    return SettingInfo(
        name=name,
        needs="restart",
        unsafe=refused is None and is_unsafe(RISKS, name, made),
        default=known[name],
        refused=refused,
    )


def canonical(name: str, level: Level) -> str:
    """The level as ClickHouse gives it back.

    Raises:
        WrongInputError: If it is not a value of the setting.
    """
    return _canonical(name, written(level))


def written_all(settings: Mapping[str, Level]) -> dict[str, str]:
    """The settings as ClickHouse takes them."""
    return {name: written(level) for name, level in settings.items()}


def written(level: Level) -> str:
    """A level as ClickHouse takes it."""
    return str(int(level)) if isinstance(level, bool) else str(level).strip()


@cache
def _known() -> dict[str, str]:
    """Setting: its default."""
    return dict(_asked("SELECT name, default FROM system.settings"))


@cache
def _canonical(name: str, text: str) -> str:
    try:
        rows = _asked(
            f"SET {name} = {escaped(text)}",
            f"SELECT value FROM system.settings WHERE name = '{name}'",
        )
    except TargetError as error:
        raise WrongInputError(f"{name} cannot be {text!r}: {error.message}") from error
    return str(rows[0][0])


def _asked(*statements: str) -> list[list[str]]:
    """What a chDB without data answers to the last of some statements.

    Raises:
        TargetError: With ClickHouse's message, or if chDB does not run.
    """
    answer = answer_of("chDB", _ASK, json.dumps(statements))
    if "error" in answer:
        text = str(answer["error"]).partition("DB::Exception: ")[2] or str(answer["error"])
        raise TargetError(text.strip().partition("\n")[0])
    rows: list[list[str]] = answer["rows"]
    return rows
