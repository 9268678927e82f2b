"""The loop of the runner, with a workload of its own that needs no engine."""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from runner_plans import changed, noop_plan
from runner_script import Script, ScriptSession, begun, end_of, events_of, run, ticks_of

from loadstone.protocol.frames import Frame
from loadstone.results.latency import decode, merge
from loadstone.runner.messages import SetUsers, Stop
from loadstone.runner.session import (
    CONFLICT,
    DONE,
    EXHAUSTED,
    LOST,
    Ending,
    FailureError,
    Outcome,
)


def plan_of(**fields: Any) -> dict[str, Any]:
    """One user on a grid of 10 ms, for as long as five operations take."""
    plan = noop_plan() | {"pacing": {"default": {"every_s": 0.01}}, "tick_s": 0.02, **fields}
    plan = changed(plan, "phases[0].load.users", {"from": 1, "to": 1})
    return changed(changed(plan, "phases[0].iterations", 5), "phases[0].duration_s", None)


def test_what_was_done_late_is_timed_from_when_it_was_first_begun() -> None:
    long_ago, just_now = (Outcome(Ending.DONE, first_ns=each) for each in (0, 2**62))
    frames = run(plan_of(), Script(DONE, DONE, DONE, long_ago, just_now))
    ticks = [tick.operations["work"].response for tick in ticks_of(frames)]
    times = merge(each for each in ticks if each is not None)
    assert times.get_total_count() == 5
    assert times.get_max_value() > 20e6
    assert times.get_value_at_percentile(80.0) < times.get_max_value()


def test_the_iterations_are_made_and_told() -> None:
    script = Script()
    frames = run(plan_of(), script)
    end = end_of(frames)
    assert (end.reason, end.operations["work"].count, end.facts["attempts"]) == ("completed", 5, 5)
    ticks = ticks_of(frames)
    assert sum(tick.operations["work"].count for tick in ticks) == 5
    assert sum(tick.counters["attempts"] for tick in ticks) == 5
    assert [tick.seq for tick in ticks] == list(range(len(ticks)))
    borders = [(before.to_s, after.from_s) for before, after in pairwise(ticks)]
    assert all(before == after for before, after in borders)
    assert len(events_of(frames, "workload")) == 5
    assert script.is_closed


def test_times_count_from_the_moment_that_an_operation_was_due() -> None:
    frames = run(plan_of(), Script())
    ticks = ticks_of(frames)
    lags = sum(decode(tick.lag).get_total_count() for tick in ticks if tick.lag)
    assert lags + sum(tick.late_starts for tick in ticks) == 5
    for tick in ticks:
        work = tick.operations["work"]
        if work.response and work.service:
            response, service = decode(work.response), decode(work.service)
            assert response.get_max_value() >= service.get_max_value()


def test_a_conflict_is_tried_again_and_any_other_failure_is_counted() -> None:
    script = Script(FailureError(CONFLICT, "lost"), DONE, FailureError("duckdb_io", "disk"))
    frames = run(plan_of(), script)
    end = end_of(frames)
    assert (end.operations["work"].count, end.operations["work"].errors) == (4, 1)
    works = [tick.operations["work"] for tick in ticks_of(frames)]
    assert sum((Counter(work.retries) for work in works), Counter()) == {CONFLICT: 1}
    assert sum((Counter(work.errors) for work in works), Counter()) == {"duckdb_io": 1}
    assert {event.detail for event in events_of(frames, "error")} == {"lost", "disk"}


def test_attempts_have_an_end() -> None:
    lost = FailureError(CONFLICT, "lost")
    frames = run(plan_of(retry={"max_attempts": 3}), Script(*[lost] * 3))
    works = [tick.operations["work"] for tick in ticks_of(frames)]
    assert sum((Counter(work.retries) for work in works), Counter()) == {CONFLICT: 2}
    assert sum((Counter(work.errors) for work in works), Counter()) == {CONFLICT: 1}


def test_a_lost_connection_is_replaced() -> None:
    frames = run(plan_of(), Script(FailureError(LOST, "gone")))
    assert end_of(frames).reason == "completed"
    assert [event.detail for event in events_of(frames, "connection-lost")] == ["user 0: gone"]
    assert sum(tick.reconnects for tick in ticks_of(frames)) == 1


def test_a_phase_ends_when_its_users_have_no_more_work() -> None:
    plan = changed(plan_of(), "phases[0].iterations", None)
    frames = run(plan, Script(DONE, DONE, EXHAUSTED))
    assert end_of(frames).reason == "completed"
    assert end_of(frames).operations["work"].count == 2


def test_users_leave_in_a_drain_and_the_run_ends() -> None:
    plan = changed(plan_of(), "phases[0].load.users", {"from": 3, "to": 3})
    users = {"model": "closed", "users": {"from": 3, "to": 0}}
    plan["phases"].append({"name": "drain", "kind": "drain", "duration_s": 0.3, "load": users})
    script = Script()
    frames = run(plan, script)
    assert end_of(frames).reason == "completed"
    assert script.turns == [0, 1]
    told = [tick.users for tick in ticks_of(frames) if tick.phase == "drain" and not tick.late]
    assert told == sorted(told, reverse=True)
    assert told[-1] == 0


def test_preparing_fails_with_its_first_operation() -> None:
    plan = changed(plan_of(), "phases[0].kind", "prepare")
    end = end_of(run(plan, Script(DONE, FailureError("duckdb_io", "disk"))))
    assert (end.reason, end.error) == ("failed", "work failed in phase measure (duckdb_io): disk")


def test_nothing_follows_on_a_preparation_whose_last_operation_failed() -> None:
    plan = changed(plan_of(), "phases[0].kind", "prepare")
    plan["phases"].append(plan["phases"][0] | {"name": "measure", "kind": "measure"})
    script = Script(*[DONE] * 4, FailureError("duckdb_io", "disk"))
    assert end_of(run(plan, script)).reason == "failed"
    assert script.attempts.total() == 5


def test_a_session_that_does_not_open_fails_the_run() -> None:
    script = Script()
    script.refused = {0}
    end = end_of(run(plan_of(), script))
    assert (end.reason, end.error) == (
        "failed",
        "cannot open session 0: no seat (0 of 1 sessions are open)",
    )


def test_a_fault_of_the_runner_is_not_hidden() -> None:
    class Faulty(Script):
        def open(self, user: int) -> ScriptSession:
            raise ZeroDivisionError

    end = end_of(run(plan_of(), Faulty()))
    assert end.reason == "failed"
    assert "ZeroDivisionError" in str(end.error)


def test_a_session_that_cannot_say_goodbye_does_not_hold_the_run() -> None:
    class Clinging(ScriptSession):
        def close(self) -> None:
            raise ZeroDivisionError

    class Faulty(Script):
        def open(self, user: int) -> ScriptSession:
            return Clinging(self, user)

    end = end_of(run(plan_of(), Faulty()))
    assert (end.reason, end.operations["work"].count) == ("failed", 5)


def test_a_stop_ends_the_run_before_its_time() -> None:
    script = Script()
    plan = changed(plan_of(), "phases[0].iterations", 10**6)
    frames = run(plan, script, (begun, Stop("asked to")))
    assert end_of(frames).reason == "stopped"
    assert [event.detail for event in events_of(frames, "stopping")] == ["asked to"]
    assert script.is_hurried


def test_operations_that_do_not_end_are_told_as_stalled() -> None:
    script = Script()
    script.blocked.clear()
    plan = changed(plan_of(finish_s=0.05), "phases[0].duration_s", 0.1)
    frames = run(plan, script)
    script.blocked.set()
    assert len(events_of(frames, "stalled")) == 1
    assert ticks_of(frames)[-1].in_flight == 1
    assert not script.is_closed


def test_what_ends_after_its_phase_is_told_as_late() -> None:
    script = Script()
    script.blocked.clear()
    plan = plan_of()
    plan["phases"] = [
        plan["phases"][0] | {"name": "first", "iterations": None, "duration_s": 0.05},
        plan["phases"][0] | {"name": "second", "iterations": None, "duration_s": 30.0},
    ]

    def all_told(frames: list[Frame]) -> bool:
        if any(tick.phase == "second" for tick in ticks_of(frames)):
            script.blocked.set()
        return any(tick.late for tick in ticks_of(frames))

    frames = run(plan, script, (all_told, Stop("enough")))
    late = [tick for tick in ticks_of(frames) if tick.late]
    assert [(tick.phase, tick.operations["work"].count) for tick in late] == [("first", 1)]


@pytest.mark.parametrize(("first", "last"), [(0, 3), (3, 1)])
def test_the_number_of_users_changes_over_a_phase(first: int, last: int) -> None:
    script = Script()
    plan = changed(plan_of(), "phases[0].load.users", {"from": first, "to": last})
    plan["phases"][0] |= {"iterations": None, "duration_s": 1.0}
    users = [tick.users for tick in ticks_of(run(plan, script))]
    assert users == sorted(users, reverse=first > last)
    assert users[-1] == last
    # Who comes last comes when the phase ends, and may be too late to do anything.
    assert {*range(3 if first > last else 2)} <= script.attempts.keys() <= {0, 1, 2}


@pytest.mark.parametrize(("before", "users"), [(1, 3), (3, 1), (3, 0)])
def test_the_number_of_users_changes_on_request(before: int, users: int) -> None:
    script = Script()
    plan = changed(plan_of(), "phases[0].load.users", {"from": before, "to": before})
    plan["phases"][0] |= {"iterations": None, "duration_s": 30.0}

    def all_work(_: list[Frame]) -> bool:
        return len(script.attempts) == before

    def all_changed(frames: list[Frame]) -> bool:
        now = [tick.users for tick in ticks_of(frames)][-1:]
        return now == [users] and len(script.attempts) == max(before, users)

    orders = (all_work, SetUsers(users)), (all_changed, Stop("enough"))
    frames = run(plan, script, *orders)
    assert [event.detail for event in events_of(frames, "users")] == [str(users)]
    assert ticks_of(frames)[-1].users == users
    assert len(script.attempts) == max(before, users)


def test_more_events_than_anyone_reads_are_counted() -> None:
    failures = [FailureError(LOST, "gone"), DONE] * 105
    plan = changed(plan_of(tick_s=60.0), "phases[0].iterations", 210)
    frames = run(plan | {"pacing": {}}, Script(*failures))
    told = [event.detail for event in events_of(frames, "connection-lost")]
    assert (len(told), told[-1]) == (101, "5 more since the last tick")
