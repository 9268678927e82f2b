"""What a load takes of this machine: ports and source addresses, processes, open files.

It is counted before anything begins, and the load has the processes and the source addresses that
were counted.
"""

from __future__ import annotations

import resource
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from loadstone.errors import WrongInputError
from loadstone.host import cpulist
from loadstone.host.tcp import PortRules
from loadstone.load.ports import Network, room_for
from loadstone.load.processes import FILES_OF_PROCESS, FILES_OF_THREAD, processes_for
from loadstone.spec.base import Level
from loadstone.workloads.wanted import Wanted


@dataclass(frozen=True)
class Machine:
    """What of this machine bounds a load."""

    network: Network
    nofile: int
    """Files that a process may open: its hard limit, which the driver raises its own to."""
    processors: int | None = None
    """That this process may use; None: as it is."""

    @classmethod
    def present(cls, host: Mapping[str, Level] | None = None) -> Machine:
        """This machine, as it is or as trials set it.

        Args:
            host: Settings of this machine that the trials share.
        """
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        return cls(
            network=Network(PortRules.present(host)),
            nofile=2**31 if limit == resource.RLIM_INFINITY else limit,
        )


@dataclass(frozen=True)
class Destination:
    """A server that a load connects to."""

    host: str
    port: int
    connections: int
    """At most, of all users."""


@dataclass(frozen=True)
class Resources:
    """What a load takes, and what there is."""

    users: int
    """Or sessions of an open load."""
    each: int
    """Most connections of a user to one server."""
    connections: int
    """In all, at most."""
    destinations: tuple[Destination, ...]
    ports: int
    """Of one address of this machine, to one address of a server."""
    in_use: int
    """Of them, where fewest are left, by connections of others."""
    time_wait: int
    """Of them, by connections that have ended; the system gives them again later."""
    wait_s: float
    """Seconds until there are enough again."""
    sources: tuple[str, ...]
    """Addresses of this machine that connections come from; none: the system chooses one."""
    processes: int
    """Of the driver."""
    open_files: int
    """Of the process that has most."""
    nofile: int
    """That it may open."""


def resources_of(wanted: Wanted, machine: Machine | None = None) -> Resources:
    """What a load takes of this machine.

    Args:
        wanted: By the workload.
        machine: Default: this one.

    Raises:
        WrongInputError: If it takes more ports or files than there are, with what to do.
    """
    here = machine or Machine.present()
    profile, connection, sessions = wanted.profile, wanted.connection, wanted.sessions
    room = room_for(sessions, connection, here.network)
    pinned = None if profile.cpus is None else len(cpulist.parse(profile.cpus))
    processes = processes_for(
        profile.processes,
        sessions,
        connection,
        wanted.program,
        threads=profile.threads,
        nofile=here.nofile,
        processors=here.processors if pinned is None else pinned,
    )
    threads, full = profile.threads, room.fullest
    of_process = threads * ceil(sessions / (processes * threads))
    kept = FILES_OF_PROCESS + FILES_OF_THREAD * threads
    found = Resources(
        users=sessions,
        each=max((reach.each for reach in connection.reaches), default=0),
        connections=sessions * sum(reach.each for reach in connection.reaches),
        destinations=tuple(
            Destination(reach.host, reach.port, sessions * reach.each)
            for reach in connection.reaches
        ),
        ports=here.network.rules.count,
        in_use=0 if full is None else full.in_use,
        time_wait=0 if full is None else len(full.waiting),
        wait_s=0.0 if full is None else full.free_in_s,
        sources=room.sources,
        processes=processes,
        open_files=of_process * connection.files + kept,
        nofile=here.nofile,
    )
    if found.open_files > found.nofile:
        raise _too_many_files(found, wanted)
    return found


def _too_many_files(found: Resources, wanted: Wanted) -> WrongInputError:
    asked = wanted.profile.processes != "auto"
    way_out = "leave profile.processes out" if asked else "use fewer users or connections"
    return WrongInputError(
        f"{found.users * wanted.connection.files:,} connections in {found.processes} driver "
        f"process{'es' if found.processes > 1 else ''} need {found.open_files:,} open files in one "
        f"of them, and {found.nofile:,} are allowed",
        advice=f"{way_out}, or raise the limit of open files: ulimit -Hn",
    )
