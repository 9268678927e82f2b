"""A system of several parts, each of which is a target itself.

An application server with its database, its cache and its balancer is one. The parts are started
in order and stopped in reverse. What is said of a part stands below its name: the factor
`target.database.work_mem`, the placement `storage.database.data`, the start option
`host.server.database.cpus`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from loadstone.errors import TargetError, WrongInputError
from loadstone.host.locality import at_address
from loadstone.probes.base import Probe
from loadstone.results.record import FactorReading, Notice
from loadstone.spec.base import Level
from loadstone.spec.design import Failure
from loadstone.spec.model import OutageKind
from loadstone.spec.problems import near
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import PartSpec, StorageSpec, TargetSpec, default_server
from loadstone.targets.base import SettingInfo, Target, TargetContext
from loadstone.targets.connection import Connection
from loadstone.targets.part_names import factor_of_part, own_part
from loadstone.targets.part_probe import PartProbe
from loadstone.targets.registry import target_for
from loadstone.targets.walk import part_of


class SystemOfParts(Target):
    """Targets that are one system under test.

    A subclass names its parts, says what each is by default, and answers for its own settings,
    which stand without the name of a part.
    """

    serves = True
    part_engines: ClassVar[Mapping[str, str]] = {}
    """Part: its engine, where the spec says none."""
    front: ClassVar[str] = ""
    """The part that load arrives at; empty: the system says itself how it is reached."""
    equal: ClassVar[bool] = False
    """Its parts are members of one kind, told apart by a number: what is asked of the system is
    asked of each, and read back once if all say the same."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._parts: dict[str, Target] = {}
        self._fit(spec, opened=False)

    # -- parts ---------------------------------------------------------------------------------
    @classmethod
    def part_spec(cls, spec: TargetSpec, part: str) -> TargetSpec:
        """What is said of it, with `PART.SETTING` among the settings of the system.

        The folder for data and the start options of the system hold for each part that Loadstone
        starts and that has none of its own.
        """
        given, engine = spec.parts.get(part, PartSpec()), cls._engine_of(spec, part)
        server = given.server or default_server(engine)
        ours = "://" not in server
        settings = {
            own: level for name, level in spec.settings.items() if (own := own_part(name, part))
        }
        # Not validated again: a level may be more than its value (`blame.Chosen`).
        return TargetSpec(engine=engine, server=server).model_copy(
            update={
                "password": given.password,
                "data": given.data or (spec.data if ours else None),
                "settings": {**given.settings, **settings},
                "storage": given.storage,
                "process": given.process.over(spec.process) if ours else given.process,
            }
        )

    @classmethod
    def part_class(cls, spec: TargetSpec, part: str) -> type[Target]:
        """The registered target of its engine; a system overrides it for parts of its own kind."""
        return target_for(cls.part_spec(spec, part))

    def make_part(self, name: str, spec: TargetSpec) -> Target:
        """Makes the object of a part, which starts nothing yet; those before it are made.

        Args:
            name: Of the part.
            spec: Of the system.
        """
        return self.part_class(spec, name)(self.part_spec(spec, name), self.context)

    def opened(self, name: str) -> None:
        """A part was opened, and runs: what those after it need of it can be made now."""

    def parts(self) -> Mapping[str, Target]:
        """In the order in which they are started."""
        return dict(self._parts)

    def part(self, name: str) -> Target:
        """A part, or a part of that: `nodes.2`.

        Raises:
            TargetError: If it has none of that name now.
        """
        return part_of(self, name)

    def entrance(self) -> Target:
        """The front."""
        return self.part(self.front).entrance() if self.front else self

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """What would be used of each part."""
        unknown = [name for name in spec.parts if name not in cls.named_parts(spec)]
        if unknown:
            raise WrongInputError(
                f"target {cls.engine} has no part {unknown[0]!r}; "
                f"{near(unknown[0], cls.named_parts(spec))}"
            )
        if spec.server != default_server(spec.engine):
            raise WrongInputError(
                f"target {cls.engine} has a server for each part",
                advice="leave server out, or write parts.PART.server",
            )
        if spec.storage != StorageSpec():
            raise WrongInputError(
                f"target {cls.engine} has its data in its parts",
                advice="leave storage out, or write parts.PART.storage",
            )
        found = {"engine": cls.engine}
        for name in cls.named_parts(spec):
            described = cls.part_class(spec, name).describe(cls.part_spec(spec, name))
            found |= {f"{name}.{field}": text for field, text in described.items()}
        return found

    @classmethod
    def own_setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """As `setting`, of the system itself.

        Raises:
            WrongInputError: If there is no such setting, or the level is not one of its values.
        """
        parts = ", ".join(f"{part}.…" for part in cls.named_parts(spec))
        raise WrongInputError(
            f"target {cls.engine} has no setting {name!r}",
            advice=f"settings of its parts are named {parts}",
        )

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Asks the part, or the system for a name without one."""
        for part in cls.named_parts(spec):
            if own := own_part(name, part):
                kind, of_part = cls.part_class(spec, part), cls.part_spec(spec, part)
                info = kind.setting(of_part, own, level)
                return replace(info, name=f"{part}.{info.name}")
        return cls.own_setting(spec, name, level)

    @classmethod
    def reached(cls, spec: TargetSpec) -> Connection | None:
        """To the part that load arrives at."""
        if not cls.front:
            return None
        kind = cls.part_class(spec, cls.front)
        return kind.reached(cls.part_spec(spec, cls.front))

    @classmethod
    def for_sessions(cls, spec: TargetSpec, sessions: int) -> dict[str, Level]:
        """Those of the part that load arrives at."""
        if not cls.front:
            return {}
        kind, of_part = cls.part_class(spec, cls.front), cls.part_spec(spec, cls.front)
        room = kind.for_sessions(of_part, sessions)
        return {f"{cls.front}.{name}": level for name, level in room.items()}

    @classmethod
    def layout(cls, spec: TargetSpec) -> dict[str, Level]:
        """Those of all parts."""
        return {
            f"{part}.{name}": level
            for part in cls.named_parts(spec)
            for name, level in cls.part_class(spec, part).layout(cls.part_spec(spec, part)).items()
        }

    @classmethod
    def cautions(cls, spec: TargetSpec, profile: ProfileSpec) -> list[Notice]:
        """Those of all parts."""
        return [
            notice.model_copy(update={"message": f"{part}: {notice.message}"})
            for part in cls.named_parts(spec)
            for notice in cls.part_class(spec, part).cautions(cls.part_spec(spec, part), profile)
        ]

    @classmethod
    def exhaustions(cls, spec: TargetSpec) -> Mapping[str, str]:
        """Those of all parts."""
        return {
            name: resource
            for part in cls.named_parts(spec)
            for name, resource in cls.part_class(spec, part)
            .exhaustions(cls.part_spec(spec, part))
            .items()
        }

    # -- life ----------------------------------------------------------------------------------
    def check_access(self) -> None:
        """Of every part."""
        for part in self._parts.values():
            part.check_access()

    def open(self) -> None:
        """Opens the parts in order."""
        for name, part in self._parts.items():
            part.open()
            self.opened(name)

    def close(self) -> None:
        """Closes all parts, the last first, whatever becomes of each.

        Raises:
            ExceptionGroup: If several could not be closed.
        """
        _each(part.close for part in reversed(self._parts.values()))

    def start(self) -> None:
        """Starts the parts in order."""
        for part in self._started():
            part.start()

    def stop(self) -> None:
        """Stops all parts, the last first."""
        _stop(self._started())

    def check_ready(self) -> None:
        """Asks every part."""
        for part in self._parts.values():
            part.check_ready()

    def crash(self, failure: Failure) -> None:
        """Lets all parts fail, the last first: none is to notice that another has failed."""
        for part in reversed(self._parts.values()):
            part.crash(failure)

    @contextmanager
    def outage(self, kind: OutageKind) -> Iterator[None]:
        """Puts all parts out of service, the last first; they come back in order.

        Raises:
            TargetError: If the disk is to be full: there is one for each part.
        """
        if kind == "full-disk":
            raise TargetError(
                f"{self.engine} has no disk of its own that could be filled",
                advice=f"name the part: one of {', '.join(self._parts)}",
            )
        with ExitStack() as stack:
            for part in reversed(self._parts.values()):
                stack.enter_context(part.outage(kind))
            yield

    def check_alive(self) -> None:
        """Looks at every part."""
        for part in self._parts.values():
            part.check_alive()

    # -- state ---------------------------------------------------------------------------------
    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Makes the parts empty, one after the other, while those after it stand still."""
        return self._in_turn(spec, lambda part, of_part: part.empty(of_part))

    def snapshot(self, key: str) -> None:
        """Keeps the data of all parts; each runs for it, while those after it stand still."""
        for part in self._one_by_one():
            part.snapshot(key)

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Restores the parts, one after the other, while those after it stand still."""
        return self._in_turn(spec, lambda part, of_part: part.restore(key, of_part))

    def own_readings(self, spec: TargetSpec) -> list[FactorReading]:
        """Reads the settings of the system itself that `spec` names from the running system.

        Raises:
            TargetError: If one reads back as another value.
        """
        return []

    def reading_all(self) -> AbstractContextManager[None]:
        """All parts by all means that they have."""
        return self._all(lambda part: part.reading_all())

    def settle(self, cache: str) -> None:
        """Settles the parts in order; where a cold one starts again, those after it stand still."""
        for part in self._one_by_one() if cache == "cold" else self._parts.values():
            part.settle(cache)

    def make_way(self) -> None:
        """All parts."""
        for part in self._parts.values():
            part.make_way()

    # -- use -----------------------------------------------------------------------------------
    def connection(self) -> Connection:
        """To the part that load arrives at."""
        return self.part(self.front).connection() if self.front else super().connection()

    # -- observation ---------------------------------------------------------------------------
    def probes(self) -> list[Probe]:
        """Those of all parts, each below the name of its part."""
        return [
            PartProbe(name, probe) for name, part in self._parts.items() for probe in part.probes()
        ]

    def inventory(self) -> dict[str, Any]:
        """Of the system, and below it of each part."""
        return {
            **super().inventory(),
            "parts": {name: part.inventory() for name, part in self._parts.items()},
        }

    def data_folder(self) -> Path | None:
        """Of the first part whose data lie on this machine."""
        folders = (part.data_folder() for part in self._parts.values())
        return next((folder for folder in folders if folder is not None), None)

    def identity(self) -> str:
        """Of the parts that have one."""
        known = {name: part.identity() for name, part in self._parts.items()}
        return ", ".join(f"{name} {text}" for name, text in known.items() if text)

    def server_pids(self) -> list[int]:
        """Those of all parts."""
        return [pid for part in self._parts.values() for pid in part.server_pids()]

    def server_cpu_s(self) -> float | None:
        """Of all parts; None if one is not known."""
        found = [part.server_cpu_s() for part in self._parts.values()]
        known = [cpu_s for cpu_s in found if cpu_s is not None]
        return sum(known) if len(known) == len(found) else None

    def most_processors(self) -> float | None:
        """Of all parts; None if one is not bounded."""
        found = [part.most_processors() for part in self._parts.values()]
        known = [most for most in found if most is not None]
        return sum(known) if len(known) == len(found) else None

    # -- inside --------------------------------------------------------------------------------
    @classmethod
    def _engine_of(cls, spec: TargetSpec, part: str) -> str:
        given = spec.parts.get(part, PartSpec()).engine
        engine = given or cls.part_engines.get(part)
        if engine is None:
            raise WrongInputError(
                f"target {cls.engine} has no part {part!r}; {near(part, cls.named_parts(spec))}"
            )
        return engine

    def _fit(self, spec: TargetSpec, *, opened: bool = True) -> None:
        """Makes the parts that `spec` has and the system has not, and closes those it has not."""
        wanted = self.named_parts(spec)
        for name in reversed(list(self._parts)):
            if name not in wanted:
                self._parts[name].close()
                del self._parts[name]
        for name in wanted:
            if name not in self._parts:
                self._parts[name] = self.make_part(name, spec)
                if opened:
                    self._parts[name].open()
                    self.opened(name)
        self._parts = {name: self._parts[name] for name in wanted}

    def _started(self) -> list[Target]:
        """The parts that Loadstone starts, in order."""
        return [part for part in self._parts.values() if not at_address(part.spec)]

    def _stop_all_but_first(self) -> None:
        """All stand on the first one, by open connections."""
        first = next(iter(self._parts.values()))
        _stop([part for part in self._started() if part is not first])

    def _one_by_one(self) -> Iterator[Target]:
        """The parts in order, each while it runs and those after it stand still."""
        self._stop_all_but_first()
        started = self._started()
        for part in self._parts.values():
            if part in started:
                part.start()
            yield part

    def _in_turn(
        self, spec: TargetSpec, make: Callable[[Target, TargetSpec], list[FactorReading]]
    ) -> list[FactorReading]:
        """Brings each part into a state, in order; it runs at the end."""
        self._stop_all_but_first()
        self._fit(spec)
        of_parts = {
            name: make(part, self.part_spec(spec, name)) for name, part in self._parts.items()
        }
        first = next(iter(of_parts.values()), [])
        if self.equal and all(each == first for each in of_parts.values()):
            return [*first, *self.own_readings(spec)]
        readings = [
            reading.model_copy(update={"factor": factor_of_part(name, reading.factor)})
            for name, own in of_parts.items()
            for reading in own
        ]
        return [*readings, *self.own_readings(spec)]

    @contextmanager
    def _all(self, enter: Callable[[Target], AbstractContextManager[None]]) -> Iterator[None]:
        with ExitStack() as stack:
            for part in self._parts.values():
                stack.enter_context(enter(part))
            yield


def _stop(parts: Sequence[Target]) -> None:
    _each(part.stop for part in reversed(parts))


def _each(steps: Iterable[Callable[[], None]]) -> None:
    """Takes every step, whatever becomes of the others.

    Raises:
        Exception: What a step raised; several as one group.
    """
    failed: list[Exception] = []
    for step in steps:
        try:
            step()
        except Exception as error:  # the others are to be taken all the same
            failed.append(error)
    if len(failed) == 1:
        raise failed[0]
    if failed:
        raise ExceptionGroup("several parts failed", failed)
