"""Where Loadstone keeps what is the user's: a folder of the home, or one in its place."""

from __future__ import annotations

import os
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.secret import HELD, holds_secret

_IN_PLACE_OF_HOME = Path("/var/tmp")  # noqa: S108 - a folder of this user alone, see below


def folder_of_user(variable: str, shared: str, below: str) -> Path:
    """The folder that a variable names, else `loadstone` in the shared one of its kind.

    Without a home that can be written (an account without an entry, a container) it is
    `/var/tmp/loadstone-of-UID`, which must belong to this user.

    Args:
        variable: Of Loadstone, as `LOADSTONE_STATE`.
        shared: Of the desktop, as `XDG_STATE_HOME`.
        below: Of the home, as `.local/state`.

    Raises:
        WrongInputError: If a variable holds a password, or the folder belongs to somebody else.
    """
    if own := _of_environment(variable):
        return Path(own)
    named = _of_environment(shared)
    try:
        usual = (Path(named) if named else Path.home() / below) / "loadstone"
    except RuntimeError:  # neither HOME nor an entry of the account
        return _in_place_of_home(below)
    return usual if named or _can_be_written(usual) else _in_place_of_home(below)


def _of_environment(variable: str) -> str | None:
    found = os.environ.get(variable)
    if found and holds_secret(found):
        raise WrongInputError(f"{variable} {HELD}", advice="it is the name of a folder")
    return found


def _in_place_of_home(below: str) -> Path:
    folder = _IN_PLACE_OF_HOME / f"loadstone-of-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise WrongInputError(
            f"{folder} belongs to somebody else, and there is no home that can be written",
            advice="set HOME, or LOADSTONE_STATE and LOADSTONE_CACHE",
        )
    return folder / Path(below).name.lstrip(".")


def _can_be_written(folder: Path) -> bool:
    here = next(each for each in (folder, *folder.parents) if each.exists())
    return here.is_dir() and os.access(here, os.W_OK | os.X_OK)
