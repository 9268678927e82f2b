"""What control groups bound: the processors and the memory of the processes in them, v1 and v2.

A limit of any group above a process holds for it too. Sources: cgroups(7), and of the kernel's
documentation `cgroup-v2.rst`, `scheduler/sched-bwc.rst` and `cgroup-v1/memory.rst`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loadstone.host.machine import THIS_MACHINE, Machine
from loadstone.host.proc import parse_meminfo, parse_mountinfo

_NO_QUOTA = ("max", "-1")


@dataclass(frozen=True)
class CpuGroup:
    """A group with a quota of processor time."""

    folder: Path
    cpus: float
    """So many processors' worth of time."""
    period_s: float = 0.1
    """After so long there is as much again."""

    def text(self) -> str:
        """`0.5 processors`."""
        return f"{self.cpus:.3g} processor{'' if self.cpus == 1 else 's'}"

    def periods(self) -> tuple[int, int]:
        """Periods of the quota since the group was made, and those in which it was used up."""
        counters = _counters(self.folder / "cpu.stat")
        return counters.get("nr_periods", 0), counters.get("nr_throttled", 0)


@dataclass(frozen=True)
class MemoryGroup:
    """A group with a limit of memory; the page cache of its processes counts."""

    folder: Path
    limit_bytes: int

    def used_bytes(self) -> int | None:
        """What it uses now."""
        return _first_number(self.folder, "memory.current", "memory.usage_in_bytes")

    def reached(self) -> int:
        """How often the limit was met since the group was made: something had to be given back."""
        events = _counters(self.folder / "memory.events")
        failed = _first_number(self.folder, "memory.failcnt")
        return events.get("max", 0) if failed is None else failed

    def killed(self) -> int:
        """Processes that were killed because nothing could be given back."""
        v2, v1 = (_counters(self.folder / name) for name in ("memory.events", "memory.oom_control"))
        return v2.get("oom_kill", v1.get("oom_kill", 0))


@dataclass(frozen=True)
class Bounds:
    """The groups that bound a process, the narrowest of each kind."""

    cpu: CpuGroup | None = None
    memory: MemoryGroup | None = None

    def text(self) -> str:
        """In a few words: `0.5 processors, 2.0 GB of memory`; empty without any."""
        words = [] if self.cpu is None else [self.cpu.text()]
        if self.memory is not None:
            words.append(f"{self.memory.limit_bytes / 1e9:.3g} GB of memory")
        return ", ".join(words)


def bounds_of(pid: int | str = "self", machine: Machine = THIS_MACHINE) -> Bounds:
    """The groups that bound a process; none where the kernel tells of none.

    Args:
        pid: Of the process; `self` is this one.
        machine: In tests another.
    """
    try:
        total = parse_meminfo(machine.at("/proc/meminfo").read_text()).get("MemTotal", 0)
        cpus = [quota_in(folder) for folder in _groups(pid, "cpu", machine)]
        memory = [_memory(folder) for folder in _groups(pid, "memory", machine)]
    except (OSError, ValueError):
        return Bounds()
    narrow = [each for each in memory if each and (not total or each.limit_bytes < total)]
    return Bounds(
        min((each for each in cpus if each), key=lambda each: each.cpus, default=None),
        min(narrow, key=lambda each: each.limit_bytes, default=None),
    )


def groups_of(
    controller: str, machine: Machine = THIS_MACHINE, pid: int | str = "self"
) -> list[Path]:
    """Folders of the groups of a process that may have a controller, its own first.

    Args:
        controller: As `memory`.
        machine: In tests another.
        pid: Of the process; `self` is this one.
    """
    return list(_groups(pid, controller, machine))


def quota_in(folder: Path) -> CpuGroup | None:
    """A group as one with a quota of processor time; None if it has none."""
    v2 = (_text(folder / "cpu.max") or "").split()
    v1 = (_text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us"))
    quota, period = v2 if len(v2) == 2 else v1
    if not quota or not period or quota in _NO_QUOTA:
        return None
    return CpuGroup(folder, int(quota) / int(period), int(period) / 1e6)


def groups_of_v2(machine: Machine = THIS_MACHINE) -> list[Path]:
    """Folders of the groups of this process in the hierarchy of v2, its own first, then upwards."""
    return list(_groups("self", "", machine))


def _groups(pid: int | str, controller: str, machine: Machine) -> Iterator[Path]:
    """Folders of the groups of a process that may have a controller; v2 has all in one place."""
    mounts = parse_mountinfo(machine.at("/proc/self/mountinfo").read_text())
    for line in machine.at(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if not controllers:
            found = [mount for mount in mounts if mount["file_system"] == "cgroup2"]
        elif controller in controllers.split(","):
            found = [mount for mount in mounts if _has(mount, controller)]
        else:
            continue
        for mount in found[:1]:
            yield from _upwards(machine.at(mount["folder"]), _below(group, mount["root"]))


def _has(mount: dict[str, str], controller: str) -> bool:
    options = mount["file_system_options"].split(",")
    return mount["file_system"] == "cgroup" and controller in options


def _below(group: str, root: str) -> Path:
    """A group's folder within a mount; in a container that sees only its own it is the top."""
    path = Path(group)
    return path.relative_to(root) if path.is_relative_to(root) else Path()


def _upwards(top: Path, below: Path) -> Iterator[Path]:
    folder = top / below
    while not folder.is_dir():
        folder = folder.parent
    for each in (folder, *folder.parents):
        if not each.is_relative_to(top):
            return
        yield each


def _memory(folder: Path) -> MemoryGroup | None:
    """The lower of the limit and of the mark from which the kernel slows the group (`high`)."""
    limits = [
        int(text)
        for name in ("memory.max", "memory.high", "memory.limit_in_bytes")
        if (text := _text(folder / name)) and text.isdigit()
    ]
    return MemoryGroup(folder, min(limits)) if limits else None


def _first_number(folder: Path, *names: str) -> int | None:
    texts = (_text(folder / name) for name in names)
    return next((int(text) for text in texts if text and text.isdigit()), None)


def _counters(path: Path) -> dict[str, int]:
    """Lines of a name and a number."""
    lines = (line.split() for line in (_text(path) or "").splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdigit()}


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
