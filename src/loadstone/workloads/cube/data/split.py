"""A large file in parts, each of which can be loaded by itself; parallel loads need several."""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from loadstone.errors import WrongInputError
from loadstone.text import encoding_of
from loadstone.workloads.cube.data.borders import Borders, borders_of

_COPY_BYTES = 1 << 24


@dataclass(frozen=True)
class Part:
    """A part of a file."""

    path: Path
    first_line: int
    """Number in the whole file of the line after the part's header."""


def split(path: Path, parts: int, folder: Path) -> list[Part]:
    """Cuts a file into parts of about the same size, each with the file's header.

    `borders` says where a file of its kind may be cut.

    Args:
        path: Of the file: a CSV with a header, or an export of Essbase.
        parts: How many; there are fewer of a file with fewer places to cut at.
        folder: Where `STEM.1.SUFFIX` and so on go.

    Raises:
        WrongInputError: If the file cannot be read, or has no rows.
    """
    try:
        with path.open("rb") as file:
            encoding = encoding_of(file.peek(_COPY_BYTES))
            if encoding != "utf-8-sig":
                raise WrongInputError(
                    f"{path} is {encoding.upper()}, which is not cut",
                    advice="save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE",
                )
            return _split(path, file, parts, folder)
    except OSError as error:
        raise WrongInputError(f"{path} cannot be split into {folder}: {error}") from error


def _split(path: Path, file: BinaryIO, parts: int, folder: Path) -> list[Part]:
    borders = borders_of(file)
    begin, size = file.tell(), os.fstat(file.fileno()).st_size
    if size <= begin:
        raise WrongInputError(f"{path} has no rows below its header")
    cuts = [*_cuts(borders, file, begin, size, parts), size]
    file.seek(0)
    header = file.read(begin)
    line = header.count(b"\n") + 1
    header = header.removeprefix(codecs.BOM_UTF8)
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for number, (first, behind) in enumerate(pairwise(cuts), start=1):
        part = folder / f"{path.stem}.{number}{path.suffix}"
        found.append(Part(part, line))
        line += _copy(file, header, first, behind, part)
    return found


def _cuts(borders: Borders, file: BinaryIO, begin: int, size: int, parts: int) -> list[int]:
    """Where each part begins."""
    cuts = [begin]
    for number in range(1, parts):
        about = begin + (size - begin) * number // parts
        if about > cuts[-1]:
            cut = borders.next(file, about)
            if cut >= size:
                break
            cuts.append(cut)
    return cuts


def _copy(file: BinaryIO, header: bytes, first: int, behind: int, part: Path) -> int:
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
