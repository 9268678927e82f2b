"""The files of a log: the end of the present one, before it those that were rotated away."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zlib
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from io import BufferedIOBase, BytesIO
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.text import encoding_of

READ_AT_MOST_BYTES = 64 * 1024**2
"""Of the end of a log, all its files together."""

_BEGINNING_BYTES = 2000
_PIECE_BYTES = 1024**2
_UNPACK: Mapping[str, Callable[[Path], BufferedIOBase]] = {
    ".gz": gzip.GzipFile,
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}
_PACKED = r"(?:\.gz|\.bz2|\.xz)?"
_TIME = re.compile("%[A-Za-z]")


def read_end(path: Path, at_most_bytes: int = READ_AT_MOST_BYTES) -> bytes:
    """The end of a file as UTF-8, from the start of a line; unpacked if its name says it is packed.

    Raises:
        WrongInputError: If it cannot be read.
    """
    unpack = _UNPACK.get(path.suffix)
    try:
        with path.open("rb") if unpack is None else unpack(path) as file:
            return _end(file, at_most_bytes) if unpack is None else _unpacked(file)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise WrongInputError(
            f"the log {path} cannot be read: {getattr(error, 'strerror', None) or error}",
            advice="run as a user who may read it, or name another with --log",
        ) from error


def lines_of(data: bytes) -> Iterator[str]:
    """Lines; bytes that are no text count for nothing: logs hold what clients sent."""
    return (line.decode("utf-8", errors="replace") for line in BytesIO(data))


def earlier_files(path: Path, of_server: str | None = None) -> list[Path]:
    """Files of the same log that were rotated away, the newest first.

    Args:
        path: The present file.
        of_server: How the server itself names its files, as `postgresql-%a.log`; else logrotate
            does, by a number or a date behind the name.
    """
    name = re.escape(path.name)
    pattern = re.compile(rf"{name}[.-]\d[\d.-]*{_PACKED}")
    if of_server:
        stem, suffix = Path(of_server).stem, re.escape(path.suffix)
        times = (re.escape(part) for part in _TIME.split(stem))
        pattern = re.compile(rf"{'[0-9A-Za-z]+'.join(times)}{suffix}{_PACKED}")
    try:
        now = path.stat().st_mtime
        found = [
            (each.stat().st_mtime, each)
            for each in path.parent.iterdir()
            if pattern.fullmatch(each.name) and each != path and each.is_file()
        ]
    except OSError:
        return []
    return [each for changed, each in sorted(found, reverse=True) if changed <= now]


def _end(file: BufferedIOBase, at_most_bytes: int) -> bytes:
    beginning = file.read(_BEGINNING_BYTES)
    encoding = encoding_of(beginning)
    mark = len(BOM_UTF8) if beginning.startswith(BOM_UTF8) else 0
    # An even number else: no character of UTF-16 is cut.
    start = max((file.seek(0, 2) - at_most_bytes) // 2 * 2, mark)
    file.seek(start)
    data = _utf8(file.read(), encoding)
    return _from_a_line(data) if start > mark else data


def _unpacked(file: BufferedIOBase) -> bytes:
    pieces: deque[bytes] = deque()
    size, cut = 0, False
    while piece := file.read(_PIECE_BYTES):
        pieces.append(piece)
        size += len(piece)
        while size - len(pieces[0]) >= READ_AT_MOST_BYTES:
            size -= len(pieces.popleft())
            cut = True
    data = b"".join(pieces)
    return _from_a_line(data) if cut else _utf8(data, encoding_of(data[:_BEGINNING_BYTES]))


def _utf8(data: bytes, encoding: str) -> bytes:
    """A log that a shell of Windows wrote is in UTF-16."""
    if encoding == "utf-8-sig":
        return data
    return data.decode(encoding, errors="replace").encode(errors="replace")


def _from_a_line(data: bytes) -> bytes:
    return data[data.find(b"\n") + 1 :]
