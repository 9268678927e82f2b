"""The program of a migration as the lab sees it: its words, its libraries, a serial run of it."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from loadstone.applications.pstm.configuration import CONFIGURATION_FILE
from loadstone.cache import cache_folder
from loadstone.errors import TargetError, WrongInputError

PROGRAM = "loadstone.applications.pstm.main"
COMPILED_FOLDER = "pstm-compiled"
"""Below the cache of the user: each process finds there what an earlier one compiled."""
EXTRA = "install it: pip install 'loadstone[jobs]'"
ENVIRONMENT: Mapping[str, str] = {
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""One thread a rank."""
_FROM_OUTSIDE = ("OMPI_", "PMIX_", "PMI_", "SLURM_")
"""First letters of variables that would make it part of a job of somebody else's."""


def words(python: str) -> list[str]:
    """What a rank runs, in the working folder."""
    compiled = str(cache_folder() / COMPILED_FOLDER)
    return [python, "-m", PROGRAM, CONFIGURATION_FILE, "--compiled", compiled]


def run_serial(command: Sequence[str], work: Path) -> None:
    """Migrates on one rank of this machine.

    Raises:
        TargetError: If it fails.
    """
    kept = {name: own for name, own in os.environ.items() if not name.startswith(_FROM_OUTSIDE)}
    done = subprocess.run(
        command,
        cwd=work,
        env={**kept, **ENVIRONMENT},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise TargetError(f"the serial migration ended with exit code {done.returncode}: {said}")


def library(name: str) -> Callable[[], str]:
    """What tells the version of a library, or that it is missing."""

    def found() -> str:
        try:
            return version(name)
        except PackageNotFoundError as error:
            raise WrongInputError(
                f"the Python package {name}, which pstm needs, is not installed", advice=EXTRA
            ) from error

    return found


def program_sum() -> str:
    """Of the program's text: another one may make another image."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
