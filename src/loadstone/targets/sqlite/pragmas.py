"""The settings of SQLite that can be varied: pragmas, their values, and what they risk.

Source of the meanings: https://sqlite.org/pragma.html. A value has one spelling here, the one in
which SQLite gives it back when it is asked (`synchronous` 1, `cache_size` -65536).
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from loadstone.errors import WrongInputError
from loadstone.spec.base import Level
from loadstone.spec.problems import near
from loadstone.targets.base import SettingInfo
from loadstone.targets.risks import Risk, Risks, is_unsafe
from loadstone.units import parse_duration

NEXT_CONNECTION, NEW_DATA = "reload", "new data"
_ON_OFF = ("off", "on")
_TRUTH = {"true": "on", "yes": "on", "false": "off", "no": "off"}
_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_SIZE = re.compile(r"([+-]?\d+)\s*([kKMG]?B)?")
_LARGEST_MAP_BYTES = 0x7FFF0000
"""What SQLite is built to map at most (SQLITE_MAX_MMAP_SIZE)."""


@dataclass(frozen=True)
class Pragma:
    """A setting.

    Attributes:
        name: Of the pragma.
        kind: `word`: given back as written. `code`: given back as its place in `words`. `bytes`,
            `ms`, `count`: a number. `cache`: pages, or KiB if negative.
        default: What SQLite has without it, in the spelling of this module.
        words: The values of a `word` or `code`.
        least: Of a number.
        most: Of a number.
        layout: It is fixed when the data are made.
        unsafe: Words under which acknowledged commits can be lost, or the data be damaged.
        refused: Values that cannot be used here, and why.
    """

    name: str
    kind: Literal["word", "code", "bytes", "ms", "count", "cache"]
    default: str
    words: tuple[str, ...] = ()
    least: int = 0
    most: int = 2**31 - 1
    layout: bool = False
    unsafe: tuple[str, ...] = ()
    refused: Mapping[str, str] | None = None


def _switch(name: str, default: str) -> Pragma:
    return Pragma(name, "code", default, _ON_OFF)


_ALONE = (
    "the connection that has the file to itself would keep out the other users of the load, and "
    "the reading of the counters while it runs"
)

CATALOGUE: dict[str, Pragma] = {
    pragma.name: pragma
    for pragma in (
        Pragma(
            "journal_mode",
            "word",
            "delete",
            ("delete", "truncate", "persist", "memory", "wal", "off"),
            unsafe=("memory", "off"),
        ),
        # normal: in WAL mode commits may roll back after a power loss; with a rollback journal a
        # power loss may, rarely, damage the data (pragma.html#pragma_synchronous).
        Pragma(
            "synchronous",
            "code",
            "2",
            ("off", "normal", "full", "extra"),
            unsafe=("off", "normal"),
        ),
        Pragma("cache_size", "cache", "-2000", least=-(2**31), most=2**31 - 1),
        _switch("cache_spill", "1"),
        Pragma("mmap_size", "bytes", "0", most=_LARGEST_MAP_BYTES),
        Pragma("wal_autocheckpoint", "count", "1000"),
        Pragma("journal_size_limit", "bytes", "-1", least=-1, most=2**62),
        Pragma("busy_timeout", "ms", "0"),
        Pragma(
            "locking_mode", "word", "normal", ("normal", "exclusive"), refused={"exclusive": _ALONE}
        ),
        Pragma("temp_store", "code", "0", ("default", "file", "memory")),
        Pragma("threads", "count", "0", most=8),
        Pragma("soft_heap_limit", "bytes", "0", most=2**62),
        Pragma("secure_delete", "code", "0", ("off", "on", "fast")),
        _switch("foreign_keys", "0"),
        _switch("automatic_index", "1"),
        _switch("cell_size_check", "0"),
        _switch("fullfsync", "0"),
        _switch("checkpoint_fullfsync", "0"),
        Pragma("page_size", "bytes", "4096", least=512, most=65536, layout=True),
        Pragma("auto_vacuum", "code", "0", ("none", "full", "incremental"), layout=True),
        Pragma("encoding", "word", "UTF-8", ("UTF-8", "UTF-16le", "UTF-16be"), layout=True),
    )
}

RISKS: Risks = {
    pragma.name: Risk(frozenset(pragma.words) - frozenset(pragma.unsafe), frozenset(pragma.unsafe))
    for pragma in CATALOGUE.values()
    if pragma.unsafe
}

BASE: dict[str, Level] = {"foreign_keys": "on", "busy_timeout": 5000}
"""Set on every connection (see docs/sqlite.md for the reasons)."""


def pragma_of(name: str) -> Pragma | None:
    """The setting of that name, or None if SQLite has a pragma of that name that is no setting.

    Raises:
        WrongInputError: If SQLite has none.
    """
    known = CATALOGUE.get(name.lower())
    if known is None and name.lower() not in _all_names():
        raise WrongInputError(
            f"SQLite has no setting {name!r}; {near(name, CATALOGUE)}",
            advice="settings are pragmas: docs/sqlite.md lists them",
        )
    return known


def info(name: str, level: Level) -> SettingInfo:
    """What setting `name` to `level` needs and risks.

    Raises:
        WrongInputError: If there is no such setting, or the level is not one of its values.
    """
    pragma = pragma_of(name)
    if pragma is None:
        return SettingInfo(
            name=name.lower(),
            needs=NEXT_CONNECTION,
            refused="it is a pragma that asks or does something, and no setting of the engine",
        )
    value = canonical(pragma, level)
    return SettingInfo(
        name=pragma.name,
        needs=NEW_DATA if pragma.layout else NEXT_CONNECTION,
        unsafe=is_unsafe(RISKS, pragma.name, shown(pragma, value)),
        default=shown(pragma, pragma.default),
        unit={"bytes": "B", "ms": "ms"}.get(pragma.kind, ""),
        refused=(pragma.refused or {}).get(value),
    )


def canonical(pragma: Pragma, level: Level) -> str:
    """The level as SQLite gives it back.

    Raises:
        WrongInputError: If it is not a value of the setting.
    """
    text = ("on" if level else "off") if isinstance(level, bool) else str(level).strip()
    if pragma.kind == "word":
        return _word(pragma, text)
    if pragma.kind == "code":
        return _code(pragma, text)
    return str(_number(pragma, text))


def canonical_all(settings: Mapping[str, Level]) -> dict[str, str]:
    """The settings by the names and in the spelling of SQLite.

    Raises:
        WrongInputError: If one of them is none.
    """
    found = {}
    for name, level in settings.items():
        pragma = pragma_of(name)
        if pragma is None:
            raise WrongInputError(f"{name} is no setting of SQLite")
        found[pragma.name] = canonical(pragma, level)
    return found


def written(pragma: Pragma, value: str) -> str:
    """A value as SQLite takes it: by its word where it has one (`secure_delete` takes no 2)."""
    return pragma.words[int(value)] if pragma.kind == "code" else value


def shown(pragma: Pragma, value: str) -> str:
    """A value that SQLite gave back, as it may be written in an experiment."""
    if pragma.name == "cache_spill":
        return "off" if value == "0" else "on"
    if pragma.kind == "code" and value.isdigit() and int(value) < len(pragma.words):
        return pragma.words[int(value)]
    if pragma.kind == "cache" and int(value) < 0:
        return f"{-int(value)}kB"
    return f"{value}ms" if pragma.kind == "ms" else value


def same(pragma: Pragma, asked: str, found: str) -> bool:
    """Whether SQLite took a value: both in its own spelling."""
    if pragma.name == "cache_spill":  # Given back as the number of pages at which it begins.
        return (asked == "0") == (found == "0")
    return asked.lower() == found.lower()


def _word(pragma: Pragma, text: str) -> str:
    for word in pragma.words:
        if text.lower() == word.lower():
            return word
    raise _no_value(pragma, text)


def _code(pragma: Pragma, text: str) -> str:
    if text.isdigit() and int(text) < len(pragma.words):
        return str(int(text))
    word = text.lower()
    word = word if word in pragma.words else _TRUTH.get(word, word)
    if word not in pragma.words:
        raise _no_value(pragma, text)
    return str(pragma.words.index(word))


def _no_value(pragma: Pragma, text: str) -> WrongInputError:
    return WrongInputError(
        f"{pragma.name} cannot be {text!r}", advice=f"choose one of {', '.join(pragma.words)}"
    )


def _number(pragma: Pragma, text: str) -> int:
    number = _milliseconds(text) if pragma.kind == "ms" else _size(pragma, text)
    if number is None:
        raise WrongInputError(f"{pragma.name} cannot be {text!r}", advice=_how_to_write(pragma))
    if not pragma.least <= number <= pragma.most:
        raise WrongInputError(
            f"{pragma.name} cannot be {text!r}: it goes from {pragma.least} to {pragma.most}"
        )
    if pragma.name == "page_size" and number & (number - 1):
        raise WrongInputError(
            f"page_size cannot be {text!r}", advice="it is a power of two from 512 to 65536"
        )
    return number


def _size(pragma: Pragma, text: str) -> int | None:
    match = _SIZE.fullmatch(text)
    if match is None or (match[2] and pragma.kind == "count"):
        return None
    number = int(match[1])
    if not match[2]:
        return number
    size_bytes = number * _UNITS[match[2].upper()]
    return -(size_bytes // 1024) if pragma.kind == "cache" else size_bytes


def _milliseconds(text: str) -> int | None:
    if text.isdigit():
        return int(text)
    try:
        return round(parse_duration(text) * 1000)
    except ValueError:
        return None


def _how_to_write(pragma: Pragma) -> str:
    return {
        "cache": "write a size such as 64MB, or a number of pages",
        "bytes": "write a size such as 16kB or 1GB, or a number of bytes",
        "ms": "write a time such as 5s, or a number of milliseconds",
    }.get(pragma.kind, "write a whole number")


@cache
def _all_names() -> frozenset[str]:
    connection = sqlite3.connect(":memory:")
    try:
        return frozenset(str(row[0]) for row in connection.execute("PRAGMA pragma_list"))
    finally:
        connection.close()
