"""All processes of this machine at one moment, with what each has used since it began.

Sources: proc(5) for `stat`, and of the kernel's documentation `filesystems/proc.rst` for `io`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
_OF_THE_KERNEL = 0x0020_0000
"""PF_KTHREAD of the kernel's `sched.h`."""

Key = tuple[int, int]
"""Process and the moment when it began, in ticks since boot: a number alone may be used again."""


@dataclass(frozen=True)
class Counted:
    """A process, and its counters."""

    key: Key
    parent: int
    name: str
    kernel: bool
    """A thread of the kernel's own."""
    cpu_s: float
    ended_s: float
    """Of its children that have ended and that it has waited for."""
    disk_bytes: float | None
    """That it made a device read or, sooner or later, write; None: only its owner may know."""


Census = Mapping[Key, Counted]


def census(proc: Path = _PROC, *, disk: bool = True) -> dict[Key, Counted]:
    """Counts them; a process that ends meanwhile is not in it.

    Args:
        proc: In tests another folder.
        disk: Bytes are read too, which takes a second file of each.
    """
    found = {}
    for entry in os.scandir(proc):
        if not entry.name.isdigit():
            continue
        one = _counted(entry.path, int(entry.name), disk=disk)
        if one is not None:
            found[one.key] = one
    return found


def family(processes: Census, first: Collection[int]) -> set[Key]:
    """Some processes with all that descend from them.

    Args:
        processes: All.
        first: Process ids; those that are none of them are passed over.
    """
    return _descending(_by_parent(processes), _keys(processes), first)


def trees(processes: Census, first: Collection[int]) -> dict[int, set[Key]]:
    """The family of each of some processes; none of one that there is not.

    Args:
        processes: All.
        first: Process ids.
    """
    children, keys = _by_parent(processes), _keys(processes)
    return {pid: _descending(children, keys, [pid]) for pid in first}


def _by_parent(processes: Census) -> dict[int, list[Key]]:
    children: dict[int, list[Key]] = {}
    for key, one in processes.items():
        children.setdefault(one.parent, []).append(key)
    return children


def _keys(processes: Census) -> dict[int, Key]:
    return {key[0]: key for key in processes}


def _descending(
    children: Mapping[int, list[Key]], keys: Mapping[int, Key], first: Collection[int]
) -> set[Key]:
    found: set[Key] = set()
    waiting = [keys[pid] for pid in first if pid in keys]
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting += children.get(key[0], ())
    return found


def grown(before: Census, now: Census) -> Iterator[tuple[Counted, float, float]]:
    """What each process has used between two moments: itself, seconds, bytes.

    What a child that has ended used counts as its parent's, if that has waited for it.
    """
    gone: dict[int, float] = {}
    for key, one in before.items():
        if key not in now:
            gone[one.parent] = gone.get(one.parent, 0.0) + one.cpu_s + one.ended_s
    for key, one in now.items():
        was = before.get(key)
        if was is None:
            yield one, one.cpu_s + one.ended_s, one.disk_bytes or 0.0
            continue
        of_ended_s = one.ended_s - was.ended_s
        if of_ended_s > 0:
            of_ended_s = max(0.0, of_ended_s - gone.get(key[0], 0.0))
        moved = (one.disk_bytes or 0.0) - (was.disk_bytes or 0.0)
        yield one, max(0.0, one.cpu_s - was.cpu_s) + of_ended_s, max(0.0, moved)


def _counted(folder: str, pid: int, *, disk: bool) -> Counted | None:
    try:
        text = _text(f"{folder}/stat")
    except OSError:
        return None
    # The name of a program stands in brackets, and may hold brackets and blanks.
    begin, _, rest = text.rpartition(")")
    fields = rest.split()
    if len(fields) < 20:
        return None
    kernel = bool(int(fields[6]) & _OF_THE_KERNEL)
    user, system, ended_user, ended_system = (int(each) / _TICKS_PER_S for each in fields[11:15])
    return Counted(
        key=(pid, int(fields[19])),
        parent=int(fields[1]),
        name=begin.partition("(")[2],
        kernel=kernel,
        cpu_s=user + system,
        ended_s=ended_user + ended_system,
        disk_bytes=0.0 if kernel or not disk else _disk_bytes(folder),
    )


def _disk_bytes(folder: str) -> float | None:
    try:
        text = _text(f"{folder}/io")
    except OSError:
        return None
    values = dict(line.split(": ", 1) for line in text.splitlines())
    return float(values.get("read_bytes", 0)) + float(values.get("write_bytes", 0))


def _text(path: str) -> str:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(handle, 4096).decode(errors="replace")
    finally:
        os.close(handle)
