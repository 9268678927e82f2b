"""What the runner does in a trial: cycles of steps with what is asked after them, then requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.protocol.steps import ANSWERS
from loadstone.targets.dialect import Dialect
from loadstone.targets.schema import Table
from loadstone.workloads.cube.data.provide import CubeData
from loadstone.workloads.cube.grids import Grid
from loadstone.workloads.cube.outline.accounts import ACCOUNT, ALLOCATED
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.restructure import restructure
from loadstone.workloads.cube.outline.sparse import CONVERTED, CURRENCY
from loadstone.workloads.cube.parameters import CubeParameters
from loadstone.workloads.cube.sql import questions
from loadstone.workloads.cube.sql.aggregate import aggregated
from loadstone.workloads.cube.sql.calculate import allocated, converted, listed, member
from loadstone.workloads.cube.sql.flavours import flavour_of
from loadstone.workloads.cube.sql.levels import PARTS, levels
from loadstone.workloads.cube.sql.load import emptied, lines_loaded, native_loaded
from loadstone.workloads.cube.sql.restructure import restructured
from loadstone.workloads.cube.sql.retrieve import asked
from loadstone.workloads.cube.sql.tables import OUTLINE_TABLES
from loadstone.workloads.cube.sql.work import Work

RESET, NATIVE, LINES = "reset", "native-load", "csv-load"
AGGREGATE, ALLOCATE, AGGREGATE_ALLOCATED = "aggregate", "allocate", "aggregate-allocated"
CONVERT, AGGREGATE_CONVERTED, RESTRUCTURE = "convert", "aggregate-converted", "restructure"
STEPS = (
    RESET,
    NATIVE,
    LINES,
    AGGREGATE,
    ALLOCATE,
    AGGREGATE_ALLOCATED,
    CONVERT,
    AGGREGATE_CONVERTED,
    RESTRUCTURE,
)
"""Of a cycle, in their order."""
OF_PARENTS = frozenset({AGGREGATE, AGGREGATE_ALLOCATED, AGGREGATE_CONVERTED})
"""Steps that a hybrid cube does without."""


def steps_of_cycle(*, hybrid: bool) -> tuple[str, ...]:
    """Those that a cycle has, in their order."""
    return tuple(step for step in STEPS if not (hybrid and step in OF_PARENTS))


RETRIEVE = "retrieve"
CYCLES = "cycles"
"""The stream of the steps."""
ROWS, FILES, SOLD, HELD, TOTALS = "rows", "files", "sold", "held", "totals"
DRIVERS, CONVERSION, CURRENCIES, VOLUME, BEFORE, AFTER = (
    "drivers",
    "conversion",
    "currencies",
    "volume",
    "before",
    "after",
)
"""Names of answers."""
_Step = dict[str, Any]


def answer_name(cycle: int, what: str) -> str:
    """Under which an answer is kept.

    Args:
        cycle: From 1.
        what: A step or a question.
    """
    return f"cycle-{cycle}-{what}"


def outline_answer(table: Table) -> str:
    """The name of an answer: the rows of a table of the outline."""
    return f"outline-{table.name.replace('_', '-')}"


def levels_answer(part: int) -> str:
    """The name of an answer: upper rows of a part of the accounts."""
    return f"levels-{part}"


def grid_name(place: int, *, hybrid: bool) -> str:
    """Under which the answer of a grid of the check is kept."""
    return f"grid-{place}-{'hybrid' if hybrid else 'stored'}"


def rejects_path(folder: Path, cycle: int) -> Path:
    """The file for the wrong lines of a cycle."""
    return folder / f"rejects-{cycle}.csv"


@dataclass(frozen=True)
class Cube:
    """All that the statements of a trial are made of."""

    outline: Outline
    data: CubeData
    parameters: CubeParameters
    dialect: Dialect
    folder: Path
    """Of the trial."""

    def stream(self, check: Sequence[Grid]) -> dict[str, Any]:
        """The stream of all cycles.

        Args:
            check: Grids to ask both ways after the last one.
        """
        cycles = range(1, self.parameters.cycles + 1)
        steps = [step for cycle in cycles for step in self._cycle(cycle)]
        return {"name": CYCLES, "steps": [*steps, *self._grids(check)]}

    def once(self) -> dict[str, Any]:
        """The stream that makes the cube, with what is asked about it."""
        return {"name": CYCLES, "steps": [*self._cycle(1)]}

    def unmade(self) -> list[str]:
        """Steps of the first cycle that did not end well."""
        answers = self.folder / ANSWERS
        return [
            step
            for step in self._works(1)
            if not (answers / f"{answer_name(1, step)}.parquet").is_file()
        ]

    def requests(self, grids: Sequence[Grid]) -> list[str]:
        """The queries of grids."""
        after = restructure(self.outline).outline
        hybrid = self.parameters.hybrid
        return [asked(after, grid, hybrid=hybrid) for grid in grids]

    def _cycle(self, cycle: int) -> Iterator[_Step]:
        works = self._works(cycle)
        questions_after = self._questions(cycle)
        for name, work in works.items():
            yield from questions_after.get(f"before {name}", ())
            yield {
                "operation": name,
                "kind": "work",
                "stages": work.planned(),
                "answer": answer_name(cycle, name),
            }
            yield from questions_after.get(name, ())

    def _works(self, cycle: int) -> dict[str, Work]:
        own, flavour, outline = self.parameters, flavour_of(self.dialect.name), self.outline
        accounts = [outline[ACCOUNT].numbers[name] for name in ALLOCATED]
        usd = member(outline, CURRENCY, CONVERTED)
        names, rejects = self.data.names, rejects_path(self.folder, cycle)
        files, hybrid = self.data.parts(own.csv_parts), own.hybrid
        works = {
            RESET: emptied(flavour),
            NATIVE: native_loaded(flavour, self.data.native_files, names, own.load_threads),
            LINES: lines_loaded(flavour, files, names, rejects, own.load_threads),
            AGGREGATE: aggregated(flavour, outline, "TRUE", own.calc_threads),
            ALLOCATE: allocated(flavour, outline, own.alloc_tasks, hybrid=hybrid),
            AGGREGATE_ALLOCATED: aggregated(
                flavour, outline, f"c.account IN {listed(accounts)}", own.calc_threads
            ),
            CONVERT: converted(flavour, outline, own.calc_threads),
            AGGREGATE_CONVERTED: aggregated(
                flavour, outline, f"c.currency = {usd}", own.calc_threads
            ),
            RESTRUCTURE: restructured(flavour, outline, own.restructure_threads, hybrid=hybrid),
        }
        return {
            name: work if name == RESET else work.then(*flavour.as_before())
            for name, work in works.items()
            if name in steps_of_cycle(hybrid=hybrid)
        }

    def _questions(self, cycle: int) -> dict[str, list[_Step]]:
        """What is asked after each step, most of it when all but the restructure is made."""
        flavour, outline = flavour_of(self.dialect.name), self.outline
        hybrid = self.parameters.hybrid
        texts = {
            RESET: {ROWS: questions.rows()},
            NATIVE: {FILES: questions.native(self.data.native)},
            LINES: {SOLD: questions.sold(outline), f"{VOLUME}-loaded": questions.volume()},
            f"before {RESTRUCTURE}": {
                DRIVERS: questions.drivers(flavour, outline),
                CONVERSION: questions.conversion(flavour, outline),
                CURRENCIES: questions.currencies(),
                TOTALS: questions.totals(),
                VOLUME: questions.volume(),
                BEFORE: questions.hashes(flavour, outline, after=False, hybrid=hybrid),
            },
            RESTRUCTURE: {
                AFTER: questions.hashes(flavour, outline, after=True, hybrid=hybrid),
                HELD: questions.held(outline),
                **({} if hybrid else self._levels()),
                **{outline_answer(own): questions.all_of(own) for own in OUTLINE_TABLES},
            },
        }
        return {
            when: [_question(what, sql, answer_name(cycle, what)) for what, sql in own.items()]
            for when, own in texts.items()
        }

    def _levels(self) -> dict[str, str]:
        after = restructure(self.outline).outline
        return {levels_answer(part): levels(after, part) for part in range(PARTS)}

    def _grids(self, grids: Sequence[Grid]) -> Iterator[_Step]:
        after = restructure(self.outline).outline
        ways = (True,) if self.parameters.hybrid else (False, True)
        for place, grid in enumerate(grids):
            for hybrid in ways:
                sql = asked(after, grid, hybrid=hybrid)
                yield _question("grid", sql, grid_name(place, hybrid=hybrid))


def _question(what: str, sql: str, answer: str) -> _Step:
    return {
        "operation": f"check-{what}",
        "kind": "query",
        "statements": [sql],
        "answer": answer,
    }
