"""The file of rejected lines says what stands in them, by whichever engine they are read."""

import csv
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from loadstone.workloads.cube.data.cells import HEADER
from loadstone.workloads.cube.outline.outline import outline_of
from loadstone.workloads.cube.sql.flavours import flavour_of
from loadstone.workloads.cube.sql.load import emptied, lines_loaded, types
from loadstone.workloads.cube.sql.work import Work


@pytest.fixture(scope="module")
def cube() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as found:
        for statement in types(outline_of(42)):
            found.execute(statement)
        yield found


def run(cube: duckdb.DuckDBPyConnection, work: Work) -> None:
    for stage in work.stages:
        for job in stage:
            for statement in job:
                cube.execute(str(statement))


def test_duckdbs_rejects_are_small_and_say_what_was_wrong(
    cube: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    right = "Dept_0001,Article_0001,FY17,Actual,Final,Local,Units,Jan"
    wrong = {
        "Entity": ("Dept_0000", right.replace("Dept_0001", "Dept_0000") + ",1"),
        "Product": ('say "x" to, y', right.replace("Article_0001", '"say ""x"" to, y"') + ",1"),
        "Account": ("Unit", right.replace("Units", "Unit") + ",1"),
        "Period": ("January", right.replace("Jan", "January") + ",1"),
        "Data": ("12O", right + ",12O"),
    }
    file, rejects = tmp_path / "cells.csv", tmp_path / "rejects.csv"
    lines = [HEADER, *(line for _, line in wrong.values()), f"{right},1,2"]
    file.write_text("\n".join(lines) + "\n")
    flavour = flavour_of("duckdb")
    run(cube, emptied(flavour))
    run(cube, lines_loaded(flavour, [file], tmp_path / "none", rejects, 1))
    with rejects.open(newline="") as found:
        rows = [(row["line"], row["field"], row["text"]) for row in csv.DictReader(found)]
    assert rows[:5] == [
        (str(number), field, text) for number, (field, (text, _)) in enumerate(wrong.items(), 2)
    ]
    assert [(line, text) for line, _, text in rows[5:]] == [("7", f"{right},1,2")]
    assert rejects.stat().st_size < 2000
