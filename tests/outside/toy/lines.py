"""A line of a file: who appended it, which of its lines it is, and a sum that finds a torn one."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

BYTES = 64


def path_of(folder: Path, number: int) -> Path:
    """A file of the folder."""
    return folder / f"{number:04d}.txt"


def line_of(user: int, number: int) -> bytes:
    """The line as it is appended."""
    text = b"%d %d" % (user, number)
    return (b"%s %08x" % (text, zlib.crc32(text))).ljust(BYTES - 1) + b"\n"


def read_lines(path: Path) -> Iterator[tuple[int, int] | None]:
    """User and number of each line; None for one that is torn."""
    for line in path.read_bytes().splitlines(keepends=True):
        words = line.split()
        user, number = (int(words[0]), int(words[1])) if len(words) == 3 else (-1, -1)
        yield (user, number) if line == line_of(user, number) else None
