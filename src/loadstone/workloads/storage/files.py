"""The test files: written in full, with nothing left out, and known again.

A file with holes, or with extents that were reserved and never written, is read without its disk,
and the first write to each of its blocks pays for more than itself.
"""

from __future__ import annotations

import errno
import fcntl
import os
import random
import struct
from collections.abc import Callable, Iterator
from io import RawIOBase
from pathlib import Path

from loadstone.errors import TargetError
from loadstone.placements.tree import check_space
from loadstone.units import format_size

_PIECE_BYTES = 4 << 20
_BLOCK_BYTES = 4096
"""Within each the share that compresses away is at the end."""
_FIEMAP = 0xC020660B
_HEADER = struct.Struct("=QQIIII")
_EXTENT = struct.Struct("=QQQ16xI12x")
_EXTENTS = 256
_SYNC, _LAST, _UNWRITTEN = 0x1, 0x1, 0x800


def file_name(file: str, compressible: int) -> str:
    """Of a test file; what it holds is part of its name.

    Args:
        file: Its name in a test, as `data`.
        compressible: Percent of it that compress away.
    """
    return f"{file}-{compressible}.test"


def lay_out(
    path: Path,
    size_bytes: int,
    compressible: int,
    seed: int,
    tell: Callable[[int], None] = lambda _written: None,
) -> bool:
    """Writes a test file in full, unless it is there in full; the begin of a device in any case.

    It lies on its disk then, and no page of it is kept in memory.

    Args:
        path: Of the file, or of a device.
        size_bytes: Its size, or how much of the device.
        compressible: Percent of each block that compress away.
        seed: Of the rest.
        tell: Called with the bytes that were written, after each piece.

    Returns:
        Whether it was written.

    Raises:
        TargetError: If there is no space, or it cannot be written.
    """
    try:
        if path.is_block_device():
            with path.open("r+b", buffering=0) as device:
                _write(device, size_bytes, compressible, seed, tell)
            return True
        if path.exists() and path.stat().st_size == size_bytes and not gap(path):
            return False
        path.unlink(missing_ok=True)
        check_space(path.parent, size_bytes, f"test file {path.name}")
        with path.open("wb", buffering=0) as file:
            _write(file, size_bytes, compressible, seed, tell)
    except OSError as error:
        raise TargetError(
            f"test file {path} of {format_size(size_bytes)} cannot be written: {error.strerror}",
            advice="free some space, or measure with a smaller file_size",
        ) from error
    return True


def _write(
    file: RawIOBase, size_bytes: int, compressible: int, seed: int, tell: Callable[[int], None]
) -> None:
    for written, piece in _pieces(size_bytes, compressible, seed):
        if file.write(piece) != len(piece):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        tell(written)
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def gap(path: Path) -> str | None:
    """The first hole or unwritten extent of a file; None if there is none.

    By FIEMAP, and on file systems that have it not by SEEK_HOLE, which sees holes only.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            return _unmapped(file.fileno(), size)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL):
                raise
        hole = os.lseek(file.fileno(), 0, os.SEEK_HOLE)
    return None if hole >= size else f"a hole at {hole}"


def _unmapped(descriptor: int, size: int) -> str | None:
    at = 0
    while at < size:
        extents = _extents(descriptor, at, size)
        for begin, length, flags in extents:
            if begin > at:
                return f"a hole at {at}"
            if flags & _UNWRITTEN:
                return f"an unwritten extent at {begin}"
            at = max(at, begin + length)
        if not extents or extents[-1][2] & _LAST:
            break
    return None if at >= size else f"a hole at {at}"


def _extents(descriptor: int, begin: int, size: int) -> list[tuple[int, int, int]]:
    """Begin, length and flags of the extents from `begin` on."""
    room = bytearray(_HEADER.size + _EXTENTS * _EXTENT.size)
    _HEADER.pack_into(room, 0, begin, size - begin, _SYNC, 0, _EXTENTS, 0)
    fcntl.ioctl(descriptor, _FIEMAP, room)
    count = _HEADER.unpack_from(room)[3]
    found = (_EXTENT.unpack_from(room, _HEADER.size + n * _EXTENT.size) for n in range(count))
    return [(logical, length, flags) for logical, _physical, length, flags in found]


def _pieces(size_bytes: int, compressible: int, seed: int) -> Iterator[tuple[int, bytes]]:
    """Bytes written so far, and the next piece."""
    source = random.Random(seed)
    zeros = bytes(_BLOCK_BYTES * compressible // 100)
    noise = _BLOCK_BYTES - len(zeros)
    for begin in range(0, size_bytes, _PIECE_BYTES):
        length = min(_PIECE_BYTES, size_bytes - begin)
        blocks = -(-length // _BLOCK_BYTES)
        random_bytes = source.randbytes(noise * blocks)
        if zeros:
            parts = (random_bytes[n * noise : (n + 1) * noise] + zeros for n in range(blocks))
            random_bytes = b"".join(parts)
        yield begin + length, random_bytes[:length]
