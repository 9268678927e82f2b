"""Ports that connections go out from: how many there are, which are taken, when they are free."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from loadstone.host.machine import Machine
from loadstone.host.tcp import PortRules, TcpSocket, ports_given, sockets_to, source_to

TIME_WAIT, ESTABLISHED, FIN_WAIT2 = 6, 1, 5
ANY = "0.0.0.0"  # noqa: S104 - as it is listed
HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"


def ended(source: str = "192.0.2.7", address: str = "192.0.2.1", left_s: float = 59.5) -> TcpSocket:
    return TcpSocket(source, 40_000, address, 80, TIME_WAIT, left_s)


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
    assert len(ports_given(port_range, reserved)) == ports


def test_the_rules_of_this_machine_as_they_are_or_as_trials_set_them(tmp_path: Path):
    assert PortRules.present().count > 0
    rules = PortRules.present(
        {
            "net.ipv4.ip_local_port_range": "1024 65535",
            "net.ipv4.ip_local_reserved_ports": "2000",
            "net.ipv4.tcp_tw_reuse": 1,
            "net.ipv4.tcp_tw_reuse_delay": 250,
            "net.ipv4.tcp_timestamps": 0,
        },
        Machine(tmp_path),
    )
    assert rules.count == 64_511
    assert (rules.reuse, rules.reuse_after_s, rules.timestamps) == (1, 0.25, False)


def test_what_cannot_be_read_is_as_linux_has_it(tmp_path: Path):
    rules = PortRules.present({}, Machine(tmp_path))
    assert (rules.count, rules.reuse, rules.reuse_after_s, rules.timestamps) == (28_232, 2, 1, True)
    assert list(sockets_to({80}, Machine(tmp_path))) == []


@pytest.mark.parametrize(
    ("reuse", "timestamps", "address", "free_in_s"),
    [
        (0, True, "127.0.0.1", 59.5),
        (1, True, "192.0.2.1", 0.5),
        (1, False, "192.0.2.1", 59.5),
        (2, True, "192.0.2.1", 59.5),
        (2, True, "127.0.0.1", 0.5),
        (2, True, "::1", 0.5),
        (2, False, "127.0.0.1", 59.5),
    ],
)
def test_when_a_port_in_time_wait_is_given_again(
    reuse: int, timestamps: bool, address: str, free_in_s: float
):
    rules = PortRules(range(10), reuse, timestamps=timestamps)
    assert rules.free_in_s(ended(address=address)) == free_in_s


def test_one_that_waits_for_long_is_given_at_once_or_when_its_time_is_over():
    everywhere = PortRules(range(10), reuse=1)
    assert everywhere.free_in_s(ended(left_s=58.0)) == 0
    assert PortRules(range(10), reuse=1, reuse_after_s=90).free_in_s(ended(left_s=7)) == 7
    assert PortRules(range(10)).free_in_s(ended(source="127.0.0.9", left_s=30)) == 0


def test_one_whose_timer_is_late_is_taken_until_it_is_gone():
    assert PortRules(range(10)).free_in_s(ended(left_s=0)) > 0


def test_one_that_has_not_come_to_time_wait_is_not_given():
    half = TcpSocket("127.0.0.1", 1, "127.0.0.1", 80, FIN_WAIT2, 0.0)
    assert PortRules(range(10), reuse=1).free_in_s(half) == 60


def test_sockets_are_read_as_the_kernel_lists_them(tmp_path: Path):
    folder = tmp_path / "proc" / "net"
    folder.mkdir(parents=True)
    rest = "00000000:00000000"
    (folder / "tcp").write_text(
        HEAD
        + f"   0: 0100007F:9C40 0200007F:0050 01 {rest} 00:00000000 00000000     0  0 1 1\n"
        + f"   1: 070200C0:9C41 010200C0:0050 06 {rest} 03:00000BB8 00000000     0  0 0 3\n"
        + f"   2: 070200C0:9C42 010200C0:0051 01 {rest} 00:00000000 00000000     0  0 1 1\n"
        + f"   3: 00000000:9C43 00000000:0000 0A {rest} 00:00000000 00000000     0  0 1 1\n"
    )
    six, one = "0000000000000000FFFF0000" + "010200C0", "00000000000000000000000001000000"
    (folder / "tcp6").write_text(
        HEAD
        + f"   0: {six}:9C44 {six}:0050 01 {rest} 00:00000000 00000000     0  0 1 1\n"
        + f"   1: {one}:9C45 {one}:0050 01 {rest} 00:00000000 00000000     0  0 1 1\n"
    )
    found = list(sockets_to({80}, Machine(tmp_path)))
    assert [(each.source, each.source_port, each.address, each.port) for each in found] == [
        ("127.0.0.1", 40_000, "127.0.0.2", 80),
        ("192.0.2.7", 40_001, "192.0.2.1", 80),
        (ANY, 40_003, ANY, 0),
        ("192.0.2.1", 40_004, "192.0.2.1", 80),
        ("::1", 40_005, "::1", 80),
    ]
    assert [each.timer_s for each in found] == [0, 30, 0, 0, 0]
    assert [each.listens for each in found] == [False, False, True, False, False]
    assert [each.ends for each in found] == [False, True, False, False, False]


def test_a_connection_of_this_process_is_seen_and_so_is_its_end():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            accepted, _ = server.accept()
            own = client.getsockname()[1]
            (seen,) = (each for each in sockets_to({port}) if each.source_port == own)
            assert (seen.address, seen.port, seen.state) == ("127.0.0.1", port, ESTABLISHED)
            listening = [each for each in sockets_to({port}) if each.listens]
            assert port in [each.source_port for each in listening]
        assert accepted.recv(1) == b""  # the client has ended it first
        accepted.close()
    (seen,) = (each for each in sockets_to({port}) if each.source_port == own)
    assert seen.waits
    assert 0 < seen.timer_s <= 60


def test_where_the_system_would_come_from():
    assert source_to("127.0.0.1") == "127.0.0.1"
    assert source_to("no address") == ""
