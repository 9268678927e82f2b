"""A system of several parts that notes what its parts are told: a back, some rows, and a door."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from loadstone.errors import TargetError
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.model import Experiment, OutageKind
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import SettingInfo, Target
from loadstone.targets.system import SystemOfParts

EVENTS: list[str] = []
"""What parts were told, in order."""
BROKEN: set[str] = set()
"""What fails: `back.close`."""


class Piece(Target):
    """Notes what it is told."""

    engine = "piece"
    serves = True
    storage_roles = ("data",)

    @property
    def name(self) -> str:
        return str(self.spec.settings.get("name", self.engine))

    def _note(self, what: str) -> None:
        EVENTS.append(f"{self.name}.{what}")
        if EVENTS[-1] in BROKEN:
            raise TargetError(f"{EVENTS[-1]} fails")

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        return {"engine": cls.engine}

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        if name.lower() not in ("colour", "name", "auto.wash"):
            return super().setting(spec, name, level)
        return SettingInfo(name.lower(), "reload", unsafe=level == "see-through")

    @classmethod
    def plain_name(cls, name: str) -> str:
        return name.lower()

    @classmethod
    def for_sessions(cls, spec: TargetSpec, sessions: int) -> dict[str, Level]:
        return {"seats": sessions}

    @classmethod
    def layout(cls, spec: TargetSpec) -> dict[str, Level]:
        return {name: level for name, level in spec.settings.items() if name == "colour"}

    def open(self) -> None:
        self._note("open")

    def close(self) -> None:
        self._note("close")

    def start(self) -> None:
        self._note("start")

    def stop(self) -> None:
        self._note("stop")

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        self._note("empty")
        return []

    def snapshot(self, key: str) -> None:
        self._note("snapshot")

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        self._note("restore")
        return [
            FactorReading(factor=f"target.{name}", requested=level, read_back=level)
            for name, level in spec.settings.items()
            if name != "name"
        ]

    def settle(self, cache: str) -> None:
        self._note("settle")

    @contextmanager
    def outage(self, kind: OutageKind) -> Iterator[None]:
        self._note(kind)
        yield
        self._note("back")


class Rows(SystemOfParts):
    """Equal pieces, as many as the setting says."""

    engine = "rows"
    equal = True

    @classmethod
    def named_parts(cls, spec: TargetSpec) -> tuple[str, ...]:
        return tuple(str(each + 1) for each in range(int(spec.settings.get("count", 1))))

    @classmethod
    def part_class(cls, spec: TargetSpec, part: str) -> type[Target]:
        return Piece

    @classmethod
    def part_spec(cls, spec: TargetSpec, part: str) -> TargetSpec:
        kept = {name: level for name, level in spec.settings.items() if name != "count"}
        settings = {**kept, "name": f"rows.{part}"}
        return TargetSpec(engine="piece", settings=settings, process=spec.process)

    @classmethod
    def own_setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        return Piece.setting(spec, name, level)


class House(SystemOfParts):
    """Two pieces and some rows between them."""

    engine = "house"
    part_names = ("back", "rows", "door")
    part_engines: ClassVar[dict[str, str]] = {"back": "piece", "rows": "rows", "door": "piece"}
    front = "door"

    @classmethod
    def part_class(cls, spec: TargetSpec, part: str) -> type[Target]:
        return {"back": Piece, "rows": Rows, "door": Piece}[part]

    @classmethod
    def part_spec(cls, spec: TargetSpec, part: str) -> TargetSpec:
        found = super().part_spec(spec, part)
        if part == "rows":
            return found.with_settings({"count": spec.settings.get("rows", 1)})
        return found.with_settings({"name": part})

    @classmethod
    def own_setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        if name != "rows":
            return super().own_setting(spec, name, level)
        return SettingInfo(name, "restart")

    def own_readings(self, spec: TargetSpec) -> list[FactorReading]:
        asked = {name: level for name, level in spec.settings.items() if name == "rows"}
        found = len(self.part("rows").parts())
        return [
            FactorReading(factor=f"target.{name}", requested=level, read_back=found)
            for name, level in asked.items()
        ]


def experiment(**target: Any) -> Experiment:
    """One about a house, of which more may be said."""
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "x",
            "workload": {"name": "noop"},
            "target": {"engine": "house", **target},
        }
    )
