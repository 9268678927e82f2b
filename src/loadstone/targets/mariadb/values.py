"""Values of settings, read as MariaDB reads them, and with the units that people write."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from loadstone.spec.base import Level

_SIZES = {
    "": 1,
    "B": 1,
    **{unit: 1024**power for power, unit in enumerate(("K", "M", "G", "T", "P", "E"), 1)},
    **{f"{unit}B": 1024**power for power, unit in enumerate(("K", "M", "G", "T", "P", "E"), 1)},
    **{f"{unit}IB": 1024**power for power, unit in enumerate(("K", "M", "G", "T", "P", "E"), 1)},
}
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)\s*")
_TRUE = ("on", "true", "yes", "1")
_FALSE = ("off", "false", "no", "0")
_COMPOSITE = frozenset(
    {"ansi", "db2", "maxdb", "mssql", "mysql323", "mysql40", "oracle", "postgresql", "traditional"}
)
"""SQL modes that stand for several; the server shows what they stand for beside them."""
INTEGERS = ("INT", "INT UNSIGNED", "BIGINT", "BIGINT UNSIGNED")


def text(level: Level, kind: str) -> str:
    """A level as MariaDB reads it; sizes such as `1GB` in bytes.

    Args:
        level: As written in an experiment.
        kind: `VARIABLE_TYPE` of information_schema.SYSTEM_VARIABLES.
    """
    if isinstance(level, bool):
        return "ON" if level else "OFF"
    written = str(level).strip()
    if kind in INTEGERS:
        try:
            return str(_integer(written))
        except ValueError:
            return written
    return written


def normalised(value: str, kind: str, choices: tuple[str, ...] = ()) -> str:
    """One spelling for what means the same.

    Args:
        value: As written, or as the server shows it.
        kind: `VARIABLE_TYPE`.
        choices: `ENUM_VALUE_LIST`.

    Raises:
        ValueError: If it is not a value of that kind.
    """
    if kind in INTEGERS:
        return str(_integer(value))
    if kind == "DOUBLE":
        return repr(float(value))
    if kind == "BOOLEAN":
        return _boolean(value)
    if kind == "ENUM":
        return _choice(value, choices)
    if kind in ("SET", "FLAGSET"):
        words = {each.strip().lower() for each in value.split(",")}
        return ",".join(sorted(words - {""}))
    return value


def same(one: str, other: str, kind: str, choices: tuple[str, ...] = ()) -> bool:
    """Whether two values of a setting mean the same."""
    try:
        left, right = normalised(one, kind, choices), normalised(other, kind, choices)
    except ValueError:
        return False
    if kind == "DOUBLE":
        return math.isclose(float(left), float(right), rel_tol=1e-6, abs_tol=1e-12)
    words, others = set(left.split(",")), set(right.split(","))
    if kind == "FLAGSET" or (kind == "SET" and (words | others) & _COMPOSITE):
        return words <= others or others <= words
    return left == right


def size_text(size: int) -> str:
    """A number of bytes in the largest unit that leaves an integer: `16K`."""
    for unit in ("E", "P", "T", "G", "M", "K"):
        if size and size % _SIZES[unit] == 0:
            return f"{size // _SIZES[unit]}{unit}"
    return str(size)


def option_line(name: str, value: str) -> str:
    """A line of an option file; quoted, as `#` and blanks mean something there."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name} = "{escaped}"\n'


def literal(value: str, kind: str) -> str:
    """A value as it is written in `SET GLOBAL`."""
    if kind in INTEGERS or kind == "DOUBLE":
        return value
    return quoted(value)


def quoted(value: str) -> str:
    """A string of SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def _integer(value: str) -> int:
    match = _NUMBER.fullmatch(value)
    if match is None or match[2].upper() not in _SIZES:
        raise ValueError(f"{value!r} is not a number or a size")
    number = Fraction(match[1].rstrip(".")) * _SIZES[match[2].upper()]
    if number.denominator != 1:
        raise ValueError(f"{value!r} is not a whole number")
    return int(number)


def _boolean(value: str) -> str:
    word = value.strip().lower()
    if word in _TRUE:
        return "ON"
    if word in _FALSE:
        return "OFF"
    raise ValueError(f"{value!r} is not ON or OFF")


def _choice(value: str, choices: tuple[str, ...]) -> str:
    word = value.strip().lower()
    known = [each.lower() for each in choices]
    if word in known:
        return word
    if word.isdigit() and int(word) < len(known):
        return known[int(word)]
    if word in (*_TRUE, *_FALSE):
        for same_word in (_TRUE, _FALSE):
            if word in same_word:
                return next((each for each in known if each in same_word), word)
    if not known:
        return word
    raise ValueError(f"{value!r} is not one of {', '.join(choices)}")
