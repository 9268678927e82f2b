"""The checks of the planning cube, on a cube that DuckDB makes within the test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from loadstone.protocol.steps import ANSWERS
from loadstone.results.record import CheckResult
from loadstone.runner.steps.answer_files import keep_answer
from loadstone.targets.database import Database
from loadstone.targets.dialect import Dialect
from loadstone.targets.schema import Table
from loadstone.workloads.base import LoadRequest
from loadstone.workloads.cube import expected as reading
from loadstone.workloads.cube.checks import FailedCheckError
from loadstone.workloads.cube.cycle import answer_name, outline_answer
from loadstone.workloads.cube.metrics import metric_values
from loadstone.workloads.cube.outline.outline import outline_of
from loadstone.workloads.cube.parameters import CubeParameters
from loadstone.workloads.cube.rollup import Cells, Numbers
from loadstone.workloads.cube.sql.tables import OUTLINE_TABLES
from loadstone.workloads.cube.workload import PlanningCube
from loadstone.workloads.measured import Measured, Observation

SCALE = 0.001
OUTLINE = outline_of(42)
WHOLE = "the outline stays whole"
WAYS = "stored answers equal hybrid ones"
READ = "answers equal an independent reading"
HELD = "level 0 holds the cells of the files"
FILES = "the files are those of their manifest"


@dataclass
class Engine:
    """A target, and a runner that makes the steps of a load."""

    connection: duckdb.DuckDBPyConnection
    fault: str | None = None
    """Planted before the cycle begins."""
    dialect: Dialect = field(default_factory=lambda: Dialect("duckdb"))
    files_form: str = "parquet"
    answers: dict[str, list[tuple[object, ...]]] = field(default_factory=dict)

    def create_tables(self, tables: list[Table]) -> None:
        kinds = {"smallint": "SMALLINT", "double": "DOUBLE", "varchar": "VARCHAR"}
        for table in tables:
            columns = ", ".join(f"{own.name} {kinds[own.type.name]}" for own in table.columns)
            self.connection.execute(f"CREATE TABLE {table.name} ({columns})")

    def load_files(self, table: Table, paths: list[Path], *, sessions: int) -> None:
        assert sessions == 1
        for path in paths:
            self.connection.execute(f"INSERT INTO {table.name} FROM '{path}'")

    def execute(self, script: str) -> None:
        self.connection.execute(script)

    def query(self, sql: str) -> list[tuple[object, ...]]:
        return self.connection.execute(sql).fetchall()

    def finish_tables(self, tables: list[Table]) -> None:
        """Nothing is left to do."""

    analyse = make_way = lambda *_: None

    def size_bytes(self) -> int:
        return 0

    def run(self, request: LoadRequest) -> Mapping[str, float]:
        """Makes the steps in one session; native files are read by the test's own reader."""
        if self.fault is not None:
            self.execute(self.fault)
        folder = Path(request.parameters["folder"])
        (stream,) = request.parameters["rounds"][0]
        for step in stream["steps"]:
            rows: list[tuple[object, ...]] = [("done",)]
            for stage in step.get("stages", ()):
                for action in [action for job in stage for action in job]:
                    self._do(action)
            for statement in step.get("statements", ()):
                rows = self.query(statement)
            keep_answer(folder / ANSWERS, step["answer"], rows)
            self.answers[step["answer"]] = rows
        return {}

    def _do(self, action: str | dict[str, Any]) -> None:
        if isinstance(action, str):
            self.execute(action)
            return
        found: dict[tuple[int, ...], Any] = {}
        numbers = {own.name: own.numbers for own in OUTLINE.dimensions}
        reading._read_native(Path(action["file"]), numbers, found)
        if found:
            cells = Cells.of(np.array([*found]), np.array([*found.values()]))
            self.connection.register("given", _arrow(cells))
            self.execute(f"INSERT INTO {action['table']} FROM given")


def _arrow(cells: Cells) -> pa.Table:
    keys: Numbers = cells.keys.astype(np.int16)
    columns = [pa.array(np.ascontiguousarray(own)) for own in keys.T]
    columns += [pa.array(np.ascontiguousarray(own), mask=np.isnan(own)) for own in cells.amounts.T]
    return pa.table(columns, names=[f"c{place}" for place in range(len(columns))])


@pytest.fixture(autouse=True)
def _cache(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    monkeypatch.setenv("LOADSTONE_CACHE", str(tmp_path_factory.getbasetemp() / "cube-cache"))
    yield


def built(fault: str | None = None, **parameters: Any) -> tuple[Engine, PlanningCube]:
    own = CubeParameters(scale=SCALE, cycles=0, **parameters)
    engine, workload = Engine(duckdb.connect(), fault), PlanningCube(own)
    workload.build(cast("Database", engine), engine.run, 42)
    return engine, workload


def checked(engine: Engine, workload: PlanningCube, folder: Path) -> dict[str, CheckResult]:
    (folder / "plan.json").write_text('{"data_seed": 42}')
    found = workload.check(cast("Database", engine), {}, measured(folder))
    return {check.name: check for check in found}


def measured(folder: Path) -> Measured:
    now = Observation(0.0, {})
    return Measured(now, now, 1.0, {}, {}, 0, 0, 0.0, None, {}, {}, 0, folder=folder)


@pytest.mark.parametrize("hybrid", [False, True])
def test_a_cube_that_was_made_well_is_taken_and_checked_in_each_trial(
    tmp_path: Path, *, hybrid: bool
) -> None:
    engine, workload = built(hybrid=hybrid, check_grids=0)
    assert {
        answer_name(1, outline_answer(table)) for table in OUTLINE_TABLES
    } <= engine.answers.keys()
    found = checked(engine, workload, tmp_path)
    assert [*found] == [FILES, HELD]
    assert found[HELD].passed, found[HELD].detail
    engine.execute("DELETE FROM cube_base WHERE rowid = 0")
    assert not checked(engine, workload, tmp_path)[HELD].passed


def test_every_grid_of_the_check_has_cells(tmp_path: Path) -> None:
    found = checked(*built(), tmp_path)
    assert [*found] == [FILES, HELD, WAYS, READ]
    for name in (WAYS, READ):
        assert found[name].passed, found[name].detail
        assert found[name].detail.endswith("cells compared, in 20 of 20 grids")


@pytest.mark.parametrize(
    "faults",
    [
        {
            "cube_account": "UPDATE cube_account SET rate = 'ending' WHERE number = 7",
            "cube_above_entity": "DELETE FROM cube_above_entity WHERE child = 5000",
        },
        {
            "cube_currency": "UPDATE cube_currency SET code = 'EUR' WHERE code = 'JPY'",
            "cube_rate": "UPDATE cube_rate SET m06 = m06 + 1 WHERE code = 'EUR'",
        },
        {"cube_total": "UPDATE cube_total SET sign = 1 WHERE sign < 0"},
    ],
    ids=", ".join,
)
def test_a_wrong_row_of_the_outline_is_found_in_each_table(faults: dict[str, str]) -> None:
    """Making a cube is nearly all of it: one has as many faults as its message names tables."""
    with pytest.raises(FailedCheckError) as raised:
        built(";".join(faults.values()))
    _, _, said = raised.value.message.partition(f": {WHOLE}: ")
    for table in faults:
        assert re.search(rf"\b{table} (lacks|should not have) ", said)


def test_a_step_that_was_not_made_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = keep_answer

    def without(folder: Path, name: str, rows: Any) -> None:
        if name != "cycle-1-convert":
            whole(folder, name, rows)

    monkeypatch.setitem(globals(), "keep_answer", without)
    with pytest.raises(FailedCheckError, match="every step ended well: convert did not end well"):
        built()


def test_rejected_lines_are_counted_once_each(tmp_path: Path) -> None:
    (tmp_path / "rejects-1.csv").write_text("file,line,field\nf,3,Data\nf,3,Period\nf,9,Data\n")
    values = metric_values(measured(tmp_path), CubeParameters())
    assert {own.name: own.value for own in values}["lines_rejected"] == 2.0
    (tmp_path / "rejects-1.csv").unlink()
    for part in (1, 2):
        (tmp_path / f"rejects-1-{part}.csv").write_text("line,field\n3,Data\n")
    (tmp_path / "rejects-2-1.csv").write_text("line,field\n3,Data\n4,Data\n")
    values = metric_values(measured(tmp_path), CubeParameters())
    assert {own.name: own.value for own in values}["lines_rejected"] == 2.0
