"""Processes of owned servers, whatever state they are in: found, waited for, ended."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterable

import psutil

from loadstone.errors import TargetError

_POLL_S = 0.005
_ROUNDS = 10
_DEATH_S = 5.0


def matching(serves: Callable[[list[str]], bool]) -> list[psutil.Process]:
    """Every living process whose command line is of the wanted kind."""
    return [each for each in psutil.process_iter() if has(each, serves)]


def has(process: psutil.Process, serves: Callable[[list[str]], bool]) -> bool:
    """Whether a process lives and its command line is of the wanted kind."""
    try:
        words = process.cmdline()  # asked first: it tells most of them apart
        return bool(words) and serves(words) and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):
        return False


def lives(process: psutil.Process) -> bool:
    """Whether it has not ended; a zombie has."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def signal_all(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    """Sends a signal to all that are still there."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def wait_ended(processes: list[psutil.Process], timeout_s: float) -> bool:
    """Waits until all have ended; a zombie has, whether or not its parent takes note of it.

    Returns:
        Whether they ended in time.
    """
    return _wait_for_none(lives, processes, timeout_s)


def wait_stopped(processes: list[psutil.Process], timeout_s: float) -> bool:
    """Waits until all stand still or have ended: SIGSTOP does not stop a process at once.

    Returns:
        Whether they did so in time.
    """
    return _wait_for_none(_moves, processes, timeout_s)


def _moves(process: psutil.Process) -> bool:
    try:
        return process.status() not in {psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE}
    except psutil.Error:
        return False


def _wait_for_none(
    test: Callable[[psutil.Process], bool], processes: list[psutil.Process], timeout_s: float
) -> bool:
    deadline = time.monotonic() + timeout_s
    while any(map(test, processes)):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def kill_all(find: Callable[[], list[psutil.Process]], whose: str) -> None:
    """Kills until none is left, also of those that were started meanwhile.

    Args:
        find: Finds those that are left.
        whose: For the error: `MariaDB in /var/tmp/...`.

    Raises:
        TargetError: If processes survive SIGKILL.
    """
    for _ in range(_ROUNDS):
        found = find()
        if not found:
            return
        signal_all(found, signal.SIGKILL)
        wait_ended(found, _DEATH_S)
    raise TargetError(
        f"processes of {whose} do not die: {[each.pid for each in find()]}",
        advice="see whether their disk still answers",
    )


def cpu_s(main: psutil.Process) -> float:
    """User and system seconds of a process and its descendants, ended ones included."""
    total = 0.0
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in (main, *main.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                # cpu_times() counts children that ended and were waited for in children_*.
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
    return total
