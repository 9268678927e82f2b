"""Data that are made once and kept for later experiments, and what is known of a server.

They lie below `$LOADSTONE_CACHE` (default: `$XDG_CACHE_HOME/loadstone`, `~/.cache/loadstone`), a
folder each. A folder that is there is whole: it is made under another name and renamed.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

MANIFEST = "manifest.json"
"""What is known of the data of a folder."""


def cache_folder() -> Path:
    """The folder of all data, that of the user."""
    own = os.environ.get("LOADSTONE_CACHE")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "loadstone"


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
