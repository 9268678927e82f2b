"""Faults that are planted into trials of the planning cube."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from stepped import shared_cache

from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.observer import Observer
from loadstone.spec.model import Experiment
from loadstone.targets.database import Database
from loadstone.workloads.cube import cycle
from loadstone.workloads.cube.sql.tables import KEYS
from loadstone.workloads.cube.sql.work import Work, one_by_one
from loadstone.workloads.cube.workload import PlanningCube

SEED, GRIDS = 27, 8
"""Among so few grids of this seed one asks for expenses below a parent."""
Statement = Callable[[str], str]
"""Of an engine."""
Plant = Callable[[pytest.MonkeyPatch, Database], None]
"""Into a trial that is about to begin."""


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

    def plant(_patch: pytest.MonkeyPatch, target: Database) -> None:
        target.execute(f"{statement(target.engine)};")

    return plant


def after(step: str, *statements: Statement, before: Sequence[Statement] = ()) -> Plant:
    """Done at the end of a step, in its own time, or at its beginning; in each cycle."""
    return in_cycle(None, step, *statements, before=before)


def in_cycle(
    number: int | None, step: str, *statements: Statement, before: Sequence[Statement] = ()
) -> Plant:
    """As `after`, in a cycle with this number only. Of several such steps it is the last."""

    def plant(patch: pytest.MonkeyPatch, target: Database) -> None:
        made, calls = getattr(cycle, step), iter(range(1, 1000))

        def with_fault(*arguments: Any, **options: Any) -> Work:
            work: Work = made(*arguments, **options)
            call, a_cycle = next(calls), 3 if step == "aggregated" else 1
            if call % a_cycle or number not in {None, call // a_cycle}:
                return work
            first, last = ([own(target.engine) for own in of] for of in (before, statements))
            return one_by_one(*first) + work + one_by_one(*last)

        patch.setattr(cycle, step, with_fault)

    return plant


def conducted(
    tmp_path_factory: pytest.TempPathFactory,
    engine: str,
    trials: Sequence[Sequence[Plant]],
    **parameters: Any,
) -> list[Path]:
    """An experiment with a trial for each of these sets of faults; the folders of the trials."""
    waiting = iter(trials)
    with pytest.MonkeyPatch.context() as all_along, pytest.MonkeyPatch.context() as in_one:

        def prepare(_self: PlanningCube, target: Database) -> None:
            in_one.undo()
            for plant in next(waiting):
                plant(in_one, target)

        all_along.setattr(PlanningCube, "prepare", prepare)
        all_along.setenv("LOADSTONE_CACHE", str(shared_cache(tmp_path_factory)))
        standard = {"scale": 0.001, "cycles": 1, "check_grids": GRIDS, "warm_up": "200ms"}
        experiment = Experiment.model_validate(
            {
                "name": "fault",
                "workload": {"name": "cube", "parameters": standard | parameters},
                "target": {"engine": engine},
                "profile": {"users": 1, "measure": "200ms"},
                "repeats": len(trials),
                "seed": SEED,
                "extra_trials": 0,
                "disturbance": 1000,
            }
        )
        options = RunOptions(tmp_path_factory.mktemp(engine), "pytest")
        folder = conduct(experiment, options, Observer())
    return [path.parent for path in sorted(folder.glob("b*/plan.json"))]
