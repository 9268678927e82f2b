"""The target `jvm`: Java virtual machines that Loadstone starts, with a company in each."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, cast

from loadstone.errors import TargetError, WrongInputError
from loadstone.host import cpulist
from loadstone.results.record import FactorReading, Notice
from loadstone.spec.base import Level
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import PartSpec, ProcessSpec, TargetSpec
from loadstone.targets.base import SettingInfo, Target
from loadstone.targets.capabilities import JAVA_TRANSACTIONS
from loadstone.targets.jvm import in_force, java, settings
from loadstone.targets.jvm.connection import JvmConnection
from loadstone.targets.jvm.first import FIRST_FILE
from loadstone.targets.jvm.part import OneJvm
from loadstone.targets.system import SystemOfParts

_DEFAULT_HEAP_SHARE = 0.25
"""Of the memory, that a JVM may take where no heap is named (`MaxRAMPercentage`)."""


class Jvm(SystemOfParts):
    """Equal JVMs, each of which makes its own share of the load, and serves it.

    They are the load generator and the system under test at once. Every trial starts them anew.
    """

    engine = "jvm"
    part_names = ("jvm1",)
    equal = True
    first_file = FIRST_FILE
    capabilities: ClassVar[frozenset[str]] = frozenset({JAVA_TRANSACTIONS})
    chosen_facts: ClassVar[Mapping[str, str]] = {"collector": "the collector"}

    # -- parts ---------------------------------------------------------------------------------
    @classmethod
    def named_parts(cls, spec: TargetSpec) -> tuple[str, ...]:
        """`jvm1`, `jvm2` and so on."""
        return tuple(f"jvm{number + 1}" for number in range(settings.jvms_of(spec.settings)))

    @classmethod
    def part_spec(cls, spec: TargetSpec, part: str) -> TargetSpec:
        """Each has all settings, and its share of the processors where they are dealt out."""
        given = spec.parts.get(part, PartSpec()).process.over(spec.process)
        named = cls.named_parts(spec)
        if spec.settings.get(settings.AFFINITY) == settings.SPLIT and part in named:
            cpus = dealt(_usable(given), len(named))[named.index(part)]
            given = ProcessSpec(cpus=cpulist.shown(cpus)).over(given)
        # Not validated again: a level may be more than its value (`blame.Chosen`).
        return TargetSpec(engine=OneJvm.engine).model_copy(
            update={"settings": settings.own(spec.settings), "data": spec.data, "process": given}
        )

    @classmethod
    def part_class(cls, spec: TargetSpec, part: str) -> type[Target]:
        """A JVM."""
        return OneJvm

    def make_part(self, name: str, spec: TargetSpec) -> OneJvm:
        """Makes a JVM, which is not started yet."""
        number = self.named_parts(spec).index(name) + 1
        return OneJvm(self.part_spec(spec, name), self.context, number)

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """The Java runtime, and how many JVMs.

        Raises:
            WrongInputError: If there is no runtime, it is too old, or the program is missing.
        """
        super().describe(spec)
        settings.refuse_contradictions(spec.settings)
        program = java.find_java(settings.java_of(spec.settings))
        told = java.started(program, ())
        jar = java.find_jar()
        _refuse_too_few_processors(spec)
        return {
            "engine": cls.engine,
            "version": told.version,
            "java": str(program),
            "program": str(jar),
            "jvms": str(settings.jvms_of(spec.settings)),
        }

    @classmethod
    def own_setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Asks a JVM that is started with it and ends at once, if it is a flag.

        Raises:
            WrongInputError: If there is no such setting, or no JVM starts with that level, or one
                that starts has another.
        """
        settings.check(name, level)
        levels = {**_sound(spec.settings), name: level}
        settings.refuse_contradictions(levels)
        program = java.find_java(settings.java_of(levels))
        if in_force.asked_by(name, level):
            found = java.started(program, in_force.command_line(levels)).flags
            try:
                in_force.refuse_not_in_force({name: level}, found, leaving_out=in_force.LATE)
            except TargetError as error:
                raise WrongInputError(error.message, advice=error.advice) from error
        return SettingInfo(name, needs="restart", default=_default(name, level, program))

    @classmethod
    def for_sessions(cls, spec: TargetSpec, sessions: int) -> dict[str, Level]:
        """A warehouse for each: it has a worker."""
        return {} if settings.WAREHOUSES in spec.settings else {settings.WAREHOUSES: sessions}

    @classmethod
    def reached(cls, spec: TargetSpec) -> JvmConnection:
        """By sockets that are not there yet."""
        return JvmConnection(jvms=settings.jvms_of(spec.settings))

    @classmethod
    def keeps_caches(cls, spec: TargetSpec) -> str:
        """They begin anew."""
        return "JVMs begin anew with each trial, and read no data from a disk"

    @classmethod
    def cautions(cls, spec: TargetSpec, profile: ProfileSpec) -> list[Notice]:
        """Options that are taken away, and heaps that nobody has sized."""
        return [*_taken_away(), *_default_heaps(spec)]

    # -- state ---------------------------------------------------------------------------------
    def own_readings(self, spec: TargetSpec) -> list[FactorReading]:
        """How many there are, with which program and company, as their processes say."""
        jvms, levels = self.members, settings.own(spec.settings)
        of_each = int(jvms[0].word("--warehouses") or 0)
        found: dict[str, Level | None] = {
            settings.JVMS: len([each for each in jvms if each.server.runs]),
            settings.WAREHOUSES: of_each * len(jvms),
            # Each was read back by itself, and would have been refused.
            settings.AFFINITY: levels.get(settings.AFFINITY, settings.NONE),
            settings.JAVA: _runtime(jvms[0], levels),
        }
        found |= {name: jvms[0].word(f"--{name}") for name in settings.COMPANY}
        return in_force.own_readings(levels, found)

    # -- use -----------------------------------------------------------------------------------
    @property
    def members(self) -> Sequence[OneJvm]:
        """The JVMs, in order."""
        return [cast("OneJvm", part) for part in self.parts().values()]

    def connection(self) -> JvmConnection:
        """To the sockets of all."""
        jvms = self.members
        return JvmConnection(len(jvms), tuple(each.socket for each in jvms))

    # -- observation ---------------------------------------------------------------------------
    def inventory(self) -> dict[str, Any]:
        """Runtime, program, and what each JVM chose by itself.

        A fact that follows from a setting stands below its name, so that a comparison of its levels
        does not tell of it again.
        """
        jvms = self.members
        told = jvms[0].answer
        chosen = [each.decided() for each in jvms]
        on_cpus = [_cpus_of(each) for each in jvms]
        return {
            "engine": self.engine,
            settings.JAVA: {
                "version": told.facts["version"],
                "name": told.facts["name"],
                "vendor": told.facts["vendor"],
            },
            "program": program_facts(),
            settings.COLLECTOR: _distinct(each["collector"] for each in chosen),
            settings.HEAP: {
                "max": _distinct(each["heap_max"] for each in chosen),
                "begin": _distinct(each["heap_begin"] for each in chosen),
            },
            settings.JVMS: {
                "count": len(jvms),
                settings.WAREHOUSES: _distinct(each.word("--warehouses") for each in jvms),
                settings.AFFINITY: {
                    "processors": _distinct(each["processors"] for each in chosen),
                    "cpus": _distinct(on_cpus),
                },
            },
            "settings": {
                name: {
                    asked.flag: f"{flag.value} ({flag.origin})"
                    for asked in in_force.asked_by(name, level)
                    if (flag := told.flags.get(asked.flag)) is not None
                }
                for name, level in jvms[0].levels.items()
                if in_force.asked_by(name, level)
            },
            "options_taken_away": ", ".join(java.inherited()),
        }


@cache
def program_facts() -> Mapping[str, str]:
    """Name and checksum of the program that the JVMs run."""
    jar = java.find_jar()
    return {"file": jar.name, "sha256": hashlib.sha256(jar.read_bytes()).hexdigest()}


def dealt(cpus: Iterable[int], jvms: int) -> list[list[int]]:
    """Processors divided among JVMs, neighbours together; the first have one more where it must be.

    Args:
        cpus: At least as many as JVMs.
        jvms: How many there are.
    """
    ordered = sorted(cpus)
    each, more = divmod(len(ordered), jvms)
    borders = [number * each + min(number, more) for number in range(jvms + 1)]
    return [ordered[borders[number] : borders[number + 1]] for number in range(jvms)]


# -- inside ------------------------------------------------------------------------------------
def _sound(levels: Mapping[str, Level]) -> dict[str, Level]:
    """Those that can be, as each is told by itself what is wrong with it."""
    found = {}
    for name, level in settings.own(levels).items():
        with suppress(WrongInputError):
            settings.check(name, level)
            found[name] = level
    return found


def _usable(process: ProcessSpec) -> frozenset[int]:
    """Processors that the JVMs may run on together."""
    if process.cpus is not None:
        return cpulist.parse(process.cpus)
    return frozenset(os.sched_getaffinity(0))


def _refuse_too_few_processors(spec: TargetSpec) -> None:
    """Affinity that would leave a JVM without a processor."""
    jvms, usable = settings.jvms_of(spec.settings), len(_usable(spec.process))
    if spec.settings.get(settings.AFFINITY) == settings.SPLIT and usable < jvms:
        raise WrongInputError(
            f"{usable} processors cannot be split among {jvms} JVMs", advice="start fewer of them"
        )


def _runtime(jvm: OneJvm, levels: Mapping[str, Level]) -> Level | None:
    """The runtime that was named, if the JVM runs it; else the one that it runs."""
    named, runs = levels.get(settings.JAVA), jvm.server.processes()[0].cmdline()[0]
    return named if str(java.find_java(settings.java_of(levels))) == runs else runs


def _cpus_of(jvm: OneJvm) -> str:
    """The processors that it was bound to; `all` if it was not."""
    return jvm.server.options.cpus or "all"


def _distinct(values: Iterable[object]) -> str:
    """What all have, or what each has."""
    texts = [str(each) for each in values]
    return texts[0] if len(set(texts)) == 1 else ", ".join(texts)


def _default(name: str, level: Level, program: Path) -> str:
    """What a JVM has of a setting where nobody says anything."""
    if name == settings.JVMS:
        return str(settings.jvms_of({}))
    if name == settings.AFFINITY:
        return settings.NONE
    asked = in_force.asked_by(name, level)
    if not asked:
        return ""
    flags = java.started(program, ()).flags
    if name == settings.COLLECTOR:
        return in_force.collector_in(flags)
    told = [flags[each.flag].value for each in asked if each.flag in flags]
    return told[-1] if told else ""


def _taken_away() -> list[Notice]:
    names = java.inherited()
    if not names:
        return []
    return [
        Notice(
            code="java-options-taken-away",
            severity="info",
            message=f"the JVMs are started without the options in {', '.join(names)}",
            advice="write those that you need as settings: flag.NAME",
        )
    ]


def _default_heaps(spec: TargetSpec) -> list[Notice]:
    jvms = settings.jvms_of(spec.settings)
    if settings.HEAP in spec.settings or jvms == 1:
        return []
    share = jvms * _DEFAULT_HEAP_SHARE
    return [
        Notice(
            code="default-heaps",
            severity="warning" if share >= 1 else "info",
            message=f"no heap is named: each of {jvms} JVMs may take a quarter of the memory, "
            f"{share:.0%} of it together",
            advice="hold the heap of all: --set heap=SIZE",
        )
    ]
