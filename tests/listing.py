"""A full listing of what a run could leave behind; compared before and after.

As a program it prints the listing as JSON, so that it can be taken within the namespaces of an
`Enclosure` (see `enclosure.py`).
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from loadstone.host.machine import Absent
from loadstone.host.registry import all_known

_LIMITS = {name: getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")}
_OWN = ("listing.py", "enclosure.py")
Listing = dict[str, Any]


def listing(of: str = "") -> Listing:
    """Everything on this machine, as far as this process sees it.

    Args:
        of: Loop devices whose file has this in its path; others may come and go meanwhile.
    """
    return {
        "host settings": dict(host_settings()),
        "mounts": mounts(),
        "loop devices": sorted(loop_devices(of)),
        "zram devices": zram_devices(),
        "processes": sorted(processes()),
        "folders": sorted(str(path) for path in Path("/var/tmp").glob("loadstone-*")),
        "shared memory": sorted(shared_memory()),
        "limits": {name: resource.getrlimit(number) for name, number in _LIMITS.items()},
        "affinity": sorted(os.sched_getaffinity(0)),
    }


def host_settings() -> Iterator[tuple[str, str]]:
    """Every file of every known setting, and of what moves with it, byte for byte."""
    for setting in all_known():
        files = setting.files()
        if isinstance(files, Absent):
            yield setting.name, files.reason
            continue
        for path in (*files, *setting.companions()):
            yield str(path), path.read_text() if path.exists() else "missing"


def mounts() -> list[str]:
    """Mount point, kind, source and options of every mount, in their order."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        found.append(f"{' '.join(before.split()[3:6])} {after}")
    return found


def loop_devices(of: str) -> Iterator[str]:
    """Loop devices in use, with their files."""
    for device, backing in _block_devices("loop*", "loop/backing_file"):
        if of in backing:
            # The kernel adds the word once somebody has looked for the file in vain.
            yield f"{device} {backing.removesuffix(' (deleted)')}"


def zram_devices() -> list[str]:
    """Compressed memory, with its size."""
    return [f"{device} {size}" for device, size in _block_devices("zram*", "disksize")]


def _block_devices(pattern: str, shown: str) -> Iterator[tuple[str, str]]:
    """Name with sequence number, and what a file shows.

    The kernel gives a name again, but no number: a device that was made anew is another one.
    """
    for block in sorted(Path("/sys/block").glob(pattern)):
        try:
            number = (block / "diskseq").read_text().strip()
            yield f"{block.name} #{number}", (block / shown).read_text().strip()
        except OSError:
            continue  # not in use, or removed while we looked


def processes() -> Iterator[str]:
    """The command line of every process but those of the listing itself."""
    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    for process in psutil.process_iter(["cmdline", "name", "status"]):
        words = process.info["cmdline"] or [f"[{process.info['name']}]"]
        dead = process.info["status"] == psutil.STATUS_ZOMBIE
        if process.pid not in own and not dead and not any(word.endswith(_OWN) for word in words):
            yield " ".join(words)


def shared_memory() -> Iterator[str]:
    """System V segments with key, size and owner, and POSIX segments by name."""
    for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
        yield f"memory {' '.join(line.split()[:5])}"
    for path in Path("/dev/shm").iterdir():
        yield f"memory {path}"


def postgresql_memory(pid: int) -> set[str]:
    """What a process of PostgreSQL has mapped: POSIX segments by path, System V by identifier."""
    maps = Path(f"/proc/{pid}/maps").read_text()
    posix = re.findall(r"/dev/shm/PostgreSQL\.\d+", maps)
    return {*posix, *re.findall(r" (\d+) +/SYSV", maps)}


def unused_shared_memory() -> Iterator[str]:
    """The segments that no process uses any more: what ended servers left."""
    for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
        words = line.split()
        if words[6] == "0":
            yield f"memory {' '.join(words[:5])}"
    found = {str(path) for path in Path("/dev/shm").iterdir() if path.is_file()}
    for process in psutil.process_iter():
        try:
            maps = Path(f"/proc/{process.pid}/maps").read_text()
        except OSError:
            continue  # ended while we looked
        found = {path for path in found if path not in maps}
    yield from (f"memory {path}" for path in found)


if __name__ == "__main__":
    json.dump(listing(*sys.argv[1:]), sys.stdout)
