"""The program of `pattern`: file I/O as a simulator does it, timed call by call.

Usage, in the working folder: python -m loadstone.applications.pattern_replay pattern.config.json

It needs the standard library of Python 3.9 only. Three phases: `start` reads the rank's part of the
input and writes as much; `steady` writes small pieces at a rate, with peaks; `verify` reads back
what was written. Written files are flushed at the end of a phase, and what is read is dropped from
the page cache before, so that the storage is asked and not the memory of the node.

Each rank writes `pattern-RANK.json` into the folder that LOADSTONE_OUTPUT names.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

INPUT_FILE = "pattern.input"
CONFIGURATION_FILE = "pattern.config.json"
PIECE_BYTES = 1 << 20
LEAST_BYTES, MOST_BYTES = 2 * 1024, 100 * 1024
"""Sizes of the small pieces (the study saw 2 to 100 KB, 8 KB on average)."""
START, STEADY, VERIFY = "start", "steady", "verify"
_SIGMA = 0.9
"""Of the logarithms of the sizes, before they are cut."""


@dataclass(frozen=True)
class Configuration:
    """What all ranks of a job do together."""

    seed: int
    start_s: float
    """The start is spread over so long, as far as the storage keeps up."""
    steady_s: float
    writes_per_s: float
    mean_bytes: float
    """Of a small piece."""
    peak_every_s: float
    peak_s: float
    """A peak writes so many seconds' worth of pieces at once, besides the others."""


@dataclass
class Phase:
    """What a phase moved. Seconds of reads, writes and flushes are those within the calls."""

    name: str
    duration_s: float = 0.0
    read_bytes: int = 0
    read_s: float = 0.0
    written_bytes: int = 0
    write_s: float = 0.0
    writes: int = 0
    flush_s: float = 0.0
    longest_write_s: float = 0.0
    late_s: float = 0.0
    """The most that a small write began after it was due."""


@dataclass(frozen=True)
class Result:
    """What a rank tells."""

    rank: int
    ranks: int
    began_epoch_s: float
    phases: list[Phase]
    read_sum: str
    """SHA-256 of what was read of the input."""
    written_sum: str
    """SHA-256 of all that was written, in order."""
    verified_sum: str
    """SHA-256 of what was read back of it."""


class Replay:
    """One rank's I/O."""

    def __init__(self, configuration: Configuration, rank: int, ranks: int) -> None:
        """Takes a part of the work.

        Args:
            configuration: Of the job.
            rank: From 0.
            ranks: That share the work.
        """
        self._given = configuration
        self._rank = rank
        self._ranks = ranks
        self._draw = random.Random(configuration.seed * 1_000_003 + rank)
        self._written = hashlib.sha256()
        self._own = Path(f"pattern-{rank}.out")

    def run(self) -> Result:
        """All phases, in the working folder."""
        began_epoch_s = time.time()
        with self._own.open("xb", buffering=0) as file:
            start, read_sum = self._start(file.fileno())
            steady = self._steady(file.fileno())
        verify, verified_sum = self._verify()
        return Result(
            rank=self._rank,
            ranks=self._ranks,
            began_epoch_s=began_epoch_s,
            phases=[start, steady, verify],
            read_sum=read_sum,
            written_sum=self._written.hexdigest(),
            verified_sum=verified_sum,
        )

    def _start(self, out: int) -> tuple[Phase, str]:
        """Reads a part of the input and writes as much, piece by piece."""
        phase, digest, began_s = Phase(START), hashlib.sha256(), time.monotonic()
        begin, end = part_of(Path(INPUT_FILE).stat().st_size, self._rank, self._ranks)
        for piece in _pieces(Path(INPUT_FILE), begin, end, phase):
            digest.update(piece)
            self._write(out, len(piece), phase)
            share = phase.read_bytes / (end - begin)
            _wait_until(began_s + self._given.start_s * share)
        self._end(phase, out, began_s)
        return phase, digest.hexdigest()

    def _steady(self, out: int) -> Phase:
        """Small writes at a rate, and the peaks."""
        phase, began_s = Phase(STEADY), time.monotonic()
        for due_s in due_times(self._given, self._ranks):
            _wait_until(began_s + due_s)
            phase.late_s = max(phase.late_s, time.monotonic() - began_s - due_s)
            self._write(out, size_of(self._given.mean_bytes, self._draw), phase)
        _wait_until(began_s + self._given.steady_s)
        self._end(phase, out, began_s)
        return phase

    def _verify(self) -> tuple[Phase, str]:
        """Reads back what was written."""
        phase, digest, began_s = Phase(VERIFY), hashlib.sha256(), time.monotonic()
        for piece in _pieces(self._own, 0, self._own.stat().st_size, phase):
            digest.update(piece)
        phase.duration_s = time.monotonic() - began_s
        return phase, digest.hexdigest()

    def _write(self, out: int, size: int, phase: Phase) -> None:
        piece = self._draw.randbytes(size)
        self._written.update(piece)
        began_s, at = time.monotonic(), 0
        while at < size:
            at += os.write(out, memoryview(piece)[at:])
        took_s = time.monotonic() - began_s
        phase.write_s += took_s
        phase.longest_write_s = max(phase.longest_write_s, took_s)
        phase.writes += 1
        phase.written_bytes += size

    @staticmethod
    def _end(phase: Phase, out: int, began_s: float) -> None:
        """Flushes what was written; a phase ends when the storage has it."""
        flushed_s = time.monotonic()
        os.fsync(out)
        ended_s = time.monotonic()
        phase.flush_s = ended_s - flushed_s
        phase.duration_s = ended_s - began_s


def part_of(size: int, rank: int, ranks: int) -> tuple[int, int]:
    """Begin and end of a rank's part of so many bytes."""
    return size * rank // ranks, size * (rank + 1) // ranks


def due_times(given: Configuration, ranks: int) -> list[float]:
    """When the small writes of a rank are due, in seconds, those of peaks among them."""
    rate = given.writes_per_s / ranks
    times = [number / rate for number in range(int(given.steady_s * rate))]
    peaks = math.ceil(given.steady_s / given.peak_every_s) - 1
    for peak in range(1, peaks + 1):
        times += [peak * given.peak_every_s] * int(given.peak_s * rate)
    return sorted(times)


def size_of(mean_bytes: float, draw: random.Random) -> int:
    """A size with about that mean: log-normal, cut at the least and the most."""
    drawn = draw.lognormvariate(math.log(mean_bytes) - _SIGMA**2 / 2, _SIGMA)
    return int(min(MOST_BYTES, max(LEAST_BYTES, drawn)))


def _pieces(path: Path, begin: int, end: int, phase: Phase) -> Iterator[bytes]:
    """What stands between two places of a file, read from the storage."""
    with path.open("rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        at = begin
        while at < end:
            began_s = time.monotonic()
            piece = os.pread(file.fileno(), min(PIECE_BYTES, end - at), at)
            phase.read_s += time.monotonic() - began_s
            if not piece:
                raise EOFError(f"{path} ends after {at} bytes of {end}")
            at += len(piece)
            phase.read_bytes += len(piece)
            yield piece


def _wait_until(moment_s: float) -> None:
    left_s = moment_s - time.monotonic()
    if left_s > 0:
        time.sleep(left_s)


def main(words: list[str]) -> int:
    """Replays what a file describes.

    Returns:
        0.
    """
    configuration = Configuration(**json.loads(Path(words[0]).read_text(encoding="utf-8")))
    rank = int(os.environ.get("LOADSTONE_RANK", "0"))
    ranks = int(os.environ.get("LOADSTONE_RANKS", "1"))
    result = Replay(configuration, rank, ranks).run()
    folder = Path(os.environ.get("LOADSTONE_OUTPUT", "."))
    folder.mkdir(parents=True, exist_ok=True)
    told = json.dumps(asdict(result))
    (folder / f"pattern-{rank}.json").write_text(told, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
