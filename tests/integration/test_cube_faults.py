"""Faults planted in a cycle of the planning cube: does a check see each of them?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.model import Experiment
from loadstone.experiments.observer import Observer
from loadstone.targets.base import Target
from loadstone.workloads.cube import cycle
from loadstone.workloads.cube.sql.work import Work, one_by_one
from loadstone.workloads.cube.workload import PlanningCube

CELLS = "every cell equals an independent roll-up"
ANSWERS = "answers equal an independent reading"
WAYS = "stored answers equal hybrid ones"
LINES = "lines: accepted and rejected"
RATES = "converted by the rates, there and back"
ROOT = "the root is the sum of level 0"
KEPT = "the restructure keeps every cell"
RESET = "a reset leaves no cell, and the outline whole"
HELD = "level 0 holds the cells of the files"

Plant = Callable[[pytest.MonkeyPatch], None]


def before_the_trial(statement: str) -> Plant:
    """Done to the tables of the outline, which a reset keeps."""

    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        def prepare(_self: PlanningCube, target: Target) -> None:
            target.execute(statement)

        monkeypatch.setattr(PlanningCube, "prepare", prepare)

    return plant


def after(step: str, statement: str) -> Plant:
    """Done at the end of a step, in its own time."""

    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        made = getattr(cycle, step)

        def with_fault(*arguments: Any, **options: Any) -> Work:
            work: Work = made(*arguments, **options)
            return work + one_by_one(statement)

        monkeypatch.setattr(cycle, step, with_fault)

    return plant


def a_lost_reject(monkeypatch: pytest.MonkeyPatch) -> None:
    made = cycle.lines_loaded

    def with_fault(*arguments: Any) -> Work:
        work = made(*arguments)
        stages = [
            tuple(tuple(map(without_the_first, job)) for job in stage) for stage in work.stages
        ]
        return Work(tuple(stages))

    def without_the_first(action: object) -> str:
        return str(action).replace("ORDER BY ALL", "ORDER BY ALL OFFSET 1")

    monkeypatch.setattr(cycle, "lines_loaded", with_fault)


SOMEWHERE = "rowid = (SELECT max(rowid) FROM {0} WHERE m06 IS NOT NULL)"
UPPER, BASE = SOMEWHERE.format("cube_upper"), SOMEWHERE.format("cube_base")
FAULTS: dict[str, tuple[Plant, set[str]]] = {
    "a changed cell of a parent": (
        after("converted", f"UPDATE cube_upper SET m06 = m06 + 1 WHERE {UPPER}"),
        {CELLS},
    ),
    "a changed cell of level 0": (
        after("restructured", f"UPDATE cube_base SET m06 = m06 + 1 WHERE {BASE}"),
        {CELLS, KEPT},
    ),
    "a missing cell that became 0": (
        after(
            "restructured",
            "UPDATE cube_upper SET b = 0 WHERE entity = 0 AND product = 0 AND b IS NULL",
        ),
        {CELLS, KEPT},
    ),
    "a lost reject": (a_lost_reject, {LINES}),
    "a leaf with the wrong sign": (
        before_the_trial("UPDATE cube_total SET sign = -sign WHERE sign < 0;"),
        {ANSWERS, RESET},
    ),
    "a wrong rate": (
        before_the_trial("UPDATE cube_rate SET m06 = m06 * 1.25 WHERE code = 'EUR';"),
        {RATES, CELLS, RESET},
    ),
    "an ending rate for an average one": (
        before_the_trial("UPDATE cube_account SET rate = 'ending' WHERE rate = 'average';"),
        {CELLS, RESET},
    ),
    "a parent that is not aggregated": (
        before_the_trial(
            "DELETE FROM cube_above_product WHERE child = "
            "(SELECT max(child) FROM cube_above_product WHERE generation = 2);"
        ),
        {CELLS, ROOT, RESET},
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_caught(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
) -> None:
    plant, caught = FAULTS[fault]
    plant(monkeypatch)
    checks = checks_of(tmp_path, tmp_path_factory, monkeypatch)
    failed = {name for name, passed in checks.items() if not passed}
    assert caught <= failed


def test_without_a_fault_all_is_well(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = checks_of(tmp_path, tmp_path_factory, monkeypatch)
    assert all(checks.values()), checks
    assert {CELLS, ANSWERS, WAYS, LINES, RATES, ROOT, KEPT, RESET} <= checks.keys()


@pytest.mark.parametrize(("table", "caught"), [("cube_upper", WAYS), ("cube_base", HELD)])
def test_a_cube_that_is_only_asked_is_checked_too(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    table: str,
    caught: str,
) -> None:
    before_the_trial(f"UPDATE {table} SET m06 = m06 + 1;")(monkeypatch)
    checks = checks_of(tmp_path, tmp_path_factory, monkeypatch, cycles=0)
    assert set(checks) == {WAYS, ANSWERS, HELD}
    assert not checks[caught]


def checks_of(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    cycles: int = 1,
) -> dict[str, bool]:
    monkeypatch.setenv("LOADSTONE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    experiment = Experiment.model_validate(
        {
            "name": "fault",
            "workload": {
                "name": "cube",
                "parameters": {"scale": 0.005, "cycles": cycles, "check_grids": 40},
            },
            "target": {"engine": "duckdb"},
            "profile": {"users": 1, "measure": "1s"},
            "repeats": 1,
            "disturbance": 1000,
        }
    )
    folder = conduct(experiment, RunOptions(tmp_path, "pytest"), Observer())
    result = json.loads((folder / "b01-1-baseline" / "result.json").read_text())
    return {check["name"]: check["passed"] for check in result["checks"]}
