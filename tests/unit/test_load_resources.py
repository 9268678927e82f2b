"""What a load takes of this machine, counted before anything begins: ports, processes, files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sample_web import connection

from loadstone.errors import WrongInputError
from loadstone.host.tcp import PortRules, TcpSocket
from loadstone.load.ports import Network
from loadstone.load.resources import Destination, Machine, Resources, resources_of
from loadstone.protocol.programs import DRIVER, RUNNER
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.connection import Connection, NoConnection, Reach, ServerConnection
from loadstone.workloads.wanted import Wanted

THERE = "192.0.2.1"


def machine(ports: int = 200, nofile: int = 20_000, taken: int = 0) -> Machine:
    sockets = [TcpSocket("192.0.2.7", port, THERE, 443, 6, 30.0) for port in range(taken)]
    network = Network(
        PortRules(range(ports)), lambda *_: (THERE,), lambda _: sockets, lambda _: "192.0.2.7"
    )
    return Machine(network, nofile, processors=1)


def web(*reaches: Reach) -> Connection:
    return replace(connection("https://app.example"), reaches=reaches)


def taken(
    users: int, reached: Connection, here: Machine | None = None, **profile: Any
) -> Resources:
    spec = ProfileSpec(users=users, **profile)
    return resources_of(Wanted(spec, users, reached, DRIVER), here or machine())


def test_this_machine_is_as_it_is_or_as_trials_set_it():
    assert Machine.present().network.rules.count > 0
    set_so = {"net.ipv4.ip_local_port_range": "1024 65535"}
    assert Machine.present(set_so).network.rules.count > 60_000
    assert Machine.present().nofile > 0


def test_what_is_counted_of_a_web_load():
    found = taken(30, web(Reach("app.example", 443, 6), Reach("cdn.example", 80)))
    assert (found.users, found.each, found.connections) == (30, 6, 210)
    assert found.destinations == (
        Destination("app.example", 443, 180),
        Destination("cdn.example", 80, 30),
    )
    assert (found.ports, found.sources, found.processes) == (200, (), 1)
    assert (found.open_files, found.nofile) == (210 + 16 + 4, 20_000)
    assert (found.in_use, found.time_wait, found.wait_s) == (0, 0, 0.0)


def test_ports_that_will_be_free_are_told_with_the_time():
    found = taken(150, web(Reach("app.example", 443)), machine(taken=100))
    assert (found.time_wait, found.wait_s) == (100, 30.0)


def test_other_loads_are_counted_too():
    server = ServerConnection("postgresql", "db.example", "u", "d", port=5432)
    found = taken(20, server)
    assert (found.connections, found.destinations[0].port, found.open_files) == (20, 5432, 40)
    with pytest.raises(WrongInputError, match="201 connections to db"):
        taken(201, server)
    nothing = taken(10**6, NoConnection())
    assert (nothing.connections, nothing.destinations, nothing.processes) == (0, (), 1)


def test_as_many_processes_as_keep_each_within_its_files():
    here = machine(ports=100_000, nofile=1000)
    one, six = web(Reach("app.example", 443)), web(Reach("app.example", 443, 6))
    for users, reached in ((5000, one), (5000, six), (978, one), (163, six), (164, six)):
        found = taken(users, reached, here)
        assert found.open_files <= found.nofile == 1000
    assert taken(5000, one, here).processes == 6
    assert taken(163, six, here).processes == 1
    assert taken(164, six, here).processes == 2
    with pytest.raises(WrongInputError, match="2 driver processes need"):
        taken(5000, one, here, processes=2)


def test_processors_that_the_load_is_confined_to_count():
    reached = web(Reach("app.example", 443))
    here = replace(machine(ports=100_000), processors=64)
    assert taken(5000, reached, here).processes == 5
    assert taken(5000, reached, here, cpus="0-2").processes == 2


def test_a_program_that_shares_nothing_is_one_process():
    wanted = Wanted(ProfileSpec(users=5000), 5000, web(Reach("app.example", 443)), RUNNER)
    assert resources_of(wanted, machine(ports=100_000)).processes == 1


def test_more_connections_than_any_number_of_processes_has_files_for():
    with pytest.raises(WrongInputError, match="are allowed") as caught:
        taken(50_000, web(Reach("app.example", 443, 60)), machine(10**7, nofile=64))
    assert "ulimit -Hn" in str(caught.value.advice)
