"""All processes of this machine, read once: processor time and memory of trees of them.

Sources: proc(5) for `stat`, and of the kernel's documentation `filesystems/proc.rst` for
`smaps_rollup`: of memory that several processes share, PSS counts to each its part.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class ProcessTable:
    """The processes that there were at one moment."""

    children: dict[int, list[int]]
    cpu_s: dict[int, float]
    """User and system seconds of each, with those of its children that have ended."""

    @classmethod
    def read(cls, proc: Path = _PROC) -> ProcessTable:
        """Reads it; a process that ends meanwhile is not in it.

        Args:
            proc: In tests another folder.
        """
        children: dict[int, list[int]] = {}
        cpu_s: dict[int, float] = {}
        for folder in proc.glob("[0-9]*"):
            try:
                text = (folder / "stat").read_text(errors="replace")
            except OSError:
                continue
            # The name of a program stands in brackets, and may hold brackets and blanks.
            fields = text.rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(folder.name))
            cpu_s[int(folder.name)] = sum(map(int, fields[11:15])) / _TICKS_PER_S
        return cls(children, cpu_s)

    def tree(self, pid: int) -> Iterator[int]:
        """A process and its descendants; nothing if it has ended."""
        if pid in self.cpu_s:
            yield pid
            for child in self.children.get(pid, ()):
                yield from self.tree(child)

    def cpu_of(self, pid: int) -> float:
        """Of a process and its descendants, ended ones included."""
        return sum(self.cpu_s[each] for each in self.tree(pid))


def memory_bytes(pids: Iterable[int], proc: Path = _PROC) -> int:
    """What processes hold in memory together; those that have ended hold nothing.

    Args:
        pids: Of the processes.
        proc: In tests another folder.
    """
    return sum(_held(proc / str(pid)) for pid in pids)


def _held(folder: Path) -> int:
    """PSS, or the resident memory where only that may be read."""
    try:
        for line in (folder / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return int((folder / "statm").read_text().split()[1]) * _PAGE_BYTES
    except OSError:
        return 0
