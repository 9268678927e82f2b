"""Ports, source addresses, processes and open files, counted before anything begins."""

from __future__ import annotations

from typing import Any

import pytest
from sample_web import connection

from loadstone.errors import WrongInputError
from loadstone.load.resources import Machine, Resources, count_ports, fitted, resources_of
from loadstone.protocol.programs import DRIVER
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.connection import Connection
from loadstone.targets.web import WebConnection

ELSEWHERE = "https://app.example"


def machine(ports: int = 200, nofile: int = 20_000, addresses: tuple[str, ...] = ()) -> Machine:
    return Machine(ports, nofile, processors=1, addresses=lambda _host, _port: addresses)


def web(url: str = ELSEWHERE, *, each: int = 1, origins: int = 1, **fields: Any) -> WebConnection:
    found = connection(url, **fields)
    return WebConnection(
        found.url,
        found.host,
        found.port,
        sources=found.sources,
        each=each,
        origins=origins,
    )


def taken(
    users: int, reached: WebConnection, here: Machine | None = None, **profile: Any
) -> Resources:
    spec = ProfileSpec(users=users, **profile)
    return resources_of(spec, users, reached, DRIVER, here or machine(addresses=("192.0.2.1",)))


@pytest.mark.parametrize(
    ("port_range", "reserved", "ports"),
    [
        ("32768\t60999\n", "\n", 28_232),
        ("1000 1009", "1001,1004-1006", 6),
        ("1000 1009", "900-1000,5000", 9),
        ("1000 1009", "0-65535", 0),
    ],
)
def test_ports_without_the_reserved_ones(port_range: str, reserved: str, ports: int):
    assert count_ports(port_range, reserved) == ports


def test_this_machine_is_as_it_is_or_as_trials_set_it():
    assert Machine.present().ports > 0
    set_so = {"net.ipv4.ip_local_port_range": "1024 65535"}
    assert Machine.present(set_so).ports > 60_000
    assert Machine.present().nofile > 0


def test_few_users_need_nothing_and_no_name_is_looked_up():
    def never(_host: str, _port: int) -> tuple[str, ...]:
        raise AssertionError("it was looked up")

    found = taken(30, web(each=6), Machine(200, 20_000, 1, never))
    assert (found.connections, found.sources, found.processes) == (180, (), 1)
    assert found.open_files > 180


def test_loopback_has_further_addresses_as_many_as_are_needed():
    here = machine(addresses=("127.0.0.1",))
    assert fitted(web(each=6), 33, here).plan().get("sources") is None
    assert fitted(web(each=6), 60, here).plan()["sources"] == ["127.0.0.2", "127.0.0.3"]
    assert taken(500, web(), here).sources == ("127.0.0.2", "127.0.0.3", "127.0.0.4")


@pytest.mark.parametrize("addresses", [("192.0.2.1",), ("127.0.0.1", "192.0.2.1"), ("::1",), ()])
def test_elsewhere_what_is_needed_and_what_there_is_are_told(addresses: tuple[str, ...]):
    with pytest.raises(WrongInputError) as caught:
        taken(1000, web(each=6), machine(addresses=addresses))
    assert "1,000 users with 6 connections each need 6,000 connections" in caught.value.message
    assert f"{200 * max(1, len(addresses)):,} are possible" in caught.value.message
    assert caught.value.advice is not None
    assert "target.sources" in caught.value.advice


def test_localhost_may_be_an_address_of_ipv6_which_is_only_one():
    with pytest.raises(WrongInputError) as caught:
        taken(1000, web("http://localhost"), machine(addresses=("::1", "127.0.0.1")))
    assert "127.0.0.1 instead of localhost" in str(caught.value.advice)


def test_more_addresses_on_either_side_multiply_the_ports():
    two = machine(addresses=("192.0.2.1", "192.0.2.2"))
    assert taken(400, web(), two).sources == ()
    with pytest.raises(WrongInputError):
        taken(401, web(), two)
    given = web(sources=["192.0.2.7", "192.0.2.8"])
    assert taken(800, given, two).sources == ("192.0.2.7", "192.0.2.8")
    with pytest.raises(WrongInputError, match="2 source addresses x 2 addresses"):
        taken(801, given, two)


def test_other_origins_have_ports_of_their_own_and_take_files():
    found = taken(200, web(origins=3))
    assert (found.connections, found.ports) == (600, 200)
    assert found.open_files > 600


def test_as_many_processes_as_keep_each_within_its_files():
    here = Machine(100_000, 1000, 1, lambda _host, _port: ("192.0.2.1",))
    found = taken(5000, web(), here)
    assert found.processes > 5
    assert found.open_files <= found.nofile == 1000
    with pytest.raises(WrongInputError, match="2 driver processes need"):
        taken(5000, web(), here, processes=2)


def test_more_connections_than_any_number_of_processes_has_files_for():
    with pytest.raises(WrongInputError, match="are allowed") as caught:
        taken(50_000, web(each=6), Machine(10**6, 64, 1, lambda _host, _port: ()))
    assert "ulimit -Hn" in str(caught.value.advice)


def test_other_connections_stay_as_they_are():
    class Other(Connection):
        def plan(self) -> dict[str, Any]:
            return {}

    other = object.__new__(Other)
    assert fitted(other, 10**6, machine()) is other
