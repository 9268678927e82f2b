"""A large file in parts, cut between rows, because parallel loads need several."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from io import BufferedReader
from itertools import pairwise
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.text import encoding_of

_COPY_BYTES = 1 << 24
_NATIVE = re.compile(rb'\s*"[^"]+"(?:\s+"[^"]+")*\s*')
"""Header of a native file; a CSV may quote the names of its columns too, but has more between."""


@dataclass(frozen=True)
class Part:
    """A part of a file."""

    path: Path
    first_line: int
    """Number in the whole file of the line after the part's header."""


def split(path: Path, parts: int, folder: Path) -> list[Part]:
    """Cuts a file into parts of about the same size, each with the file's header line.

    A native file, whose header is quoted members with blanks between them, is cut between blocks:
    before a line that says where the lines below it belong.

    Args:
        path: Of the file: a header, then rows of one line.
        parts: How many; there are fewer of a file with fewer rows or blocks.
        folder: Where `STEM.1.SUFFIX` and so on go.

    Raises:
        WrongInputError: If the file cannot be read, or has no rows.
    """
    try:
        with path.open("rb") as file:
            header = file.readline()
            if encoding_of(header) != "utf-8-sig":
                raise WrongInputError(
                    f"{path} is {encoding_of(header).upper()}, which is not cut",
                    advice="save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE",
                )
            size = os.fstat(file.fileno()).st_size
            if size <= len(header):
                raise WrongInputError(f"{path} has no rows below its header")
            is_native = _NATIVE.fullmatch(header) is not None
            cuts = [len(header)]
            for number in range(1, parts):
                about = len(header) + (size - len(header)) * number // parts
                file.seek(max(about, cuts[-1]) - 1)
                file.readline()
                cuts.append(_border(file, size, is_native=is_native))
            ranges = [pair for pair in pairwise([*cuts, size]) if pair[0] < pair[1]]
            folder.mkdir(parents=True, exist_ok=True)
            found, line = [], 2
            for number, (first, behind) in enumerate(ranges, start=1):
                part = folder / f"{path.stem}.{number}{path.suffix}"
                found.append(Part(part, line))
                line += _copy(file, header, first, behind, part)
            return found
    except OSError as error:
        raise WrongInputError(f"{path} cannot be split into {folder}: {error}") from error


def _border(file: BufferedReader, size: int, *, is_native: bool) -> int:
    """Where the next part may begin, from a beginning of a line on."""
    while is_native and (at := file.tell()) < size:
        # A point of view has members only, all of them quoted; a row has numbers behind its one.
        if file.readline().count(b'"') > 2:
            return at
    return file.tell()


def _copy(file: BufferedReader, header: bytes, first: int, behind: int, part: Path) -> int:
    """Writes a part; returns how many lines it has below its header."""
    lines = 0
    file.seek(first)
    with part.open("wb") as out:
        out.write(header)
        while first < behind:
            data = file.read(min(_COPY_BYTES, behind - first))
            out.write(data)
            lines += data.count(b"\n")
            first += len(data)
    return lines
