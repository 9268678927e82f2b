"""Lines of JSON in a Zstandard file that can be read at any moment, also after `kill -9`.

Each flush ends a Zstandard block (RFC 8878, section 3.1.1.2), so all lines up to it can be read
although the frame around them was never closed. The bytes are handed to the operating system at
each flush: they outlive the process, not a power cut. A block for which the disk has no room is
taken off again: the file ends with what was written before.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import zstandard

from loadstone.results.files import full_disk_said

_LEVEL = 3
_CHUNK_BYTES = 1 << 18
ENDS_EARLY = "ends early"
"""How what is said of a file begins whose writer was killed, or that was copied in part."""


class LineWriter:
    """Appends JSON objects, one a line. Its methods may be called from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        with full_disk_said(path):
            self._file = path.open("xb", buffering=0)
        self._bytes = 0
        """Of whole blocks in the file."""
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compressobj()
        self._closed = False

    def write(self, *values: Mapping[str, Any]) -> None:
        """Writes lines and flushes them.

        Raises:
            DiskFullError: If there is no space left.
        """
        text = "".join(json.dumps(value, separators=(",", ":")) + "\n" for value in values)
        with self._lock:
            if self._closed:
                return
            block = self._compressor.compress(text.encode())
            block += self._compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
            self._put(block)

    def close(self) -> None:
        """Closes the Zstandard frame and the file."""
        with self._lock:
            if self._closed:
                return
            self._put(self._compressor.flush(zstandard.COMPRESSOBJ_FLUSH_FINISH))
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _put(self, block: bytes) -> None:
        """Writes a block whole; one that fails is taken off, and nothing can follow it."""
        view = memoryview(block)
        try:
            with full_disk_said(self.path):
                while view:
                    view = view[self._file.write(view) :]
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file.fileno(), self._bytes)
            self._end()
            raise
        self._bytes += len(block)

    def _end(self) -> None:
        self._closed = True
        self._file.close()


def read_lines(path: Path) -> Generator[dict[str, Any], None, str]:
    """Reads every line that is whole; an end that was cut off is left out.

    Returns:
        What is wrong with the file, for who reads it with `yield from`; empty for a whole one.

    Raises:
        OSError: If the file cannot be opened.
    """
    rest, read, is_whole = b"", 0, False
    for chunk in _decompressed(path):
        if chunk is None:
            return f"is damaged after {read} lines"
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            value = _parse(line)
            if value is None:
                return f"is damaged after {read} lines"
            read += 1
            yield value
        is_whole = chunk == b""
    if is_whole:
        return f"is damaged after {read} lines" if rest else ""
    return f"{ENDS_EARLY}, after {read} lines"


def _decompressed(path: Path) -> Iterator[bytes | None]:
    """The content in pieces: up to the last byte before a damage, and then None.

    A piece that is empty ends a Zstandard frame that is whole. An error takes with it what its
    piece of the file held before the damage, so that piece alone is read again, byte by byte.
    """
    decompressor = zstandard.ZstdDecompressor().decompressobj()
    with path.open("rb") as file:
        at = 0
        while piece := file.read(_CHUNK_BYTES):
            try:
                chunk = decompressor.decompress(piece)
            except zstandard.ZstdError:
                yield from _before_damage(path, at, piece)
                yield None
                return
            if chunk:
                yield chunk
            if decompressor.eof:
                yield b""
                return
            at += len(piece)


def _before_damage(path: Path, at: int, piece: bytes) -> Iterator[bytes]:
    """What a damaged piece holds before its damage; all pieces before it are passed over."""
    decompressor = zstandard.ZstdDecompressor().decompressobj()
    with path.open("rb") as file:
        while file.tell() < at:
            decompressor.decompress(file.read(min(_CHUNK_BYTES, at - file.tell())))
    with contextlib.suppress(zstandard.ZstdError):
        for byte in piece:
            if chunk := decompressor.decompress(bytes((byte,))):
                yield chunk


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
