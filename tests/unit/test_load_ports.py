"""A port for each connection of a load: how many are needed, there, in use, in TIME_WAIT."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from sample_web import connection

from loadstone.errors import WrongInputError
from loadstone.host.tcp import PortRules, TcpSocket
from loadstone.load.ports import Network, Room, room_for
from loadstone.targets.connection import Connection, Reach, ServerConnection
from loadstone.targets.web import WebConnection

PORTS = range(40_000, 40_200)
HERE, THERE = "192.0.2.7", "192.0.2.1"
ESTABLISHED, TIME_WAIT, LISTEN, FIN_WAIT1 = 1, 6, 10, 4


def network(
    addresses: dict[str, tuple[str, ...]] | tuple[str, ...] = (THERE,),
    sockets: Iterable[TcpSocket] = (),
    **rules: Any,
) -> Network:
    """A machine of 200 ports, whose address is HERE."""
    known = addresses if isinstance(addresses, dict) else {}
    listed = list(sockets)
    return Network(
        PortRules(PORTS, **rules),
        addresses=lambda host, _: known[host] if known else tuple(addresses),
        sockets=lambda ports: [each for each in listed if each.port in ports or each.listens],
        source_to=lambda address: "127.0.0.1" if address.startswith("127.") else HERE,
    )


def taken(
    count: int,
    *,
    first: int = PORTS[0],
    state: int = ESTABLISHED,
    source: str = HERE,
    address: str = THERE,
    left_s: float = 42.0,
) -> list[TcpSocket]:
    return [
        TcpSocket(source, first + number, address, 443, state, left_s) for number in range(count)
    ]


def web(*reaches: Reach, sources: tuple[str, ...] = ()) -> WebConnection:
    own = reaches or (Reach("app.example", 443),)
    return replace(connection("https://app.example"), reaches=own, sources=sources)


def room(sessions: int, reached: Connection | None = None, here: Network | None = None) -> Room:
    return room_for(sessions, reached or web(), here or network())


def refused(sessions: int, reached: Connection | None = None, here: Network | None = None) -> str:
    with pytest.raises(WrongInputError) as caught:
        room(sessions, reached, here)
    return f"{caught.value.message} ({caught.value.advice})"


def each(count: int, host: str = "app.example", port: int = 443) -> Reach:
    return Reach(host, port, count)


# -- how many there are ------------------------------------------------------------------------


def test_few_sessions_need_nothing_and_no_name_is_looked_up():
    def never(*_: object) -> Any:
        raise AssertionError("it was looked up")

    here = replace(network(), addresses=never, source_to=never)
    assert room(33, web(each(6)), here) == Room(())
    assert room(10**6, web(), replace(here, rules=PortRules(range(10**6)))) == Room(())


def test_as_many_as_there_are_and_no_more():
    assert room(200).sources == ()
    said = refused(201)
    assert "201 users or sessions need 201 connections to app.example, port 443" in said
    assert "200 are possible: 200 ports x 1 source address x 1 address of the server" in said
    assert "target.sources" in said


def test_all_connections_of_a_session_must_have_one():
    assert room(33, web(each(6))).sources == ()
    said = refused(34, web(each(6)))
    assert "34 users or sessions with up to 6 connections each need 204 connections" in said
    assert "198 are possible: 200 ports, enough for 33 of them, x 1 source address" in said


def test_more_addresses_on_either_side_multiply_the_ports():
    two = network(("192.0.2.1", "192.0.2.2"))
    assert room(400, here=two).sources == ()
    assert "400 are possible: 200 ports x 1 source address x 2 addresses" in refused(401, here=two)
    given = web(sources=("192.0.2.7", "192.0.2.8"))
    assert room(800, given, two).sources == ("192.0.2.7", "192.0.2.8")
    assert "2 source addresses x 2 addresses" in refused(801, given, two)


def test_sources_of_another_family_reach_nothing():
    both = network(("192.0.2.1", "2001:db8::1"))
    assert room(400, here=both).sources == ()
    said = refused(201, web(sources=("192.0.2.7",)), both)
    assert "200 ports x 1 source address x 1 address" in said


def test_an_unknown_name_counts_as_one_address():
    assert room(200, here=network(())) == Room(())
    assert "x 1 address of the server" in refused(201, here=network(()))


# -- several servers ---------------------------------------------------------------------------


def test_each_server_has_all_ports():
    reaches = (each(1), each(1, "cdn.example"), each(1, "app.example", 8443))
    apart = network({"app.example": ("192.0.2.1",), "cdn.example": ("192.0.2.2",)})
    assert room(200, web(*reaches), apart).sources == ()
    said = refused(101, web(each(1), each(2, "cdn.example")), apart)
    assert "101 users or sessions with up to 2 connections each need 202 connections" in said
    assert "cdn.example, port 443" in said
    assert "app.example" not in said


def test_names_of_one_address_share_its_ports():
    shared = network({"app.example": (THERE,), "cdn.example": (THERE,)})
    reached = web(each(1), each(1, "cdn.example"))
    assert room(100, reached, shared).sources == ()
    said = refused(101, reached, shared)
    assert "need 202 connections to app.example and cdn.example, port 443" in said
    other_port = web(each(1), each(1, "cdn.example", 80))
    assert room(200, other_port, shared).sources == ()


# -- loopback ----------------------------------------------------------------------------------


def test_loopback_has_further_addresses_as_many_as_are_needed():
    here = network(("127.0.0.1",))
    assert room(33, web(each(6)), here).sources == ()
    assert room(60, web(each(6)), here).sources == ("127.0.0.2", "127.0.0.3")
    assert room(500, web(), here).sources == ("127.0.0.2", "127.0.0.3", "127.0.0.4")
    # 3 x 200 ports are enough for 600 connections, but not for 34 users of 6 at one address.
    assert len(room(100, web(each(6)), here).sources) == 4


def test_addresses_of_loopback_that_others_use_are_passed_over():
    used = taken(150, source="127.0.0.3", address="127.0.0.1")
    here = network(("127.0.0.1",), used)
    assert room(400, here=here).sources == ("127.0.0.2", "127.0.0.4")


def test_only_who_chooses_its_address_has_further_ones():
    server = ServerConnection("postgresql", "127.0.0.1", "u", "d", port=443)
    assert room(200, server, network(("127.0.0.1",))).sources == ()
    said = refused(201, server, network(("127.0.0.1",)))
    assert "1024 65535" in said
    assert "target.sources" not in said
    assert room(10**6, ServerConnection("postgresql", "/socket", "u", "d")).sources == ()


@pytest.mark.parametrize(
    "addresses", [("127.0.0.1", "192.0.2.1"), ("::1",), ("::1", "127.0.0.1"), ()]
)
def test_what_is_not_all_on_loopback_has_none(addresses: tuple[str, ...]):
    refused(1000, here=network(addresses))
    local = web(Reach("localhost", 443))
    assert "127.0.0.1 instead of localhost" in refused(1000, local, network(addresses))


def test_a_session_that_needs_more_than_all_ports():
    refused(1, web(each(201)), network(("127.0.0.1",)))


def test_servers_elsewhere_keep_those_on_loopback_from_further_addresses():
    mixed = network({"app.example": ("127.0.0.1",), "cdn.example": (THERE,)})
    reached = web(each(1), each(1, "cdn.example", 80))
    assert "app.example, port 443" in refused(201, reached, mixed)


# -- what is taken -----------------------------------------------------------------------------


def test_open_connections_to_the_same_server_take_ports():
    here = network(sockets=taken(50))
    assert room(150, here=here).sources == ()
    said = refused(151, here=here)
    assert "150 are possible: 200 ports, 50 of them in use, x 1 source address" in said


@pytest.mark.parametrize(
    "others",
    [
        taken(50, address="192.0.2.99"),
        taken(50, source="192.0.2.8"),
        taken(50, first=20_000),
        [replace(one, port=80) for one in taken(50)],
    ],
)
def test_connections_of_others_take_none(others: list[TcpSocket]):
    assert room(200, here=network(sockets=others)).sources == ()


def test_ports_that_are_listened_at_are_given_to_nobody():
    listening = [replace(one, port=0) for one in taken(3, state=LISTEN, source="127.0.0.1")]
    here = network(sockets=[*listening, *listening])
    assert room(197, here=here).sources == ()
    assert "197 ports" in refused(198, here=here)


def test_ports_in_time_wait_are_waited_for():
    half = taken(50, state=TIME_WAIT) + taken(30, first=40_100, state=TIME_WAIT, left_s=11.0)
    here = network(sockets=half)
    assert room(120, here=here).fullest is None
    found = room(130, here=here).fullest
    assert found is not None
    assert (found.given, found.in_use, len(found.waiting), found.needed) == (200, 0, 80, 130)
    assert found.free_in_s == 11.0
    later = room(180, here=here).fullest
    assert later is not None
    assert later.free_in_s == 42.0
    assert "200 are possible" in refused(201, here=here)
    assert "80 of the ports are in TIME_WAIT" in refused(201, here=here)


def test_connections_that_are_ending_come_to_time_wait():
    found = room(200, here=network(sockets=taken(5, state=FIN_WAIT1))).fullest
    assert found is not None
    assert found.free_in_s == 60.0


def test_ports_that_the_system_gives_again_are_free():
    old = taken(150, state=TIME_WAIT)
    found = room(200, here=network(sockets=old, reuse=1)).fullest
    assert found is not None
    assert (found.free_in_s, found.waiting) == (0.0, ())
    young = taken(150, state=TIME_WAIT, left_s=59.75)
    found = room(200, here=network(sockets=young, reuse=1)).fullest
    assert found is not None
    assert found.free_in_s == 0.75
    none = room(200, here=network(sockets=old, reuse=1, timestamps=False)).fullest
    assert none is not None
    assert none.free_in_s == 42.0


def test_on_loopback_nobody_waits_for_ports():
    old = taken(150, state=TIME_WAIT, source="127.0.0.1", address="127.0.0.1", left_s=59.9)
    found = room(200, here=network(("127.0.0.1",), old))
    assert found.sources == ("127.0.0.2",)
    assert found.fullest is None


def test_what_never_comes_free_is_said_though_other_ports_will():
    servers = {"app.example": (THERE,), "cdn.example": ("192.0.2.2",)}
    sockets = [
        *taken(150, state=TIME_WAIT),
        *taken(60, address="192.0.2.2"),
    ]
    said = refused(150, web(each(1), each(1, "cdn.example")), network(servers, sockets))
    assert "cdn.example, port 443, and 140 are possible: 200 ports, 60 of them in use" in said
