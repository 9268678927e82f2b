"""Values of settings, read as PostgreSQL reads them (`parse_int`, `parse_real` in guc.c)."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

from loadstone.spec.base import Level

_MEMORY_BYTES = {
    "B": 1,
    "kB": 1024,
    "MB": 1024**2,
    "GB": 1024**3,
    "TB": 1024**4,
}
_TIME_US = {
    "us": 1,
    "ms": 1000,
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
_NUMBER = re.compile(
    r"\s*([+-]?(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?))\s*([A-Za-z]*)\s*"
)
_BASE_UNIT = re.compile(r"(\d*)([A-Za-z]+)")
_TRUE = ("on", "true", "yes", "1")
_FALSE = ("off", "false", "no", "0")


def text(level: Level) -> str:
    """A level as it is written into a configuration file."""
    if isinstance(level, bool):
        return "on" if level else "off"
    return str(level)


def listed(folder: Path) -> str:
    """A folder as a list of one: its commas and blanks do not part it."""
    return '"' + str(folder).replace('"', '""') + '"'


def quoted(value: str) -> str:
    """A value in the quotes of a configuration file, or of an SQL string with `E` before it."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def normalised(value: str, kind: str, unit: str | None) -> str:
    """The value in the base unit, as `pg_settings.setting` shows it.

    Args:
        value: As written: `128MB`, `on`, `0.9`.
        kind: `pg_settings.vartype`: `bool`, `integer`, `real`, `enum` or `string`.
        unit: `pg_settings.unit`: `8kB`, `ms`, ..., or None.

    Raises:
        ValueError: If it is not a value of that kind.
    """
    if kind == "bool":
        return _boolean(value)
    if kind == "enum":
        return value.strip().lower()
    if kind in ("integer", "real"):
        number = _number(value, unit)
        return str(_rounded(number)) if kind == "integer" else repr(float(number))
    return value


def same(one: str, other: str, kind: str, unit: str | None) -> bool:
    """Whether two values of a setting mean the same."""
    try:
        left, right = normalised(one, kind, unit), normalised(other, kind, unit)
    except ValueError:
        return False
    if kind == "real":
        return math.isclose(float(left), float(right), rel_tol=1e-6, abs_tol=1e-12)
    if kind == "enum" and {left, right} & {*_TRUE, *_FALSE}:
        return _as_boolean_word(left) == _as_boolean_word(right)
    return left == right


def _boolean(value: str) -> str:
    """`on` or `off`, from any unambiguous beginning of a Boolean word."""
    word = value.strip().lower()
    for words, meaning in ((_TRUE, "on"), (_FALSE, "off")):
        if word and word != "o" and any(full.startswith(word) for full in words):
            return meaning
    raise ValueError(f"{value!r} is not on or off")


def _as_boolean_word(value: str) -> str:
    if value in _TRUE:
        return "on"
    return "off" if value in _FALSE else value


def _number(value: str, unit: str | None) -> Fraction:
    match = _NUMBER.fullmatch(value)
    if match is None:
        raise ValueError(f"{value!r} is not a number")
    digits, given = match[1], match[2]
    number = Fraction(int(digits, 16)) if "x" in digits.lower() else Fraction(digits.rstrip("."))
    if not given:
        return number
    if unit is None:
        raise ValueError(f"{value!r} has a unit, but this setting has none")
    base = _BASE_UNIT.fullmatch(unit)
    if base is None:
        raise ValueError(f"unknown base unit {unit!r}")
    for table in (_MEMORY_BYTES, _TIME_US):
        if given in table and base[2] in table:
            return number * table[given] / (table[base[2]] * int(base[1] or 1))
    valid = _MEMORY_BYTES if base[2] in _MEMORY_BYTES else _TIME_US
    raise ValueError(f"{value!r} has a unit that does not fit: use one of {', '.join(valid)}")


def _rounded(number: Fraction) -> int:
    """To the nearest integer, halves to even, as C's rint does."""
    return round(number)
