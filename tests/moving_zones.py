"""Lets the counters of a tree of `power_tree` run, as those of a machine that draws power.

python tests/moving_zones.py FOLDER=WATTS ...    until it is ended

In place of WATTS may stand the path of a script: lines of a moment of `time.monotonic()` and the
watts from then on. It is read again and again, and what is late is made up for: the counter says
what was drawn, to the moment.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

EVERY_S = 0.005


@contextmanager
def tree_in_memory() -> Iterator[Path]:
    """An empty folder for a tree, in memory if there is such a place.

    A disk that others write to may hold a file up for half a second, and its counter with it.
    """
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    with TemporaryDirectory(dir=place, prefix="loadstone-tree-") as folder:
        yield Path(folder)


@contextmanager
def moving(watts: Mapping[Path, float | Path]) -> Iterator[subprocess.Popen[str]]:
    """A program that moves counters for as long as the block lasts.

    Args:
        watts: By the folder of a zone; what may change is in a script.
    """
    words = [f"{folder}={each}" for folder, each in watts.items()]
    with subprocess.Popen(
        [sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "moving\n"
            yield process
        finally:
            process.kill()


def main(words: list[str]) -> None:
    """Writes each counter again and again, whole."""
    zones = [_Zone(Path(folder), watts) for folder, _, watts in (w.rpartition("=") for w in words)]
    with contextlib.suppress(OSError):  # as good as the kernel's counters, on a busy machine too
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    print("moving", flush=True)
    while True:
        for each in zones:
            each.move(time.monotonic())
        time.sleep(EVERY_S)


class _Zone:
    """A counter, and how fast it runs."""

    def __init__(self, folder: Path, watts: str) -> None:
        self._folder = folder
        self._first_uj, self._most_uj = _counter(folder)
        self._began_s = time.monotonic()
        self._script = Path(watts) if Path(watts).is_absolute() else None
        self._watts = 0.0 if self._script else float(watts)

    def move(self, now_s: float) -> None:
        """Writes what was drawn until now."""
        uj = self._first_uj + int(1e6 * self._drawn_j(now_s))
        draft = self._folder / ".new"
        draft.write_text(f"{uj % self._most_uj}\n")
        draft.replace(self._folder / "energy_uj")

    def _drawn_j(self, now_s: float) -> float:
        if self._script is None:
            return self._watts * (now_s - self._began_s)
        return drawn_j(self._script, self._began_s, now_s)


def drawn_j(script: Path, from_s: float, to_s: float) -> float:
    """The energy between two moments, as a script has it."""
    lines = [line.split() for line in script.read_text().splitlines(keepends=True) if "\n" in line]
    points = [(float(at_s), float(watts)) for at_s, watts in lines]
    if not points:  # it is being written
        return 0.0
    ends = [at_s for at_s, _ in points[1:]] + [to_s]
    return sum(
        watts * max(0.0, min(end_s, to_s) - max(at_s, from_s))
        for (at_s, watts), end_s in zip(points, ends, strict=True)
    )


def _counter(folder: Path) -> tuple[int, int]:
    """Where it begins, and where it begins again."""
    most = int((folder / "max_energy_range_uj").read_text())
    return int((folder / "energy_uj").read_text()), most


if __name__ == "__main__":
    main(sys.argv[1:])
