"""Faults that no sum shows, planted in cycles of the planning cube: they are caught at every scale.

Above scale 0.1 no cell is compared with a roll-up in memory: all that is caught here, is caught by
what each cycle is asked. `unit/test_cube_levels.py` has more faults, on a cube that is made once.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from tempfile import mkdtemp

import pytest
from lengths import LONG
from planted_cube import Plant, Statement, after, changed, conducted, in_cycle
from stepped import skip_without

from loadstone.cache import cache_folder
from loadstone.results.record import Status
from loadstone.results.trial_files import read_result
from loadstone.targets.database import Database
from loadstone.targets.registry import TARGETS
from loadstone.workloads.cube import workload
from loadstone.workloads.cube.outline.accounts import DISCOUNTS, accounts
from loadstone.workloads.cube.outline.accounts import SALES as SALES_ACCOUNT
from loadstone.workloads.cube.sql import calculate, retrieve
from loadstone.workloads.cube.sql.tables import AMOUNTS, BASE, KEYS, RENUMBERED, UPPER

ENGINES = [name for name, cls in TARGETS.items() if "cells" in cls.capabilities]
SCALES = (0.001, 0.11)
LEVELS = "each parent is the sum of its children"
ALIKE = "cycles end alike"
ALLOCATED = "pools are allocated whole, by units"
KEPT = "the restructure keeps every cell"
HELD = "level 0 holds the cells of the files"
FILES = "the files are those of their manifest"
NATIVE = "native files: their cells and sums"
ANSWERS = "answers equal an independent reading"

NUMBERS = accounts().numbers
BELOW = "NOT (entity = 0 AND product = 0)"
"""The root is compared with level 0 by a check of its own."""


def cell(table: str, change: str, place: int = 0, where: str = "TRUE") -> Statement:
    """A cell of June, by its place among those of a table."""
    one = (
        f"SELECT {KEYS} FROM {table} WHERE m06 > 0 AND {where} AND {BELOW} "
        f"ORDER BY {KEYS} LIMIT 1 OFFSET {place}"
    )
    return changed(table, change, f"({KEYS}) IN ({one})")


def evenly(patch: pytest.MonkeyPatch, _target: Database) -> None:
    """Each row has as much of a pool as any other, if it has units at all."""
    made, all_units = calculate.allocated, calculate.all_units

    def counted(units: int, **_stored: bool) -> str:
        return all_units(units, hybrid=True).replace("sum(", "count(")

    def allocated(*arguments: object, **options: object) -> object:
        with pytest.MonkeyPatch.context() as own:
            own.setattr(calculate, "all_units", counted)
            work = made(*arguments, **options)  # type: ignore[arg-type]
        stages = tuple(
            tuple(
                tuple(re.sub(r"\* (u\.m\d\d)", r"* (\1 / \1)", str(action)) for action in job)
                for job in stage
            )
            for stage in work.stages
        )
        return type(work)(stages)

    patch.setattr("loadstone.workloads.cube.cycle.allocated", allocated)


def swapped(one: int, other: int) -> Statement:
    """The numbers that two accounts are given, which are those that they had."""
    given = f"after = CAST({one + other} - after AS smallint)"
    return changed(RENUMBERED, given, f"before IN ({one}, {other})")


def other_files(patch: pytest.MonkeyPatch, _target: Database) -> None:
    """Files of the cache in which one cell has lost what the next has gained."""
    whole, own = cache_folder(), Path(mkdtemp(prefix="altered-", dir=cache_folder().parent))
    shutil.copytree(whole / "cube", own / "cube")
    patch.setattr(workload, "refuse_altered_files", lambda *_: None)
    patch.setenv("LOADSTONE_CACHE", str(own))
    for path in cache_folder().glob("cube/scale*/native_[13].txt"):
        text = path.read_text()
        line = next(own for own in text.splitlines() if own.startswith('"OPX_002"'))
        name, opening, first, second, *others = line.split()
        cells = [str(int(first) + 1), str(int(second) - 1)]
        path.write_text(text.replace(line, " ".join([name, opening, *cells, *others]), 1))


def unsigned(patch: pytest.MonkeyPatch, _target: Database) -> None:
    """Grids add what they should subtract, whichever way they are asked."""
    made = retrieve.asked
    for place in ("cycle", "equal"):
        patch.setattr(
            f"loadstone.workloads.cube.{place}.asked",
            lambda *given, **own: made(*given, **own).replace("t.sign *", "abs(t.sign) *"),
        )


OF_ONE = "entity = 1"
FIRST_QUARTER = ", ".join(f"{month} = 2 * {month}" for month in AMOUNTS[1:4])
SALES, LESS = NUMBERS[SALES_ACCOUNT], NUMBERS[DISCOUNTS]
FIRST = " AND ".join(f"{name} = (SELECT min({name}) FROM {BASE})" for name in ("year", "currency"))
LOCAL_SALES = f"account = {SALES} AND {FIRST}"
FAULTS: dict[str, tuple[Plant, dict[str, str]]] = {
    "upper cells of a quarter doubled in cycle 1": (
        in_cycle(1, "aggregated", changed(UPPER, FIRST_QUARTER, BELOW)),
        {LEVELS: "cycle 1", ALIKE: "cycle 2"},
    ),
    "an allocation spread evenly": (evenly, {ALLOCATED: "not the share of their units"}),
    "two leaf cells that make up for each other, and an upper one": (
        after(
            "aggregated",
            cell(BASE, "m06 = m06 + 50", 0, LOCAL_SALES),
            cell(BASE, "m06 = m06 - 50", 3, LOCAL_SALES),
            cell(UPPER, "m06 = m06 * 10", 5),
        ),
        {LEVELS: "cycle 1", HELD: "by place"},
    ),
    "two accounts swapped by the restructure": (
        after("restructured", swapped(SALES, LESS), before=[swapped(SALES, LESS)]),
        {KEPT: "", HELD: "by place"},
    ),
    "cached files altered, their sums kept": (other_files, {FILES: "", NATIVE: "by place"}),
    "a missing upper cell that became 0": (
        after("aggregated", changed(UPPER, "b = 0", f"{BELOW} AND b IS NULL")),
        {LEVELS: "cycle 1"},
    ),
    "upper rows twice": (
        after(
            "aggregated", lambda _: f"INSERT INTO {UPPER} SELECT * FROM {UPPER} WHERE entity = 1"
        ),
        {LEVELS: "cycle 1"},
    ),
    "signs left out of every grid": (unsigned, {ANSWERS: ""}),
}
TRIALS = (
    ("upper cells of a quarter doubled in cycle 1", "an allocation spread evenly"),
    (
        "two leaf cells that make up for each other, and an upper one",
        "signs left out of every grid",
    ),
    ("a missing upper cell that became 0", "cached files altered, their sums kept"),
    ("upper rows twice", "two accounts swapped by the restructure"),
)
"""The faults of each trial: a check that sees one does not see the others."""


@LONG
@pytest.mark.parametrize("faults", TRIALS, ids=", ".join)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("engine", ENGINES)
def test_faults_are_caught_by_what_a_cycle_is_asked(
    tmp_path_factory: pytest.TempPathFactory, engine: str, scale: float, faults: tuple[str, ...]
) -> None:
    skip_without(engine)
    plants = [FAULTS[name][0] for name in faults]
    (trial,) = conducted(tmp_path_factory, engine, [plants], scale=scale, cycles=2)
    result = read_result(trial)
    assert result.status is Status.INVALID
    failed = {check.name: check.detail for check in result.checks if not check.passed}
    for fault in faults:
        for name, said in FAULTS[fault][1].items():
            assert re.search(said, failed.get(name, "it passed")), (fault, name, failed)


@LONG
def test_a_large_hybrid_cube_is_checked_by_grids(tmp_path_factory: pytest.TempPathFactory) -> None:
    trials = conducted(tmp_path_factory, "duckdb", [[], [unsigned]], scale=0.11, hybrid=True)
    well, wrong = map(read_result, trials)
    assert well.status is Status.VALID, well.notices
    assert ANSWERS in {check.name for check in well.checks}
    assert [check.name for check in wrong.checks if not check.passed] == [ANSWERS]
