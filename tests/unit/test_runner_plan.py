"""Plans that the runner refuses, each with one line that names the field."""

from typing import Any

import pytest
from runner_plans import changed, encoded, noop_plan

from loadstone.runner.control import parse_control
from loadstone.runner.engines.connections import read_connection
from loadstone.runner.messages import Begin, DriverEvent, SetUsers, Stop
from loadstone.runner.plan import RefusalError, parse_plan


def test_what_may_be_left_out_has_the_defaults_of_the_protocol() -> None:
    plan = parse_plan(encoded(noop_plan()))
    assert (plan.seed, plan.tick_s, plan.finish_s, plan.start) == (0, 1.0, 10.0, "now")
    assert (plan.retry.max_attempts, plan.retry.backoff_cap_s) == (50, 0.1)
    assert plan.sessions() == 2


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("version", 2, "version"),
        ("threads", 2, "threads"),
        ("extra", 1, "extra"),
        ("tick_s", "1", "tick_s"),
        ("tick_s", float("nan"), "tick_s"),
        ("finish_s", 11.0, "finish_s"),
        ("process", {"index": 0, "of": 2}, "process.of"),
        ("workload.role", "check", "workload.role"),
        ("connection", "sqlite", "connection"),
        ("retry", {"max_attempts": 0}, "retry.max_attempts"),
        ("pacing", {"default": {"every_s": 1.0, "keying_s": 1.0}}, "pacing.default"),
        ("pacing", {"operations": {"x": {"every_s": 0.0}}}, "pacing.operations.x.every_s"),
        ("pacing", {"default": {"think": {"distribution": "even"}}}, "think.distribution"),
        (
            "pacing",
            {"default": {"think": {"distribution": "uniform", "from_s": 2.0, "to_s": 1.0}}},
            "pacing.default.think",
        ),
        (
            "pacing",
            {"default": {"think": {"distribution": "constant", "mean_s": 2.0, "to_s": 1.0}}},
            "pacing.default.think",
        ),
        ("phases", [], "phases"),
        ("phases[0].name", "", "phases[0].name"),
        ("phases[0].iterations", 0, "phases[0].iterations"),
        ("phases[0].load.model", "open", "phases[0].load.rate_per_s"),
        ("phases[0].load.model", "ajar", "phases[0].load.model"),
        ("phases[0].load.users", {"start": 1, "end": 1}, "phases[0].load.users.from"),
        ("phases[0].load.users.to", -1, "phases[0].load.users.to"),
        ("phases[0].load.users.to", 2.5, "phases[0].load.users.to"),
    ],
)
def test_a_wrong_field_is_named(path: str, value: Any, field: str) -> None:
    with pytest.raises(RefusalError) as refused:
        parse_plan(encoded(changed(noop_plan(), path, value)))
    assert field in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("connection.protocol", "sqlite", "connection.protocol"),
        ("connection.host", "127.0.0.1", "connection.host"),
        ("connection.settings", {"threads": 1}, "connection.settings.threads"),
    ],
)
def test_a_wrong_field_of_a_connection_is_named(path: str, value: Any, field: str) -> None:
    plan = parse_plan(encoded(changed(noop_plan(), path, value)))
    with pytest.raises(RefusalError) as refused:
        read_connection(plan.connection)
    assert str(refused.value).startswith(f"plan refused: {field}: ")


def test_users_may_think_for_a_time_between_two_and_leave_at_the_end() -> None:
    think = {"distribution": "uniform", "from_s": 1.0, "to_s": 3.0}
    plan = changed(noop_plan(), "pacing", {"default": {"think": think}})
    leaving = {
        "name": "drain",
        "kind": "drain",
        "duration_s": 1.0,
        "load": {"model": "closed", "users": {"from": 2, "to": 0}},
    }
    read = parse_plan(encoded({**plan, "phases": [*plan["phases"], leaving]}))
    assert (read.pacing.default.think.from_s, read.pacing.default.think.to_s) == (1.0, 3.0)
    assert (read.phases[1].users.start, read.phases[1].users.end) == (2, 0)


def test_a_phase_without_a_duration_has_no_time_to_change_the_users() -> None:
    endless = changed(noop_plan(), "phases[0].duration_s", None)
    assert parse_plan(encoded(endless)).phases[0].duration_s is None
    with pytest.raises(RefusalError, match=r"phases\[0\]: .*needs `from` equal to `to`"):
        parse_plan(encoded(changed(endless, "phases[0].load.users.to", 3)))


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"3"])
def test_a_plan_that_is_no_object_is_refused(text: bytes) -> None:
    with pytest.raises(RefusalError, match="not a JSON object"):
        parse_plan(text)


def test_control_lines_are_read() -> None:
    assert parse_control(b'{"control": "stop"}') == Stop("asked to")
    assert parse_control(b'{"control": "users", "users": 4}') == SetUsers(4)
    assert parse_control(b'{"control": "begin", "monotonic_s": 2.5}') == Begin(2.5)


@pytest.mark.parametrize(
    "line",
    [
        b'{"control": "rate", "rate_per_s": -5}',
        b'{"control": "users", "users": -1}',
        b'{"control": "users"}',
        b'{"control": "pause"}',
        b'{"control": []}',
        b"nonsense",
        b"[]",
    ],
)
def test_a_control_line_that_cannot_be_obeyed_is_answered(line: bytes) -> None:
    answer = parse_control(line)
    assert isinstance(answer, DriverEvent)
    assert answer.kind == "refused"
