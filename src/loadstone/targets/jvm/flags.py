"""Flags of a JVM: how a value is written, and whether the one in force is what was asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from loadstone.spec.base import Level

ORIGINS: Mapping[str, str] = {
    "DEFAULT": "default",
    "VM_CREATION": "command line",
    "ENVIRON_VAR": "environment",
    "CONFIG_FILE": "config file",
    "MANAGEMENT": "management",
    "ERGONOMIC": "ergonomic",
    "ATTACH_ON_DEMAND": "attach",
    "OTHER": "other",
}
"""What a running JVM calls the origin of a value (`com.sun.management.VMOption`), and what it is
called where flags are printed."""
MIB = 2**20
LARGEST_REGION_BYTES = 32 * MIB
"""Of G1's own choice: a heap is a whole number of regions."""

_SIZE = re.compile(r"(?P<number>\d{1,15})(?P<unit>[kKmMgGtT]?)")
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


@dataclass(frozen=True)
class Flag:
    """A flag as it is in force."""

    value: str
    origin: str
    """`default`, `command line`, `ergonomic`: the JVM's own choice."""


def size_bytes(level: Level) -> int | None:
    """A size as Java reads it, `512m` or `2g`; None if it is none."""
    found = _SIZE.fullmatch(str(level).strip())
    if found is None or isinstance(level, bool):
        return None
    return int(found["number"]) * _UNITS[found["unit"].lower()]


def size_text(size: int) -> str:
    """A size in the largest unit in which it is whole: `512m`."""
    for unit in ("g", "m", "k"):
        if size and size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return str(size)


def switch(level: Level) -> bool | None:
    """Whether a level means on or off; None if it is neither."""
    words = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
    return level if isinstance(level, bool) else words.get(str(level).strip().lower())


def written(name: str, level: Level) -> str:
    """A flag as the command line has it: `-XX:+UseNUMA`, `-XX:MaxGCPauseMillis=50`.

    Args:
        name: `UseNUMA`.
        level: On or off, a number, or a text; a figure is never a switch.
    """
    is_on = None if isinstance(level, int) and not isinstance(level, bool) else switch(level)
    if is_on is not None:
        return f"-XX:{'+' if is_on else '-'}{name}"
    return f"-XX:{name}={level}"


def same(asked: Level, has: str) -> bool:
    """Whether the value of a flag is what was asked for, however both are written."""
    text = str(asked).strip()
    if text == has:
        return True
    if (is_on := switch(asked)) is not None and has in ("true", "false"):
        return is_on == (has == "true")
    if (size := size_bytes(asked)) is not None and has.isdigit():
        return size == int(has)
    try:
        return float(text) == float(has)
    except ValueError:
        return False


def about(asked_bytes: int, has: str, region_bytes: int) -> bool:
    """Whether a size is the one that was asked for, up to a whole number of regions.

    Args:
        asked_bytes: That was asked for.
        has: The value of the flag.
        region_bytes: In which the collector divides the heap.
    """
    return has.isdigit() and abs(int(has) - asked_bytes) < max(region_bytes, 4 * MIB)
