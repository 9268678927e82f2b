"""Is every cell, at small scales, and every answer what an independent roll-up has?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pyarrow as pa

from loadstone.results.columns import of_numpy
from loadstone.results.record import CheckResult
from loadstone.targets.database import Database
from loadstone.targets.schema import Column, ColumnType, Table
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.cube.contents import store
from loadstone.workloads.cube.cycle import grid_name
from loadstone.workloads.cube.data.volume import SLICE
from loadstone.workloads.cube.grids import Grid
from loadstone.workloads.cube.metrics import read_answer
from loadstone.workloads.cube.outline.accounts import ACCOUNT, ALLOCATED
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.sparse import (
    CURRENCY,
    ENTITY,
    PRODUCT,
    SCENARIO,
    VERSION,
    YEARS,
)
from loadstone.workloads.cube.rollup import KEY, Cells, Reader, View, rolled_up
from loadstone.workloads.cube.sql.calculate import listed
from loadstone.workloads.cube.sql.questions import CLOSE
from loadstone.workloads.cube.sql.retrieve import asked, plain
from loadstone.workloads.cube.sql.tables import AMOUNTS, BASE, KEYS, UPPER
from loadstone.workloads.cube.step_checks import close

LARGEST_SCALE = 0.1
"""Above it the second roll-up would take longer than the trial."""
_READ = 50
"""Grids that are read a second way: each takes a while."""
EVERY_CELL = CheckSpec(
    "every cell equals an independent roll-up",
    "up to scale 0.1: the files are read a second time, all steps done in memory by another way, "
    "and each cell of each table compared",
)
WAYS = CheckSpec(
    "stored answers equal hybrid ones",
    "cell by cell; one cell at least is compared, and how many is said",
)
READ = CheckSpec(
    "answers equal an independent reading",
    "of the first 50 grids, stored and hybrid: accounts, ratios and periods are worked out in "
    "memory, up to scale 0.1 from the files, above it from level 0",
)
_EXPECTED = Table(
    "cube_expected",
    (
        *(Column(name, ColumnType("smallint")) for name in KEY),
        *(Column(name, ColumnType("double"), nullable=True) for name in AMOUNTS),
    ),
)
_Row = Sequence[str | float | None]
_Values = dict[tuple[int, int], _Row]
Answers = Callable[[int, bool], Sequence[_Row] | None]
"""The rows of a grid by its place, and whether it was asked from level 0; None: not answered."""


def kept(folder: Path) -> Answers:
    """The answers that a trial has kept after its last cycle."""
    return lambda place, hybrid: read_answer(folder, grid_name(place, hybrid=hybrid))


def answered_by(target: Database, outline: Outline, grids: Sequence[Grid]) -> Answers:
    """What a target answers now."""
    return lambda place, hybrid: target.query(asked(outline, grids[place], hybrid=hybrid))


def check_cells(target: Database, outline: Outline, base: Cells, *, hybrid: bool) -> CheckResult:
    """Every cell that is stored equals that of a roll-up in memory, and none is missing.

    Args:
        target: Running, without load.
        outline: After the restructure.
        base: The cells that level 0 must have.
        hybrid: Only level 0 is there.
    """
    parts = [base] if hybrid else [base, rolled_up(outline, base)]
    rows = _rows(parts)
    target.create_tables([_EXPECTED])
    try:
        store(target, _EXPECTED, rows)
        ((missing, more, other),) = target.query(_compared(outline, hybrid=hybrid))
    finally:
        target.execute(f"DROP TABLE {_EXPECTED.name};")
    wrong = [int(many or 0) for many in (missing, more, other)]
    return EVERY_CELL.of(
        passed=not any(wrong),
        detail=f"{rows.num_rows:,} rows expected: {wrong[0]:,} are missing, {wrong[1]:,} should "
        f"not be there, {wrong[2]:,} have other cells",
    )


def _rows(parts: Sequence[Cells]) -> pa.Table:
    keys = np.concatenate([own.keys for own in parts]).astype(np.int16)
    amounts = np.concatenate([own.amounts for own in parts])
    columns = [of_numpy(column) for column in keys.T]
    columns += [of_numpy(own, np.isnan(own)) for own in amounts.T]
    return pa.table(columns, names=[column.name for column in _EXPECTED.columns])


def _compared(outline: Outline, *, hybrid: bool) -> str:
    """Rows that are missing, that are too many, and that differ; quotients by their last digits."""
    quotients = listed([outline[ACCOUNT].numbers[name] for name in ALLOCATED])
    columns = f"{KEYS}, {', '.join(AMOUNTS)}"
    found = " UNION ALL ".join(
        f"SELECT {columns} FROM {table}" for table in ((BASE,) if hybrid else (BASE, UPPER))
    )
    same = " AND ".join(f"f.{own} = e.{own}" for own in KEY)
    allowed = f"CASE WHEN e.account IN {quotients} THEN {CLOSE} ELSE 0.0 END"
    other = " OR ".join(
        f"abs(f.{own} - e.{own}) > {allowed} * abs(e.{own}) "
        f"OR (f.{own} IS NULL) <> (e.{own} IS NULL)"
        for own in AMOUNTS
    )
    return (
        "SELECT sum(CASE WHEN f.entity IS NULL THEN 1 ELSE 0 END), "
        "sum(CASE WHEN e.entity IS NULL THEN 1 ELSE 0 END), "
        f"sum(CASE WHEN f.entity IS NOT NULL AND e.entity IS NOT NULL AND ({other}) "
        f"THEN 1 ELSE 0 END) FROM ({found}) f FULL JOIN {_EXPECTED.name} e ON {same}"
    )


def check_ways(answers: Answers, grids: Sequence[Grid]) -> CheckResult:
    """Grids have the same cells from stored parents and from level 0."""

    def both(place: int) -> tuple[_Values | None, _Values | None]:
        return _values(answers(place, False)), _values(answers(place, True))

    return _compared_grids(WAYS, len(grids), both)


def check_answers(
    answers: Answers, outline: Outline, base_of: Callable[[Grid], Cells], grids: Sequence[Grid]
) -> CheckResult:
    """Grids have the cells that a reader in memory finds.

    Args:
        answers: To them.
        outline: After the restructure.
        base_of: The cells of level 0 that a grid needs, or more.
        grids: That were asked.
    """
    read = grids[:_READ]

    def both(place: int) -> tuple[_Values | None, _Values | None]:
        reader = Reader(outline, base_of(read[place]))
        return dict(_read(reader, outline, read[place])), _values(answers(place, True))

    return _compared_grids(READ, len(read), both)


def below_grid(target: Database, outline: Outline, grid: Grid) -> Cells:
    """What level 0 has for a grid, of all its entities together.

    Args:
        target: Running, without load.
        outline: After the restructure.
        grid: What was asked.
    """
    rows = target.query(plain(outline, grid))
    slice_ = _slice(outline, grid)
    entity = outline[ENTITY].numbers[grid.entity]
    return Cells.of(
        np.array([(entity, row[0], *slice_, row[1]) for row in rows], np.int64).reshape(-1, 7),
        np.array([row[2:] for row in rows], np.float64).reshape(-1, len(AMOUNTS)),
    )


def _compared_grids(
    spec: CheckSpec, many: int, both: Callable[[int], tuple[_Values | None, _Values | None]]
) -> CheckResult:
    """Grids without a cell would be equal whatever the engine does: one cell at least is needed."""
    problems, cells, filled = [], 0, 0
    for place in range(many):
        one, other = both(place)
        if one is None or other is None:
            problems.append(f"grid {place} was not answered")
            continue
        own = _cells_in(one)
        cells += own
        filled += bool(own)
        if (said := _difference(one, other)) is not None:
            problems.append(f"grid {place}: {said}")
    if not cells:
        problems.append(f"no cell was compared: none of {many} grids has one")
    return spec.of(
        passed=not problems,
        detail="; ".join(problems[:3]) or f"{cells:,} cells compared, in {filled} of {many} grids",
    )


def _cells_in(values: _Values) -> int:
    return sum(value is not None for row in values.values() for value in row)


def _read(reader: Reader, outline: Outline, grid: Grid) -> Iterator[tuple[tuple[int, int], _Row]]:
    rest = _slice(outline, grid)
    for product in grid.products:
        block = reader.block(View(grid.entity, product, rest), grid.accounts, grid.periods)
        for account, amounts in zip(grid.accounts, block, strict=True):
            key = outline[PRODUCT].numbers[product], outline[ACCOUNT].numbers[account]
            values = [None if math.isnan(amount) else str(amount) for amount in amounts]
            yield key, values


def _slice(outline: Outline, grid: Grid) -> tuple[int, int, int, int]:
    """Numbers of year, scenario, version and currency."""
    scenario, version, _ = SLICE
    return (
        outline[YEARS].numbers[grid.year],
        outline[SCENARIO].numbers[scenario],
        outline[VERSION].numbers[version],
        outline[CURRENCY].numbers[grid.currency],
    )


def _values(rows: Sequence[_Row] | None) -> _Values | None:
    if rows is None:
        return None
    return {(int(row[0] or 0), int(row[1] or 0)): row[2:] for row in rows}


def _difference(one: _Values, other: _Values) -> str | None:
    """The first cell that differs; a row that is not there has no cells."""
    for key in sorted(one.keys() | other.keys()):
        both = zip_longest(one.get(key, ()), other.get(key, ()))
        for column, (own, its) in enumerate(both, start=1):
            if not close(own, its):
                return f"product {key[0]}, account {key[1]}, period {column}: {own} and {its}"
    return None
