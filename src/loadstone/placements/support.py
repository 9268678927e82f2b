"""What this machine allows: asked before anything runs, answered with None or one line why not.

Like the settings of the host, a reason begins with `absent:` (install it, choose another kernel) or
`denied:` (this user or this container may not).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from loadstone.placements import exported, filesystem, programs
from loadstone.placements.levels import LEVELS
from loadstone.placements.place import EXPORTED, NETWORKED, Place

_CAP_SYS_ADMIN = 21
_IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs")
_NBDKIT_FILTERS = {"volatile": ["cache", "fua"], "nbd": ["stats", "log"]}


def unavailable(place: Place) -> str | None:
    """Why this machine cannot make a placement, or None.

    Args:
        place: A placement.
    """
    denied = next(_rights(), None) if place.needs_root else None
    if denied is not None:
        return f"denied: {denied}"
    missing = next(_missing(place), None)
    return f"absent: {missing}" if missing else None


def unsafe_here(place: Place) -> str | None:
    """Why commits can be lost on a placement, by itself or by what its folder lies on here."""
    if place.unsafe is not None or place.kind != "folder" or place.path is None:
        return place.unsafe
    folder = Path(place.path)
    if not folder.is_dir():
        return None
    found = filesystem.of(folder)
    options = str(found.get("options", "")).split(",")
    if found.get("kind") in _IN_MEMORY:
        return f"{folder} is in memory ({found['kind']}): a power loss takes it"
    if {"nobarrier", "barrier=0"} & set(options):
        return f"{folder} is mounted nobarrier: the write cache of its disk is never flushed"
    return None


def _missing(place: Place) -> Iterator[str]:
    if place.kind == "folder":
        if not Path(str(place.path)).is_dir():
            yield f"there is no folder {place.path}"
        return
    file_system = str(place.file_system)
    yield from _said(_kernel_file_system(file_system))
    if place.kind == "tmpfs":
        return
    yield from _said(programs.absent(f"mkfs.{file_system}"))
    if place.level is not None and place.file_system != "btrfs":
        yield from _md(place.level)
    if place.kind == "zram":
        yield from _zram(place.algorithm)
        return
    if not Path("/dev/loop-control").exists():
        yield "this kernel has no loop devices (/dev/loop-control is absent)"
    if place.kind != "loop":
        yield from _fuse()
    if place.kind in EXPORTED:
        yield from _exported(place.kind)
    elif place.kind in NETWORKED:
        yield from _nbdkit(place)


def _rights() -> Iterator[str]:
    if os.geteuid() != 0:
        yield "only root may make and mount file systems"
    elif not _has_capability(_CAP_SYS_ADMIN):
        yield "this process may not mount (it lacks the capability CAP_SYS_ADMIN)"


def _fuse() -> Iterator[str]:
    yield from _said(_kernel_file_system("fuse"))
    if not Path("/dev/fuse").exists():
        yield "/dev/fuse is absent: give it to the container, or load the module fuse"
    yield from _said(programs.absent("nbdfuse"))


def _exported(kind: str) -> Iterator[str]:
    for name in exported.PROGRAMS[kind]:
        yield from _said(programs.absent(name))
    for library, package in exported.LIBRARIES[kind].items():
        yield from _said(programs.absent_library(library, package))


def _nbdkit(place: Place) -> Iterator[str]:
    yield from _said(programs.absent("nbdkit"))
    wanted = list(_NBDKIT_FILTERS[place.kind])
    delayed = place.write_delay_ms or place.read_delay_ms or place.disk_delay_ms
    wanted += ["delay"] if delayed else []
    wanted += ["rate"] if place.rate_bytes else []
    wanted += ["fua"] if place.writes is not None and "fua" not in wanted else []
    for name in wanted:
        if not _nbdkit_has(name):
            yield f"nbdkit's filter {name} is missing: install the package nbdkit"


def _md(level: str) -> Iterator[str]:
    """What is missing for a RAID of the kernel's own."""
    module = LEVELS[level].module
    if not Path("/proc/mdstat").exists() and not _module_exists("md_mod"):
        yield f"this kernel has no md, which makes {level} (/proc/mdstat is absent)"
    elif not _has_personality(level) and not _module_exists(module):
        yield f"this kernel's md has no {level}, and no module {module} can be loaded"
    yield from _said(programs.absent("mdadm"))


def _has_personality(level: str) -> bool:
    listed = Path("/proc/mdstat")
    return listed.exists() and f"[{level}]" in listed.read_text()


def _zram(algorithm: str | None) -> Iterator[str]:
    control = Path("/sys/class/zram-control")
    if not control.exists():
        yield "this kernel has no compressed memory devices: load the module zram"
    shown = next(Path("/sys/block").glob("zram*/comp_algorithm"), None)
    if algorithm is not None and shown is not None:
        known = shown.read_text().replace("[", " ").replace("]", " ").split()
        if algorithm not in known:
            yield f"this kernel's zram has no {algorithm}: it has {', '.join(sorted(set(known)))}"


def _kernel_file_system(name: str) -> str | None:
    """Why the kernel cannot mount a file system, or None; modules count if they can be loaded."""
    listed = Path("/proc/filesystems").read_text().split()
    if name in listed or _module_exists(name):
        return None
    return f"this kernel has no file system {name}, and no module of that name can be loaded"


def _module_exists(name: str) -> bool:
    modprobe = programs.find("modprobe")
    if modprobe is None:
        return False
    asked = subprocess.run(
        [str(modprobe), "--dry-run", "--quiet", name], capture_output=True, check=False
    )
    return asked.returncode == 0


def _nbdkit_has(name: str) -> bool:
    program = programs.find("nbdkit")
    return program is not None and _has_filter(program, name)


@cache
def _has_filter(program: Path, name: str) -> bool:
    """A plan asks it of each rung and trial."""
    command = [str(program), f"--filter={name}", "null", "--dump-plugin"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _has_capability(number: int) -> bool:
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "CapEff":
            return bool(int(value, 16) >> number & 1)
    return False


def _said(reason: str | None) -> Iterator[str]:
    if reason is not None:
        yield reason
