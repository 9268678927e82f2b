"""This node and its processes, as `/proc` shows them: clocks, sessions, file I/O.

Sources: proc(5), and of the kernel's documentation `filesystems/proc.rst` for `io` and `children`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
_BOOT_ID = PROC / "sys" / "kernel" / "random" / "boot_id"
TOLD = (signal.SIGTERM, signal.SIGINT)
"""Signals by which a job is told to end."""
_POLL_S = 0.02
_DEATH_S = 30.0
_LONG_S = 3600.0
_IO = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes")


def boot_id() -> str:
    """Of the running kernel; empty where it cannot be read."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def allowed_cpus() -> list[int]:
    """The processors that this process may use."""
    return sorted(os.sched_getaffinity(0))


def stat_fields(pid: int) -> list[str] | None:
    """Of a process, those behind its name: state first; None if it is gone."""
    try:
        text = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name of a program stands in brackets, and may hold brackets and blanks.
    return text.rpartition(")")[2].split()


def started_ticks(pid: int) -> int | None:
    """When a process began, in ticks since the boot; with its number it is unique."""
    fields = stat_fields(pid)
    return None if fields is None or fields[0] == "Z" else int(fields[19])


def is_alive(pid: int, ticks: int) -> bool:
    """Whether the very process still runs; a zombie does not."""
    return started_ticks(pid) == ticks


def session_members(session: int) -> list[int]:
    """Processes of a session that still run."""
    found = []
    for folder in PROC.glob("[0-9]*"):
        fields = stat_fields(int(folder.name))
        if fields is not None and fields[0] != "Z" and int(fields[3]) == session:
            found.append(int(folder.name))
    return found


def end_session(session: int, grace_s: float) -> bool:
    """Ends all processes of a session: SIGTERM first, SIGKILL to those that stay.

    Args:
        session: Its number.
        grace_s: Seconds between the two.

    Returns:
        Whether none is left; some survive SIGKILL while their disk does not answer.
    """
    began_s = time.monotonic()
    _signal_all(session_members(session), signal.SIGTERM)
    while members := session_members(session):
        for_s = time.monotonic() - began_s
        if for_s >= grace_s + _DEATH_S:
            return False
        if for_s >= grace_s:
            # Those that it starts meanwhile are found in the next round.
            _signal_all(members, signal.SIGKILL)
        time.sleep(_POLL_S)
    return True


def block_told() -> None:
    """From now on `await_end` and `told` take the signals by which this process is told to end."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, *TOLD})


def unblock_told() -> None:
    """For a child, before it becomes another program: it inherits what is blocked."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD, *TOLD})


def told(timeout_s: float = 0.0) -> int | None:
    """The signal by which this process was told to end; None if it is not within that time."""
    found = signal.sigtimedwait(TOLD, timeout_s)
    return None if found is None else found.si_signo


def await_end(process: subprocess.Popen[bytes], timeout_s: float | None = None) -> int | None:
    """Waits until a child has ended, without waking up for nothing.

    Args:
        process: The child.
        timeout_s: At most so long; None: for ever.

    Returns:
        The signal by which this process was told to end meanwhile; None: the child has ended, or
        the time is over (`process.returncode` says which).
    """
    until_s = None if timeout_s is None else time.monotonic() + timeout_s
    signals = {signal.SIGCHLD, *TOLD}
    while process.poll() is None:
        left_s = _LONG_S if until_s is None else until_s - time.monotonic()
        if left_s <= 0:
            return None
        found = signal.sigtimedwait(signals, min(left_s, _LONG_S))
        if found is not None and found.si_signo != signal.SIGCHLD:
            return found.si_signo
    return None


def tree(pid: int) -> Iterator[int]:
    """A process and its descendants, as far as they are there."""
    yield pid
    for children in PROC.glob(f"{pid}/task/[0-9]*/children"):
        try:
            words = children.read_text(encoding="ascii").split()
        except OSError:
            continue
        for word in words:
            yield from tree(int(word))


def io_counts(pid: int) -> tuple[int, ...] | None:
    """What a process and the children that it has waited for have read and written.

    Returns:
        rchar, wchar, syscr, syscw, read_bytes, write_bytes; None if it cannot be read.
    """
    try:
        lines = (PROC / str(pid) / "io").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = dict(line.split(": ", 1) for line in lines if ": " in line)
    try:
        return tuple(int(found[name]) for name in _IO)
    except (KeyError, ValueError):
        return None


def io_of_tree(pid: int) -> tuple[int, ...]:
    """As `io_counts`, of a process and all its descendants together."""
    known = [counts for each in tree(pid) if (counts := io_counts(each)) is not None]
    return tuple(map(sum, zip(*known))) if known else (0,) * len(_IO)  # noqa: B905 - Python 3.9


def _signal_all(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
