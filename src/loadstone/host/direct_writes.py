"""Whether a file system takes direct writes and makes them in the page cache: tried, not looked up.

btrfs has done so since Linux 6.14 with files that it keeps checksums of, later with data that it
keeps twice, too, and newer kernels copy the data instead. It drops the pages when they are written,
so that nothing is left to see. But no kernel drops a page that somebody has mapped on behalf of a
buffered write, while a direct write takes it out of the cache even then, as it would be stale.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
from dataclasses import dataclass
from pathlib import Path

from loadstone.host.page_cache import resident_pages

_GET_FLAGS, _SET_FLAGS = 0x80086601, 0x40086602
"""FS_IOC_GETFLAGS and FS_IOC_SETFLAGS: include/uapi/linux/fs.h."""
_FLAGS = struct.Struct("l")
_NO_COW = 0x00800000
_PAGE = mmap.PAGESIZE


@dataclass(frozen=True)
class DirectWrites:
    """How a file system makes the direct writes to a file.

    Attributes:
        buffered: In the page cache.
        no_cow: The file bears the flag that `chattr +C` sets: btrfs keeps no checksums of it.
    """

    buffered: bool
    no_cow: bool


def try_beside(file: Path) -> DirectWrites | None:
    """Makes a direct write to a file without a name beside this one, and with its flag.

    Returns:
        None if the file system has no such files, flags or writes, or no room.
    """
    try:
        no_cow = _has_no_cow(file)
        descriptor = os.open(file.parent, os.O_TMPFILE | os.O_RDWR, 0o600)
    except OSError:
        return None
    try:
        _like(descriptor, no_cow=no_cow)
        os.write(descriptor, bytes(_PAGE))
        return DirectWrites(_keeps_page(descriptor), no_cow)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _keeps_page(descriptor: int) -> bool:
    """Whether the only page of a file, which is mapped, survives a direct write over it."""
    direct = os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR | os.O_DIRECT)
    try:
        with (
            mmap.mmap(descriptor, _PAGE, mmap.MAP_SHARED, mmap.PROT_READ) as mapped,
            mmap.mmap(-1, _PAGE) as block,
        ):
            mapped.read(1)
            os.pwritev(direct, [block], 0)
            return resident_pages(descriptor, _PAGE) > 0
    finally:
        os.close(direct)


def _has_no_cow(file: Path) -> bool:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return bool(_flags(descriptor) & _NO_COW)
    finally:
        os.close(descriptor)


def _like(descriptor: int, *, no_cow: bool) -> None:
    """Gives an empty file the flag, which it has from its folder; files may differ from that."""
    flags = _flags(descriptor)
    if bool(flags & _NO_COW) != no_cow:
        fcntl.ioctl(descriptor, _SET_FLAGS, _FLAGS.pack(flags ^ _NO_COW))


def _flags(descriptor: int) -> int:
    (found,) = _FLAGS.unpack(fcntl.ioctl(descriptor, _GET_FLAGS, bytes(_FLAGS.size)))
    return int(found)
