"""Profiles become the driver's phases and pacing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from loadstone.load.profiles import load_plan, pacing_of, phases_of, run_plan
from loadstone.runner.plan import parse_plan
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.connection import InProcessConnection, NoConnection, ServerConnection
from loadstone.workloads.base import LoadRequest

SPECIFIED = {
    "default": {"keying_s": 0.0, "think": {"distribution": "none"}},
    "operations": {
        "x": {
            "keying_s": 18.0,
            "think": {"distribution": "negative-exponential", "mean_s": 12.0, "cap": 10.0},
        }
    },
}
CONNECTION = ServerConnection(
    "postgresql", "/tmp/socket", "loadstone", "loadstone", 5432, password="s3cret"
)


def profile(**fields: Any) -> ProfileSpec:
    return ProfileSpec.model_validate(fields)


def test_the_ramp_rises_and_the_warm_up_ends_at_the_measured_load() -> None:
    phases = phases_of(profile(users=8, ramp="5s", warm_up="10s", measure="60s"))
    assert [(p["name"], p["duration_s"], p["load"]["users"]) for p in phases] == [
        ("ramp", 5.0, {"from": 1, "to": 8}),
        ("warm-up", 10.0, {"from": 8, "to": 8}),
        ("measure", 60.0, {"from": 8, "to": 8}),
    ]


def test_phases_without_length_are_left_out() -> None:
    assert [p["name"] for p in phases_of(profile(warm_up="0"))] == ["measure"]


@pytest.mark.parametrize(("rate", "low"), [(1000.0, 1.0), (0.5, 0.5)])
def test_an_open_ramp_rises_from_a_low_rate(rate: float, low: float) -> None:
    ramp, *_, measure = phases_of(
        profile(load="open", rate_per_s=rate, arrival="uniform", ramp="5s", backlog="discard")
    )
    assert ramp["load"]["rate_per_s"] == {"from": low, "to": rate}
    assert measure["load"] == {
        "model": "open",
        "rate_per_s": {"from": rate, "to": rate},
        "arrival": "uniform",
        "sessions": 64,
        "queue": 10_000,
    }
    assert measure["backlog"] == "discard"


@pytest.mark.parametrize(
    ("ramp", "users", "took_s"), [("5/s", 51, 10.0), ("30/min", 3, 4.0), ("5/s", 1, None)]
)
def test_a_ramp_in_users_a_second_is_as_long_as_they_need(
    ramp: str, users: int, took_s: float | None
) -> None:
    given = profile(users=users, ramp=ramp)
    first = phases_of(given)[0]
    assert (first["duration_s"] if first["name"] == "ramp" else None) == took_s
    assert given.ramp_s == (took_s or 0.0)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"ramp": "0/s"}, "lets nobody come"),
        ({"ramp": "5/h"}, "no rate of users"),
        ({"ramp": "-1/s"}, "no rate of users"),
        ({"ramp": "5"}, "a rate of users such as 5/s"),
        ({"ramp": "0.001/min", "users": 1_000_000}, "is the most"),
        ({"ramp": "5/s", "load": "open", "rate_per_s": 5}, "for closed users"),
    ],
)
def test_a_ramp_that_makes_no_sense_is_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        profile(**fields)


def test_a_ramp_in_users_a_second_is_read_again_from_json() -> None:
    given = profile(users=11, ramp="5/s", gather="2min")
    assert ProfileSpec.model_validate_json(given.model_dump_json()) == given


@pytest.mark.parametrize(
    ("fields", "last"),
    [({}, "warm-up"), ({"warm_up": "0", "ramp": "5s"}, "ramp"), ({"gather": "20s"}, "warm-up")],
)
def test_where_users_log_in_the_last_phase_before_waits_for_all(
    fields: dict[str, Any], last: str
) -> None:
    phases = phases_of(profile(users=8, **fields), gathers=True)
    gathering = {each["name"]: each["gather_s"] for each in phases if "gather_s" in each}
    assert gathering == {last: 20.0 if "gather" in fields else 600.0}


@pytest.mark.parametrize(
    "fields", [{"gather": "0s"}, {"warm_up": "0"}, {"load": "open", "rate_per_s": 5.0}]
)
def test_nobody_waits_where_there_is_nothing_to_wait_for(fields: dict[str, Any]) -> None:
    assert "gather_s" not in str(phases_of(profile(**fields), gathers=True))
    assert "gather_s" not in str(phases_of(profile(users=8)))


def test_who_comes_by_a_ramp_logs_in_at_once() -> None:
    think = {"distribution": "negative-exponential", "mean_s": 10.0, "cap": 10.0}
    specified = {
        "default": {"keying_s": 0.0, "think": {"distribution": "none"}},
        "operations": {"log-in": {"keying_s": 0.0, "think": think}},
    }

    def waits(**fields: Any) -> dict[str, Any]:
        given = profile(users=8, **fields)
        plan = run_plan(given, {"name": "http"}, specified, NoConnection(), 7, arriving=["log-in"])
        operations: dict[str, Any] = plan["pacing"].get("operations", {})
        return operations

    assert "begins_at_once" not in str(waits(think_time="specified"))
    assert waits(think_time="specified", ramp="2/s")["log-in"] == {
        "keying_s": 0.0,
        "think": think,
        "begins_at_once": True,
    }
    own = waits(think_time="5s", ramp="2/s")["log-in"]
    assert own["begins_at_once"]
    assert own["think"]["mean_s"] == 5.0


def test_users_leave_after_the_last_measured_phase() -> None:
    given = profile(users=8, warm_up="0", drain="90s")
    assert phases_of(given)[-1] == {
        "name": "drain",
        "kind": "drain",
        "duration_s": 90.0,
        "backlog": "drain",
        "load": {"model": "closed", "users": {"from": 8, "to": 0}},
    }
    parts = [{"name": "half", "share": 0.5}, {"name": "idle", "share": 0.0}]
    assert phases_of(profile(users=8, drain="90s", phases=parts[:1]))[-1]["load"]["users"] == {
        "from": 4,
        "to": 0,
    }
    assert phases_of(profile(users=8, drain="90s", phases=parts))[-1]["name"] == "idle"
    assert phases_of(profile(users=8))[-1]["kind"] == "measure"


def test_only_users_can_leave() -> None:
    with pytest.raises(ValidationError, match="drain belongs to closed users"):
        profile(load="open", rate_per_s=5.0, drain="10s")
    with pytest.raises(ValidationError, match="too short"):
        profile(drain="0.1ms")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("1s to 3s", "1s to 3s"),
        ("  500ms   to  1min 30s ", "500ms to 1min 30s"),
        ("0 to 2s", "0 to 2s"),
        ({"distribution": "uniform", "from": "1s", "to": "3s"}, "1s to 3s"),
        ({"distribution": "uniform", "from": 0, "to": "3s"}, "0 to 3s"),
    ],
)
def test_a_uniform_think_time_is_kept_as_a_text(given: object, kept: str) -> None:
    read = profile(think_time=given)
    assert read.think_time == kept
    assert ProfileSpec.model_validate_json(read.model_dump_json()) == read
    assert read.model_copy(update={"think_time": kept}) == read


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("3s to 1s", "ends before it begins"),
        ("0 to 0", "write none"),
        ("1s to soon", "'soon' is not a duration"),
        ("1 to 3", "'1' is not a duration"),
        ("1s to 2s to 3s", "is no range"),
        ("1s to 4000d", "the longest wait"),
        ("1s - 3s", "a range such as 1s to 3s"),
        ({"distribution": "uniform", "from": "1s"}, "has the fields distribution, from, to"),
        ({"distribution": "constant", "mean": "1s"}, "should be uniform"),
        ({}, "should be uniform"),
    ],
)
def test_a_range_that_is_none_is_refused_with_a_reason(given: object, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        profile(think_time=given)


def test_uniform_think_times_are_those_of_the_plan() -> None:
    think = {"distribution": "uniform", "from_s": 0.5, "to_s": 3.0}
    found = pacing_of(profile(think_time="500ms to 3s"), SPECIFIED)
    assert found == {"default": {"keying_s": 0.0, "think": think}}


def test_the_runner_takes_users_that_think_and_leave() -> None:
    given = profile(users=4, think_time="1s to 3s", drain="5s")
    plan = run_plan(given, {"name": "archive"}, SPECIFIED, NoConnection(), 7)
    read = parse_plan(json.dumps(plan))
    assert read.pacing.default.think.to_s == 3.0
    assert (read.phases[-1].kind, read.phases[-1].users.end) == ("drain", 0)


def test_think_times() -> None:
    assert pacing_of(profile(think_time="specified"), SPECIFIED) == SPECIFIED
    assert pacing_of(profile(), SPECIFIED)["default"]["think"] == {"distribution": "none"}
    assert pacing_of(profile(think_time="0s"), SPECIFIED)["default"]["think"] == {
        "distribution": "none"
    }
    assert pacing_of(profile(think_time="2s"), SPECIFIED)["default"]["think"] == {
        "distribution": "negative-exponential",
        "mean_s": 2.0,
        "cap": 10.0,
    }


def test_no_plan_holds_a_password() -> None:
    workload = {"name": "oltp", "role": "run", "parameters": {}}
    run = run_plan(profile(threads=2), workload, SPECIFIED, CONNECTION, 7)
    load = load_plan("oltp", LoadRequest("load", 4, 7, {"warehouses": 1}), CONNECTION, threads=8)
    assert "s3cret" not in json.dumps([run, load])
    assert run["connection"]["host"] == "/tmp/socket"
    assert (run["seed"], run["threads"], run["retry"]["max_attempts"]) == (7, 2, 50)


def test_a_load_ends_when_no_work_is_left() -> None:
    plan = load_plan("oltp", LoadRequest("load", 4, 7, {"warehouses": 1}), CONNECTION, threads=8)
    assert plan["threads"] == 4
    assert plan["workload"]["role"] == "load"
    assert plan["phases"] == [
        {
            "name": "load",
            "kind": "prepare",
            "load": {"model": "closed", "users": {"from": 4, "to": 4}},
        }
    ]


def test_an_engine_in_the_driver_is_a_file_and_its_settings() -> None:
    connection = InProcessConnection("sqlite", "/data/x.db", {"journal_mode": "wal"})
    plan = run_plan(profile(), {"name": "oltp"}, SPECIFIED, connection, 7)
    assert plan["connection"] == {
        "protocol": "sqlite",
        "database": "/data/x.db",
        "settings": {"journal_mode": "wal"},
    }
