"""The settings of the target `jvm`: how many JVMs, the company in them, and the flags they have.

By which flags a running JVM tells whether one is in force is in `in_force`. Source of the flags:
the manual page `java` of JDK 17 and 25.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.host import cpulist
from loadstone.spec.base import Level
from loadstone.spec.problems import near
from loadstone.targets.blame import Chosen
from loadstone.targets.jvm.flags import MIB, size_bytes, size_text, switch

JVMS, WAREHOUSES, AFFINITY, JAVA = "jvms", "warehouses", "affinity", "java"
HEAP, YOUNG, COLLECTOR, PAGE_SIZE, TIERS = "heap", "young", "collector", "page_size", "tiers"
FLAG = "flag."
"""How a setting begins that is any further flag: `flag.UseNUMA`."""
NONE, SPLIT = "none", "split"
OFF, TRANSPARENT = "off", "transparent"
COLLECTORS: Mapping[str, str] = {
    "G1": "UseG1GC",
    "Parallel": "UseParallelGC",
    "Serial": "UseSerialGC",
    "ZGC": "UseZGC",
    "Shenandoah": "UseShenandoahGC",
}
"""Collector: the flag that is on where it runs."""
COMPANY: Mapping[str, tuple[int, int]] = {
    "districts": (1, 100),
    "customers": (1, 100_000),
    "items": (1, 1_000_000),
    "orders": (1, 100_000),
}
"""Size of the company of each JVM: districts of a warehouse, customers and live orders of a
district, items of the catalogue."""
MOST_JVMS, MOST_WAREHOUSES, MOST_TIERS = 64, 1024, 4
OF_SYSTEM = (JVMS, WAREHOUSES, AFFINITY, JAVA, *COMPANY)
"""Settings that are no flags."""
NAMES = (*OF_SYSTEM, HEAP, YOUNG, COLLECTOR, PAGE_SIZE, TIERS)

_NODES = Path("/sys/devices/system/node/online")
_FLAG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_LARGE_PAGES = ("UseLargePages", "LargePageSizeInBytes", "UseTransparentHugePages")
_COVERED: Mapping[str, str] = {
    **dict.fromkeys(("InitialHeapSize", "MinHeapSize", "MaxHeapSize"), HEAP),
    **dict.fromkeys(("NewSize", "MaxNewSize"), YOUNG),
    **dict.fromkeys(COLLECTORS.values(), COLLECTOR),
    **dict.fromkeys(_LARGE_PAGES, PAGE_SIZE),
    "TieredStopAtLevel": TIERS,
}
"""Flag: the setting that stands for it."""
_DECIDED = frozenset(
    ("OnError", "OnOutOfMemoryError", "Flags", "VMOptionsFile", "UsePerfData", "ErrorFile")
)
"""They start programs, read files, or say where files are written: Loadstone decides that."""


# -- one by one --------------------------------------------------------------------------------
def check(name: str, level: Level) -> None:
    """Looks at a level alone.

    Raises:
        WrongInputError: If there is no such setting, or it cannot have that level.
    """
    if name.startswith(FLAG):
        _check_flag(name.removeprefix(FLAG))
        return
    if name not in _CHECKS:
        raise WrongInputError(
            f"target jvm has no setting {name!r}; {near(name, NAMES)}",
            advice="any other flag of Java is flag.NAME: flag.UseNUMA",
        )
    _CHECKS[name](level)


def number(name: str, level: Level | None, least: int, most: int) -> int:
    """A level that is a whole number.

    Raises:
        WrongInputError: If it is none, or out of range.
    """
    text = str(level).strip()
    if isinstance(level, bool) or not text.isdigit() or not least <= int(text) <= most:
        raise WrongInputError(f"{name} is a whole number from {least} to {most:,}, not {text!r}")
    return int(text)


def page_size(level: Level) -> str | None:
    """`off`, `transparent` or a size; None if it is none of them."""
    if switch(level) is False:
        return OFF
    if level == TRANSPARENT:
        return TRANSPARENT
    size = size_bytes(level)
    return size_text(size) if size in (2 * MIB, 1024 * MIB) else None


# -- together ----------------------------------------------------------------------------------
def refuse_contradictions(levels: Mapping[str, Level]) -> None:
    """Looks at levels together.

    Raises:
        WrongInputError: If two of them cannot be.
    """
    heap, young = levels.get(HEAP), levels.get(YOUNG)
    if young is not None and levels.get(COLLECTOR) == "ZGC":
        raise WrongInputError(
            "ZGC sizes its young generation itself", advice="leave young out with that collector"
        )
    if heap is not None and young is not None and _bytes(young) >= _bytes(heap):
        raise WrongInputError(f"young = {young} leaves nothing of heap = {heap}")
    jvms, warehouses = jvms_of(levels), levels.get(WAREHOUSES)
    if warehouses is None or isinstance(warehouses, Chosen):
        return
    if number(WAREHOUSES, warehouses, 1, MOST_WAREHOUSES) % jvms:
        raise WrongInputError(
            f"{warehouses} warehouses cannot be divided among {jvms} JVMs",
            advice=f"give a multiple of {jvms}",
        )


def jvms_of(levels: Mapping[str, Level]) -> int:
    """How many JVMs are started: one for each node of memory, where nothing is said."""
    given = levels.get(JVMS)
    return number(JVMS, given, 1, MOST_JVMS) if given is not None else min(_nodes(), MOST_JVMS)


def java_of(levels: Mapping[str, Level]) -> str | None:
    """The runtime that was named, if one was."""
    given = levels.get(JAVA)
    return None if given is None else str(given)


def warehouses_of_each(levels: Mapping[str, Level], processors: int) -> int:
    """Warehouses of one JVM; all of them together are as many as processors if nothing is said."""
    given, jvms = levels.get(WAREHOUSES), jvms_of(levels)
    wanted = processors if given is None else number(WAREHOUSES, given, 1, MOST_WAREHOUSES)
    return max(1, -(-wanted // jvms))


def own(levels: Mapping[str, Level]) -> dict[str, Level]:
    """The settings among levels, without those of parts."""
    return {name: each for name, each in levels.items() if name in NAMES or name.startswith(FLAG)}


# -- inside ------------------------------------------------------------------------------------
def _check_flag(name: str) -> None:
    if not _FLAG_NAME.fullmatch(name):
        raise WrongInputError(f"{name!r} is no name of a flag: write flag.UseNUMA: true")
    if name in _COVERED:
        raise WrongInputError(f"the setting of {name} is {_COVERED[name]}: write that instead")
    if name in _DECIDED:
        raise WrongInputError(f"flag.{name} is decided by Loadstone: leave it out")


def _number(name: str, least: int, most: int) -> Callable[[Level], None]:
    def look(level: Level) -> None:
        number(name, level, least, most)

    return look


def _one_of(name: str, words: Collection[str]) -> Callable[[Level], None]:
    def look(level: Level) -> None:
        if level not in words:
            raise WrongInputError(f"{name} is one of {', '.join(words)}, not {level!r}")

    return look


def _size(name: str) -> Callable[[Level], None]:
    def look(level: Level) -> None:
        if _bytes(level) < MIB:
            raise WrongInputError(f"{name} is a size of 1m or more, such as 2g, not {level!r}")

    return look


def _pages(level: Level) -> None:
    if page_size(level) is None:
        raise WrongInputError(
            f"page_size is off, transparent, or the size of a huge page (2m, 1g), not {level!r}"
        )


def _any(level: Level) -> None:
    """The runtime is looked for where it is used."""


_CHECKS: Mapping[str, Callable[[Level], None]] = {
    JVMS: _number(JVMS, 1, MOST_JVMS),
    WAREHOUSES: _number(WAREHOUSES, 1, MOST_WAREHOUSES),
    TIERS: _number(TIERS, 0, MOST_TIERS),
    **{name: _number(name, *bounds) for name, bounds in COMPANY.items()},
    HEAP: _size(HEAP),
    YOUNG: _size(YOUNG),
    COLLECTOR: _one_of(COLLECTOR, COLLECTORS),
    AFFINITY: _one_of(AFFINITY, (NONE, SPLIT)),
    PAGE_SIZE: _pages,
    JAVA: _any,
}


def _bytes(level: Level) -> int:
    return size_bytes(level) or 0


def _nodes() -> int:
    """Nodes of memory of this machine."""
    try:
        return len(cpulist.parse(_NODES.read_text().strip()))
    except (OSError, ValueError):
        return 1
