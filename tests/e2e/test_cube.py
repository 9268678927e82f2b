"""The planning cube as a user runs it: on each engine, and what can go wrong."""

from __future__ import annotations

import json
import signal
from itertools import pairwise
from typing import Any

import pytest
from lengths import LONG
from session import Session, until
from stepped import check_cycles, check_retrieval, metrics, skip_without, steps

from loadstone.targets.registry import TARGETS
from loadstone.workloads.cube.cycle import OF_PARENTS

ENGINES = [name for name, cls in TARGETS.items() if "cells" in cls.capabilities]
SMALL = ("--scale", "0.001", "--users", "3", "--measure", "2s", "--param", "check_grids=8")
LARGER = ("--scale", "0.01", "--users", "3", "--measure", "6s")
"""Long enough for a few grids of the slowest engine on a busy machine."""


def trial_of(session: Session, *arguments: str) -> dict[str, Any]:
    """The result of a run of one trial, which has gone well."""
    (result,) = session.trial_results("run", "cube", *arguments)
    assert result["status"] in {"valid", "disturbed"}, result["notices"]
    assert all(check["passed"] for check in result["checks"]), result["checks"]
    return result


@pytest.mark.parametrize(
    ("engine", "size"),
    [
        pytest.param("duckdb", SMALL, id="duckdb"),
        *(pytest.param(each, LARGER, marks=LONG, id=f"{each}, larger") for each in ENGINES),
    ],
)
def test_three_cycles_and_retrieval_on_each_engine(
    own: Session, engine: str, size: tuple[str, ...]
) -> None:
    skip_without(engine)
    result = trial_of(own, *size, "--target", engine, "--param", "csv_parts=2")
    assert "cycles end alike" in {check["name"] for check in result["checks"]}
    found = metrics(result)
    assert found["cycle_min_s"] <= found["cycle_s"] <= found["cycle_max_s"]
    assert found["grids_per_s"] > 0
    # One line in ten thousand, and one of each kind of fault.
    check_cycles(own.trial(), result, cycles=3, rejected=4 if size is SMALL else 10)


@pytest.mark.parametrize(
    ("engine", "size"),
    [
        pytest.param("duckdb", SMALL, marks=LONG, id="duckdb"),
        *(pytest.param(each, LARGER, marks=LONG, id=f"{each}, larger") for each in ENGINES),
    ],
)
def test_a_hybrid_cube_stores_no_parents(own: Session, engine: str, size: tuple[str, ...]) -> None:
    skip_without(engine)
    given = ("--target", engine, "--param", "hybrid=true", "--param", "cycles=1")
    result = trial_of(own, *size, *given)
    made = {step.operation for step in steps(own.trial())}
    assert not made & OF_PARENTS
    assert metrics(result)["cells_stored"] < 4 * metrics(result)["cells_loaded"]
    assert "answers equal an independent reading" in {each["name"] for each in result["checks"]}


@LONG
@pytest.mark.parametrize("engine", ENGINES)
def test_a_cube_made_with_the_data_is_only_asked(own: Session, engine: str) -> None:
    skip_without(engine)
    given = ("--target", engine, "--param", "cycles=0", "--param", "warm_up=200ms")
    check_retrieval(trial_of(own, *LARGER, *given))


@LONG
@pytest.mark.parametrize("cycles", ["0", "1"])
def test_users_think_between_grids_but_steps_do_not_wait(own: Session, cycles: str) -> None:
    paced = ("--param", f"cycles={cycles}", "--think-time", "200ms")
    ended = own.run("run", "cube", *SMALL, *paced, "--json")
    assert ended.returncode in {0, 3}, ended.stderr  # what is due may begin late on a busy machine
    (trial,) = json.loads(ended.stdout)["trials"]
    operations = trial["result"]["operations"]
    (retrieved,) = (each for each in operations if each["name"] == "retrieve")
    assert 0 < retrieved["count"] < 50  # three users for two seconds: 30, give or take 6
    made = steps(own.trial())
    waits = sum(later.from_s - sooner.to_s for sooner, later in pairwise(made))
    assert waits <= 0.1 * len(made)


@pytest.mark.parametrize(
    ("limit", "size"),
    [
        pytest.param("1ms", SMALL, id="every step"),
        pytest.param("20ms", LARGER, id="those that load", marks=LONG),
    ],
)
def test_a_step_that_takes_too_long_is_broken_off_and_said(
    own: Session, limit: str, size: tuple[str, ...]
) -> None:
    ended = own.run("run", "cube", *size, "--param", f"time_limit={limit}", "--json")
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
