"""Open phases of the runner: when operations become due, and what becomes of those that wait."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runner_plans import encoded, noop_plan
from runner_script import Script, begun, end_of, events_of, run, ticks_of

from loadstone.protocol.frames import Frame
from loadstone.runner.arrivals import Arrivals, Moments
from loadstone.runner.control import parse_control
from loadstone.runner.messages import DriverEvent, SetRate, SetUsers, Stop
from loadstone.runner.plan import Open, RefusalError, parse_plan

SECOND = 1_000_000_000


def load(
    start: float, end: float | None = None, arrival: str = "uniform", queue: int = 10_000
) -> Open:
    rates = {"from": start, "to": start if end is None else end}
    return Open.model_validate(
        {"model": "open", "rate_per_s": rates, "arrival": arrival, "sessions": 2, "queue": queue}
    )


def moments(of: Open, duration_s: float = 1.0, begin_ns: int = 0) -> list[int]:
    found, walk = [], Moments(of, begin_ns, duration_s, random.Random(1))
    while walk.next_ns is not None:
        found.append(walk.next_ns)
        walk.step()
    return found


def test_uniform_arrivals_lie_in_the_middle_of_their_gaps() -> None:
    assert moments(load(4.0), begin_ns=SECOND) == [SECOND + at * SECOND // 8 for at in (1, 3, 5, 7)]
    assert moments(load(0.0)) == []


@given(
    start=st.floats(0, 500), end=st.floats(0, 500), arrival=st.sampled_from(["uniform", "poisson"])
)
def test_as_many_become_due_as_the_rates_say(start: float, end: float, arrival: str) -> None:
    found = moments(load(start, end, arrival), duration_s=2.0)
    expected = start + end
    assert abs(len(found) - expected) <= (1 if arrival == "uniform" else 6 * expected**0.5 + 6)
    assert found == sorted(found)
    assert all(0 <= at_ns < 2 * SECOND for at_ns in found)


def test_what_finds_no_room_is_dropped() -> None:
    arrivals = Arrivals(load(10.0, queue=3), 0, 1.0, "seed")
    assert arrivals.take(SECOND // 10) == SECOND // 20
    told = arrivals.arrived(SECOND)
    assert (told.due, told.dropped, arrivals.queued()) == (10, 6, 3)
    assert arrivals.end(2 * SECOND) == 3
    assert arrivals.take(2 * SECOND) == 3 * SECOND // 20
    assert (arrivals.discard(), arrivals.queued()) == (2, 0)


def test_a_new_rate_holds_from_its_moment_to_the_end() -> None:
    arrivals = Arrivals(load(10.0), 0, 1.0, "seed")
    arrivals.set_rate(100.0, SECOND // 2)
    assert arrivals.arrived(2 * SECOND).due == 5 + 50


def open_plan(rate_per_s: float, duration_s: float = 0.3, **phase: Any) -> dict[str, Any]:
    rates = {"from": rate_per_s, "to": rate_per_s}
    of = {"model": "open", "rate_per_s": rates, "arrival": "uniform", "sessions": 2}
    plan = noop_plan() | {"tick_s": 0.05}
    plan["phases"][0] |= {"duration_s": duration_s, "load": of, **phase}
    return plan


def test_an_open_phase_makes_what_becomes_due() -> None:
    frames = run(open_plan(200.0), Script())
    assert end_of(frames).operations["work"].count == 60
    assert sum(tick.due for tick in ticks_of(frames)) == 60
    assert {tick.users for tick in ticks_of(frames)} == {2}
    assert any(tick.lag for tick in ticks_of(frames))


@pytest.mark.parametrize(("backlog", "served"), [("drain", 30), ("discard", 2)])
def test_a_backlog_is_worked_off_or_thrown_away(backlog: str, served: int) -> None:
    script = Script()
    script.blocked.clear()

    def all_due(frames: list[Frame]) -> bool:
        done = sum(tick.due for tick in ticks_of(frames)) == 30
        if done:
            script.blocked.set()
        return done

    freed = DriverEvent("freed", "what was begun may end")
    frames = run(open_plan(100.0, backlog=backlog), script, (all_due, freed))
    (end,) = events_of(frames, "phase-end")
    assert (end.drained, end.discarded) == ((28, 0) if backlog == "drain" else (0, 28))
    assert end_of(frames).operations["work"].count == served
    assert max(tick.queued for tick in ticks_of(frames)) > 20


def test_the_rate_changes_on_request_and_the_users_do_not() -> None:
    def enough(frames: list[Frame]) -> bool:
        return sum(tick.operations["work"].count for tick in ticks_of(frames)) > 50

    orders = ((begun, SetUsers(5)), (begun, SetRate(1000.0)), (enough, Stop("enough")))
    frames = run(open_plan(10.0, duration_s=30.0), Script(), *orders)
    assert [each.detail for each in events_of(frames, "refused")] == ["users: this phase is open"]


def test_a_rate_is_a_control_line() -> None:
    assert parse_control(b'{"control": "rate", "rate_per_s": 5}') == SetRate(5.0)


@pytest.mark.parametrize("change", [{"duration_s": None}, {"iterations": 5}])
def test_an_open_phase_ends_by_its_time(change: dict[str, Any]) -> None:
    with pytest.raises(RefusalError, match=r"phases\[0\]: .*an open phase ends by its duration_s"):
        parse_plan(encoded(open_plan(1.0, **change)))


def test_a_workload_of_users_refuses_an_open_phase() -> None:
    with pytest.raises(RefusalError, match=r"phases\[0\].load.model: any has no open load"):
        parse_plan(encoded(open_plan(1.0))).refuse_open()
