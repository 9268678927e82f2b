"""Noise makers: other programs that take from whoever is measured beside them.

    python -m benchmarks.noise.makers processor|disk|memory FOLDER SEED|restless

Each works and rests by turns of drawn lengths, but `memory`, which never rests.
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

TURN_S = (2.0, 5.0)
"""Shortest and longest."""
_BURST_BYTES = 64 * 1024**2
_CHUNK = os.urandom(1024**2)


def processor(_folder: Path) -> None:
    """Uses a core for a moment."""
    until = time.monotonic() + 0.05
    while time.monotonic() < until:
        sum(range(1000))


def disk(folder: Path) -> None:
    """Writes a file durably and reads it again from the device."""
    path = folder / "noise"
    handle = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        for _ in range(_BURST_BYTES // len(_CHUNK)):
            os.write(handle, _CHUNK)
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.lseek(handle, 0, os.SEEK_SET)
        while os.read(handle, len(_CHUNK)):
            pass
    finally:
        os.close(handle)
        path.unlink()


_BUFFERS: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = []


def memory(_folder: Path) -> None:
    """Copies what fits into no cache."""
    if not _BUFFERS:
        _BUFFERS.extend([np.ones(16 * 1024**2), np.zeros(16 * 1024**2)])
    np.copyto(_BUFFERS[1], _BUFFERS[0])


MAKERS: dict[str, Callable[[Path], None]] = {
    "processor": processor,
    "disk": disk,
    "memory": memory,
}
RESTLESS = ("memory",)


ALL = "all"
"""The name of all of them at the same time."""


@contextmanager
def noise(name: str, folder: Path, seed: int) -> Iterator[None]:
    """Lets a noise maker work while the block lasts, or all; none for an empty name."""
    names = tuple(MAKERS) if name == ALL else (name,) if name else ()
    makers = [
        subprocess.Popen([sys.executable, "-m", __name__, each, str(folder), str(seed)])
        for each in names
    ]
    try:
        yield
    finally:
        for maker in makers:
            maker.terminate()
        for maker in makers:
            maker.wait()
        with contextlib.suppress(FileNotFoundError):
            (folder / "noise").unlink()


def main(name: str, folder: str, seed: str) -> None:
    """Works until it is ended."""
    draws = random.Random(seed)
    while True:
        until = time.monotonic() + draws.uniform(*TURN_S)
        while time.monotonic() < until:
            MAKERS[name](Path(folder))
        if name not in RESTLESS and seed != "restless":
            time.sleep(draws.uniform(*TURN_S))


if __name__ == "__main__":
    main(*sys.argv[1:])
