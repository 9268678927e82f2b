"""Whether a setting that is read back from DuckDB is the one that was asked for.

DuckDB tells sizes in other units than they were given in, with one decimal: 64MB as 61.0 MiB.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SIZE = re.compile(r"^\s*([0-9.]+)\s*([a-z]+)\s*$")
_UNITS = {
    "b": 1,
    "byte": 1,
    "bytes": 1,
    **{f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)},
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", 1)},
}
_TRUE, _FALSE = {"true", "1"}, {"false", "0"}


def differs(asked: str, found: str) -> bool:
    """Whether a value that was found cannot be what was asked for."""
    one, other = asked.strip().strip("'").lower(), found.strip().lower()
    if one == other or {one, other} <= _TRUE or {one, other} <= _FALSE:
        return False
    wanted, told = _bytes(one), _bytes(other)
    if wanted is not None and told is not None:
        # It cuts after the tenth, and may be one tenth short even so: 177MB is told as 168.7 MiB.
        return abs(wanted.count - told.count) > 0.15 * told.unit
    return not _are_equal_numbers(one, other)


@dataclass(frozen=True)
class _Size:
    """A size in bytes, and those of the unit that it is given in."""

    count: float
    unit: int


def _bytes(text: str) -> _Size | None:
    match = _SIZE.match(text)
    unit = _UNITS.get(match[2]) if match else None
    return None if match is None or unit is None else _Size(float(match[1]) * unit, unit)


def _are_equal_numbers(one: str, other: str) -> bool:
    try:
        return float(one) == float(other)
    except ValueError:
        return False
