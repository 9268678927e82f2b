"""What the connections of a web load take of this machine: ports, source addresses, open files.

A connection is told from others by four things: address and port of either side. So one address of
this machine has as many connections to one address and port of an application as it has ports to
give: those of `net.ipv4.ip_local_port_range`, without the reserved ones. More addresses on either
side multiply that.
"""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address
from math import ceil
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.load.processes import _FILES_OF_PROCESS, _FILES_OF_THREAD, processes_for
from loadstone.load.profiles import phases_of
from loadstone.protocol.programs import Program
from loadstone.spec.base import Level
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.connection import Connection
from loadstone.targets.web import WebConnection

PORT_RANGE = "net.ipv4.ip_local_port_range"
RESERVED = "net.ipv4.ip_local_reserved_ports"
_USUAL_RANGE = "32768 60999"
"""Linux's own, where it cannot be read."""
_FIRST_SOURCE = IPv4Address("127.0.0.2")
"""On loopback; all of 127.0.0.0/8 is this machine."""

LookUp = Callable[[str, int], Sequence[str]]
"""Host and port: the IP addresses that are connected to."""


def look_up(host: str, port: int) -> list[str]:
    """The IP addresses of a host, as the system's resolver has them; none if it knows none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def count_ports(port_range: str, reserved: str) -> int:
    """How many ports the system gives to connections that go out.

    Args:
        port_range: First and last port, as `/proc/sys/net/ipv4/ip_local_port_range` has them.
        reserved: Ports and ranges of them between commas (`8080,9148-9150`); may be empty.
    """
    first, last = (int(word) for word in port_range.split())
    ports = set(range(first, last + 1))
    for part in filter(None, reserved.strip().split(",")):
        low, _, high = part.partition("-")
        ports -= set(range(int(low), int(high or low) + 1))
    return len(ports)


@dataclass(frozen=True)
class Machine:
    """What of this machine bounds the connections of a load."""

    ports: int
    nofile: int
    """Files that a process may open: its hard limit, which the driver raises its own to."""
    processors: int | None = None
    """That the driver may use; None: as it is."""
    addresses: LookUp = field(default=look_up, repr=False)

    @classmethod
    def present(cls, host: Mapping[str, Level] | None = None) -> Machine:
        """This machine, as it is or as trials set it.

        Args:
            host: Settings of this machine that the trials share.
        """
        settings = host or {}
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        port_range = _sysctl(PORT_RANGE, settings) or _USUAL_RANGE
        return cls(
            ports=count_ports(port_range, _sysctl(RESERVED, settings)),
            nofile=2**31 if limit == resource.RLIM_INFINITY else limit,
        )


@dataclass(frozen=True)
class Resources:
    """What a load takes, and what there is."""

    users: int
    """Or sessions of an open load."""
    each: int
    """Most connections of a user to one origin."""
    connections: int
    """In all, at most."""
    ports: int
    """Of one address of this machine, to one address of the application."""
    sources: tuple[str, ...]
    """Addresses of this machine that connections come from; none: the system chooses one."""
    processes: int
    """Of the driver."""
    open_files: int
    """Of the process that has most."""
    nofile: int
    """That it may open."""


def fitted(connection: Connection, users: int, machine: Machine | None = None) -> Connection:
    """The connection with the source addresses that so many users need; others as they are.

    Args:
        connection: As the workload uses it.
        users: Or sessions, of the whole load.
        machine: Default: this one.

    Raises:
        WrongInputError: If there are not ports enough.
    """
    if not isinstance(connection, WebConnection):
        return connection
    return replace(connection, sources=_sources(connection, users, machine or Machine.present()))


def resources_of(
    profile: ProfileSpec,
    users: int,
    connection: WebConnection,
    program: Program,
    machine: Machine | None = None,
) -> Resources:
    """What a load takes of this machine.

    Args:
        profile: As the workload has loaded it.
        users: Or sessions, of the whole load.
        connection: As the workload uses it.
        program: That makes the load.
        machine: Default: this one.

    Raises:
        WrongInputError: If it takes more ports or files than there are, with what to do.
    """
    here = machine or Machine.present()
    sources = _sources(connection, users, here)
    plan = {"threads": profile.threads, "phases": phases_of(profile)}
    processes = processes_for(
        profile.processes,
        plan,
        connection,
        program,
        nofile=here.nofile,
        processors=here.processors,
    )
    threads = profile.threads
    of_process = threads * ceil(users / (processes * threads))
    kept = _FILES_OF_PROCESS + _FILES_OF_THREAD * threads
    found = Resources(
        users=users,
        each=connection.each,
        connections=users * connection.files,
        ports=here.ports,
        sources=sources,
        processes=processes,
        open_files=of_process * connection.files + kept,
        nofile=here.nofile,
    )
    if found.open_files > found.nofile:
        raise _too_many_files(found, profile)
    return found


def _sources(connection: WebConnection, users: int, machine: Machine) -> tuple[str, ...]:
    """The source addresses with which every user has a port for each of its connections.

    Users are spread evenly over the addresses of a name. It is looked up only where the ports to
    one address might not do.
    """
    needed, given = users * connection.each, connection.sources
    if needed <= machine.ports * max(1, len(given)):
        return given
    destinations = machine.addresses(connection.host, connection.port)
    to_each = ceil(needed / max(1, len(destinations)))
    if to_each <= machine.ports * max(1, len(given)):
        return given
    if not given and destinations and all(map(_is_loopback, destinations)):
        return tuple(str(_FIRST_SOURCE + n) for n in range(ceil(to_each / machine.ports)))
    raise _too_few_ports(connection, users, machine, max(1, len(destinations)))


def _is_loopback(address: str) -> bool:
    """Of IPv4, where loopback has many addresses; that of IPv6 has one."""
    return address.startswith("127.")


def _too_few_ports(
    connection: WebConnection, users: int, machine: Machine, destinations: int
) -> WrongInputError:
    sources = max(1, len(connection.sources))
    available = machine.ports * sources * destinations
    each = f" with {connection.each} connections each" if connection.each > 1 else ""
    local = connection.host.lower() == "localhost"
    here = ", write 127.0.0.1 instead of localhost" if local else ""
    return WrongInputError(
        f"{users:,} users{each} need {users * connection.each:,} connections to "
        f"{connection.host}, and {available:,} are possible: {machine.ports:,} ports x {sources} "
        f"source address{'es' if sources > 1 else ''} x {destinations} address"
        f"{'es' if destinations > 1 else ''} of the application",
        advice=f"use fewer users or connections{here}, widen the range of ports (sysctl -w "
        f"{PORT_RANGE}='1024 65535'), or name further addresses of this machine: target.sources",
    )


def _too_many_files(found: Resources, profile: ProfileSpec) -> WrongInputError:
    asked = profile.processes != "auto"
    way_out = "leave profile.processes out" if asked else "use fewer users or connections"
    return WrongInputError(
        f"{found.connections:,} connections in {found.processes} driver "
        f"process{'es' if found.processes > 1 else ''} need {found.open_files:,} open files in one "
        f"of them, and {found.nofile:,} are allowed",
        advice=f"{way_out}, or raise the limit of open files: ulimit -Hn",
    )


def _sysctl(name: str, settings: Mapping[str, Level]) -> str:
    """A sysctl as trials set it, or as it is; one that this machine has not is empty."""
    if name in settings:
        return str(settings[name])
    path = Path("/proc/sys").joinpath(*name.split("."))
    return path.read_text(encoding="ascii") if os.access(path, os.R_OK) else ""
