"""What settings make of a JVM's command line, and the flags by which it tells what is in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadstone.errors import TargetError
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.targets.blame import Chosen
from loadstone.targets.jvm.flags import (
    LARGEST_REGION_BYTES,
    Flag,
    about,
    same,
    size_bytes,
    size_text,
    written,
)
from loadstone.targets.jvm.settings import (
    COLLECTOR,
    COLLECTORS,
    FLAG,
    HEAP,
    OF_SYSTEM,
    OFF,
    PAGE_SIZE,
    TIERS,
    TRANSPARENT,
    YOUNG,
    page_size,
)

LATE = (PAGE_SIZE,)
"""Settings that hang on the host as a trial sets it: before, nobody can say."""
_SIZES: Mapping[str, Sequence[str]] = {
    HEAP: ("InitialHeapSize", "MaxHeapSize"),
    YOUNG: ("NewSize", "MaxNewSize"),
}
_REGION_FLAG = "G1HeapRegionSize"
_CHOSEN = ("MaxHeapSize", "InitialHeapSize", "MaxNewSize", "UseLargePages", _REGION_FLAG)
"""Flags that tell what a JVM chose by itself."""
_UNLOCKING = "Unlock"


@dataclass(frozen=True)
class Asked:
    """A flag by which a setting is told to be in force."""

    flag: str
    level: Level
    sized: bool = False
    """A size that a JVM makes a whole number of regions."""

    def is_in(self, flags: Mapping[str, Flag]) -> bool:
        """Whether a JVM has it."""
        found = flags.get(self.flag)
        if found is None:
            return False
        if not self.sized:
            return same(self.level, found.value)
        region = flags.get(_REGION_FLAG)
        told = int(region.value) if region is not None and region.value.isdigit() else 0
        return about(size_bytes(self.level) or 0, found.value, told or LARGEST_REGION_BYTES)


def asked_by(name: str, level: Level) -> Sequence[Asked]:
    """The flags that a setting stands for; none of one that is no flag."""
    if name.startswith(FLAG):
        return (Asked(name.removeprefix(FLAG), level),)
    if name in _SIZES:
        return [Asked(flag, level, sized=True) for flag in _SIZES[name]]
    if name == COLLECTOR:
        return (Asked(COLLECTORS[str(level)], True),)
    if name == TIERS:
        return (Asked("TieredStopAtLevel", level),)
    return _pages(level) if name == PAGE_SIZE else ()


def command_line(levels: Mapping[str, Level]) -> list[str]:
    """The options of a JVM, those that allow others first."""
    sizes: list[str] = []
    if (heap := levels.get(HEAP)) is not None:
        sizes += [f"-Xms{heap}", f"-Xmx{heap}"]
    if (young := levels.get(YOUNG)) is not None:
        sizes.append(f"-Xmn{young}")
    others = [
        written(asked.flag, asked.level)
        for name, level in levels.items()
        if name not in (HEAP, YOUNG)
        for asked in asked_by(name, level)
    ]
    return [*sorted(others, key=lambda option: _UNLOCKING not in option), *sizes]


def refuse_not_in_force(
    levels: Mapping[str, Level], flags: Mapping[str, Flag], *, leaving_out: Sequence[str] = ()
) -> None:
    """Compares what was asked for with what a JVM has.

    Args:
        levels: As they were asked for.
        flags: Of the JVM.
        leaving_out: Settings that are not looked at.

    Raises:
        TargetError: If one did not come into force, with what the JVM has instead.
    """
    for name, level in levels.items():
        for asked in asked_by(name, level) if name not in leaving_out else ():
            if not asked.is_in(flags):
                raise _not_in_force(name, level, asked, flags.get(asked.flag))


def readings(levels: Mapping[str, Level], flags: Mapping[str, Flag]) -> list[FactorReading]:
    """One for each flag setting that was asked for, as the running JVM has it."""
    return [
        FactorReading(
            factor=f"target.{name}",
            requested=level,
            read_back=_read_back(name, level, flags),
            how="restart",
        )
        for name, level in levels.items()
        if asked_by(name, level)
    ]


def own_readings(
    levels: Mapping[str, Level], found: Mapping[str, Level | None]
) -> list[FactorReading]:
    """One for each other setting that somebody asked for.

    Args:
        levels: As they were asked for; what Loadstone has chosen is left out.
        found: As the running JVMs have them.

    Raises:
        TargetError: If one of them is another.
    """
    asked = {
        name: level
        for name, level in levels.items()
        if name in OF_SYSTEM and not isinstance(level, Chosen)
    }
    for name, level in asked.items():
        if str(found[name]) != str(level):
            raise TargetError(
                f"target.{name} was asked to be {level}, and the JVMs have {found[name]}"
            )
    return [
        FactorReading(factor=f"target.{name}", requested=level, read_back=level, how="restart")
        for name, level in asked.items()
    ]


def flags_asked(levels: Mapping[str, Level]) -> list[str]:
    """Names of the flags that tell what is in force, and what a JVM chose by itself."""
    names = [asked.flag for name, level in levels.items() for asked in asked_by(name, level)]
    return list(dict.fromkeys([*names, *COLLECTORS.values(), *_CHOSEN]))


def collector_in(flags: Mapping[str, Flag]) -> str:
    """The collector that runs, by the flags of a JVM."""
    on = {name for name, flag in flags.items() if flag.value == "true"}
    return next((name for name, flag in COLLECTORS.items() if flag in on), "unknown")


# -- inside ------------------------------------------------------------------------------------
def _pages(level: Level) -> Sequence[Asked]:
    pages = page_size(level)
    if pages == OFF:
        return (Asked("UseLargePages", False), Asked("UseTransparentHugePages", False))
    if pages == TRANSPARENT:
        return (Asked("UseTransparentHugePages", True),)
    return (Asked("UseLargePages", True), Asked("LargePageSizeInBytes", pages or level))


def _not_in_force(name: str, level: Level, asked: Asked, found: Flag | None) -> TargetError:
    has = f"is {found.value} ({found.origin})" if found is not None else "is not known to it"
    advice = "choose another level"
    if name == PAGE_SIZE:
        advice = "reserve huge pages first (host.hugepages.2MB), or choose transparent"
    return TargetError(
        f"target.{name} = {level} did not come into force: {asked.flag} {has}", advice=advice
    )


def _read_back(name: str, level: Level, flags: Mapping[str, Flag]) -> Level:
    """In the words of the level, where the JVM has what was asked for."""
    if name not in (HEAP, YOUNG):
        return level
    has = int(flags[asked_by(name, level)[-1].flag].value)
    return level if has == size_bytes(level) else size_text(has)
