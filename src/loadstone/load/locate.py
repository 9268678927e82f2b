"""Where the programs are that make the load, and whether they are the right ones."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import DriverError
from loadstone.protocol.frames import PROTOCOL_VERSION
from loadstone.protocol.programs import DRIVER, Program

_VERSION = re.compile(r"^\S+ (?P<version>\S+) \(protocol (?P<protocol>\d+)\)\s*$")


@dataclass(frozen=True)
class DriverBinary:
    """A program that answered the handshake."""

    command: tuple[str, ...]
    version: str
    protocol: int


def find_driver(program: Program = DRIVER) -> Path:
    """Finds a program: its variable, then the scripts of this Python, then `PATH`.

    Raises:
        DriverError: If there is none; the message names every place that was looked at.
    """
    named = os.environ.get(program.variable)
    if named:
        if _runnable(Path(named)):
            return Path(named)
        raise DriverError(
            f"{program.variable} is {named!r}, which is no program that can be run",
            advice=f"correct {program.variable}, or unset it to use what was installed",
        )
    looked = []
    for folder in _script_folders():
        path = folder / program.name
        if _runnable(path):
            return path
        looked.append(str(path))
    on_path = shutil.which(program.name)
    if on_path is not None:
        return Path(on_path)
    looked.append(f"PATH ({os.environ.get('PATH', '')})")
    raise DriverError(
        f"{program.name} was not found; looked at: {program.variable} (not set), "
        + ", ".join(looked),
        advice="install it (`uv sync` in a checkout builds it), "
        f"or set {program.variable} to its path",
    )


def check_driver(program: Program = DRIVER) -> DriverBinary:
    """Asks a program for its version.

    Raises:
        DriverError: If it is not there, does not run or answer, or speaks another protocol.
    """
    command = program.command or (str(find_driver(program)),)
    said = shlex.join(command)
    try:
        answer = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DriverError(f"{said} --version does not run: {error}") from error
    match = _VERSION.match(answer.stdout.strip())
    if answer.returncode != 0 or match is None:
        raise DriverError(
            f"{said} --version ended with {answer.returncode} and said "
            f"{(answer.stdout + answer.stderr).strip()[:200]!r}, "
            f"not '{program.name} VERSION (protocol {PROTOCOL_VERSION})'",
            advice="it makes no load, or is broken: install it again (`uv sync` in a checkout)",
        )
    binary = DriverBinary(command, match["version"], int(match["protocol"]))
    if binary.protocol != PROTOCOL_VERSION:
        raise DriverError(
            f"{said} speaks protocol {binary.protocol}, loadstone speaks {PROTOCOL_VERSION}",
            advice=f"install loadstone and {program.name} of the same release",
        )
    return binary


def version_of(program: Program) -> str:
    """The version of a program that makes load.

    Raises:
        DriverError: If there is none, or a wrong one.
    """
    return check_driver(program).version


def _script_folders() -> list[Path]:
    folders = [Path(sysconfig.get_path("scripts")), Path(sys.executable).parent]
    return list(dict.fromkeys(folders))


def _runnable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
