"""What the runner knows of its own process, and which part of it is the engine's."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loadstone.runner.processes import times_of_children

_STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Usage:
    """Processor time since the process began, in seconds, all threads, and of its children."""

    cpu_user_s: float
    cpu_system_s: float

    @classmethod
    def now(cls) -> Usage:
        """What `getrusage` says now, and what children that run have used."""
        own = resource.getrusage(resource.RUSAGE_SELF)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        user_s, system_s = times_of_children()
        return cls(own.ru_utime + ended.ru_utime + user_s, own.ru_stime + ended.ru_stime + system_s)


def rss_bytes() -> int:
    """Resident memory now."""
    return _of_status("VmRSS:")


def max_rss_bytes() -> int:
    """The most memory that was resident; the peak of `getrusage` may be that of the parent."""
    return _of_status("VmHWM:")


def _of_status(field: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def raise_nofile() -> int:
    """Raises the soft limit of open files to the hard one, and returns it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


class _ThreadTime:
    """What a thread uses outside of the engine's calls; made by the thread itself."""

    def __init__(self) -> None:
        self._clock = time.pthread_getcpuclockid(threading.get_ident())
        self._lock = threading.Lock()
        self._own_s = 0.0
        self._left_s: float | None = 0.0
        """Its time when it last left the engine; None within it."""

    def enter(self) -> None:
        with self._lock:
            self._own_s += self._since_s()
            self._left_s = None

    def leave(self) -> None:
        with self._lock:
            self._left_s = time.clock_gettime(self._clock)

    def own_s(self) -> float:
        """Until now, whoever asks."""
        with self._lock:
            try:
                return self._own_s + self._since_s()
            except OSError:
                return self._own_s  # the thread has ended

    def _since_s(self) -> float:
        return 0.0 if self._left_s is None else time.clock_gettime(self._clock) - self._left_s


class EngineMeter:
    """Tells the engine's processor time from the runner's own.

    What Python's threads that call the engine use outside of its calls is the runner's, and the
    rest of the process's time the engine's: its own threads, and Python's within its calls.
    """

    def __init__(self) -> None:
        self._local = threading.local()
        self._threads: list[_ThreadTime] = []
        self._highest_s = 0.0
        self._before_s = time.process_time() - time.thread_time()
        """What other threads had used, of libraries that start some, before there was an engine."""

    @contextmanager
    def call(self) -> Iterator[None]:
        """What is done within it is the engine's."""
        thread = self._thread()
        thread.enter()
        try:
            yield
        finally:
            thread.leave()

    def total_s(self) -> float:
        """The engine's processor time so far; it never falls."""
        self._thread()
        own_s = sum(thread.own_s() for thread in self._threads)
        self._highest_s = max(self._highest_s, time.process_time() - self._before_s - own_s)
        return self._highest_s

    def _thread(self) -> _ThreadTime:
        thread: _ThreadTime | None = getattr(self._local, "thread", None)
        if thread is None:
            thread = self._local.thread = _ThreadTime()
            self._threads.append(thread)
        return thread
