"""What processes hold in memory.

Source: of the kernel's documentation `filesystems/proc.rst` for `smaps_rollup`: of memory that
several processes share, PSS counts to each its part.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_PROC = Path("/proc")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


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
