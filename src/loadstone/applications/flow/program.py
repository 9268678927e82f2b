"""The program `flow`: where it is, of which version, and a serial run of it on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from loadstone.errors import TargetError, WrongInputError

PROGRAM = "flow"
PACKAGE = "libopm-simulators-bin"
ENVIRONMENT: Mapping[str, str] = {"OMP_NUM_THREADS": "1", "TZ": "UTC"}
"""One thread a rank; times in its report are in UTC."""
_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")
"""The kernel ends Flow when this program ends, in whatever way."""
_ANSWER_S = 60.0
_SERIAL_S = 4 * 3600.0
_TOLD = ("Error", "error", "Unrecoverable", "Exception")
_FROM_OUTSIDE = ("OMPI_", "PMIX_", "PMI_", "SLURM_", "SLURMD_")
"""First letters of variables that would make it part of a job of somebody else's."""


def find_flow() -> str:
    """Version and place of the program on this machine.

    Raises:
        WrongInputError: If it is not installed.
        TargetError: If it does not answer.
    """
    path = _path()
    return f"{_version(path)} ({path})"


@cache
def _version(path: str) -> str:
    try:
        said = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            timeout=_ANSWER_S,
            env=_environment(),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"{path} --version does not answer: {error}") from error
    version = next((line for line in said.stdout.splitlines() if line.startswith(PROGRAM)), "")
    if not version:
        raise TargetError(f"{path} --version says no version: it is no OPM Flow")
    return version.removeprefix(PROGRAM).strip()


def find_resfo() -> str:
    """Version of the library that reads Flow's output.

    Raises:
        WrongInputError: If it is not installed.
    """
    if find_spec("resfo") is None:
        raise WrongInputError(
            "the Python package resfo, which reads the output of Flow, is not installed",
            advice="install it: pip install 'loadstone[jobs]'",
        )
    return metadata.version("resfo")


def run_serial(work: Path, case: str, output: Path) -> None:
    """Runs a case on one process.

    Args:
        work: Folder with `CASE.DATA` and what it includes.
        case: Name in capitals.
        output: Folder for what it writes.

    Raises:
        WrongInputError: If Flow is not installed.
        TargetError: If it fails, or takes longer than four hours.
    """
    words = [*_WITH_PARENT, _path(), f"{case}.DATA", f"--output-dir={output}"]
    try:
        ended = subprocess.run(
            words,
            cwd=work,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SERIAL_S,
            env=_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TargetError(f"the serial run of {case} took longer than {_SERIAL_S:g} s") from error
    if ended.returncode:
        why = _reason(ended.stdout + ended.stderr)
        raise TargetError(
            f"the serial run of {case} ended with exit code {ended.returncode}: {why}"
        )


def _path() -> str:
    found = shutil.which(PROGRAM)
    if found is None:
        raise WrongInputError(
            "the program flow (OPM Flow) is not installed",
            advice=f"install the Debian package {PACKAGE}, or choose another application",
        )
    return found


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FROM_OUTSIDE)}
    return {**kept, **ENVIRONMENT}


def _reason(said: str) -> str:
    """The first line that tells of an error, else the last line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(_TOLD)]
    return (told or lines[-1:] or ["it said nothing"])[0]
