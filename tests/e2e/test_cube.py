"""The planning cube as a user runs it: on each engine, and what can go wrong."""

from __future__ import annotations

import csv
import json
import signal
from itertools import pairwise
from typing import Any

import pytest
from conftest import Session, until
from stepped import metrics, skip_without, steps

from loadstone.targets.registry import TARGETS
from loadstone.workloads.cube.cycle import OF_PARENTS, STEPS

ENGINES = [name for name, cls in TARGETS.items() if "cells" in cls.capabilities]
SMALL = ("--scale", "0.01", "--users", "3", "--measure", "6s")
"""Long enough for a few grids of the slowest engine on a busy machine."""


def trial_of(session: Session, *arguments: str) -> dict[str, Any]:
    ended = session.run("run", "cube", *SMALL, *arguments, "--json")
    assert ended.returncode in {0, 3}, ended.stderr
    (trial,) = json.loads(ended.stdout)["trials"]
    result: dict[str, Any] = trial["result"]
    assert result["status"] in {"valid", "disturbed"}, result["notices"]
    assert all(check["passed"] for check in result["checks"]), result["checks"]
    return result


@pytest.mark.parametrize("engine", ENGINES)
def test_three_cycles_and_retrieval_on_each_engine(own: Session, engine: str) -> None:
    skip_without(engine)
    result = trial_of(own, "--target", engine, "--param", "csv_parts=2")
    names = {check["name"] for check in result["checks"]}
    assert {
        "every step ended well",
        "every cell equals an independent roll-up",
        "stored answers equal hybrid ones",
        "answers equal an independent reading",
        "cycles end alike",
    } <= names
    found = metrics(result)
    assert found["cycle_min_s"] <= found["cycle_s"] <= found["cycle_max_s"]
    assert found["cells_stored"] > 5 * found["cells_loaded"]
    assert found["grids_per_s"] > 0
    made = steps(own.trial())
    for step in STEPS:
        own_steps = [each for each in made if each.operation == step]
        assert len(own_steps) == 3
        assert all(each.cpu_s is not None and each.written_bytes is not None for each in own_steps)
    parsed = [each for each in made if each.operation == "native-load"]
    assert all(each.parser_cpu_s is not None for each in parsed)
    rejects = list(own.trial().glob("rejects-1*.csv"))
    lines = sum(len(list(csv.DictReader(path.open()))) for path in rejects)
    assert lines == 10  # one line in ten thousand


@pytest.mark.parametrize("engine", ENGINES)
def test_a_hybrid_cube_stores_no_parents(own: Session, engine: str) -> None:
    skip_without(engine)
    given = ("--param", "hybrid=true", "--param", "cycles=1")
    result = trial_of(own, "--target", engine, *given)
    made = {step.operation for step in steps(own.trial())}
    assert not made & OF_PARENTS
    assert metrics(result)["cells_stored"] < 4 * metrics(result)["cells_loaded"]
    assert "answers equal an independent reading" in {each["name"] for each in result["checks"]}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cube_made_with_the_data_is_only_asked(own: Session, engine: str) -> None:
    skip_without(engine)
    result = trial_of(own, "--target", engine, "--param", "cycles=0", "--param", "warm_up=200ms")
    assert set(metrics(result)) == {"grids_per_s", *(f"response_p{p}_ms" for p in (50, 95, 99))}
    assert [operation["name"] for operation in result["operations"]] == ["retrieve"]
    names = {check["name"] for check in result["checks"]}
    assert names == {
        "stored answers equal hybrid ones",
        "answers equal an independent reading",
        "level 0 holds the cells of the files",
    }


@pytest.mark.parametrize("cycles", ["0", "1"])
def test_users_think_between_grids_but_steps_do_not_wait(own: Session, cycles: str) -> None:
    paced = ("--param", f"cycles={cycles}", "--think-time", "200ms")
    ended = own.run("run", "cube", *SMALL, *paced, "--json")
    assert ended.returncode in {0, 3}, ended.stderr  # what is due may begin late on a busy machine
    (trial,) = json.loads(ended.stdout)["trials"]
    operations = trial["result"]["operations"]
    (retrieved,) = (each for each in operations if each["name"] == "retrieve")
    assert 0 < retrieved["count"] < 150  # three users for six seconds: 90, give or take 10
    made = steps(own.trial())
    waits = sum(later.from_s - sooner.to_s for sooner, later in pairwise(made))
    assert waits <= 0.1 * len(made)


@pytest.mark.parametrize("limit", ["1ms", "20ms"], ids=["every step", "those that load"])
def test_a_step_that_takes_too_long_is_broken_off_and_said(own: Session, limit: str) -> None:
    ended = own.run("run", "cube", *SMALL, "--param", f"time_limit={limit}", "--json")
    assert ended.returncode == 4, ended.stderr
    (trial,) = json.loads(ended.stdout)["trials"]
    failed = {check["name"]: check["detail"] for check in trial["result"]["checks"]}
    assert "time-limit" in failed["every step ended well"]


def test_a_killed_run_is_recovered(own: Session) -> None:
    run = own.start("run", "cube", *SMALL, "--param", "cycles=100")
    until("the first aggregation", lambda: aggregated(own) or run.poll() is not None)
    assert run.poll() is None
    run.send_signal(signal.SIGKILL)
    run.communicate()
    recovered = own.run("recover")
    assert recovered.returncode == 0, recovered.stderr


def aggregated(session: Session) -> bool:
    plans = (session.folder / "results").glob("*/b01-*/plan.json")
    return any(step.operation == "aggregate" for plan in plans for step in steps(plan.parent))
