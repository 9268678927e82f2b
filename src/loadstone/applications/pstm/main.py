"""The program of a migration, which an MPI launcher may start several times.

Usage, in the working folder: python -m loadstone.applications.pstm.main pstm.json --compiled FOLDER

It needs NumPy, Numba and segyio, and mpi4py where there are several ranks.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from loadstone.errors import LoadstoneError, WrongInputError

FAILED = 2


def main() -> int:
    """Migrates.

    Returns:
        0, or 2 with one line on standard error.
    """
    parser = argparse.ArgumentParser(prog="loadstone.applications.pstm.main", description=__doc__)
    parser.add_argument("configuration", type=Path, help="pstm.json")
    parser.add_argument("--compiled", type=Path, help="folder in which compiled code is kept")
    given = parser.parse_args()
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="loadstone-pstm-") as own:
        # Compiled code is kept where the next process finds it, if that can be written.
        os.environ["NUMBA_CACHE_DIR"] = str(_writable(given.compiled) or own)
        try:
            from loadstone.applications.pstm.ranks import joined
            from loadstone.applications.pstm.running import migrate_survey
        except ImportError as error:
            return _failed(
                WrongInputError(str(error), advice="on each node: pip install 'loadstone[jobs]'")
            )
        ranks = None
        try:
            ranks = joined()
            migrate_survey(given.configuration, ranks, began_s)
        except LoadstoneError as error:
            code = _failed(error)
            if ranks is not None:
                ranks.abort()
            return code
    return 0


def _writable(folder: Path | None) -> Path | None:
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def _failed(error: LoadstoneError) -> int:
    advice = f": {error.advice}" if error.advice else ""
    print(f"pstm: {error.message}{advice}", file=sys.stderr, flush=True)
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
