"""Servers that storage needs: found by an argument that no other process has, and ended.

The argument is a path in a folder that Loadstone named at random, so a process is never mistaken
for another, whatever became of its identifier in the meantime.
"""

from __future__ import annotations

import contextlib
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from loadstone.errors import TargetError
from loadstone.host.processes import kill_all, lives, matching, signal_all, wait_ended

_POLL_S = 0.005
START_S = 30.0
_GENTLE_S = 10.0
_KILL_S = 10.0


def start(
    command: Sequence[str], ready: Path, log: Path, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Starts a server in a session of its own and waits until it has written its pid file.

    Args:
        command: Program and arguments.
        ready: The pid file that it writes when it serves.
        log: Takes what it says.
        environment: Its variables.

    Raises:
        TargetError: If it ends, or is not ready in time.
    """
    ready.unlink(missing_ok=True)
    return start_until(
        command, lambda _: ready.exists() and bool(ready.read_text().strip()), log, environment
    )


def start_until(
    command: Sequence[str],
    ready: Callable[[str], bool],
    log: Path,
    environment: Mapping[str, str],
) -> subprocess.Popen[bytes]:
    """As `start`, of a server that tells otherwise that it serves.

    Args:
        command: Program and arguments.
        ready: Whether it serves, by what its log says or by asking it.
        log: Takes what it says.
        environment: Its variables.

    Raises:
        TargetError: If it ends, or is not ready in time.
    """
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            start_new_session=True,
            env=dict(environment),
        )
    # nbdfuse aborts when its server dies: that is meant here and needs no core file.
    with contextlib.suppress(OSError, ProcessLookupError):
        resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
    deadline = time.monotonic() + START_S
    while not ready(log.read_text(errors="replace")):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            process.wait()
            said = " ".join(log.read_text(errors="replace").split()) or "nothing"
            raise TargetError(f"{Path(command[0]).name} does not start; it says: {said}")
        time.sleep(_POLL_S)
    return process


def serving(program: str, argument: str) -> list[psutil.Process]:
    """Living processes of that name with exactly that argument."""
    return matching(lambda words: Path(words[0]).name == program and argument in words[1:])


def end(program: str, argument: str, *, gently: bool) -> None:
    """Ends the processes of that name with that argument; none is no failure.

    Args:
        program: Name of the program.
        argument: One of its arguments, unique to it.
        gently: With SIGTERM first.

    Raises:
        TargetError: If one survives SIGKILL.
    """
    found = serving(program, argument)
    if gently and found:
        signal_all(found, signal.SIGTERM)
        wait_ended(found, _GENTLE_S)
    left = [each for each in found if lives(each)]
    signal_all(left, signal.SIGKILL)
    if not wait_ended(left, _KILL_S):
        raise TargetError(f"{program} (process {left[0].pid}) does not end")


def marked(argument: str) -> list[psutil.Process]:
    """Living processes, whatever their program, with exactly that argument."""
    return matching(lambda words: argument in words[1:])


def end_marked(argument: str) -> None:
    """Ends the processes with that argument at once; none is no failure.

    Raises:
        TargetError: If one survives SIGKILL.
    """
    kill_all(lambda: marked(argument), f"the server of {argument}")
