"""A JVM with the program in it that makes and serves its own load, at a Unix socket."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import psutil

from loadstone.errors import TargetError
from loadstone.host import process
from loadstone.host.processes import matching
from loadstone.journal import Journal
from loadstone.placements.account import own_account
from loadstone.results.record import FactorReading
from loadstone.targets.blame import Cures
from loadstone.targets.jvm.flags import ORIGINS, Flag
from loadstone.targets.jvm.gc_log import DECORATIONS
from loadstone.targets.owned_server import OwnedServer

ANSWER_S = 10.0
_LOCALE = "LC_ALL=C.UTF-8"
"""Java reads and writes the names of files by the locale: all names can be written in this one."""
_MARK = "-Dloadstone.folder="
_ALWAYS = ("-XX:-UsePerfData", f"-Xlog:gc*,safepoint:stdout:{DECORATIONS}")
"""No file in the system's folder for temporary files, which a JVM that is killed would leave; and
the log of its collector, in what it writes to its standard output."""


@dataclass(frozen=True)
class Answer:
    """What a running JVM says of itself."""

    facts: Mapping[str, Any]
    """`version`, `collectors`, `processors`, `heap_max_bytes`, ..."""
    flags: Mapping[str, Flag]


class JvmServer(OwnedServer):
    """One JVM. It is known by its folder, which is among the words that start it."""

    title = "the JVM"
    undo_name = "jvm-end"
    stop_s = 30.0
    start_s = 300.0
    cause = re.compile(
        r"[Ee]rror|Exception|Unrecognized|refused|Invalid|Conflicting|loadstone-ssj:"
    )
    cures: ClassVar[Cures] = (
        (re.compile(r"Could not reserve|insufficient memory"), "choose a smaller heap"),
    )

    def __init__(self, folder: Path, at: Path, *, log: Path, journal: Journal) -> None:
        """Starts nothing yet.

        Args:
            folder: That it works in.
            at: Unix socket that it makes.
            log: Of what it says.
            journal: Told before it is started.
        """
        known_by = Path(os.path.realpath(folder))
        super().__init__(known_by, log=log, account=own_account(), journal=journal)
        self.socket = at
        self.java = Path("java")
        self.program: Sequence[str | Path] = ()
        """Jar and its arguments, but for the socket."""
        self.flags: Sequence[str] = ()
        """Of the next start."""
        self.cpus_chosen = False
        """Its processors were dealt out by the system it is a part of."""

    def command(self) -> Sequence[str | Path]:
        """Flags that somebody asked for come last: they count."""
        words = (*_ALWAYS, f"-XX:ErrorFile={self.folder}/hs_err.log", f"{_MARK}{self.folder}")
        jvm = [self.java, *words, *self.flags, "-jar", *self.program, "--socket", self.socket]
        return ["env", _LOCALE, *jvm]

    def is_ready(self) -> bool:
        """It takes a connection, which it does when its company is built."""
        try:
            return bool(ask(self.socket, ()).facts)
        except TargetError:
            return False

    def check_listens(self) -> None:
        """Connects, and asks for nothing: it may be busy with a load.

        Raises:
            TargetError: If nobody is there.
        """
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(ANSWER_S)
            try:
                client.connect(str(self.socket))
            except OSError as error:
                raise _silent(error) from error

    @classmethod
    def processes_of(cls, folder: Path) -> list[psutil.Process]:
        """The one with the folder among its words."""
        return matching(lambda words: f"{_MARK}{folder}" in words)

    def readings(self) -> list[FactorReading]:
        """As of any server. Processors that the system dealt out are its own to tell."""
        found = super().readings()
        own = f"host.{process.SERVER_CPUS}"
        return [each for each in found if each.factor != own or not self.cpus_chosen]


def ask(at: Path, flags: Sequence[str]) -> Answer:
    """Asks a JVM that has no load what it is.

    Args:
        at: Its socket.
        flags: Names of those that it is to tell; one that it does not know is left out.

    Raises:
        TargetError: If it gives no answer.
    """
    question = json.dumps({"ask": "jvm", "flags": list(flags)}).encode() + b"\n"
    told = b""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(ANSWER_S)
        try:
            client.connect(str(at))
            client.sendall(question)
            while part := client.recv(1 << 16):
                told += part
            answer = json.loads(told)
            return Answer(
                answer["jvm"],
                {
                    name: Flag(str(each["value"]), ORIGINS.get(each["origin"], each["origin"]))
                    for name, each in answer["flags"].items()
                },
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise _silent(error) from error


def _silent(error: Exception) -> TargetError:
    return TargetError(f"the JVM does not answer: {error or type(error).__name__}")
