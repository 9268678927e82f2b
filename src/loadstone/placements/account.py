"""The account of the operating system that an owned server runs as.

Servers refuse to run as root, or should. Where Loadstone is root, the server runs as the account
that its package made (`postgres`, `mysql`) if there is one, else as `nobody`.
"""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError

_KEPT_ENVIRONMENT = ("PATH", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "MALLOC_ARENA_MAX")


@dataclass(frozen=True)
class Account:
    """A user of this machine; `switch` says whether programs must be started as another user."""

    name: str
    uid: int
    gid: int
    switch: bool

    def own(self, path: Path) -> None:
        """Gives a file or folder to the account."""
        if self.switch:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def process_options(self) -> dict[str, Any]:
        """Options of `subprocess` that start a program as this account, with few variables.

        Nothing of Loadstone's environment is handed on that could change the server (`PG*`) or that
        is nobody's business (passwords).
        """
        environment = {key: os.environ[key] for key in _KEPT_ENVIRONMENT if key in os.environ}
        options: dict[str, Any] = {"env": {**environment, "LC_ALL": "C"}, "umask": 0o077}
        if self.switch:
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return options

    def can_run(self, command: Sequence[str | Path]) -> bool:
        """Whether the account may run this and it ends well."""
        try:
            done = subprocess.run(
                [str(part) for part in command],
                cwd="/",
                capture_output=True,
                check=False,
                timeout=30,
                **self.process_options(),
            )
        except OSError:
            return False
        return done.returncode == 0

    def can_enter(self, folder: Path) -> bool:
        """Whether the account may enter and list the folder, its parents included."""
        return self.can_run(["/bin/sh", "-c", 'cd -- "$1" && ls >/dev/null', "sh", folder])


def own_account() -> Account:
    """The account that Loadstone itself runs as."""
    return Account(str(os.geteuid()), os.geteuid(), os.getegid(), switch=False)


def server_account(*preferred: str) -> Account:
    """The account for owned servers on this machine.

    Args:
        preferred: Names to try before `nobody`, where Loadstone is root; default: `postgres`.

    Raises:
        TargetError: If Loadstone is root and there is none of them.
    """
    if os.geteuid() != 0:
        return own_account()
    names = (*(preferred or ("postgres",)), "nobody")
    for name in names:
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(found.pw_name, found.pw_uid, found.pw_gid, switch=True)
    raise TargetError(
        f"a server must not run as root, and there is no account {' or '.join(names)}",
        advice=f"run Loadstone as an ordinary user, or make an account {names[0]}",
    )
