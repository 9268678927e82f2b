"""What a cycle of the planning cube is asked sees a fault of each kind in cells that were right."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from test_cube_checks import OUTLINE, Engine

from loadstone.cache import MANIFEST
from loadstone.errors import ExitCode, WrongInputError
from loadstone.protocol.steps import as_text
from loadstone.workloads.cube import step_checks
from loadstone.workloads.cube.contents import contents, store, table_of
from loadstone.workloads.cube.cycle import RESTRUCTURE, Cube
from loadstone.workloads.cube.data.provide import (
    CubeData,
    provide,
    refuse_altered_files,
    split_into,
)
from loadstone.workloads.cube.metrics import Answer
from loadstone.workloads.cube.outline.accounts import ACCOUNT
from loadstone.workloads.cube.outline.restructure import restructure
from loadstone.workloads.cube.parameters import CubeParameters
from loadstone.workloads.cube.rates import rates_of
from loadstone.workloads.cube.sql.load import types
from loadstone.workloads.cube.sql.tables import AMOUNTS, KEYS, OUTLINE_TABLES
from loadstone.workloads.cube.step_checks import Trial

SEED, SCALE = 42, 0.0002
CHECKS: Sequence[Callable[[Trial, int], Iterator[str]]] = (
    step_checks.reset,
    step_checks.whole,
    step_checks.native,
    step_checks.lines,
    step_checks.levels,
    step_checks.root,
    step_checks.allocated,
    step_checks.converted,
    step_checks.restructured,
    step_checks.held,
)


@dataclass(frozen=True)
class Asked(Trial):
    """A trial whose answers were kept nowhere."""

    answers: Mapping[str, Answer] = field(default_factory=dict)

    def answer(self, cycle: int, what: str) -> Answer:
        return self.answers[f"cycle-{cycle}-{what}"]

    def fail(self) -> set[str]:
        """The checks that see something."""
        return {check.__name__ for check in CHECKS if [*check(self, 1)]}


@dataclass(frozen=True)
class Made:
    """A cube just before the restructure, or at the end of its cycle."""

    engine: Engine
    questions: list[dict[str, Any]]
    """That are asked then."""
    trial: Asked
    """Without a fault."""

    def spoilt(self, fault: str) -> Asked:
        """The trial, if this is done before the questions are asked."""
        self.engine.execute(f"BEGIN; {fault}")
        try:
            return asked_again(self.trial, self.engine, self.questions)
        finally:
            self.engine.execute("ROLLBACK")


def asked_again(trial: Asked, engine: Engine, questions: Sequence[dict[str, Any]]) -> Asked:
    answers = dict(trial.answers)
    for step in questions:
        rows = engine.query(step["statements"][0])
        answers[step["answer"]] = [tuple(map(as_text, row)) for row in rows]
    own = {name: getattr(trial, name) for name in Trial.__dataclass_fields__}
    return Asked(**own, answers=answers)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> CubeData:
    return provide(OUTLINE, SCALE, SEED, tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def made(data: CubeData, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Made]:
    folder = tmp_path_factory.mktemp("cube")
    rates, parameters = rates_of(OUTLINE, SEED), CubeParameters(scale=SCALE, cycles=1)
    engine = Engine(duckdb.connect(folder / "before.db"))
    engine.create_tables([*OUTLINE_TABLES])
    tables = contents(OUTLINE, rates)
    for table, rows in tables.items():
        store(engine, table, table_of(table, rows))  # type: ignore[arg-type]
    engine.execute(";\n".join(types(OUTLINE)))
    steps = Cube(OUTLINE, data, parameters, engine.dialect, folder).once()["steps"]
    at = next(n for n, step in enumerate(steps) if step["operation"] == RESTRUCTURE)
    first = max(n for n, step in enumerate(steps[:at]) if step["kind"] == "work") + 1
    trial = Asked(folder, OUTLINE, data, rates, parameters, tables)
    for step in steps[:at]:
        if step["kind"] == "work":
            run(engine, step)
        else:
            trial = asked_again(trial, engine, [step])
    engine.execute("CHECKPOINT")
    shutil.copy(folder / "before.db", folder / "after.db")
    ended = Engine(duckdb.connect(folder / "after.db"))
    run(ended, steps[at])
    trial = asked_again(trial, ended, steps[at + 1 :])
    return {
        "before": Made(engine, steps[first:at], trial),
        "after": Made(ended, steps[at + 1 :], trial),
    }


def run(engine: Engine, step: dict[str, Any]) -> None:
    for action in [action for stage in step["stages"] for job in stage for action in job]:
        engine._do(action)


def of(table: str, change: str, where: str = "TRUE", many: int = 1, first: int = 0) -> str:
    """Changes some rows that have an amount in June."""
    rows = (
        f"SELECT {KEYS} FROM {table} WHERE m06 > 0 AND {where} ORDER BY {KEYS} "
        f"LIMIT {many} OFFSET {first}"
    )
    return f"UPDATE {table} SET {change} WHERE ({KEYS}) IN ({rows});"


AFTER = restructure(OUTLINE).outline[ACCOUNT].numbers
LOCAL, USD = 1, 2
FY17 = OUTLINE["Years"].numbers["FY17"]
SOLD = f"account = {AFTER['GrossRevenue']} AND currency = {LOCAL} AND year = {FY17}"
ALLOCATED = OUTLINE[ACCOUNT].numbers["ALC_02"]
BELOW = "NOT (entity = 0 AND product = 0)"
SWAP = "account = CASE account WHEN 5 THEN 6 WHEN 6 THEN 5 ELSE account END"
TWICE = ", ".join(f"{month} = 2 * {month}" for month in AMOUNTS[1:4])
FAULTS: dict[str, tuple[str, str, set[str]]] = {
    "a quarter of all upper cells doubled": (
        "after",
        f"UPDATE cube_upper SET {TWICE} WHERE {BELOW}",
        {"levels", "restructured"},
    ),
    "an upper cell times ten": (
        "after",
        of("cube_upper", "m06 = m06 * 10", BELOW, first=99),
        {"levels", "restructured"},
    ),
    "an upper cell of what is allocated, changed a little": (
        "after",
        of("cube_upper", "m06 = m06 * 1.000001", f"{BELOW} AND account = {AFTER['ALC_01']}"),
        {"levels", "restructured"},
    ),
    "two months of an upper row that make up for each other": (
        "after",
        of("cube_upper", "m05 = m05 + 1, m06 = m06 - 1", BELOW, first=7),
        {"levels", "restructured"},
    ),
    "a missing upper cell that became 0": (
        "after",
        of("cube_upper", "b = 0", f"{BELOW} AND b IS NULL"),
        {"levels", "restructured"},
    ),
    "an upper row that is missing": (
        "after",
        "DELETE FROM cube_upper WHERE rowid = 17",
        {"levels", "restructured"},
    ),
    "an upper row twice": (
        "after",
        "INSERT INTO cube_upper SELECT * FROM cube_upper WHERE rowid = 17",
        {"levels", "restructured"},
    ),
    "an upper row where nothing is below": (
        "after",
        "INSERT INTO cube_upper SELECT * FROM cube_base WHERE rowid = 17",
        {"levels", "restructured"},
    ),
    "cells of level 0 that make up for each other": (
        "after",
        of("cube_base", "m06 = m06 + 50", SOLD) + of("cube_base", "m06 = m06 - 50", SOLD, first=1),
        {"levels", "restructured", "held"},
    ),
    "two accounts swapped in all tables": (
        "after",
        f"UPDATE cube_base SET {SWAP}; UPDATE cube_upper SET {SWAP}",
        {"restructured", "held"},
    ),
    "two accounts swapped with the table by which they are told": (
        "after",
        f"UPDATE cube_base SET {SWAP}; UPDATE cube_upper SET {SWAP}; "
        "UPDATE cube_renumbered SET after = 11 - after WHERE before IN (5, 6)",
        {"restructured", "held", "whole"},
    ),
    "what is allocated spread evenly": (
        "before",
        f"UPDATE cube_base SET m06 = (SELECT avg(m06) FROM cube_base b WHERE b.account = "
        f"{ALLOCATED} AND b.year = cube_base.year AND b.currency = {LOCAL}) "
        f"WHERE account = {ALLOCATED} AND currency = {LOCAL} AND m06 IS NOT NULL",
        {"allocated", "converted", "restructured"},
    ),
    "a row that is not allocated": (
        "before",
        f"DELETE FROM cube_base WHERE rowid = (SELECT min(rowid) FROM cube_base "
        f"WHERE account = {ALLOCATED} AND currency = {LOCAL})",
        {"allocated", "root", "converted", "restructured"},
    ),
    "a converted row that has no other": (
        "before",
        f"INSERT INTO cube_base SELECT * REPLACE (entity + 1 AS entity) FROM cube_base "
        f"WHERE rowid = (SELECT max(rowid) FROM cube_base WHERE currency = {USD})",
        {"root", "converted", "restructured"},
    ),
    "a converted cell": (
        "before",
        of("cube_base", "m06 = m06 * 1.001", f"currency = {USD}"),
        {"root", "converted", "restructured"},
    ),
}
"""When it is planted, how, and the checks that see it; `levels` is not asked before."""


def test_a_cycle_without_a_fault_passes_every_check(made: Mapping[str, Made]) -> None:
    for stage in made.values():
        assert stage.spoilt("SELECT 1").fail() == stage.trial.fail() == set()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(made: Mapping[str, Made], fault: str) -> None:
    stage, planted, seen = FAULTS[fault]
    assert made[stage].spoilt(planted).fail() >= seen


def test_another_cycle_is_compared_cell_by_cell(made: Mapping[str, Made]) -> None:
    """Quotients of parents alone may differ, by a last digit."""
    after = made["after"]

    def alike(fault: str) -> bool:
        second = {
            name.replace("cycle-1", "cycle-2"): rows
            for name, rows in after.spoilt(fault).answers.items()
        }
        own = {name: getattr(after.trial, name) for name in Trial.__dataclass_fields__}
        both = Asked(**own, answers={**after.trial.answers, **second})
        return not [*step_checks.alike(both, 2)]

    quotient = f"account = {AFTER['ALC_01']}"
    assert alike("SELECT 1")
    assert alike(of("cube_upper", "m06 = m06 * (1 + 1e-15)", quotient))
    assert not alike(of("cube_upper", "m06 = m06 + 1", SOLD))
    assert not alike(of("cube_base", "m06 = m06 + 1", quotient))
    assert not alike(f"DELETE FROM cube_upper WHERE {quotient} AND entity = 0")


def test_a_wrong_upper_row_is_named(made: Mapping[str, Made]) -> None:
    sold = f"account = {AFTER['Units']} AND entity = 0"
    (said,) = step_checks.levels(made["after"].spoilt(of("cube_upper", "m06 = 1", sold)), 1)
    assert said.startswith("1 of ")
    assert "the first of Entity, Product, FY17, Actual, Final, Local, Units" in said


def test_cached_files_that_were_altered_are_refused(tmp_path: Path) -> None:
    """Each file that is loaded, whatever its sum says, before anything is loaded."""
    data = provide(OUTLINE, SCALE, SEED, tmp_path)
    split_into(data, 2)
    refuse_altered_files(data, 2)
    files = [*data.parts(2), data.cells, data.names, *data.native_files]
    for path in files:
        text = path.read_bytes()
        path.write_bytes(text.swapcase())
        with pytest.raises(WrongInputError, match=f"{path} is not what Loadstone wrote") as raised:
            refuse_altered_files(data, 2)
        assert raised.value.exit_code is ExitCode.WRONG_INPUT
        assert str(path.parent) in (raised.value.advice or "")
        path.write_bytes(text)
    refuse_altered_files(data, 2)
    of_another = replace(data, of={**data.of, "seed": SEED + 1})
    with pytest.raises(WrongInputError, match=f"holds files of scale {SCALE:g}, seed {SEED}, not"):
        refuse_altered_files(of_another, 1)
    every = [*data.folder.iterdir(), *data.parts(2)[0].parent.iterdir()]
    assert {path for path in every if path.name != MANIFEST} == {*files}
