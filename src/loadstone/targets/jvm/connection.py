"""How load reaches JVMs that make it themselves: a relay for each hands plans in and frames out."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from loadstone.protocol.programs import DRIVER, Program
from loadstone.targets.connection import Connection

RELAY = "loadstone-ssj"


@dataclass(frozen=True)
class JvmConnection(Connection):
    """The sockets of all JVMs. Each of them is one process of the load."""

    files: ClassVar[int] = 0

    jvms: int
    sockets: tuple[Path, ...] = ()
    """In the order of the JVMs; none before they are open."""
    program: Program = DRIVER
    host: str = ""

    @property
    def processes(self) -> int:
        """A relay for each JVM."""
        return self.jvms

    @property
    def handing_over(self) -> Program:
        """The relay, which is told all sockets and takes that of its number."""
        words = ("-m", "loadstone.runner.ssj_relay", *map(str, self.sockets))
        return Program(RELAY, command=(sys.executable, *words), shares=True, most_threads=1)

    def plan(self) -> dict[str, Any]:
        """There is none: operations end in the JVM that makes them."""
        return {"protocol": "none"}
