"""How much of a file is in the page cache: cachestat(2), since Linux 6.5, else mincore(2)."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
from dataclasses import dataclass
from pathlib import Path

_CACHESTAT = 451
"""The same on every architecture: include/uapi/asm-generic/unistd.h."""
PAGE_BYTES = mmap.PAGESIZE


@dataclass(frozen=True)
class Cached:
    """Of one or several files, in bytes."""

    resident_bytes: int
    size_bytes: int
    dirty_bytes: int | None = None
    """In memory only so far; None where the kernel does not tell (mincore)."""

    def __add__(self, other: Cached) -> Cached:
        unknown = self.dirty_bytes is None or other.dirty_bytes is None
        return Cached(
            self.resident_bytes + other.resident_bytes,
            self.size_bytes + other.size_bytes,
            None if unknown else (self.dirty_bytes or 0) + (other.dirty_bytes or 0),
        )


class _Range(ctypes.Structure):
    _fields_ = (("off", ctypes.c_uint64), ("len", ctypes.c_uint64))


class _Stat(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in ("cache", "dirty", "writeback", "evicted", "recently_evicted")
    )


def cached(file: Path) -> Cached:
    """What the page cache holds of a file; reading it brings nothing in.

    Raises:
        OSError: If the file cannot be opened or asked about.
    """
    descriptor = os.open(file, os.O_RDONLY)
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)  # a device has no other
        found = _cachestat(descriptor)
        if found is not None:
            held, dirty = found
            return Cached(min(held * PAGE_BYTES, size), size, min(dirty * PAGE_BYTES, size))
        return Cached(min(_mincore(descriptor, size) * PAGE_BYTES, size), size)
    finally:
        os.close(descriptor)


def cached_below(folder: Path) -> dict[str, Cached]:
    """Each file below a folder by its path in it; one that goes away meanwhile is left out.

    Args:
        folder: Or a single file, or a device: that has an entry of its own name.
    """
    if not folder.is_dir():
        return {folder.name: cached(folder)}
    found = {}
    for path in sorted(folder.rglob("*")):
        try:
            if path.is_file() and not path.is_symlink():
                found[str(path.relative_to(folder))] = cached(path)
        except FileNotFoundError:
            continue
    return found


def resident_pages(descriptor: int, size: int) -> int:
    """How many pages of an open file of this size are in memory."""
    found = _cachestat(descriptor)
    return _mincore(descriptor, size) if found is None else found[0]


def _cachestat(descriptor: int) -> tuple[int, int] | None:
    """Pages in the cache, and those not yet written; None where the kernel has no such call."""
    stat, whole = _Stat(), _Range(0, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    done = libc.syscall(
        _CACHESTAT,
        ctypes.c_uint(descriptor),
        ctypes.byref(whole),
        ctypes.byref(stat),
        ctypes.c_uint(0),
    )
    if done == 0:
        return int(stat.cache), int(stat.dirty) + int(stat.writeback)
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EINVAL):
        return None
    raise OSError(number, os.strerror(number))


def _mincore(descriptor: int, size: int) -> int:
    """Pages of a file in memory."""
    if size == 0:
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_int64]
    address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    pages = -(-size // PAGE_BYTES)
    vector = (ctypes.c_ubyte * pages)()
    try:
        if libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), vector) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    finally:
        libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(size))
    return sum(each & 1 for each in vector)
