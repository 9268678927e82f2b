"""Superset in an environment of its own: which versions, where it lies, how it gets there.

The plain resolution does not work: flask-caching 2.5 breaks memoised keys, gevent needs greenlet
3.1.1, rich and cachetools are needed and not declared. So `requirements.txt` beside this module
has the version of every package. It was made by `uv pip compile --universal --python-version 3.11`
of `apache-superset==6.1.0 flask-caching==2.3.1 greenlet==3.1.1 gevent==24.11.1 rich cachetools
psycopg2-binary`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.cache import cache_folder, locked
from loadstone.errors import DiskFullError, TargetError
from loadstone.placements import tree
from loadstone.targets.superset.runs_as import PYTHONS, SHARED_CACHE, runs_as

VERSION = "6.1.0"
SIZE_BYTES = 850_000_000
"""Of the environment with its compiled files."""
_PINS = Path(__file__).with_name("requirements.txt")
_PIN = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;]+)(?:\s*;.*)?$")
_MORE_SPACE = "free some space, or name another folder with LOADSTONE_CACHE"
_SHOWN = 300
_NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded")
_UNKNOWN = re.compile(r"No solution found|No matching distribution|not found in the package reg")
_UNREACHABLE = re.compile(
    r"Failed to fetch|error sending request|dns error|NewConnectionError|Connection refused|"
    r"Could not connect|Network is unreachable|timed out|TimeoutError|ProxyError|"
    r"Max retries exceeded|not cached|network was disabled",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Environment:
    """Where Superset is, or will be, installed."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter: programs are run as modules, so that the folder may be renamed."""
        return self.folder / "bin" / "python"

    @property
    def is_there(self) -> bool:
        """Whether it was installed, and the interpreter that it was made with still exists."""
        return self.python.exists()


def environment() -> Environment:
    """The environment of these pins, whether it is there or not.

    Raises:
        TargetError: If this machine has no Python that Superset runs on.
    """
    _, version = _interpreter()
    digest = hashlib.sha256(_PINS.read_bytes()).hexdigest()[:8]
    name = f"{VERSION}-py{version[0]}{version[1]}-{digest}"
    return Environment(runs_as().cache / "superset" / name)


def first_told() -> str:
    """What has to be done before Superset can be used, for people."""
    found = environment()
    if (own := _own(found.folder)).is_there:
        return f"its packages are linked from {own.folder} into {found.folder}"
    return f"{SIZE_BYTES // 10**6} MB from the package index into {found.folder}"


def installed() -> Environment:
    """The environment, installed now if it is not there yet.

    It is made under another name and renamed when it is whole; one process at a time makes it.

    Raises:
        TargetError: If it cannot be installed, or is not what its pins say any more.
        DiskFullError: If the disk is full.
    """
    found = environment()
    if not found.is_there:
        parent = found.folder.parent
        _make_reachable(parent)
        with locked(parent / "installing.lock"):
            if not found.is_there:
                _install(found.folder)
    _refuse_altered(found)
    return found


def pinned() -> dict[str, str]:
    """Package, in its plain spelling: its version."""
    pins = (_PIN.match(line) for line in _PINS.read_text(encoding="utf-8").splitlines())
    return {_plain(pin[1]): pin[2] for pin in pins if pin and not _depends(pin[0])}


# -- inside ------------------------------------------------------------------------------------
def _install(folder: Path) -> None:
    rough = folder.with_name(f".{folder.name}.rough")
    for left in (rough, folder):
        shutil.rmtree(left, ignore_errors=True)
    _check_space(folder.parent)
    python, _ = _interpreter()
    uv = shutil.which("uv")
    into = str(rough / "bin" / "python")
    own = _own(folder)
    try:
        if uv is not None:
            _run([uv, "venv", "--quiet", "--no-config", "--python", python, str(rough)])
        else:
            _run([python, "-m", "venv", str(rough)])
        if own.is_there and own.folder != folder:
            _link_packages(own.folder, rough)
        if uv is not None:
            of_uv = ("--quiet", "--no-config", "--compile-bytecode", "--python", into)
            _run([uv, "pip", "install", *of_uv, "--requirements", str(_PINS)])
        else:
            of_pip = ("--quiet", "--no-input", "--disable-pip-version-check")
            _run([into, "-m", "pip", "install", *of_pip, "--requirement", str(_PINS)])
        rough.rename(folder)
    except BaseException:
        shutil.rmtree(rough, ignore_errors=True)
        raise


def _own(folder: Path) -> Environment:
    """The same versions in the cache of this user, whose packages an environment may share."""
    return Environment(cache_folder() / "superset" / folder.name)


def _make_reachable(parent: Path) -> None:
    """Makes the folder of environments; one that all users share may be entered by everybody."""
    shared = runs_as().account.switch and SHARED_CACHE in parent.parents
    parent.mkdir(parents=True, exist_ok=True)
    for each in (SHARED_CACHE, parent) if shared else ():
        each.chmod(0o755)


def _link_packages(own: Path, into: Path) -> None:
    """Takes the packages of root's own environment, which need no second download.

    What another patch of Python needs besides is installed afterwards.

    Raises:
        TargetError: If they can neither be linked nor copied.
    """
    try:
        for packages in own.glob("lib/python*/site-packages"):
            shutil.copytree(
                packages,
                into / packages.relative_to(own),
                copy_function=_link_or_copy,
                symlinks=True,
                dirs_exist_ok=True,
            )
    except (OSError, shutil.Error) as error:
        raise TargetError(
            f"the packages of {own} cannot be taken over: {error}", advice=_MORE_SPACE
        ) from error


def _link_or_copy(source: str, to: str) -> None:
    """Two names of one file take no space; on another file system it is copied."""
    try:
        os.link(source, to)
    except OSError:
        shutil.copy2(source, to)


def _check_space(folder: Path) -> None:
    try:
        tree.check_space(folder, SIZE_BYTES, "Superset")
    except TargetError as error:
        raise TargetError(error.message, advice=_MORE_SPACE) from error


def _run(command: Sequence[str]) -> None:
    """Runs one step of the installation.

    Raises:
        TargetError: With what it said, and what that means.
    """
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env=_environment_of(os.environ),
        umask=0o022,  # the account of the nodes reads it
    )
    if done.returncode != 0:
        raise _not_installed(done.stderr + done.stdout, command)


def _environment_of(own: Mapping[str, str]) -> dict[str, str]:
    """Mirrors, proxies and certificates stay; what would lead to another Python does not."""
    others = ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV", "PIP_TARGET")
    return {name: value for name, value in own.items() if name not in others}


def _not_installed(said: str, command: Sequence[str]) -> TargetError:
    line = " ".join(said.split())
    told = line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
    what = f"Superset {VERSION} could not be installed"
    if _NO_SPACE.search(said):
        return DiskFullError(
            f"{what}: the disk of {cache_folder()} is full",
            advice=_MORE_SPACE,
        )
    if _UNREACHABLE.search(said):
        return TargetError(
            f"{what}: the package index does not answer: {told}",
            advice="see whether this machine reaches it; name a mirror with UV_DEFAULT_INDEX "
            "(uv) or PIP_INDEX_URL (pip)",
        )
    if _UNKNOWN.search(said):
        return TargetError(
            f"{what}: the package index has not all of its versions: {told}",
            advice="name an index that has them with UV_DEFAULT_INDEX (uv) or PIP_INDEX_URL (pip)",
        )
    if "ensurepip" in said:
        return TargetError(
            f"{what}: this Python cannot make environments: {told}",
            advice="install uv, or the package python3-venv",
        )
    return TargetError(f"{what}: {Path(command[0]).name} said: {told}")


def _refuse_altered(found: Environment) -> None:
    """Refuses an environment in which somebody has changed versions.

    Raises:
        TargetError: It names the first.
    """
    has = _versions_in(found.folder)
    for package, version in pinned().items():
        if has.get(package) != version:
            raise TargetError(
                f"{found.folder} has {package} {has.get(package, 'not at all')}, where Superset "
                f"{VERSION} needs {version}",
                advice="delete that folder: the next run installs it again",
            )


def _versions_in(folder: Path) -> dict[str, str]:
    """Package: version, as the names of the folders say that installers leave."""
    found = folder.glob("lib/python*/site-packages/*.dist-info")
    parts = (path.name.removesuffix(".dist-info").rpartition("-") for path in found)
    return {_plain(name): version for name, _, version in parts}


def _plain(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def _depends(line: str) -> bool:
    """Whether a pin is for some interpreters only: whichever it is, its package is no cause."""
    return ";" in line


def _interpreter() -> tuple[str, tuple[int, int]]:
    """A Python that Superset runs on: ours, or another of this machine."""
    if chosen := runs_as().python:
        return chosen
    own = (sys.version_info.major, sys.version_info.minor)
    if own in PYTHONS:
        return sys.executable, own
    for major, minor in reversed(PYTHONS):
        if other := shutil.which(f"python{major}.{minor}"):
            return other, (major, minor)
    raise TargetError(
        f"Superset {VERSION} runs on Python 3.11 and 3.12; this one is {own[0]}.{own[1]}, and "
        "neither is on the PATH",
        advice="install python3.12, or use the target sql-dashboards",
    )
