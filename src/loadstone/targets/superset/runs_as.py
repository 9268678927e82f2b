"""The account that the parts of Superset run as, and where their environment lies.

All of them run as one account, the one of PostgreSQL: they meet at Unix sockets that nobody else
may enter. Where Loadstone is root, that account reads neither root's home nor a Python that is
installed there. So it is looked for a Python of the system, and the environment lies in a cache
that everybody may read.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from loadstone.cache import cache_folder
from loadstone.placements.account import Account, own_account, server_account

PYTHONS = ((3, 11), (3, 12))
"""That the pinned versions of Superset's libraries run on."""
SHARED_CACHE = Path("/var/cache/loadstone")
"""Where the environment lies if the account may not enter root's own cache."""
_FOLDERS = ("/usr/bin", "/usr/local/bin")
_VARIABLE = "LOADSTONE_CACHE"


@dataclass(frozen=True)
class RunsAs:
    """How the parts run on this machine."""

    account: Account
    cache: Path
    """In which the environment of Superset lies."""
    python: tuple[str, tuple[int, int]] | None = None
    """That the environment is made with, and its version; None: any that Superset runs on."""
    why: str = ""
    """Why they run as root; empty if they do not."""


def runs_as() -> RunsAs:
    """The account, and what it can read."""
    return _found(os.environ.get(_VARIABLE), cache_folder())


@cache
def _found(named: str | None, own: Path) -> RunsAs:
    """As `runs_as`.

    Args:
        named: The cache that the user has named; it is used, or nothing is.
        own: That of the user.
    """
    account = server_account()
    if not account.switch:
        return RunsAs(account, own)
    folder = own if account.can_enter(_existing(own)) else SHARED_CACHE
    if named is not None and folder != own:
        return _as_root(own, f"{account.name} may not enter {own}, which {_VARIABLE} names")
    for python in _of_system():
        if account.can_run([python[0], "-c", "import ssl, sqlite3"]):
            return RunsAs(account, folder, python)
    versions = " or ".join(f"{major}.{minor}" for major, minor in PYTHONS)
    return _as_root(own, f"{account.name} may run no Python {versions} in {', '.join(_FOLDERS)}")


def _as_root(own: Path, why: str) -> RunsAs:
    return RunsAs(own_account(), own, why=why)


def _existing(folder: Path) -> Path:
    """The folder, or the nearest around it that is there."""
    return next(each for each in (folder, *folder.absolute().parents) if each.exists())


def _of_system() -> Iterator[tuple[str, tuple[int, int]]]:
    """Those of the system, first the one of this version: its packages may be there already."""
    own = sys.version_info[:2]
    for major, minor in sorted(PYTHONS, key=lambda each: (each == own, each), reverse=True):
        found = shutil.which(f"python{major}.{minor}", path=os.pathsep.join(_FOLDERS))
        if found:
            yield found, (major, minor)
