"""Lists of processors as the kernel writes them: `0`, `0-3,8`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

LARGEST_CPU = 8191
"""The most that any kernel is built for (`CONFIG_NR_CPUS`), less one."""

_PART = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")


def parse(text: str) -> frozenset[int]:
    """Reads a list of processors.

    Raises:
        ValueError: If it is none, or empty.
    """
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"{text!r} is no list of processors: write 0, 0-3 or 0-3,8")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last > LARGEST_CPU:
            raise ValueError(f"{part.strip()!r} is no range of processors: write 0-3")
        found.update(range(first, last + 1))
    return frozenset(found)


def shown(cpus: Iterable[int]) -> str:
    """Writes a list of processors, as short as it can be."""
    ordered = sorted(set(cpus))
    runs = groupby(enumerate(ordered), key=lambda pair: pair[1] - pair[0])
    parts = []
    for _, members in runs:
        run = [cpu for _, cpu in members]
        parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return ",".join(parts)
