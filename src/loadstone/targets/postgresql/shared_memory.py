"""Shared memory that a killed PostgreSQL leaves behind on Linux.

A running server holds one small System V segment and some POSIX segments
(`/dev/shm/PostgreSQL.*`). After SIGKILL they stay until a server is started in the same data
folder again, which finds them by its `postmaster.pid`. When that folder is removed instead, or has
lost that file with the power, they must be removed here. Layouts: `PGShmemHeader`
(storage/pg_shmem.h) and `dsm_control_header` (storage/ipc/dsm.c), as of PostgreSQL 14 to 18.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

_HEADER = struct.Struct("@iiNNI")
_HEADER_MAGIC = 679834894
_CONTROL = struct.Struct("@III")
_CONTROL_MAGIC = 0x9A503D32
_ITEM = struct.Struct("@IINNP?7x")
_IPC_RMID = 0
_SHM_RDONLY = 0o10000
_MAPPED = re.compile(r" (?P<identifier>\d+) +/SYSV(?P<key>[0-9a-f]{8})")
"""A System V segment in `/proc/PID/maps`: its identifier stands where a file has its inode."""


@dataclass(frozen=True)
class Segment:
    """The System V segment of a server."""

    key: int
    identifier: int


def held_by(postmaster: psutil.Process) -> Segment | None:
    """The segment of a running server, whatever its disk still says."""
    with contextlib.suppress(OSError):
        found = _MAPPED.search(Path(f"/proc/{postmaster.pid}/maps").read_text())
        if found is not None:
            return Segment(int(found["key"], 16), int(found["identifier"]))
    return None


def left_in(data: Path) -> Segment | None:
    """The segment of a server that was killed, as `postmaster.pid` in its data folder says."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        key, identifier = (data / "postmaster.pid").read_text().splitlines()[6].split()
        return Segment(int(key), int(identifier))
    return None


def remove_left_over(segment: Segment) -> None:
    """Removes the segment and the POSIX segments it leads to, if no process uses it any more."""
    if not sys.platform.startswith("linux") or not _unused(segment):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
    libc.shmdt.argtypes = (ctypes.c_void_p,)
    address = libc.shmat(segment.identifier, None, _SHM_RDONLY)
    if address in (None, ctypes.c_void_p(-1).value):
        return
    try:
        header = _HEADER.unpack(ctypes.string_at(address, _HEADER.size))
    finally:
        libc.shmdt(address)
    if header[0] != _HEADER_MAGIC:
        return
    _remove_posix(header[4])
    libc.shmctl(segment.identifier, _IPC_RMID, None)


def _unused(segment: Segment) -> bool:
    """Whether the kernel still has this very segment and nobody is attached to it."""
    for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
        fields = line.split()
        key, identifier, attached = int(fields[0]), int(fields[1]), int(fields[6])
        if identifier == segment.identifier:
            return key & 0xFFFFFFFF == segment.key & 0xFFFFFFFF and attached == 0
    return False


def _remove_posix(control_handle: int) -> None:
    control = _posix_path(control_handle)
    try:
        content = control.read_bytes()
        magic, used, _ = _CONTROL.unpack_from(content)
    except (OSError, struct.error):
        return
    if magic != _CONTROL_MAGIC:
        return
    first = -(-_CONTROL.size // 8) * 8
    for number in range(used):
        offset = first + number * _ITEM.size
        if offset + _ITEM.size > len(content):
            break
        handle, references, *_ = _ITEM.unpack_from(content, offset)
        if references and not handle & 1:
            _posix_path(handle).unlink(missing_ok=True)
    control.unlink(missing_ok=True)


def _posix_path(handle: int) -> Path:
    return Path(os.sep) / "dev" / "shm" / f"PostgreSQL.{handle}"
