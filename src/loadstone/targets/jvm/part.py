"""One of the JVMs of the target `jvm`, as a part of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError, WrongInputError
from loadstone.placements.account import own_account
from loadstone.probes.base import Probe
from loadstone.probes.marks import Mark, SampleTable
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import SettingInfo, TargetContext
from loadstone.targets.happenings import ServerLog
from loadstone.targets.jvm import in_force, settings
from loadstone.targets.jvm.gc_probe import GcLogProbe, happenings
from loadstone.targets.jvm.java import find_jar, find_java
from loadstone.targets.jvm.server import Answer, JvmServer, ask
from loadstone.targets.local.engine_folders import EngineFolders
from loadstone.targets.owned_part import OwnedPart

SOCKET = "jvm.sock"


class OneJvm(OwnedPart[JvmServer]):
    """A JVM, which every trial starts anew. Its settings are those of all."""

    engine = "jvm-process"

    def __init__(self, spec: TargetSpec, context: TargetContext, number: int) -> None:
        """Starts nothing yet.

        Args:
            spec: With the settings of the system.
            context: Journal and mark.
            number: Of this JVM, from 1; the data of its company are drawn by it.
        """
        super().__init__(spec, context)
        self._account = own_account()
        self._engine_folders = EngineFolders(spec, context, self._account)
        self._number = number
        self._answer: Answer | None = None

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """They are the system's."""
        raise WrongInputError(
            f"a JVM has no setting {name!r} of its own", advice=f"write target.{name}: for all"
        )

    # -- life ----------------------------------------------------------------------------------
    def open(self) -> None:
        """Makes its folders; the first trial starts it."""
        self._engine_folders.open(self.empty_bytes)
        log = self._engine_folders.make_folder("log") / "jvm.log"
        self._server = self.make_server(self._engine_folders.make_folder("work"), log)

    def make_server(self, folder: Path, log: Path) -> JvmServer:
        """At a socket in a folder that is short enough for one."""
        at = self._engine_folders.make_socket_folder(SOCKET) / SOCKET
        return JvmServer(folder, at, log=log, journal=self.context.journal)

    def configure(self, spec: TargetSpec) -> None:
        """Its command line. A socket that a killed one has left is removed."""
        levels, server = spec.settings, self.server
        server.socket.unlink(missing_ok=True)
        server.java = find_java(settings.java_of(levels))
        server.flags = in_force.command_line(levels)
        warehouses = settings.warehouses_of_each(levels, processors())
        company = [
            word
            for name in settings.COMPANY
            if name in levels
            for word in (f"--{name}", str(levels[name]))
        ]
        server.program = [
            find_jar(),
            *("--warehouses", str(warehouses), "--seed", str(self._number), *company),
        ]
        server.cpus_chosen = levels.get(settings.AFFINITY) == settings.SPLIT

    def read_back(self, spec: TargetSpec) -> list[FactorReading]:
        """Asks the running JVM for the value and the origin of each flag.

        Raises:
            TargetError: If one did not come into force.
        """
        levels = spec.settings
        self._answer = ask(self.server.socket, in_force.flags_asked(levels))
        in_force.refuse_not_in_force(levels, self._answer.flags)
        return in_force.readings(levels, self._answer.flags)

    def check_ready(self) -> None:
        """It takes connections; a load may hold it busy."""
        self.server.check_listens()

    # -- observation ---------------------------------------------------------------------------
    @property
    def socket(self) -> Path:
        """Where plans go in and frames come out."""
        return self.server.socket

    @property
    def answer(self) -> Answer:
        """What it said of itself when it had started.

        Raises:
            TargetError: If it has not.
        """
        if self._answer is None:
            raise TargetError("the JVM was not started")
        return self._answer

    @property
    def levels(self) -> Mapping[str, Level]:
        """The settings that it was started with."""
        return self._present.settings

    def word(self, option: str) -> str | None:
        """What an option of its program is, as it was started; None without it."""
        words = self.server.processes()[0].cmdline()
        return words[words.index(option) + 1] if option in words else None

    def probes(self) -> list[Probe]:
        """Pauses and safepoints, by its log."""
        return [GcLogProbe(self.server.log)]

    @classmethod
    def happenings(cls, samples: SampleTable, log: ServerLog) -> list[Mark]:
        """Pauses and stalls."""
        return happenings(samples)

    def decided(self) -> Mapping[str, Any]:
        """What it chose by itself, or was told: collector, heap and processors."""
        answer = self.answer
        return {
            "collector": in_force.collector_in(answer.flags),
            "heap_max": int(answer.facts["heap_max_bytes"]),
            "heap_begin": int(answer.facts["heap_begin_bytes"]),
            "processors": int(answer.facts["processors"]),
        }


def processors() -> int:
    """That a process of Loadstone's may run on."""
    return len(os.sched_getaffinity(0))
