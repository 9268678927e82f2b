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
from typing import Any

from loadstone.errors import WrongInputError
from loadstone.folders_of_user import folder_of_user

MANIFEST = "manifest.json"
"""What is known of the data of a folder."""
_OF, _HASHES = "of", "sha256"
"""In a manifest: from what the files were made, and the hash of each."""


def cache_folder() -> Path:
    """The folder of all data, that of the user."""
    return folder_of_user("LOADSTONE_CACHE", "XDG_CACHE_HOME", ".cache")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time makes what is kept; the lock goes with its holder."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def made_once(
    folder: Path, make: Callable[[Path], Mapping[str, object]], of: Mapping[str, object]
) -> tuple[Path, bool]:
    """A folder that is whole, and whether it was made now. One without hashes is made again.

    Args:
        folder: Where it is kept.
        make: Writes its files, and says what its manifest has besides.
        of: What its files are made from (scale, seed): the manifest has it.
    """
    if (folder / MANIFEST).is_file() and _HASHES in _manifest(folder):
        return folder, False
    rough = folder.with_name(f".{folder.name}.rough")
    for left in (rough, folder):
        shutil.rmtree(left, ignore_errors=True)
    rough.mkdir()
    try:
        known = {**make(rough), _OF: of}
        known[_HASHES] = _hashes(rough)
        (rough / MANIFEST).write_text(json.dumps(known, indent=1))
        rough.rename(folder)
    except BaseException:
        shutil.rmtree(rough, ignore_errors=True)
        raise
    return folder, True


def altered(folder: Path) -> list[Path]:
    """The files of a folder that are not as they were written.

    A file that has the size and the times of the last look is not read again.
    """
    paths = {folder / name: own for name, own in _manifest(folder)[_HASHES].items()}
    return [path for path, own in paths.items() if not path.is_file() or _hash_of(path) != own]


def refuse_altered(folder: Path, of: Mapping[str, object]) -> None:
    """Stops before files are loaded that somebody has changed, or that are those of another seed.

    Args:
        folder: That `made_once` made.
        of: What its files must have been made from.

    Raises:
        WrongInputError: It names the first.
    """
    advice = f"delete the folder {folder}: the next run makes its files again"
    made_from = _manifest(folder)[_OF]
    if made_from != of:
        raise WrongInputError(
            f"{folder} holds files of {_told(made_from)}, not of {_told(of)}", advice=advice
        )
    for path in altered(folder):
        raise WrongInputError(
            f"{path} is not what Loadstone wrote: its SHA-256 is not that of {folder / MANIFEST}",
            advice=advice,
        )


def _told(of: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in of.items())


def _manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    return found


def _hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each file of a folder, by its path there."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): _hash_of(path) for path in paths}


def _hash_of(path: Path) -> str:
    known = path.stat()
    return _read_hash(path, (known.st_ino, known.st_size, known.st_mtime_ns, known.st_ctime_ns))


@lru_cache(maxsize=1024)
def _read_hash(path: Path, _state: tuple[int, ...]) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
