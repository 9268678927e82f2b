"""A load waits for ports that earlier connections have left in TIME_WAIT, as long as it must."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from sample_web import connection, workload

from loadstone.errors import TargetError, WrongInputError
from loadstone.experiments import ports
from loadstone.experiments.observer import Observer
from loadstone.experiments.ports import await_ports, await_ports_of
from loadstone.experiments.step_clock import StepClock
from loadstone.host.tcp import PortRules, TcpSocket
from loadstone.load.ports import Network
from loadstone.load.resources import Machine
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.workloads.wanted import Wanted

USERS = 150
PAGE = {"transactions": [{"name": "page", "steps": [{"get": "/"}]}]}


class Clock:
    """Sockets in TIME_WAIT whose time goes by where somebody sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, state: int = 6, lasts_s: float) -> None:
        self.slept: list[float] = []
        self._state, self._lasts_s = state, lasts_s
        monkeypatch.setattr(ports.Machine, "present", lambda _host=None: self._machine())
        monkeypatch.setattr(ports, "sleep", self.slept.append)

    def _machine(self) -> Machine:
        left_s = self._lasts_s - sum(self.slept)
        sockets = [
            TcpSocket("192.0.2.7", port, "192.0.2.1", 80, self._state, left_s)
            for port in range(100)
            if left_s > 0
        ]
        rules = PortRules(range(200))
        return Machine(
            Network(rules, lambda *_: ("192.0.2.1",), lambda _: sockets, lambda _: "192.0.2.7"),
            nofile=20_000,
        )


class Told(Observer):
    def __init__(self) -> None:
        self.said: list[str] = []

    def activity(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture
def lab() -> Any:
    return SimpleNamespace(observer=Told())


def wanted(users: int = USERS) -> Wanted:
    reached = connection("http://192.0.2.1")
    return workload(PAGE).resources(ProfileSpec(users=users), reached)


def test_it_waits_until_there_are_enough(monkeypatch: pytest.MonkeyPatch, lab: Any):
    clock = Clock(monkeypatch, lasts_s=12.5)
    found = await_ports(wanted(), lab)
    assert (found.wait_s, found.time_wait) == (0.0, 0)
    assert clock.slept == [5.0, 5.0, 2.5]
    first = "waiting for ports: 100 of 200 are in TIME_WAIT, for 13 s more"
    assert lab.observer.said[0] == first
    assert lab.observer.said[-1].endswith("for 3 s more")


def test_nobody_waits_who_has_enough(monkeypatch: pytest.MonkeyPatch, lab: Any):
    clock = Clock(monkeypatch, lasts_s=60)
    assert await_ports(wanted(100), lab).users == 100
    assert clock.slept == lab.observer.said == []


def test_where_others_go_on_to_take_them_it_ends(monkeypatch: pytest.MonkeyPatch, lab: Any):
    clock = Clock(monkeypatch, lasts_s=10**6)
    with pytest.raises(TargetError, match="100 of 200 ports to the server are still in TIME_WAIT"):
        await_ports(wanted(), lab)
    assert 180 < sum(clock.slept) < 200


def test_open_connections_are_not_waited_for(monkeypatch: pytest.MonkeyPatch, lab: Any):
    clock = Clock(monkeypatch, state=1, lasts_s=60)
    with pytest.raises(WrongInputError, match="100 of them in use"):
        await_ports(wanted(), lab)
    assert clock.slept == []


def test_a_trial_waits_before_its_target_is_touched(monkeypatch: pytest.MonkeyPatch, lab: Any):
    clock, steps = Clock(monkeypatch, lasts_s=3), StepClock()
    monkeypatch.setattr("loadstone.experiments.step_clock._LEAST_S", 0.0)
    plan: Any = SimpleNamespace(
        target=TargetSpec(engine="http", server="http://192.0.2.1"),
        profile=ProfileSpec(users=USERS),
        host={},
        level=None,
    )
    await_ports_of(plan, workload(PAGE), lab, steps)
    assert clock.slept == [3]
    assert [each.name for each in steps.took()] == ["wait for ports"]
    again = StepClock()
    await_ports_of(plan, workload(PAGE), lab, again)
    assert again.took() == []


def test_where_the_way_to_a_target_is_not_known_there_is_nothing_to_wait_for(lab: Any):
    plan: Any = SimpleNamespace(target=TargetSpec(engine="none"), profile=ProfileSpec(), host={})
    steps = StepClock()
    await_ports_of(plan, workload(PAGE), lab, steps)
    assert steps.took() == []


def test_sources_and_processes_are_those_that_were_counted(
    monkeypatch: pytest.MonkeyPatch, lab: Any
):
    Clock(monkeypatch, lasts_s=0)
    own = wanted()
    given = replace(own, connection=replace(own.connection, sources=("192.0.2.7", "192.0.2.8")))
    assert await_ports(given, lab).sources == ("192.0.2.7", "192.0.2.8")
