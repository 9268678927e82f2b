"""Faults planted in cycles of the planning cube: does a check see each of them?

The trials of an experiment differ in what is planted. Faults of the same trial spoil different
checks, or are told apart by what those say.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from lengths import LONG, long_but
from planted_cube import Plant, after, before_the_trial, changed, changed_once, conducted
from stepped import check_cycles, check_retrieval, skip_without

from loadstone.results.record import CheckResult, Status
from loadstone.results.trial_files import read_result
from loadstone.targets.database import Database
from loadstone.targets.registry import TARGETS
from loadstone.workloads.cube.outline.accounts import COSTS, DISCOUNTS, EXPENSES, accounts
from loadstone.workloads.cube.workload import PlanningCube
from loadstone.workloads.measured import Measured

CELLS = "every cell equals an independent roll-up"
ANSWERS = "answers equal an independent reading"
WAYS = "stored answers equal hybrid ones"
LINES = "lines: accepted and rejected"
RATES = "converted by the rates, there and back"
ROOT = "the root is the sum of level 0"
KEPT = "the restructure keeps every cell"
WHOLE = "the outline stays whole"
HELD = "level 0 holds the cells of the files"
FILES = "the files are those of their manifest"

NUMBERS = accounts().numbers
EXPENSED = ", ".join(str(NUMBERS[name]) for name in EXPENSES)
"""They are below a parent that is subtracted."""
DEDUCTED = ", ".join(str(NUMBERS[name]) for name in (DISCOUNTS, COSTS))

ENGINES = [name for name, cls in TARGETS.items() if "cells" in cls.capabilities]


def a_lost_reject(patch: pytest.MonkeyPatch, _target: Database) -> None:
    """Whoever wrote them, the engine or the driver's parser."""
    made = PlanningCube.check

    def with_fault(
        self: PlanningCube, target: Database, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        assert measured.folder is not None
        (path,) = measured.folder.glob("rejects-1*.csv")
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(lines[:-1]))
        return made(self, target, before, measured)

    patch.setattr(PlanningCube, "check", with_fault)


Caught = dict[str, str]
"""The checks that see a fault, each with a pattern by which others of the trial are told apart."""
ONE_OTHER = " 0 are missing, 0 should not be there, 1 have other cells"
FAULTS: dict[str, tuple[Plant, Caught]] = {
    "a changed cell of a parent": (
        after("converted", changed_once("cube_upper")),
        {CELLS: ONE_OTHER},
    ),
    "a lost reject": (a_lost_reject, {LINES: "1 lines are not rejected"}),
    "a parent with the wrong sign": (
        before_the_trial(changed("cube_total", "sign = 1", f"sign = -1 AND leaf IN ({EXPENSED})")),
        {ANSWERS: "", WHOLE: "cube_total lacks"},
    ),
    "a wrong rate": (
        before_the_trial(changed("cube_rate", "m06 = m06 * 1.25", "code = 'EUR'")),
        {RATES: "EUR", CELLS: " 0 are missing, .* [1-9][0-9,]* have", WHOLE: "cube_rate lacks"},
    ),
    "leaves with the wrong sign": (
        before_the_trial(changed("cube_total", "sign = 1", f"sign = -1 AND leaf IN ({DEDUCTED})")),
        {ANSWERS: "", WHOLE: "cube_total lacks"},
    ),
    "a changed cell of level 0": (
        after("restructured", changed_once("cube_base")),
        {CELLS: ONE_OTHER, KEPT: ""},
    ),
    "a missing cell that became 0": (
        after(
            "restructured",
            changed("cube_upper", "b = 0", "entity = 0 AND product = 0 AND b IS NULL"),
        ),
        {CELLS: " 0 are missing, 0 should not be there, [1-9]", KEPT: ""},
    ),
    "an ending rate for an average one": (
        before_the_trial(changed("cube_account", "rate = 'ending'", "rate = 'average'")),
        {CELLS: " [1-9][0-9,]* have other cells", WHOLE: "cube_account lacks"},
    ),
    "a parent that is not aggregated": (
        before_the_trial(
            lambda _engine: (
                "DELETE FROM cube_above_product WHERE child = "
                "(SELECT max(child) FROM cube_above_product WHERE generation = 2)"
            )
        ),
        {CELLS: " [1-9][0-9,]* are missing", ROOT: "", WHOLE: "cube_above_product lacks"},
    ),
}
TRIALS: tuple[tuple[str, ...], ...] = (
    (),
    ("a changed cell of a parent", "a lost reject", "a parent with the wrong sign"),
    ("leaves with the wrong sign", "a missing cell that became 0"),
    ("a changed cell of level 0",),
    ("a wrong rate",),
    ("an ending rate for an average one", "a parent that is not aggregated"),
)
"""The faults of each trial of an engine."""
QUICK = {
    "duckdb": (TRIALS[1], *TRIALS[4:]),
    "chdb": TRIALS[:1],
}
"""Those of a quick run: each check that compares cells, rates, lines or the outline sees one."""
TrialsOf = Callable[[str], dict[tuple[str, ...], Path]]


@pytest.fixture(scope="module")
def trials_of(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TrialsOf:
    """The trials of an engine, by their faults. All are of one experiment."""

    @functools.cache
    def on(engine: str) -> dict[tuple[str, ...], Path]:
        skip_without(engine)
        faults = TRIALS if request.config.getoption("--long") else QUICK[engine]
        plants = [[FAULTS[name][0] for name in own] for own in faults]
        return dict(zip(faults, conducted(tmp_path_factory, engine, plants), strict=True))

    return on


@pytest.mark.parametrize("engine", long_but(["chdb"], ENGINES))
def test_without_a_fault_all_is_well(trials_of: TrialsOf, engine: str) -> None:
    trial = trials_of(engine)[()]
    result = read_result(trial)
    assert result.status is Status.VALID, result.notices
    checks = {check.name: check.passed for check in result.checks}
    assert all(checks.values()), result.checks
    assert {CELLS, ANSWERS, WAYS, LINES, RATES, ROOT, KEPT, WHOLE} <= checks.keys()
    check_cycles(trial, result.model_dump(), cycles=1, rejected=4)


EVERYWHERE = [(engine, fault) for engine in ENGINES for fault in FAULTS]


@pytest.mark.parametrize(
    ("engine", "fault"),
    long_but([(e, fault) for e in QUICK for own in QUICK[e] for fault in own], EVERYWHERE),
)
def test_a_fault_is_caught(trials_of: TrialsOf, engine: str, fault: str) -> None:
    ((faults, trial),) = ((own, of) for own, of in trials_of(engine).items() if fault in own)
    result = read_result(trial)
    assert result.status is Status.INVALID
    failed = {check.name: check.detail for check in result.checks if not check.passed}
    _, caught = FAULTS[fault]
    for name, said in caught.items():
        assert re.search(said, failed[name]), (faults, failed)


@LONG
def test_a_cube_that_is_only_asked_is_checked_too(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    tables = {WAYS: "cube_upper", HELD: "cube_base"}
    plants = [[before_the_trial(changed(table, "m06 = m06 + 1"))] for table in tables.values()]
    trials = conducted(tmp_path_factory, "duckdb", [[], *plants], cycles=0)
    well, *results = map(read_result, trials)
    assert well.status is Status.VALID, well.notices
    check_retrieval(well.model_dump(mode="json"))
    for result, caught in zip(results, tables, strict=True):
        checks = {check.name: check.passed for check in result.checks}
        assert checks.keys() == {FILES, WAYS, ANSWERS, HELD}
        assert not checks[caught]
