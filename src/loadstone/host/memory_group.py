"""A control group that bounds the memory, and with it the page cache, of what runs in it.

The pages of a file count for the group whose process brought them in. So a load in such a group
finds only so much of its files in memory as the group may hold, however much memory the machine
has. Sources: of the kernel's documentation `cgroup-v2.rst` and `cgroup-v1/memory.rst`.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import TargetError
from loadstone.host import own_group
from loadstone.host.cgroup import MemoryGroup
from loadstone.host.machine import THIS_MACHINE, Absent, Denied, Machine
from loadstone.host.own_group import Controller
from loadstone.journal import Journal

LEAST_BYTES = 64 << 20
"""What the load needs itself, with room for some pages."""
_MEMORY = Controller("memory", "memory.limit_in_bytes", "bounds the memory")
_LIMITS = ("memory.max", "memory.limit_in_bytes")
"""Of v2 and of v1."""


@dataclass(frozen=True)
class BoundedGroup:
    """A group of a journal's own, with a limit; it need not exist yet."""

    folder: Path
    limit_bytes: int

    @property
    def members(self) -> Path:
        """Where a process writes its number to be in it."""
        return self.folder / "cgroup.procs"

    def counters(self) -> dict[str, int]:
        """How often the limit was met, and what is used now; empty if it does not exist."""
        if not self.folder.is_dir():
            return {}
        group = MemoryGroup(self.folder, self.limit_bytes)
        return {"limit_bytes": _limit_of(self.folder), "reached": group.reached()}


def place(machine: Machine = THIS_MACHINE) -> Path | Absent | Denied:
    """The group below which one with a limit of memory can be made, as `own_group.place`."""
    return own_group.place(_MEMORY, machine)


def where(machine: Machine = THIS_MACHINE) -> str:
    """The group below which one with a limit can be made, as text.

    Raises:
        TargetError: If there is none, with the reason.
    """
    found = place(machine)
    if not isinstance(found, Path):
        raise TargetError(
            f"the memory of the load cannot be bounded here: {found.reason}",
            advice="leave the limit out, and make the files larger than memory",
        )
    return str(found)


def group_of(journal: Path, limit_bytes: int, machine: Machine = THIS_MACHINE) -> BoundedGroup:
    """The group of a journal with this limit.

    Args:
        journal: Its file: no two runs share a group.
        limit_bytes: Of memory.
        machine: Whose groups.

    Raises:
        TargetError: If none can be made, with the reason.
    """
    mark = hashlib.sha256(str(journal.resolve()).encode()).hexdigest()[:12]
    return BoundedGroup(Path(where(machine)) / f"loadstone-{mark}-{limit_bytes}", limit_bytes)


def make(journal: Journal, group: BoundedGroup) -> None:
    """Makes a group, journalled, and reads its limit back; nothing if it is there already.

    Raises:
        TargetError: If the kernel refuses, or makes another limit of it.
    """
    if not group.folder.exists():
        own_group.make(journal, group.folder)
    try:
        _limit_path(group.folder).write_text(str(group.limit_bytes))
        held = _limit_of(group.folder)
    except OSError as error:
        raise TargetError(f"{group.folder} takes no limit: {error.strerror}") from error
    page = os.sysconf("SC_PAGE_SIZE")
    if held // page != group.limit_bytes // page:
        raise TargetError(f"the limit of {group.folder} reads {held} after {group.limit_bytes}")


def _limit_path(folder: Path) -> Path:
    there = (folder / name for name in _LIMITS if (folder / name).exists())
    return next(there, folder / _LIMITS[0])


def _limit_of(folder: Path) -> int:
    return int(_limit_path(folder).read_text())
