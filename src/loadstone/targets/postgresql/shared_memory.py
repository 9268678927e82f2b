"""Shared memory that a killed PostgreSQL leaves behind on Linux.

A running server holds one small System V segment and some POSIX segments
(`/dev/shm/PostgreSQL.*`). After SIGKILL they stay until a server is started in the same data
folder again, which finds them by its `postmaster.pid`. When that folder is removed instead, or has
lost that file with the power, they must be removed here: those that its processes held while they
lived, and those that the System V segment leads to. Layouts: `PGShmemHeader` (storage/pg_shmem.h)
and `dsm_control_header` (storage/ipc/dsm.c), as of PostgreSQL 14 to 18.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

_HEADER = struct.Struct("@iiNNI")
_HEADER_MAGIC = 679834894
_JUST_MADE = 0
_CONTROL = struct.Struct("@III")
_CONTROL_MAGIC = 0x9A503D32
_ITEM = struct.Struct("@IINNP?7x")
_IPC_RMID = 0
_SHM_RDONLY = 0o10000
_FOLDER = Path(os.sep, "dev", "shm")
_POSIX = re.compile(rf"{_FOLDER}/PostgreSQL\.\d+$")
_CLOCK_S = 2.0
"""The kernel notes a segment's creation in whole seconds, a process's start since the boot."""
_DETACH_S = 1.0
"""A process that has just ended stays attached while somebody reads its memory map."""
_POLL_S = 0.005


@dataclass(frozen=True)
class Segment:
    """The System V segment of a server."""

    key: int
    identifier: int


@dataclass(frozen=True)
class Memory:
    """The segments of a server, System V and POSIX."""

    segments: frozenset[Segment] = frozenset()
    files: frozenset[Path] = frozenset()

    def __or__(self, other: Memory) -> Memory:
        return Memory(self.segments | other.segments, self.files | other.files)

    def remove(self) -> None:
        """Removes them and what they lead to; the server's processes have ended."""
        for segment in self.segments:
            _remove_left_over(segment)
        for path in self.files:
            path.unlink(missing_ok=True)


def held_by(server: Sequence[psutil.Process]) -> Memory:
    """What the processes of a server hold, whatever its disk still says.

    Segments that they have made and not yet attached, mapped or filled are among it; nothing of a
    process that is not stopped is certain.
    """
    files = {path for process in server for path in (*_mapped(process), *_opened(process))}
    return Memory(frozenset(_made_by(server)), frozenset(files))


def _made_by(server: Sequence[psutil.Process]) -> Iterator[Segment]:
    makers = {process.pid: process for process in server}
    with contextlib.suppress(OSError):
        for fields in _system_v():
            with contextlib.suppress(KeyError, psutil.Error):
                began_s = makers[fields["cpid"]].create_time() - _CLOCK_S
                if fields["ctime"] >= began_s:
                    yield Segment(fields["key"], fields["shmid"])


def _mapped(process: psutil.Process) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process.pid}/maps").read_text().splitlines():
            if found := _POSIX.search(line):
                yield Path(found[0])


def _opened(process: psutil.Process) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for link in Path(f"/proc/{process.pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                path = link.readlink()
                if _POSIX.fullmatch(str(path)):
                    yield path


def left_in(data: Path) -> Memory:
    """What a server that was killed has left, as `postmaster.pid` in its data folder says."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        key, identifier = (data / "postmaster.pid").read_text().splitlines()[6].split()
        return Memory(frozenset({Segment(int(key), int(identifier))}))
    return Memory()


def _remove_left_over(segment: Segment) -> None:
    """Removes the segment and the POSIX segments it leads to, if no process uses it any more."""
    if not sys.platform.startswith("linux") or not _comes_free(segment):
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
    if header[0] == _HEADER_MAGIC:
        _remove_posix(header[4])
    elif header[0] != _JUST_MADE:
        return
    libc.shmctl(segment.identifier, _IPC_RMID, None)


def _comes_free(segment: Segment) -> bool:
    """Whether the kernel still has this very segment and nobody stays attached to it."""
    give_up_at = time.monotonic() + _DETACH_S
    while (attached := _attached(segment)) and time.monotonic() < give_up_at:
        time.sleep(_POLL_S)
    return attached == 0


def _attached(segment: Segment) -> int | None:
    """How many processes are attached to it; None if the kernel has it no more."""
    for fields in _system_v():
        same = fields["key"] & 0xFFFFFFFF == segment.key & 0xFFFFFFFF
        if same and fields["shmid"] == segment.identifier:
            return fields["nattch"]
    return None


def _system_v() -> Iterator[dict[str, int]]:
    """The System V segments of this machine, with the columns that hold numbers alone."""
    names, *lines = Path("/proc/sysvipc/shm").read_text().splitlines()
    for line in lines:
        yield dict(zip(names.split(), map(int, line.split()), strict=True))


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
    return _FOLDER / f"PostgreSQL.{handle}"
