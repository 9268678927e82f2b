"""fio itself: where it is, its version, and the engines it was built with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError, WrongInputError
from loadstone.targets import fio_program

NETWORK_ENGINES: Mapping[Any, str] = {"nbd": "nbd", "nfs": "nfs", "iscsi": "libiscsi"}
"""By the protocol of a connection, where none of the kernel's engines will do."""
VARIABLE = "LOADSTONE_FIO_BINARY"
"""Of the environment: the path of fio, if another than that on PATH is wanted."""
ENGINES = ("io_uring", "libaio", "psync")
"""Those that the kernel serves, the best first: see `loadstone.fio.engine`."""
_VERSION = re.compile(r"fio-(\d+\.\d+\S*)")
_LIST = "Available IO engines"
_ANSWER_S = 20.0


@dataclass(frozen=True)
class Fio:
    """An fio that answers.

    Attributes:
        path: Of its program.
        version: As `3.33`; empty if it did not say.
        engines: That it says it has; empty if it did not say.
    """

    path: Path
    version: str
    engines: frozenset[str]

    def __str__(self) -> str:
        return f"{self.version or 'of unknown version'} ({self.path})"

    def has(self, engine: str) -> bool:
        """Whether it may have an engine."""
        return not self.engines or engine in self.engines


def find_fio(needed: str | None = None) -> Fio:
    """Finds fio: its variable, then `PATH`, then one that was built for the engines it lacks.

    Args:
        needed: The engine that it must have, if one is named.

    Raises:
        WrongInputError: If there is none, it does not run, or has no engine that will do.
        TargetError: If there is none with that engine.
    """
    named = os.environ.get(VARIABLE)
    path = shutil.which(named or "fio")
    if path is None:
        if named:
            raise WrongInputError(
                f"{VARIABLE} is {named!r}, which is no program that can be run",
                advice=f"correct {VARIABLE}, or unset it to use the fio on PATH",
            )
        raise WrongInputError(
            "fio was not found on PATH",
            advice=f"install Debian's package fio, or set {VARIABLE} to its path",
        )
    found = _answering(path)
    if named or needed is None or found.has(needed):
        usable_engines(found, needed)
        return found
    return _answering(str(fio_program.fio_with(needed)))


def examine_fio(target: str) -> None:
    """The fio of the variable, if it is set, serves a target of this name, or another is at hand.

    Raises:
        WrongInputError: If that of the variable does not.
        TargetError: If it is not set, and there is none and none can be built.
    """
    engine = NETWORK_ENGINES.get(target)
    if os.environ.get(VARIABLE):
        find_fio(engine)
    elif engine and (reason := fio_program.unavailable(engine)):
        raise TargetError(f"nothing makes load on target {target}: {reason}")


def _answering(path: str) -> Fio:
    version = _VERSION.search(_asked(path, "--version"))
    listed = _asked(path, "--enghelp").partition(_LIST)[2]
    engines = frozenset(line.strip() for line in listed.splitlines()[1:] if line.strip())
    if version is None and not engines:
        raise WrongInputError(
            f"{path} is no fio: it tells neither its version nor its engines",
            advice=f"correct {VARIABLE}, or install Debian's package fio",
        )
    return Fio(Path(path), version[1] if version else "", engines)


def usable_engines(fio: Fio, needed: str | None = None) -> list[str]:
    """The engines that can be tried, the best first.

    Args:
        fio: The program.
        needed: The only one that will do; None: any of `ENGINES`.

    Raises:
        WrongInputError: If it has none of them.
    """
    wanted = [needed] if needed else ENGINES
    found = [each for each in wanted if fio.has(each)]
    if not found:
        other = f"unset {VARIABLE}" if needed else "install Debian's package fio"
        raise WrongInputError(
            f"{fio.path} (fio {fio.version}) has no engine {' or '.join(wanted)}",
            advice=f"{other}, or set {VARIABLE} to one that was built with it",
        )
    return found


def _asked(path: str, question: str) -> str:
    try:
        answer = subprocess.run(
            [path, question], capture_output=True, text=True, timeout=_ANSWER_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WrongInputError(
            f"{path} {question} does not run: {error}", advice="install Debian's package fio again"
        ) from error
    return answer.stdout + answer.stderr
