"""A system of two parts made of what there is: PostgreSQL, and some equal servers beside it.

Usage: line_system.py JOURNAL FOLDER STAGE    opens it, and is killed at a stage: open, restored
"""

import os
import signal
import sys
from pathlib import Path

from integration.line_owner import LineServer

from loadstone.errors import WrongInputError
from loadstone.journal import Journal
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.target import ProcessSpec, TargetSpec
from loadstone.targets.base import SettingInfo, Target, TargetContext
from loadstone.targets.owned_part import OwnedPart
from loadstone.targets.system import SystemOfParts

LINES = "lines"
"""The part, and how many of it there are."""


class Line(OwnedPart[LineServer]):
    """One server, with a colour."""

    engine = "line"

    def make_server(self, folder: Path, log: Path) -> LineServer:
        return LineServer(folder, self.context.journal)

    def configure(self, spec: TargetSpec) -> None:
        self.server.settings = {name: str(level) for name, level in spec.settings.items()}

    def read_back(self, spec: TargetSpec) -> list[FactorReading]:
        words = self.server.processes()[0].cmdline()
        given = dict(word.split("=") for word in words if "=" in word)
        return [
            FactorReading(factor=f"target.{name}", requested=level, read_back=given[name])
            for name, level in spec.settings.items()
        ]

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        if name.lower() != "colour":
            return super().setting(spec, name, level)
        return SettingInfo("colour", "restart")

    @classmethod
    def plain_name(cls, name: str) -> str:
        return name.lower()


class Lines(SystemOfParts):
    """Some of them, each a part."""

    engine = "lines"
    equal = True

    @classmethod
    def named_parts(cls, spec: TargetSpec) -> tuple[str, ...]:
        return tuple(str(number + 1) for number in range(int(spec.settings.get("count", 1))))

    @classmethod
    def part_spec(cls, spec: TargetSpec, part: str) -> TargetSpec:
        settings = {name: level for name, level in spec.settings.items() if name != "count"}
        fields = {"settings": settings, "process": spec.process, "data": spec.data}
        return TargetSpec(engine=Line.engine).model_copy(update=fields)

    @classmethod
    def part_class(cls, spec: TargetSpec, part: str) -> type[Target]:
        return Line

    @classmethod
    def plain_name(cls, name: str) -> str:
        return Line.plain_name(name)

    @classmethod
    def own_setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        return Line.setting(cls.part_spec(spec, "1"), name, level)


class LineSystem(SystemOfParts):
    """The load of a workload without a database arrives nowhere; the parts run beside it."""

    engine = "line-system"
    capabilities = frozenset({"parts-of-a-test"})
    part_names = ("database", LINES)
    part_engines = {"database": "postgresql", LINES: Lines.engine}

    @classmethod
    def part_class(cls, spec: TargetSpec, part: str) -> type[Target]:
        return Lines if part == LINES else super().part_class(spec, part)

    @classmethod
    def part_spec(cls, spec: TargetSpec, part: str) -> TargetSpec:
        found = super().part_spec(spec, part)
        return (
            found.with_settings({"count": spec.settings.get(LINES, 1)}) if part == LINES else found
        )

    @classmethod
    def own_setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        if name != LINES:
            return super().own_setting(spec, name, level)
        if not isinstance(level, int) or not 1 <= level <= 4:
            raise WrongInputError(f"lines takes 1 to 4; given {level!r}")
        return SettingInfo(LINES, "restart", default="1")

    def own_readings(self, spec: TargetSpec) -> list[FactorReading]:
        if LINES not in spec.settings:
            return []
        asked, found = spec.settings[LINES], len(self.part(LINES).parts())
        return [FactorReading(factor=f"target.{LINES}", requested=asked, read_back=found)]


def main(path: str, folder: str, stage: str) -> None:
    journal = Journal(Path(path), "victim")
    spec = TargetSpec(engine=LineSystem.engine, data=folder, settings={LINES: 2})
    system = LineSystem(spec, TargetContext(journal=journal, owner="victim"))
    system.open()
    if stage == "restored":
        process = ProcessSpec(quota=0.5)
        system.snapshot("k")
        system.restore("k", spec.with_part(LINES, process=process))
    print(*system.server_pids(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
