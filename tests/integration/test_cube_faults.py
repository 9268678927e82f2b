"""Faults planted in a cycle of the planning cube: does a check see each of them?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from stepped import skip_without

from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.model import Experiment
from loadstone.experiments.observer import Observer
from loadstone.results.record import CheckResult
from loadstone.targets.base import Target
from loadstone.targets.registry import TARGETS
from loadstone.workloads.base import Measured
from loadstone.workloads.cube import cycle
from loadstone.workloads.cube.outline.accounts import COSTS, DISCOUNTS, EXPENSES, accounts
from loadstone.workloads.cube.sql.tables import KEYS
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

NUMBERS = accounts().numbers
EXPENSED = ", ".join(str(NUMBERS[name]) for name in EXPENSES)
"""They are below a parent that is subtracted."""
DEDUCTED = ", ".join(str(NUMBERS[name]) for name in (DISCOUNTS, COSTS))

ENGINES = [name for name, cls in TARGETS.items() if "cells" in cls.capabilities]
Statement = Callable[[str], str]
"""Of an engine."""
Plant = Callable[[pytest.MonkeyPatch, str], None]
"""Into the trials of an engine."""


def changed(table: str, change: str, where: str = "TRUE") -> Statement:
    def on(engine: str) -> str:
        if engine == "chdb":
            return f"ALTER TABLE {table} UPDATE {change} WHERE {where} SETTINGS mutations_sync = 1"
        return f"UPDATE {table} SET {change} WHERE {where}"

    return on


def changed_once(table: str) -> Statement:
    """A single cell."""
    last = f"SELECT {KEYS} FROM {table} WHERE m06 IS NOT NULL ORDER BY {KEYS} DESC LIMIT 1"
    return changed(table, "m06 = m06 + 1", f"({KEYS}) IN ({last})")


def before_the_trial(statement: Statement) -> Plant:
    """Done to the tables of the outline, which a reset keeps."""

    def plant(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
        def prepare(_self: PlanningCube, target: Target) -> None:
            target.execute(f"{statement(engine)};")

        monkeypatch.setattr(PlanningCube, "prepare", prepare)

    return plant


def after(step: str, statement: Statement) -> Plant:
    """Done at the end of a step, in its own time."""

    def plant(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
        made = getattr(cycle, step)

        def with_fault(*arguments: Any, **options: Any) -> Work:
            work: Work = made(*arguments, **options)
            return work + one_by_one(statement(engine))

        monkeypatch.setattr(cycle, step, with_fault)

    return plant


def a_lost_reject(monkeypatch: pytest.MonkeyPatch, _engine: str) -> None:
    """Whoever wrote them, the engine or the driver's parser."""
    made = PlanningCube.check

    def with_fault(
        self: PlanningCube, target: Target, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        assert measured.folder is not None
        (path,) = measured.folder.glob("rejects-1*.csv")
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(lines[:-1]))
        return made(self, target, before, measured)

    monkeypatch.setattr(PlanningCube, "check", with_fault)


EVERYWHERE: dict[str, tuple[Plant, set[str]]] = {
    "a changed cell of a parent": (after("converted", changed_once("cube_upper")), {CELLS}),
    "a lost reject": (a_lost_reject, {LINES}),
    "a parent with the wrong sign": (
        before_the_trial(changed("cube_total", "sign = 1", f"sign = -1 AND leaf IN ({EXPENSED})")),
        {ANSWERS, RESET},
    ),
    "a wrong rate": (
        before_the_trial(changed("cube_rate", "m06 = m06 * 1.25", "code = 'EUR'")),
        {RATES, CELLS, RESET},
    ),
}
"""Planted on each engine; the others on DuckDB only, to keep it short."""
FAULTS = EVERYWHERE | {
    "leaves with the wrong sign": (
        before_the_trial(changed("cube_total", "sign = 1", f"sign = -1 AND leaf IN ({DEDUCTED})")),
        {ANSWERS, RESET},
    ),
    "a changed cell of level 0": (
        after("restructured", changed_once("cube_base")),
        {CELLS, KEPT},
    ),
    "a missing cell that became 0": (
        after(
            "restructured",
            changed("cube_upper", "b = 0", "entity = 0 AND product = 0 AND b IS NULL"),
        ),
        {CELLS, KEPT},
    ),
    "an ending rate for an average one": (
        before_the_trial(changed("cube_account", "rate = 'ending'", "rate = 'average'")),
        {CELLS, RESET},
    ),
    "a parent that is not aggregated": (
        before_the_trial(
            lambda _engine: (
                "DELETE FROM cube_above_product WHERE child = "
                "(SELECT max(child) FROM cube_above_product WHERE generation = 2)"
            )
        ),
        {CELLS, ROOT, RESET},
    ),
}


@pytest.mark.parametrize(
    ("engine", "fault"),
    [
        *(("duckdb", fault) for fault in FAULTS),
        *((engine, fault) for engine in ENGINES if engine != "duckdb" for fault in EVERYWHERE),
    ],
)
def test_a_fault_is_caught(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    engine: str,
    fault: str,
) -> None:
    skip_without(engine)
    plant, caught = FAULTS[fault]
    plant(monkeypatch, engine)
    checks = checks_of(tmp_path, tmp_path_factory, monkeypatch, engine=engine)
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
    before_the_trial(changed(table, "m06 = m06 + 1"))(monkeypatch, "duckdb")
    checks = checks_of(tmp_path, tmp_path_factory, monkeypatch, cycles=0)
    assert set(checks) == {WAYS, ANSWERS, HELD}
    assert not checks[caught]


def checks_of(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    cycles: int = 1,
    engine: str = "duckdb",
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
            "target": {"engine": engine},
            "profile": {"users": 1, "measure": "1s"},
            "repeats": 1,
            "disturbance": 1000,
        }
    )
    folder = conduct(experiment, RunOptions(tmp_path, "pytest"), Observer())
    result = json.loads((folder / "b01-1-baseline" / "result.json").read_text())
    return {check["name"]: check["passed"] for check in result["checks"]}
