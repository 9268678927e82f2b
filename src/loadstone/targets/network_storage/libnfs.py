"""A folder of an NFS export, by libnfs, as fio's engine reaches it: made, read, emptied, removed.

Calls: libnfs.h of version 4.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from loadstone.errors import TargetError
from loadstone.targets.file_tree import Inodes

_TIMEOUT_MS = 10_000
_ABSENT, _NO_FOLDER = -errno.ENOENT, -errno.ENOTDIR
_FOLDER = 2
"""NF3DIR (RFC 1813)."""
_READ_BYTES = 64 << 10
_MODE = 0o644
_REFUSALS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EMLINK}


class RefusedCallError(TargetError):
    """The server answered, and did nothing."""


class _Url(ctypes.Structure):
    _fields_ = (
        ("server", ctypes.c_char_p),
        ("path", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
    )


class _Entry(ctypes.Structure):
    """The first fields of `struct nfsdirent`."""


_Entry._fields_ = (
    ("next", ctypes.POINTER(_Entry)),
    ("name", ctypes.c_char_p),
    ("inode", ctypes.c_uint64),
    ("type", ctypes.c_uint32),
    ("mode", ctypes.c_uint32),
    ("size", ctypes.c_uint64),
)


class _Room(ctypes.Structure):
    """`struct statvfs` of glibc, on machines of 64 bits."""

    _fields_ = (
        *((name, ctypes.c_ulong) for name in ("bsize", "frsize", "blocks", "bfree", "bavail")),
        *((name, ctypes.c_ulong) for name in ("files", "ffree", "favail")),
        ("rest", ctypes.c_ulong * 8),
    )


class _Found(NamedTuple):
    name: str
    is_folder: bool
    size_bytes: int


class NfsFolder:
    """A mounted export; each call ends within seconds, whatever the server does."""

    def __init__(self, url: str, library: Any, context: ctypes.c_void_p) -> None:
        self._url, self._nfs, self._context = url, library, context

    def make(self, name: str) -> None:
        """Makes a folder in it.

        Raises:
            RefusedCallError: If the server may not, or cannot, with its words.
            TargetError: If it is not known whether it did.
        """
        self._done("nfs_mkdir", name, doing=f"making a folder in {self._url}")

    def remove(self, path: str) -> None:
        """Removes a folder in it with all that is there; one that is not there is no failure.

        Raises:
            TargetError: With the words of the server.
        """
        for entry in self._entries(path) or ():
            inner = f"{path}/{entry.name}"
            if entry.is_folder:
                self.remove(inner)
            else:
                self._done("nfs_unlink", inner, doing=f"removing {inner}")
        self._done("nfs_rmdir", path, doing=f"removing {path}", absent_is_done=True)

    def clear(self) -> None:
        """Removes all that is there.

        Raises:
            TargetError: With the words of the server.
        """
        for entry in self._entries("") or ():
            if entry.is_folder:
                self.remove(entry.name)
            else:
                self._done("nfs_unlink", entry.name, doing=f"removing {entry.name}")

    # -- as a FileTree -------------------------------------------------------------------------
    def shown(self, path: str) -> str:
        """With the address before it."""
        return f"{self._url.partition('?')[0]}/{path}".rstrip("/")

    def names(self, path: str) -> set[str] | None:
        """What lies in a folder; None if there is no such folder."""
        found = self._entries(path)
        return None if found is None else {each.name for each in found}

    def sizes(self, path: str) -> Iterator[tuple[str, int]]:
        """Every file below a folder with its bytes, in an order that follows from the names."""
        pending = [path]
        while pending:
            folder = pending.pop()
            for entry in sorted(self._entries(folder) or ()):
                inner = f"{folder}/{entry.name}"
                if entry.is_folder:
                    pending.append(inner)
                else:
                    yield inner, entry.size_bytes

    def read(self, path: str) -> bytes:
        """What a file holds."""
        content = b""
        with self._opened("nfs_open", path, os.O_RDONLY) as file:
            while part := self._read_part(file, path):
                content += part
        return content

    def write(self, path: str, content: bytes) -> None:
        """Makes a file, in the place of one that is there."""
        with self._opened("nfs_creat", path, _MODE) as file:
            size = ctypes.c_uint64(len(content))
            written = self._nfs.nfs_write(self._context, file, size, content)
            self._check(written, f"writing {self.shown(path)}")
            if written < len(content):
                raise TargetError(f"{self.shown(path)} was not written in full")

    def inodes(self) -> Inodes:
        """Of the file system of the folder."""
        room = _Room()
        code = self._nfs.nfs_statvfs(self._context, b"/", ctypes.byref(room))
        self._check(code, f"asking {self._url} for its room")
        return Inodes(room.files, room.favail)

    @contextmanager
    def _opened(self, call: str, path: str, how: int) -> Iterator[ctypes.c_void_p]:
        file = ctypes.c_void_p()
        opened = getattr(self._nfs, call)
        code = opened(self._context, f"/{path}".encode(), how, ctypes.byref(file))
        self._check(code, f"opening {self.shown(path)}")
        try:
            yield file
        finally:
            self._nfs.nfs_close(self._context, file)

    def _read_part(self, file: ctypes.c_void_p, path: str) -> bytes:
        buffer = ctypes.create_string_buffer(_READ_BYTES)
        size = ctypes.c_uint64(_READ_BYTES)
        count = self._nfs.nfs_read(self._context, file, size, buffer)
        self._check(count, f"reading {self.shown(path)}")
        return buffer.raw[:count]

    def _entries(self, path: str) -> list[_Found] | None:
        handle = ctypes.c_void_p()
        name = f"/{path}".encode()
        code = self._nfs.nfs_opendir(self._context, name, ctypes.byref(handle))
        if code in {_ABSENT, _NO_FOLDER}:
            return None
        self._check(code, f"reading {self.shown(path)}")
        found = []
        try:
            while entry := self._nfs.nfs_readdir(self._context, handle):
                told = entry.contents
                found.append(_Found(told.name.decode(), told.type == _FOLDER, told.size))
        finally:
            self._nfs.nfs_closedir(self._context, handle)
        return [each for each in found if each.name not in {".", ".."}]

    def _done(self, call: str, path: str, *, doing: str, absent_is_done: bool = False) -> None:
        code = getattr(self._nfs, call)(self._context, f"/{path}".encode())
        if not (absent_is_done and code == _ABSENT):
            self._check(code, doing)

    def _check(self, code: int, doing: str) -> None:
        if code < 0:
            told = self._nfs.nfs_get_error(self._context) or b"no reason given"
            kind = RefusedCallError if -code in _REFUSALS else TargetError
            raise kind(f"{doing} failed: {told.decode(errors='replace').strip()}")


@contextmanager
def mounted(url: str) -> Iterator[NfsFolder]:
    """The export at an address, for as long as the block lasts.

    Raises:
        TargetError: If it does not answer in time, or does not let us in.
    """
    nfs = _library()
    context = ctypes.c_void_p(nfs.nfs_init_context())
    try:
        nfs.nfs_set_timeout(context, _TIMEOUT_MS)
        folder = NfsFolder(url, nfs, context)
        parsed = nfs.nfs_parse_url_dir(context, url.encode())
        if not parsed:
            raise TargetError(f"{url} is no address of NFS", advice="write nfs://host/export")
        where = parsed.contents
        folder._check(nfs.nfs_mount(context, where.server, where.path), f"mounting {url}")
        yield folder
    finally:
        nfs.nfs_destroy_context(context)


def within(url: str, name: str) -> str:
    """The address of a folder in that of another."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{name}"))


def absent() -> str | None:
    """Why the library cannot be used, with the package that has it; None if it can."""
    return None if _found() else "libnfs is missing: install the package libnfs-dev"


@cache
def _found() -> str | None:
    return ctypes.util.find_library("nfs")


@cache
def _library() -> Any:
    if reason := absent():
        raise TargetError(reason)
    nfs = ctypes.CDLL(_found())
    pointer = ctypes.c_void_p
    results: dict[str, Any] = {
        "nfs_init_context": pointer,
        "nfs_parse_url_dir": ctypes.POINTER(_Url),
        "nfs_readdir": ctypes.POINTER(_Entry),
        "nfs_get_error": ctypes.c_char_p,
    }
    for name, kind in results.items():
        getattr(nfs, name).restype = kind
    return nfs
