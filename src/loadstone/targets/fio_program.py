"""The fio that has an engine: that of this machine, or one that is built once and kept.

Debian's fio lacks the engines `nfs` and `libiscsi`. It is built from Debian's own source package
with the libraries that it was not built with, and kept below the cache.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from loadstone.cache import cache_folder, locked, made_once
from loadstone.errors import TargetError
from loadstone.placements import programs

PROGRAM = "fio"
BUILT_ENGINES = ("nfs", "libiscsi")
"""What the fio that is built has besides."""
_TOOLS = {
    "apt-get": "apt",
    "dpkg-source": "dpkg-dev",
    "make": "make",
    "gcc": "gcc",
    "pkg-config": "pkg-config",
}
_HEADERS = {"nfsc/libnfs.h": "libnfs-dev", "iscsi/iscsi.h": "libiscsi-dev"}
_INCLUDE = Path("/usr/include")
_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_BUILD_S = 1800.0
_ASK_S = 30.0


def fio_with(engine: str) -> Path:
    """The fio that has an engine, which is built if it must be: that takes a minute or two.

    Args:
        engine: As fio names it: `nbd`, `nfs`, `libiscsi`.

    Raises:
        TargetError: If there is none and none can be built, with what is missing or was said.
    """
    found = _present(engine)
    if found is not None:
        return found
    reason = unavailable(engine)
    if reason is not None:
        raise TargetError(reason)
    folder = _built().parent
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_suffix(".lock")):
        made_once(folder, _build, {"engines": list(BUILT_ENGINES)})
    found = _present(engine)
    if found is None:
        raise TargetError(
            f"the fio in {folder} has no engine {engine}",
            advice="delete this folder: the next run builds it again",
        )
    return found


def unavailable(engine: str) -> str | None:
    """Why there is no fio with that engine and none can be built, or None."""
    if _present(engine) is not None:
        return None
    if programs.find(PROGRAM) is None or engine not in BUILT_ENGINES:
        return programs.absent(PROGRAM) or f"this machine's fio has no engine {engine}"
    missing = sorted(set(_missing()))
    if not missing:
        return None
    return (
        f"this machine's fio has no engine {engine}, and one cannot be built from Debian's source "
        f"package: install {' '.join(missing)}"
    )


def version_of(fio: Path) -> str:
    """As it says it itself: `fio-3.33`."""
    return _say([str(fio), "--version"], _ASK_S).strip()


def _built() -> Path:
    return cache_folder() / "fio" / "network" / PROGRAM


def _present(engine: str) -> Path | None:
    """One that need not be built."""
    own, built = programs.find(PROGRAM), _built()
    candidates = [own, built if built.is_file() else None]
    return next((each for each in candidates if each and engine in _engines(each)), None)


@cache
def _engines(fio: Path) -> frozenset[str]:
    """Of a fio that runs; none of one whose libraries have gone."""
    try:
        return frozenset(_say([str(fio), "--enghelp"], _ASK_S).split())
    except TargetError:
        return frozenset()


def _missing() -> Iterator[str]:
    """Packages without which it cannot be built."""
    yield from (package for name, package in _TOOLS.items() if programs.find(name) is None)
    for name, package in _HEADERS.items():
        if not (_INCLUDE / name).exists():
            yield package


def _build(folder: Path) -> dict[str, str]:
    """Gets the source with lists of apt's own, builds it, and keeps the program only."""
    work = folder / "work"
    (work / "lists" / "partial").mkdir(parents=True)
    (work / "archives" / "partial").mkdir(parents=True)
    sources = work / "sources.list"
    sources.write_text("".join(_sources()))
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::SourceList={sources}"]
    apt += ["-o", "Dir::Etc::SourceParts=/dev/null", "-o", f"Dir::State::Lists={work}/lists"]
    apt += ["-o", f"Dir::Cache={work}", "-o", "APT::Sandbox::User=root"]
    _say([*apt, "update"], _BUILD_S, cwd=work)
    _say([*apt, "source", "--only-source", PROGRAM], _BUILD_S, cwd=work)
    source = next(each for each in work.glob(f"{PROGRAM}-*") if each.is_dir())
    _say(["./configure", "--enable-libiscsi"], _BUILD_S, cwd=source)
    _say(["make", f"-j{os.cpu_count() or 1}", PROGRAM], _BUILD_S, cwd=source)
    (source / PROGRAM).rename(folder / PROGRAM)
    _say(["rm", "-rf", str(work)], _BUILD_S)
    return {"version": version_of(folder / PROGRAM), "source": source.name}


def _sources() -> Iterator[str]:
    """The sources of the same release that this machine's packages come from."""
    form = "$(REPO_URI) $(CODENAME) $(COMPONENT) $(CREATED_BY)"
    signed = f"[signed-by={_KEYS}] " if _KEYS.exists() else ""
    told = _say(["apt-get", "indextargets", "--format", form], _ASK_S)
    for line in dict.fromkeys(told.splitlines()):
        uri, codename, component, kind = line.split()
        if kind == "Packages" and component == "main" and "debian" in uri:
            yield f"deb-src {signed}{uri} {codename} {component}\n"


def _say(command: Sequence[str], timeout_s: float, cwd: Path | None = None) -> str:
    """What a program says.

    Raises:
        TargetError: If it fails, with the last of it.
    """
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"{Path(command[0]).name} cannot be run: {error}") from error
    if done.returncode != 0:
        said = " ".join(done.stdout.split()[-40:])
        raise TargetError(f"building fio failed at {' '.join(command[:2])}: {said}")
    return done.stdout
