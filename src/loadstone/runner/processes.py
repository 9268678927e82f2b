"""What processes use, with their children: processor time, memory, bytes from and to disks.

The kernel adds what a child used to its parent's account once the parent has waited for it
(proc(5): `cutime`, `cstime`; the same holds for `io`), so that short-lived workers are not lost.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from time import monotonic, thread_time

_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_FIRST_LOOK_S = 0.02
_SELDOM_S = 0.25
_ELAPSED_SHARE = 0.25
"""The longer it has watched, the more seldom a watch looks: each look costs what it measures."""
_COST_SHARE = 0.003
"""Processor time of its looks, as a share of the time that a watch lasts, at most."""
_AFTER_NAME = 2
"""Fields of `stat` are counted from the process's state, the third."""


@dataclass(frozen=True)
class ProcessUsage:
    """What processes have used so far."""

    cpu_s: float = 0.0
    read_bytes: int = 0
    written_bytes: int = 0

    def __add__(self, other: ProcessUsage) -> ProcessUsage:
        return ProcessUsage(
            self.cpu_s + other.cpu_s,
            self.read_bytes + other.read_bytes,
            self.written_bytes + other.written_bytes,
        )

    def __sub__(self, other: ProcessUsage) -> ProcessUsage:
        return self + ProcessUsage(-other.cpu_s, -other.read_bytes, -other.written_bytes)


def usage_of(pids: Sequence[int]) -> ProcessUsage:
    """What processes have used, with their children, the ended ones included."""
    return sum((_usage(pid) for pid in _with_children(pids)), ProcessUsage())


def times_of_children() -> tuple[float, float]:
    """Seconds that the children of this process have used that run, in user and in system mode."""
    user_s = system_s = 0.0
    for pid in _with_children([os.getpid()]):
        with suppress(OSError):
            user, system = (0.0, 0.0) if pid == os.getpid() else _times(pid)
            user_s, system_s = user_s + user, system_s + system
    return user_s, system_s


def memory_of(pids: Sequence[int]) -> int:
    """Bytes of memory that processes and their children have to themselves now.

    Pages shared with others (a server's buffer pool, the libraries) are not in it.
    """
    return sum(_private_bytes(pid) for pid in _with_children(pids))


class Watch:
    """Watches the memory of processes, and the files in a folder, until it is stopped.

    It looks before and after, and in between the more seldom the longer it lasts and the more a
    look costs: a peak shorter than the time between two (20 to 250 ms, longer of many processes)
    may be missed.
    """

    def __init__(self, pids: Sequence[int], folder: Path | None) -> None:
        self._pids = pids
        self._folder = folder
        self.peak_memory_bytes = 0
        self.peak_files_bytes = 0
        self._cost_s = 0.0
        self._look()
        self._since_s = monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look_on, name="watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Its peaks are those of the whole time."""
        self._stop.set()
        self._thread.join()
        self._look()

    def _look_on(self) -> None:
        while not self._stop.wait(self._pause_s()):
            self._look()

    def _pause_s(self) -> float:
        elapsed_s = monotonic() - self._since_s
        usual_s = min(max(_FIRST_LOOK_S, elapsed_s * _ELAPSED_SHARE), _SELDOM_S)
        return max(usual_s, self._cost_s / _COST_SHARE)

    def _look(self) -> None:
        begin_s = thread_time()  # a busy machine that lets it wait does not make it dearer
        self.peak_memory_bytes = max(self.peak_memory_bytes, memory_of(self._pids))
        if self._folder is not None:
            self.peak_files_bytes = max(self.peak_files_bytes, files_in(self._folder))
        self._cost_s = thread_time() - begin_s


def files_in(folder: Path) -> int:
    """Bytes of the files in a folder; 0 if it is not there."""
    total = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                total += entry.stat().st_size
    return total


def _with_children(pids: Sequence[int]) -> Iterator[int]:
    for pid in pids:
        yield pid
        tasks: list[str] = []
        with suppress(OSError), os.scandir(f"/proc/{pid}/task") as entries:
            tasks = [entry.name for entry in entries]
        for task in tasks:
            # A thread may have ended; its children are those of another one now.
            with suppress(OSError):
                children = _read(f"/proc/{pid}/task/{task}/children")
                yield from _with_children([int(child) for child in children.split()])


def _usage(pid: int) -> ProcessUsage:
    try:
        io = _read(f"/proc/{pid}/io")
        cpu_s = sum(_times(pid))
    except OSError:
        return ProcessUsage()  # it has just ended: its parent's account has it
    fields = dict(line.split(b": ") for line in io.splitlines())
    return ProcessUsage(cpu_s, int(fields[b"read_bytes"]), int(fields[b"write_bytes"]))


def _times(pid: int) -> tuple[float, float]:
    """Seconds of a process and its ended children, in user and in system mode."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    first = 14 - _AFTER_NAME - 1
    user, system, ended_user, ended_system = (
        int(field) * _TICK_S for field in fields[first : first + 4]
    )
    return user + ended_user, system + ended_system


def _private_bytes(pid: int) -> int:
    try:
        _, resident, shared, *_ = _read(f"/proc/{pid}/statm").split()
    except OSError:
        return 0
    return (int(resident) - int(shared)) * _PAGE_BYTES


def _read(path: str) -> bytes:
    """What a file of the kernel says: without buffers and paths, as it is read often."""
    with FileIO(path) as file:
        return file.readall()
