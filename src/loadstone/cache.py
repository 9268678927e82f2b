"""Data that are made once and kept for later experiments, and what is known of a server.

They lie below `$LOADSTONE_CACHE` (default: `$XDG_CACHE_HOME/loadstone`, `~/.cache/loadstone`), a
folder each. A folder that is there is whole: it is made under another name and renamed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from loadstone.folders_of_user import folder_of_user

MANIFEST = "manifest.json"
"""What is known of the data of a folder."""


def cache_folder() -> Path:
    """The folder of all data, that of the user."""
    return folder_of_user("LOADSTONE_CACHE", "XDG_CACHE_HOME", ".cache")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time makes what is kept; the lock goes with its holder."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def made_once(folder: Path, make: Callable[[Path], Mapping[str, object]]) -> tuple[Path, bool]:
    """A folder that is whole, and whether it was made now."""
    if (folder / MANIFEST).is_file():
        return folder, False
    rough = folder.with_name(f".{folder.name}.rough")
    for left in (rough, folder):
        shutil.rmtree(left, ignore_errors=True)
    rough.mkdir()
    try:
        (rough / MANIFEST).write_text(json.dumps(make(rough), indent=1))
        rough.rename(folder)
    except BaseException:
        shutil.rmtree(rough, ignore_errors=True)
        raise
    return folder, True


def hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each file of a folder by its name, but not of the manifest."""
    return {path.name: _hash_of(path) for path in sorted(folder.iterdir()) if path.name != MANIFEST}


def altered(folder: Path, noted: Mapping[str, str]) -> list[Path]:
    """The files of a folder that are not as they were written.

    A file that has the size and the times of the last look is not read again.

    Args:
        folder: Of a manifest.
        noted: Their `hashes` at that time.
    """
    paths = {folder / name: own for name, own in noted.items()}
    return [path for path, own in paths.items() if not path.is_file() or _hash_of(path) != own]


def _hash_of(path: Path) -> str:
    known = path.stat()
    return _read_hash(path, (known.st_ino, known.st_size, known.st_mtime_ns, known.st_ctime_ns))


@lru_cache(maxsize=1024)
def _read_hash(path: Path, _state: tuple[int, ...]) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
