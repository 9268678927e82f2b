"""Did each step do what it must?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from loadstone.errors import ExitCode, LoadstoneError
from loadstone.protocol.steps import StepRun
from loadstone.results.record import CheckResult
from loadstone.targets.database import Database
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.cube import step_checks
from loadstone.workloads.cube.data.provide import CubeData
from loadstone.workloads.cube.equal import EVERY_CELL, READ, WAYS
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.sql import questions
from loadstone.workloads.cube.step_checks import Trial, held_cells, tallies

STEPS = CheckSpec(
    "every step ended well",
    "none failed or was broken off",
)
EMPTY = CheckSpec(
    "a reset leaves no cell",
    "no row of cells",
)
WHOLE = CheckSpec(
    "the outline stays whole",
    "each row of the outline's tables, which say the parents, rates, currencies and signs, is"
    " what it must be at the end of the cycle that has used it",
)
NATIVE = CheckSpec(
    "native files: their cells and sums",
    "of each file: how many cells, their sum, and their sum by place, exactly",
)
LINES = CheckSpec(
    "lines: accepted and rejected",
    "how many each; together they are the lines; the rejected are exactly those that were "
    "made wrong, by line and field; both sums of the accepted are exact",
)
LEVELS = CheckSpec(
    "each parent is the sum of its children",
    "each row of a parent of an entity or a product is there once, has cells in the periods "
    "in which a child has, and they are the sum of those directly below; nothing stands where"
    " nothing is below",
)
ROOT = CheckSpec(
    "the root is the sum of level 0",
    "each year, currency and account, with missing kept apart from 0",
)
ALLOCATED = CheckSpec(
    "pools are allocated whole, by units",
    "each year and month; each row: what is allocated, times all units, is the pool times the"
    " row's units; nothing where the units are missing",
)
CONVERTED = CheckSpec(
    "converted by the rates, there and back",
    "each row has one of the other currency and there is no further one; US entities to the "
    "last bit; sums of each currency at its rates; each cell back within 1e-9",
)
KEPT = CheckSpec(
    "the restructure keeps every cell",
    "a hash of keys and values that does not depend on their order; accounts are told by the "
    "outline, not by the table that renumbers them",
)
HELD = CheckSpec(
    "level 0 holds the cells of the files",
    "at the end of the cycle: how many, their sum, and their sum by place",
)
ALIKE = CheckSpec(
    "cycles end alike",
    "level 0 and parents have the same hash after each; of parents of what is allocated, "
    "whose last digit may differ, the rows are counted",
)
FILES = CheckSpec(
    "the files are those of their manifest",
    "each cached file has the SHA-256 that it was written with. They are compared before a "
    "trial too: a file that was altered is refused",
)
_EACH_CYCLE = (STEPS, EMPTY, WHOLE, NATIVE, LINES, LEVELS, ROOT, ALLOCATED, CONVERTED, KEPT, HELD)
CHECKS = (*_EACH_CYCLE, ALIKE, FILES, WAYS, READ, EVERY_CELL)
_MOST_SAID = 3


class FailedCheckError(LoadstoneError):
    """The cube that was made with the data is not what it must be."""

    exit_code = ExitCode.FAILED_CHECK


_Question = Callable[[Trial, int], Iterator[str]]


def check_steps(steps: Sequence[StepRun]) -> CheckResult:
    """Every step and every question ended well."""
    failed = [step for step in steps if not step.ended_well]
    said = [f"{step.operation} ({step.error_class}: {step.error})" for step in failed]
    return STEPS.of(
        passed=not failed,
        detail="; ".join(said[:_MOST_SAID]) or f"{len(steps)} steps and questions",
    )


def check_files(altered: Sequence[Path], many: int) -> CheckResult:
    """The cached files that a trial has loaded are what was written.

    Args:
        altered: Those that are not.
        many: Of all.
    """
    problems = [f"{path} is not what was written" for path in altered]
    return _result(FILES, problems, f"{many} files")


def check_cycles(trial: Trial) -> list[CheckResult]:
    """Each step of each cycle, by what was asked after it."""
    stored = not trial.parameters.hybrid
    of_parents = {
        LEVELS: step_checks.levels,
        ROOT: step_checks.root,
    }
    asked: dict[CheckSpec, _Question] = {
        EMPTY: step_checks.reset,
        WHOLE: step_checks.whole,
        NATIVE: step_checks.native,
        LINES: step_checks.lines,
        **(of_parents if stored else {}),
        ALLOCATED: step_checks.allocated,
        CONVERTED: step_checks.converted,
        KEPT: step_checks.restructured,
        HELD: step_checks.held,
    }
    cycles = range(1, trial.parameters.cycles + 1)
    each = f"{len(cycles)} cycle{'s' if len(cycles) > 1 else ''}"
    data, rows = trial.data, sum(map(len, trial.tables.values()))
    right = data.lines - len(data.injected)
    facts = {
        WHOLE: f"{rows:,} rows of the outline",
        LINES: f"{right:,} lines accepted and {len(data.injected):,} rejected",
        HELD: f"{held_cells(data):,} cells",
    }
    found = []
    for spec, question in asked.items():
        problems = [
            f"cycle {cycle}: {said}" for cycle in cycles for said in _asked(question, trial, cycle)
        ]
        fact = facts.get(spec)
        found.append(_result(spec, problems, f"{fact}, in {each}" if fact else each))
    if len(cycles) > 1:
        problems = [said for cycle in cycles for said in _asked(step_checks.alike, trial, cycle)]
        found.append(_result(ALIKE, problems, each))
    return found


def check_made(trial: Trial, unmade: Sequence[str]) -> list[CheckResult]:
    """The one cycle that made the cube with the data.

    Args:
        trial: Of one cycle.
        unmade: Steps that did not end well.
    """
    problems = [f"{step} did not end well" for step in unmade]
    return [_result(STEPS, problems, "1 cycle"), *check_cycles(trial)]


def refuse_failed(checks: Sequence[CheckResult]) -> None:
    """Stops before trials of a cube that was made wrong.

    Raises:
        FailedCheckError: It names the first check that failed.
    """
    for check in checks:
        if not check.passed:
            raise FailedCheckError(
                f"the cube that was made with the data is wrong: {check.name}: {check.detail}",
                advice="run it with cycles: 1, which shows every step and check",
            )


def check_held(target: Database, outline: Outline, data: CubeData) -> CheckResult:
    """Level 0 still has the cells of the files.

    Args:
        target: Running, without load.
        outline: As data are loaded into it.
        data: The files.
    """
    found = tallies(target.query(questions.held(outline)))
    problems = list(step_checks.held_otherwise(found, data))
    return _result(HELD, problems, f"{held_cells(data):,} cells")


def _asked(question: _Question, trial: Trial, cycle: int) -> list[str]:
    try:
        return list(question(trial, cycle))
    except LookupError as error:
        return [str(error)]


def _result(spec: CheckSpec, problems: Sequence[str], fine: str) -> CheckResult:
    more = f"; and {len(problems) - _MOST_SAID} more" if len(problems) > _MOST_SAID else ""
    return spec.of(
        passed=not problems,
        detail="; ".join(problems[:_MOST_SAID]) + more if problems else fine,
    )
