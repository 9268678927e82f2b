"""Where the programs of MariaDB are."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from loadstone.errors import TargetError, WrongInputError
from loadstone.secret import shown

OLDEST = (10, 6)
_SERVER_NAMES = ("mariadbd", "mysqld")
_INSTALLER_NAMES = ("mariadb-install-db", "mysql_install_db")
_PLACES = (
    "/usr/sbin",
    "/usr/libexec",
    "/usr/bin",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/local/mysql/bin",
    "/usr/local/mysql/scripts",
    "/usr/local/mariadb/bin",
    "/usr/local/mariadb/scripts",
    "/opt/homebrew/opt/mariadb/bin",
    "/usr/local/opt/mariadb/bin",
    "/home/linuxbrew/.linuxbrew/opt/mariadb/bin",
)
_VERSION = re.compile(r"Ver ((\d+)\.(\d+)\.(\d+)\S*)")


@dataclass(frozen=True)
class Binaries:
    """The programs of one MariaDB."""

    server: Path
    installer: Path
    version: str
    number: tuple[int, int, int]

    @property
    def short_version(self) -> str:
        """`10.11.6`."""
        return ".".join(map(str, self.number))


def find(server: str) -> Binaries:
    """The programs that `local` or `local:10.11` stand for.

    Raises:
        WrongInputError: If the word is neither.
        TargetError: If there are none; the message names every place that was looked at.
    """
    if server == "embedded":
        raise WrongInputError(
            "there is no embedded MariaDB", advice="write server: local (--server local)"
        )
    match = re.fullmatch(r"local(?::(\d+)(?:\.(\d+))?)?", server)
    if match is None:
        raise WrongInputError(
            f"server {shown(server)} is not one that MariaDB can have",
            advice="write local, local:10.11 or mysql://user@host:port/database",
        )
    wanted = tuple(int(each) for each in match.groups() if each is not None)
    found = [each for each in map(at, _candidates(_SERVER_NAMES)) if each is not None]
    usable = [
        each for each in found if each.number[:2] >= OLDEST and each.number[: len(wanted)] == wanted
    ]
    if not usable:
        seen = ", ".join(f"{each.version} at {each.server}" for each in found) or "none"
        text = ".".join(map(str, wanted)) or f"{'.'.join(map(str, OLDEST))} or newer"
        raise TargetError(
            f"there is no MariaDB {text} on this machine (found: {seen}; looked for "
            f"{' or '.join(_SERVER_NAMES)} with {_INSTALLER_NAMES[0]} in PATH, "
            f"{', '.join(_PLACES)})",
            advice="install it (Debian: mariadb-server-core), or give an address: "
            "mysql://user@host:port/database",
        )
    return max(usable, key=lambda each: each.number)


def at(server: Path) -> Binaries | None:
    """The programs of that server, or None if none of ours can be made with them."""
    number = version_of(server)
    installer = next(iter(_candidates(_INSTALLER_NAMES, server.parent)), None)
    if number is None or installer is None:
        return None
    text, *parts = number
    return Binaries(server, installer, str(text), tuple(int(each) for each in parts))  # type: ignore[arg-type]


def version_of(server: Path) -> tuple[str, str, str, str] | None:
    """Version as text and in numbers, if it is a MariaDB that runs here."""
    try:
        return _version_said(server, server.stat().st_mtime_ns)
    except OSError:
        return None


@cache
def _version_said(server: Path, _modified_ns: int) -> tuple[str, str, str, str] | None:
    """Asks the program; it is asked again only when it has changed."""
    try:
        output = subprocess.run(
            [str(server), "--no-defaults", "--version"],
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = _VERSION.search(output)
    if match is None or "MariaDB" not in output:
        return None
    return (match[1], match[2], match[3], match[4])


def _candidates(names: tuple[str, ...], beside: Path | None = None) -> list[Path]:
    """Files of these names beside another, in PATH, and in the usual places; each only once."""
    folders = [] if beside is None else [beside]
    found = [folder / name for folder in folders for name in names]
    found += [Path(each) for name in names if (each := shutil.which(name))]
    found += [Path(folder) / name for folder in _PLACES for name in names]
    real = {path.resolve(): path for path in reversed(found) if path.is_file()}
    return sorted(real.values(), key=found.index)
