"""A folder of an NFS export, by libnfs, as fio's engine reaches it: made, emptied, removed.

The library comes with the fio that speaks NFS. Calls: libnfs.h of version 4.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from loadstone.errors import TargetError

_TIMEOUT_MS = 10_000
_ABSENT = -2
"""-ENOENT."""


class _Url(ctypes.Structure):
    _fields_ = (
        ("server", ctypes.c_char_p),
        ("path", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
    )


class _Entry(ctypes.Structure):
    """The first fields of `struct nfsdirent`."""


_Entry._fields_ = (("next", ctypes.POINTER(_Entry)), ("name", ctypes.c_char_p))


class NfsFolder:
    """A mounted export; each call ends within seconds, whatever the server does."""

    def __init__(self, url: str, library: Any, context: ctypes.c_void_p) -> None:
        self._url, self._nfs, self._context = url, library, context

    def make(self, name: str) -> None:
        """Makes a folder in it.

        Raises:
            TargetError: With the words of the server.
        """
        self._done("nfs_mkdir", f"/{name}", doing=f"making a folder in {self._url}")

    def remove(self, name: str) -> None:
        """Removes a folder in it with the files there; one that is not there is no failure.

        Raises:
            TargetError: With the words of the server.
        """
        for file in list(self._names(f"/{name}")):
            self._done("nfs_unlink", f"/{name}/{file}", doing=f"removing {name}/{file}")
        self._done("nfs_rmdir", f"/{name}", doing=f"removing {name}", absent_is_done=True)

    def _names(self, path: str) -> Iterator[str]:
        handle = ctypes.c_void_p()
        code = self._nfs.nfs_opendir(self._context, path.encode(), ctypes.byref(handle))
        if code == _ABSENT:
            return
        self._check(code, f"reading {path}")
        try:
            while entry := self._nfs.nfs_readdir(self._context, handle):
                name = entry.contents.name.decode()
                if name not in (".", ".."):
                    yield name
        finally:
            self._nfs.nfs_closedir(self._context, handle)

    def _done(self, call: str, path: str, *, doing: str, absent_is_done: bool = False) -> None:
        code = getattr(self._nfs, call)(self._context, path.encode())
        if not (absent_is_done and code == _ABSENT):
            self._check(code, doing)

    def _check(self, code: int, doing: str) -> None:
        if code < 0:
            told = self._nfs.nfs_get_error(self._context) or b"no reason given"
            raise TargetError(f"{doing} failed: {told.decode(errors='replace').strip()}")


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


@cache
def _library() -> Any:
    found = ctypes.util.find_library("nfs")
    if found is None:
        raise TargetError("libnfs is missing", advice="install the package libnfs-dev")
    nfs = ctypes.CDLL(found)
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
