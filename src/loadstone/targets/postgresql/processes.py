"""The processes of an owned server: found by the data folder, ended whatever state they are in."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path

import psutil

from loadstone.host import processes
from loadstone.host.processes import lives, signal_all, wait_ended, wait_stopped
from loadstone.targets.postgresql import shared_memory

_BOOTSTRAP_S = 5.0
IMMEDIATE_S = 10.0
"""How long `end_server` waits for an immediate shutdown before it kills."""
_STANDSTILL_S = 1.0
"""One that waits for a disk stops when that answers; until then it changes nothing either."""


def postmaster_of(data: Path) -> psutil.Process | None:
    """The server process that runs in this data folder.

    `postmaster.pid` is believed only if the command line of that process names the folder; a server
    whose file is gone is found by its command line.
    """
    with contextlib.suppress(OSError, ValueError, IndexError, psutil.Error):
        process = psutil.Process(int((data / "postmaster.pid").read_text().splitlines()[0]))
        if _serves(process, data):
            return process
    return next((each for each in psutil.process_iter() if _serves(each, data)), None)


def all_of(data: Path) -> list[psutil.Process]:
    """Every process of the server, children whose postmaster has died included."""
    found = {}
    postmaster = postmaster_of(data)
    if postmaster is not None:
        with contextlib.suppress(psutil.NoSuchProcess):
            found = {each.pid: each for each in (postmaster, *postmaster.children(recursive=True))}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.name().startswith("postgres") and Path(process.cwd()) == data:
                found[process.pid] = process
    return [each for each in found.values() if lives(each)]


def kill_server(data: Path) -> None:
    """Kills every process of the server at once; its shared memory stays, as after any SIGKILL."""
    _stopped(data)
    _kill(data)


def kill_with_memory(data: Path) -> None:
    """Kills every process of the server at once, and takes its shared memory away.

    A server whose disk fails makes its shared memory anew, so that what it has can be told only
    while it stands still.
    """
    memory = shared_memory.left_in(data) | shared_memory.held_by(_stopped(data))
    _kill(data)
    memory.remove()


def end_server(data: Path) -> None:
    """Ends the server by all means and removes what it left in memory.

    Works on a server that is stopped (SIGSTOP), half dead or gone. There is no last checkpoint: it
    is for data that are thrown away.

    Raises:
        TargetError: If processes survive SIGKILL.
    """
    _end_initdb(data)
    postmaster = postmaster_of(data)
    if postmaster is not None:
        signal_all(all_of(data), signal.SIGCONT)
        signal_all([postmaster], signal.SIGQUIT)
        wait_ended([postmaster], IMMEDIATE_S)
    kill_with_memory(data)


def _stopped(data: Path) -> list[psutil.Process]:
    """The processes of the server, which stand still.

    The postmaster first: while it is stopped it starts no children and sees none die.
    """
    postmaster = postmaster_of(data)
    if postmaster is not None:
        signal_all([postmaster], signal.SIGSTOP)
        wait_stopped([postmaster], _STANDSTILL_S)
    found = all_of(data)
    signal_all(found, signal.SIGSTOP)
    wait_stopped(found, _STANDSTILL_S)
    return found


def _kill(data: Path) -> None:
    processes.kill_all(lambda: all_of(data), f"PostgreSQL in {data}")


def _end_initdb(data: Path) -> None:
    """Kills an initdb without parent; its own child then sees its input end and tidies up."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.name() == "initdb" and f"--pgdata={data}" in process.cmdline():
                found += [process, *process.children(recursive=True)]
    if found:
        signal_all(found[:1], signal.SIGKILL)
        wait_ended(found, _BOOTSTRAP_S)


def _serves(process: psutil.Process, data: Path) -> bool:
    return processes.has(
        process,
        lambda words: (
            Path(words[0]).name in ("postgres", "postmaster") and words[1:3] == ["-D", str(data)]
        ),
    )
