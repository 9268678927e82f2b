"""A folder that Loadstone made, marked so that it is never mistaken for somebody else's."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Any

from loadstone.errors import RefusedError, TargetError, WrongInputError
from loadstone.journal import Entry, Journal, undoes
from loadstone.placements.account import Account
from loadstone.units import format_size

MARK = ".loadstone"
DEFAULT_PARENT = Path("/var/tmp")  # noqa: S108


def make(
    journal: Journal, parent: Path, account: Account, owner: str, least_bytes: int = 0
) -> tuple[Path, Entry]:
    """Makes a marked folder `loadstone-<random>` in `parent`, given to the server's account.

    Args:
        journal: Told before it is made.
        parent: A folder that exists.
        account: That it is given to.
        owner: Its mark.
        least_bytes: Free space that a new server in it needs.

    Raises:
        WrongInputError: If `parent` does not exist or the account cannot enter it.
        TargetError: If less is free.
    """
    if not parent.is_dir():
        raise WrongInputError(
            f"data folder {parent} does not exist", advice="make it, or name another one"
        )
    if account.switch and not account.can_enter(parent):
        raise WrongInputError(
            f"the server runs as {account.name}, who may not enter {parent}",
            advice="name a data folder that it can enter, for example one below /var/tmp",
        )
    check_space(parent, least_bytes, "a new server")
    token = secrets.token_hex(6)
    path = parent.resolve() / f"loadstone-{token}"
    entry = journal.before(f"make folder {path}", "remove-tree", path=str(path), token=token)
    path.mkdir(mode=0o700)
    (path / MARK).write_text(json.dumps({"token": token, "owner": owner}))
    account.own(path)
    return path, entry


def check_space(folder: Path, needed_bytes: int, what: str) -> None:
    """Raises a TargetError unless that much is free on the file system of `folder`."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise TargetError(
            f"{what} needs {format_size(needed_bytes)} in {folder}, "
            f"but {format_size(free)} are free",
            advice="free some space, or name another data folder",
        )


def size_bytes(folder: Path) -> int:
    """Bytes on disk of all files below a folder; files that vanish meanwhile count as nothing."""
    total, left = 0, [os.fspath(folder)]
    while left:
        with contextlib.suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
                    continue
                with contextlib.suppress(FileNotFoundError):
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
    return total


@undoes("remove-tree")
def remove(data: dict[str, Any]) -> None:
    """Removes a folder that `make` made.

    Raises:
        RefusedError: If the folder holds something but not Loadstone's mark.
    """
    path = Path(data["path"])
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise RefusedError(f"{path} is not the folder that Loadstone made")
    if not path.exists():
        return
    mark = path / MARK
    try:
        marked = json.loads(mark.read_text())["token"] == data["token"]
    except (OSError, ValueError, KeyError, TypeError):
        marked = False
    if not marked and {each.name for each in path.iterdir()} - {MARK}:
        raise RefusedError(
            f"{path} holds files but not Loadstone's mark", advice="look into it and remove it"
        )
    # The mark goes last, so that a removal that is cut short can be taken up again.
    for child in path.iterdir():
        if child.is_dir() and not child.is_symlink():
            shutil.rmtree(child)
        elif child != mark:
            child.unlink()
    mark.unlink(missing_ok=True)
    path.rmdir()
