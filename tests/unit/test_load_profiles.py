"""Profiles become the driver's phases and pacing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loadstone.load.profiles import load_plan, pacing_of, phases_of, run_plan
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.connection import InProcessConnection, ServerConnection
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
