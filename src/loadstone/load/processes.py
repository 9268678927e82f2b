"""How many driver processes a load needs on this machine."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from math import ceil
from typing import Any, Literal

from loadstone.host.locality import is_here
from loadstone.limits import MOST_PROCESSES
from loadstone.protocol.programs import Program
from loadstone.targets.connection import Connection

_FILES_OF_PROCESS, _FILES_OF_THREAD = 16, 4
"""What the driver keeps for itself."""
SESSIONS_OF_PROCESSOR = 1000
"""So many sessions are work for another processor, if there is one to spare."""
_SHARE_BESIDE_SERVER = 4
"""Beside a server on the same machine the driver takes a quarter of the processors at most."""


def processes_for(
    asked: int | Literal["auto"],
    plan: Mapping[str, Any],
    connection: Connection,
    program: Program,
    *,
    nofile: int | None = None,
    processors: int | None = None,
) -> int:
    """The number of driver processes.

    Args:
        asked: Of the profile.
        plan: Of the whole load: sessions and worker threads.
        connection: That each session opens.
        program: That makes the load.
        nofile: Files that a process may open; default: the hard limit of this one, which the
            driver raises its own to.
        processors: That this process may use; default: as it is.
    """
    if not (connection.divisible and program.shares):
        return 1
    if asked != "auto":
        return asked
    limit = _hard_limit() if nofile is None else nofile
    usable = len(os.sched_getaffinity(0)) if processors is None else processors
    return min(
        MOST_PROCESSES,
        max(_by_files(plan, connection, limit), _by_processors(plan, connection, usable)),
    )


def _by_files(plan: Mapping[str, Any], connection: Connection, limit: int) -> int:
    """So many that none needs more files than it may open."""
    threads = int(plan.get("threads", 1))
    needed = sessions_of(plan) * connection.files
    room = limit - _FILES_OF_PROCESS - _FILES_OF_THREAD * threads
    of_thread = room // threads
    if needed <= room or of_thread < 1:
        return 1  # in the second case the driver says what it lacks
    # Sessions are dealt to the threads of all processes, so that a thread has one more at most.
    return ceil(needed / (threads * of_thread))


def _by_processors(plan: Mapping[str, Any], connection: Connection, usable: int) -> int:
    """So many that the processors that are to spare share a load of many sessions."""
    beside = is_here(connection.host)
    to_spare = usable // _SHARE_BESIDE_SERVER if beside else usable - 1
    worth = ceil(sessions_of(plan) / SESSIONS_OF_PROCESSOR)
    return max(1, min(to_spare, worth) // int(plan.get("threads", 1)))


def sessions_of(plan: Mapping[str, Any]) -> int:
    """Sessions that the phases of a plan need at most."""
    loads = [phase["load"] for phase in plan["phases"]]
    return max(
        (
            max(load["users"]["from"], load["users"]["to"])
            if load["model"] == "closed"
            else load["sessions"]
            for load in loads
        ),
        default=0,
    )


def _hard_limit() -> int:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return 2**31 if limit == resource.RLIM_INFINITY else limit
