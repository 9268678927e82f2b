"""Where the load driver is, and whether it is the right one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import DriverError
from loadstone.load.frames import PROTOCOL_VERSION

PROGRAM = "loadstone-driver"
VARIABLE = "LOADSTONE_DRIVER"
_VERSION = re.compile(r"^loadstone-driver (?P<version>\S+) \(protocol (?P<protocol>\d+)\)\s*$")


@dataclass(frozen=True)
class DriverBinary:
    """A driver that answered the handshake."""

    path: Path
    version: str
    protocol: int


def find_driver() -> Path:
    """Finds the driver: `LOADSTONE_DRIVER`, then the scripts of this Python, then `PATH`.

    Raises:
        DriverError: If there is none; the message names every place that was looked at.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if _runnable(Path(named)):
            return Path(named)
        raise DriverError(
            f"{VARIABLE} is {named!r}, which is no program that can be run",
            advice=f"correct {VARIABLE}, or unset it to use the driver that was installed",
        )
    looked = []
    for folder in _script_folders():
        path = folder / PROGRAM
        if _runnable(path):
            return path
        looked.append(str(path))
    on_path = shutil.which(PROGRAM)
    if on_path is not None:
        return Path(on_path)
    looked.append(f"PATH ({os.environ.get('PATH', '')})")
    raise DriverError(
        f"{PROGRAM} was not found; looked at: {VARIABLE} (not set), " + ", ".join(looked),
        advice=f"install it (`uv sync` in a checkout builds it), or set {VARIABLE} to its path",
    )


def check_driver(path: Path) -> DriverBinary:
    """Asks the driver for its version.

    Raises:
        DriverError: If it does not run, does not answer, or speaks another protocol.
    """
    try:
        answer = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DriverError(f"{path} --version does not run: {error}") from error
    match = _VERSION.match(answer.stdout.strip())
    if answer.returncode != 0 or match is None:
        raise DriverError(
            f"{path} --version ended with {answer.returncode} and said "
            f"{(answer.stdout + answer.stderr).strip()[:200]!r}, "
            f"not 'loadstone-driver VERSION (protocol {PROTOCOL_VERSION})'",
            advice="it is no load driver, or a broken one: build it again with `uv sync`",
        )
    binary = DriverBinary(path, match["version"], int(match["protocol"]))
    if binary.protocol != PROTOCOL_VERSION:
        raise DriverError(
            f"{path} speaks protocol {binary.protocol}, loadstone speaks {PROTOCOL_VERSION}",
            advice="install loadstone and loadstone-driver of the same release",
        )
    return binary


def _script_folders() -> list[Path]:
    folders = [Path(sysconfig.get_path("scripts")), Path(sys.executable).parent]
    return list(dict.fromkeys(folders))


def _runnable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
