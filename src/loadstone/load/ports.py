"""Whether this machine has a port for each connection of a load, and from which addresses.

Each pair of an address of this machine and an address and port of a server has all ports to give
(`host.tcp`). Sessions are spread evenly over the pairs, as the load driver does it: session n takes
source n and destination n, modulo their counts. Names are looked up only where it matters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, ip_address
from itertools import count
from math import ceil

from loadstone.errors import WrongInputError
from loadstone.host.tcp import PORT_RANGE, PortRules, TcpSocket, look_up, sockets_to, source_to
from loadstone.targets.connection import Connection, Reach

LookUp = Callable[[str, int], Sequence[str]]
"""Host and port: the IP addresses that are connected to."""
_FIRST_SOURCE = IPv4Address("127.0.0.2")
"""On loopback; all of 127.0.0.0/8 is this machine."""
_MOST_LOOKED_AT = 1000
"""Addresses of loopback that may be taken by others before it is given up."""


@dataclass(frozen=True)
class Network:
    """What of this machine bounds the connections of a load."""

    rules: PortRules
    addresses: LookUp = field(default=look_up, repr=False)
    sockets: Callable[[Collection[int]], Iterable[TcpSocket]] = field(
        default=sockets_to, repr=False
    )
    source_to: Callable[[str], str] = field(default=source_to, repr=False)


@dataclass(frozen=True)
class Way:
    """From one address of this machine to one address and port of a server."""

    hosts: tuple[str, ...]
    """By which names the address is reached."""
    port: int
    sources: int
    """How many addresses of this machine share the load."""
    addresses: int
    """How many addresses of the server do."""
    needed: int
    """Ports, of this way."""
    given: int
    """Ports that the system gives, but for those at which a server of this machine listens."""
    in_use: int
    """Of them, by connections that are open."""
    waiting: tuple[float, ...]
    """Of them, by connections that have ended: seconds until each is given again, in order."""

    @property
    def spare(self) -> int:
        """Ports that are left; below 0 are those that are missing."""
        return self.given - self.in_use - len(self.waiting) - self.needed

    @property
    def free_in_s(self) -> float:
        """Seconds until there are enough; infinite if there never will be."""
        missing = -self.spare
        if missing <= 0:
            return 0.0
        return self.waiting[missing - 1] if missing <= len(self.waiting) else float("inf")


@dataclass(frozen=True)
class Room:
    """Ports that do for a load."""

    sources: tuple[str, ...]
    """Addresses of this machine that connections come from; none: the system chooses one."""
    fullest: Way | None = None
    """Where fewest are left; None where all servers together leave enough."""


def room_for(sessions: int, connection: Connection, network: Network) -> Room:
    """Finds a port for each connection of a load.

    Args:
        sessions: The most at a time.
        connection: As the load uses it.
        network: Of this machine.

    Raises:
        WrongInputError: If there are not ports enough, with what to do.
    """
    ports = _Ports(network, {reach.port for reach in connection.reaches})
    if ports.plenty(sessions, connection.reaches):
        return Room(connection.sources)
    servers = _servers(sessions, connection, network)
    fullest = max(
        (way for server in servers for way in ports.ways(server, connection.sources)),
        key=lambda way: (way.free_in_s, -way.spare),
    )
    if fullest.spare >= 0:
        return Room(connection.sources, fullest)
    on_loopback = all(_is_loopback(server.address) for server in servers)
    if connection.chooses_sources and not connection.sources and on_loopback:
        sources = ports.of_loopback(servers)
        if sources:
            return Room(sources)
    if fullest.free_in_s == float("inf"):
        raise _too_few(sessions, connection, fullest)
    return Room(connection.sources, fullest)


@dataclass(frozen=True)
class _Server:
    """An address and port with the sessions that connect to it."""

    address: str
    port: int
    hosts: tuple[str, ...]
    addresses: int
    """Of the host that has most."""
    shares: tuple[tuple[int, int], ...]
    """Of each host: sessions that come to this address, and connections of each."""

    def needed(self, sources: int) -> int:
        """Ports of each of so many sources."""
        return sum(ceil(sessions / sources) * each for sessions, each in self.shares)


def _servers(sessions: int, connection: Connection, network: Network) -> list[_Server]:
    """The addresses that hosts have; hosts may share one. An unknown host counts as one address."""
    found: dict[tuple[str, int], list[tuple[Reach, int]]] = defaultdict(list)
    for reach in connection.reaches:
        known = network.addresses(reach.host, reach.port)
        addresses = [each for each in known if _reachable(each, connection.sources)] or [reach.host]
        for address in addresses:
            found[address, reach.port].append((reach, len(addresses)))
    return [
        _Server(
            address,
            port,
            hosts=tuple(reach.host for reach, _ in reached),
            addresses=max(each for _, each in reached),
            shares=tuple((ceil(sessions / each), reach.each) for reach, each in reached),
        )
        for (address, port), reached in found.items()
    ]


def _is_loopback(address: str) -> bool:
    """Of IPv4, where loopback has many addresses; that of IPv6 has one."""
    try:
        return ip_address(address).is_loopback and ":" not in address
    except ValueError:  # a name that is not known
        return False


def _reachable(address: str, sources: Sequence[str]) -> bool:
    """Whether one of the sources, if there are any, is of the family of an address."""
    return not sources or any((":" in source) == (":" in address) for source in sources)


class _Ports:
    """The ports of this machine, as they are taken now."""

    def __init__(self, network: Network, towards: Collection[int]) -> None:
        """Looks once.

        Args:
            network: Of this machine.
            towards: Ports of servers.
        """
        self._network = network
        ports, listened = network.rules.ports, set[int]()
        self._taken: dict[tuple[str, str, int], list[TcpSocket]] = defaultdict(list)
        self._taken_by_port: dict[int, int] = defaultdict(int)
        for each in network.sockets(towards):
            if each.source_port not in ports:
                continue
            if each.listens:
                listened.add(each.source_port)
            else:
                self._taken[each.source, each.address, each.port].append(each)
                self._taken_by_port[each.port] += 1
        self.given = network.rules.count - len(listened)

    def plenty(self, sessions: int, reaches: Sequence[Reach]) -> bool:
        """Whether one address would do, even if all servers at the same port were one."""
        needed: dict[int, int] = defaultdict(int)
        for reach in reaches:
            needed[reach.port] += sessions * reach.each
        return all(
            count + self._taken_by_port[port] <= self.given for port, count in needed.items()
        )

    def ways(self, server: _Server, sources: Sequence[str]) -> list[Way]:
        """From each source of its family, or from the one that the system chooses."""
        own = [source for source in sources if (":" in source) == (":" in server.address)]
        chosen = own or [self._network.source_to(server.address)]
        return [self._way(server, source, len(chosen)) for source in chosen]

    def of_loopback(self, servers: Sequence[_Server]) -> tuple[str, ...]:
        """As few addresses of loopback as have ports enough now; none if there are not enough."""
        most = max(sum(each for _, each in server.shares) for server in servers)
        if most > self.given:
            return ()  # not even one session has ports enough
        fewest = next(
            number
            for number in count(1)
            if all(server.needed(number) <= self.given for server in servers)
        )
        chosen: list[str] = []
        for number in range(fewest + _MOST_LOOKED_AT):
            source = str(_FIRST_SOURCE + number)
            if all(self._way(server, source, fewest).spare >= 0 for server in servers):
                chosen.append(source)
            if len(chosen) == fewest:
                return tuple(chosen)
        return ()

    def _way(self, server: _Server, source: str, sources: int) -> Way:
        taken = self._taken[source, server.address, server.port]
        free_in_s = (self._network.rules.free_in_s(each) for each in taken if each.ends)
        return Way(
            hosts=server.hosts,
            port=server.port,
            sources=sources,
            addresses=server.addresses,
            needed=server.needed(sources),
            given=self.given,
            in_use=sum(not each.ends for each in taken),
            waiting=tuple(sorted(each for each in free_in_s if each > 0)),
        )


def _too_few(sessions: int, connection: Connection, way: Way) -> WrongInputError:
    """For a load that can never have its ports."""
    hosts = set(way.hosts)
    each = sum(
        reach.each for reach in connection.reaches if reach.host in hosts and reach.port == way.port
    )
    whole = max(0, way.given - way.in_use) // each
    possible = way.sources * way.addresses * whole * each
    of_each = f" with up to {each} connections each" if each > 1 else ""
    enough = f", enough for {whole:,} of them," if each > 1 else ""
    used = f", {way.in_use:,} of them in use," if way.in_use else ""
    later = f"; {len(way.waiting):,} of the ports are in TIME_WAIT" if way.waiting else ""
    local = ", write 127.0.0.1 instead of localhost" if "localhost" in hosts else ""
    further = ", or name further addresses of this machine: target.sources"
    return WrongInputError(
        f"{sessions:,} users or sessions{of_each} need {sessions * each:,} connections to "
        f"{' and '.join(way.hosts)}, port {way.port}, and {possible:,} are possible: "
        f"{way.given:,} ports{used}{enough} x {_counted(way.sources, 'source address')} x "
        f"{_counted(way.addresses, 'address')} of the server{later}",
        advice=f"use fewer of them{local}, widen the range of ports (sysctl -w {PORT_RANGE}="
        f"'1024 65535'){further if connection.chooses_sources else ''}",
    )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 'es'}"
