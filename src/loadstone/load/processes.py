"""How many driver processes a load needs on this machine."""

from __future__ import annotations

import os
import resource
from math import ceil
from typing import Literal

from loadstone.host.locality import is_here
from loadstone.limits import MOST_PROCESSES
from loadstone.protocol.programs import Program
from loadstone.targets.connection import Connection

FILES_OF_PROCESS, FILES_OF_THREAD = 16, 4
"""What the driver keeps for itself."""
SESSIONS_OF_PROCESSOR = 1000
"""So many sessions are work for another processor, if there is one to spare."""
_SHARE_BESIDE_SERVER = 4
"""Beside a server on the same machine the driver takes a quarter of the processors at most."""


def processes_for(
    asked: int | Literal["auto"],
    sessions: int,
    connection: Connection,
    program: Program,
    *,
    threads: int = 1,
    nofile: int | None = None,
    processors: int | None = None,
) -> int:
    """The number of driver processes.

    Args:
        asked: Of the profile.
        sessions: Of the whole load, the most at a time.
        connection: That each session opens.
        program: That makes the load.
        threads: Worker threads of each process.
        nofile: Files that a process may open; default: the hard limit of this one, which the
            driver raises its own to.
        processors: That this process may use; default: as it is.
    """
    if connection.processes is not None:
        return connection.processes
    if not (connection.divisible and program.shares):
        return 1
    if asked != "auto":
        return asked
    limit = _hard_limit() if nofile is None else nofile
    usable = len(os.sched_getaffinity(0)) if processors is None else processors
    return min(
        MOST_PROCESSES,
        max(
            _by_files(sessions, connection, threads, limit),
            _by_processors(sessions, connection, threads, usable),
        ),
    )


def _by_files(sessions: int, connection: Connection, threads: int, limit: int) -> int:
    """So many that none needs more files than it may open."""
    room = limit - FILES_OF_PROCESS - FILES_OF_THREAD * threads
    if sessions * connection.files <= room:
        return 1
    # Sessions are dealt to the threads of all processes, so that a thread has one more at most.
    of_thread = room // threads // connection.files
    return ceil(sessions / (threads * of_thread)) if of_thread > 0 else 1


def _by_processors(sessions: int, connection: Connection, threads: int, usable: int) -> int:
    """So many that the processors that are to spare share a load of many sessions."""
    beside = is_here(connection.host)
    to_spare = usable // _SHARE_BESIDE_SERVER if beside else usable - 1
    worth = ceil(sessions / SESSIONS_OF_PROCESSOR)
    return max(1, min(to_spare, worth) // threads)


def _hard_limit() -> int:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return 2**31 if limit == resource.RLIM_INFINITY else limit
