"""The ports that this machine gives to connections that go out, and which of them are taken.

A connection is told from others by four things: address and port of either side. So a port can
serve many connections at a time, to different servers or from different addresses of this machine,
and is taken only for the server that it is connected to. It stays taken for a minute after the
side that ended the connection first was this one (TIME_WAIT).

Sources: Linux, `Documentation/networking/ip-sysctl.rst` and `proc_net_tcp.rst`;
`__inet_hash_connect` of `net/ipv4/inet_hashtables.c`, `tcp_twsk_unique` and `get_timewait4_sock`
of `net/ipv4/tcp_ipv4.c`.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv6Address, ip_address

from loadstone.host.machine import THIS_MACHINE, Machine, read
from loadstone.spec.base import Level

PORT_RANGE = "net.ipv4.ip_local_port_range"
RESERVED = "net.ipv4.ip_local_reserved_ports"
REUSE = "net.ipv4.tcp_tw_reuse"
REUSE_DELAY = "net.ipv4.tcp_tw_reuse_delay"
TIMESTAMPS = "net.ipv4.tcp_timestamps"
_USUAL = {PORT_RANGE: "32768 60999", RESERVED: "", REUSE: "2", REUSE_DELAY: "1000", TIMESTAMPS: "1"}
"""Linux's own, where they cannot be read; the delay is fixed before Linux 6.14."""

TIME_WAIT_S = 60.0
"""TCP_TIMEWAIT_LEN of `include/net/tcp.h`; FIN_WAIT2 lasts as long by default."""
_LATE_S = 0.25
"""A timer of a minute may end some seconds late (`kernel/time/timer.c`): what is listed is taken,
though nothing is left of its time. So soon it is worth another look."""
_TIME_WAIT, _LISTEN = 0x06, 0x0A
_ENDING = (0x04, 0x05, _TIME_WAIT, 0x09, 0x0B)
"""FIN_WAIT1, FIN_WAIT2, TIME_WAIT, LAST_ACK and CLOSING of `include/net/tcp_states.h`."""
_SCOPE_ALL, _SCOPE_LOOPBACK = 1, 2
_ANY_PORT = 9


@dataclass(frozen=True)
class TcpSocket:
    """A socket of this machine as the kernel lists it."""

    source: str
    """Its own address; one of IPv4 is written as such, also where it belongs to IPv6."""
    source_port: int
    address: str
    """Of the other side."""
    port: int
    state: int
    timer_s: float
    """Until its timer ends: of one in TIME_WAIT what is left of that."""

    @property
    def listens(self) -> bool:
        """Whether it waits for connections."""
        return self.state == _LISTEN

    @property
    def ends(self) -> bool:
        """Whether its program has let it go."""
        return self.state in _ENDING

    @property
    def waits(self) -> bool:
        """Whether both sides have ended it, and its port is kept for late packets."""
        return self.state == _TIME_WAIT

    @property
    def is_loopback(self) -> bool:
        """Whether one of its sides is an address of loopback."""
        return any(ip_address(each).is_loopback for each in (self.source, self.address))


@dataclass(frozen=True)
class PortRules:
    """Which ports the kernel gives to connections that go out, and when again."""

    ports: Collection[int]
    reuse: int = _SCOPE_LOOPBACK
    """For which connections a port in TIME_WAIT is given again: 0 none, 1 all, 2 loopback."""
    reuse_after_s: float = 1.0
    timestamps: bool = True
    """TCP has them: a port in TIME_WAIT is not given again without them."""

    @classmethod
    def present(
        cls, settings: Mapping[str, Level] | None = None, machine: Machine = THIS_MACHINE
    ) -> PortRules:
        """Those of this machine's network.

        Args:
            settings: Of this machine that trials share; they are not in force yet.
            machine: Whose they are.
        """
        known = {name: _sysctl(name, settings or {}, machine) for name in _USUAL}
        return cls(
            ports=ports_given(known[PORT_RANGE], known[RESERVED]),
            reuse=int(known[REUSE]),
            reuse_after_s=int(known[REUSE_DELAY]) / 1000,
            timestamps=int(known[TIMESTAMPS]) != 0,
        )

    @cached_property
    def count(self) -> int:
        """How many ports there are."""
        return len(self.ports)

    def free_in_s(self, taken: TcpSocket) -> float:
        """Seconds until the port of a socket that ends is given again for the same server.

        That the other side uses timestamps too is taken for granted: the kernel does not list it.
        """
        if not taken.waits:
            return TIME_WAIT_S  # it comes to TIME_WAIT first, or is gone sooner
        given_again = self.reuse == _SCOPE_ALL or (
            self.reuse == _SCOPE_LOOPBACK and taken.is_loopback
        )
        ended_in_s = max(taken.timer_s, _LATE_S)
        if not (given_again and self.timestamps):
            return ended_in_s
        return min(ended_in_s, max(0.0, self.reuse_after_s - (TIME_WAIT_S - taken.timer_s)))


def ports_given(port_range: str, reserved: str) -> frozenset[int]:
    """The ports that the system gives to connections that go out.

    Args:
        port_range: First and last port, as `/proc/sys/net/ipv4/ip_local_port_range` has them.
        reserved: Ports and ranges of them between commas (`8080,9148-9150`); may be empty.
    """
    first, last = (int(word) for word in port_range.split())
    ports = set(range(first, last + 1))
    for part in filter(None, reserved.strip().split(",")):
        low, _, high = part.partition("-")
        ports -= set(range(int(low), int(high or low) + 1))
    return frozenset(ports)


def sockets_to(ports: Collection[int], machine: Machine = THIS_MACHINE) -> Iterator[TcpSocket]:
    """The sockets that are connected to these ports of any server, and those that listen.

    Args:
        ports: Of the other side.
        machine: Whose they are.
    """
    wanted = {f"{port:04X}" for port in ports}
    for name in ("tcp", "tcp6"):
        listed = read(machine.at(f"/proc/net/{name}"))  # without IPv6 there is only one
        for line in listed.splitlines()[1:] if isinstance(listed, str) else ():
            words = line.split(maxsplit=6)
            if words[2][-4:] in wanted or int(words[3], 16) == _LISTEN:
                yield _socket(words)


def source_to(address: str) -> str:
    """The address of this machine that the system chooses for connections to another.

    Nothing is sent. What is no address, or cannot be reached, has none: the answer is empty.
    """
    try:
        family = socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, _ANY_PORT))
            return str(probe.getsockname()[0])
    except (OSError, ValueError):
        return ""


def look_up(host: str, port: int) -> list[str]:
    """The IP addresses of a host, as the system's resolver has them; none if it knows none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _socket(words: list[str]) -> TcpSocket:
    """Reads `sl local_address rem_address st queues tr:tm->when ...`."""
    source, _, source_port = words[1].partition(":")
    address, _, port = words[2].partition(":")
    ticks = int(words[5].partition(":")[2], 16)
    return TcpSocket(
        source=_address(source),
        source_port=int(source_port, 16),
        address=_address(address),
        port=int(port, 16),
        state=int(words[3], 16),
        timer_s=ticks / os.sysconf("SC_CLK_TCK"),
    )


def _address(text: str) -> str:
    """Reads an address, of which the kernel prints each 32 bits as a number of its own order."""
    words = [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]
    packed = struct.pack(f"={len(words)}I", *words)
    if len(words) == 1:
        return socket.inet_ntop(socket.AF_INET, packed)
    found = IPv6Address(packed)
    return str(found.ipv4_mapped or found)


def _sysctl(name: str, settings: Mapping[str, Level], machine: Machine) -> str:
    """A setting as trials have it, or as it is; Linux's own where this machine has none."""
    if name in settings:
        return str(settings[name])
    found = read(machine.at(f"/proc/sys/{name.replace('.', '/')}"))
    return found if isinstance(found, str) else _USUAL[name]
