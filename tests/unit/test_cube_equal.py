"""Grids of the planning cube: they ask where there are cells, and a comparison of nothing fails."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from loadstone.workloads.cube import grids
from loadstone.workloads.cube.data.provide import provide
from loadstone.workloads.cube.data.volume import volume_of
from loadstone.workloads.cube.equal import check_answers, check_ways
from loadstone.workloads.cube.expected import expected
from loadstone.workloads.cube.outline.outline import outline_of
from loadstone.workloads.cube.outline.restructure import restructure
from loadstone.workloads.cube.outline.sparse import CURRENCY, YEARS
from loadstone.workloads.cube.rates import rates_of
from loadstone.workloads.cube.rollup import Cells, Reader, View

OUTLINE = outline_of(42)
AFTER = restructure(OUTLINE).outline
SCALE = 0.001
ASKED = grids.drawn(OUTLINE, volume_of(OUTLINE, SCALE, 42), 7, 60)
_Row = Sequence[str | float | None]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Cells:
    data = provide(OUTLINE, SCALE, 42, tmp_path_factory.mktemp("cache"))
    return expected(OUTLINE, rates_of(OUTLINE, 42), list(data.native_files), data.cells)


def test_every_account_of_a_grid_has_cells_at_its_parents(base: Cells) -> None:
    reader = Reader(AFTER, base)
    numbers = [AFTER[YEARS].numbers, AFTER["Scenario"].numbers, AFTER["Version"].numbers]
    for grid in ASKED:
        rest = (
            numbers[0][grid.year],
            numbers[1]["Actual"],
            numbers[2]["Final"],
            AFTER[CURRENCY].numbers[grid.currency],
        )
        view = View(grid.entity, grid.products[0], rest)
        block = reader.block(view, grid.accounts, ["YearTotal"])
        assert not np.isnan(block).any(), grid


def test_answers_without_a_cell_prove_nothing(base: Cells) -> None:
    nothing: list[_Row] = [(0, 1, None, None)]
    check = check_ways(lambda _place, _hybrid: nothing, ASKED[:3])
    assert not check.passed
    assert "no cell was compared: none of 3 grids has one" in check.detail
    assert not check_answers(lambda _place, _hybrid: [], AFTER, base, []).passed


def test_a_check_says_how_many_cells_it_compared() -> None:
    answers = {0: [(0, 1, "1.0", None), (0, 2, "2.0", "3.0")], 1: []}
    check = check_ways(lambda place, _hybrid: answers[place], ASKED[:2])
    assert check.passed
    assert check.detail == "3 cells compared, in 1 of 2 grids"
