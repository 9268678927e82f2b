"""`loadstone cube`: files that are written, checked, changed and cut, and what is refused."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from essbase_reader import read_cells, read_native, read_tree

from loadstone.cli.main import run_command
from loadstone.errors import ExitCode

SMALL = ["--scale", "0.001"]


pytestmark = pytest.mark.usefixtures("own_places", "cache_of_all")


@pytest.fixture
def cache_of_all(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADSTONE_CACHE", str(tmp_path_factory.getbasetemp() / "cube-cache"))


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    return capsys


def right(*words: str) -> None:
    assert run_command(["cube", *words]) == ExitCode.OK


def document(said: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    said.readouterr()
    run_command(["cube", *words, "--json"])
    found = json.loads(said.readouterr().out)
    assert found["version"] == 1
    return found


def wrong(said: pytest.CaptureFixture[str], *words: str) -> str:
    said.readouterr()
    assert run_command(["cube", *words]) == ExitCode.WRONG_INPUT
    captured = said.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("loadstone: ")
    return captured.err


def test_the_sub_commands_are_listed_and_have_help(said: pytest.CaptureFixture[str]) -> None:
    names = [
        "emit-essbase",
        "outline",
        "check-outline",
        "parents",
        "dynamic",
        "data",
        "split",
    ]
    right("--help")
    text = said.readouterr().out
    assert all(name in text for name in names)
    for name in names:
        right(name, "--help")
        assert f"Usage: loadstone cube {name}" in said.readouterr().out
    assert "check-outline" in wrong(said, "chek-outline")
    assert "--scale" in wrong(said, "data", "d", "--scal", "1")


def test_help_of_a_sub_command_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from loadstone.cli.main import run_command\n"
        "assert run_command(['cube', '--help']) == 0\n"
        "sys.exit(','.join({'numpy', 'pyarrow', 'pydantic'} & set(sys.modules)) or 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_kit_is_written_once(tmp_path: Path, said: pytest.CaptureFixture[str]) -> None:
    right("emit-essbase", "kit", *SMALL, "--calc-threads", "6", "--application", "Bench_1")
    assert "never validated" in said.readouterr().err
    kit = tmp_path / "kit"
    assert {path.name for path in kit.iterdir()} == {
        *("README.md", "build.mxl", "cycle.mxl", "expected.json", "rates.csv"),
        *("calc", "data", "outline", "planning"),
    }
    assert "'Bench_1'.'Cube'" in (kit / "cycle.mxl").read_text()
    assert "SET CALCPARALLEL 6;" in (kit / "calc" / "aggreg.csc").read_text()
    files = document(said, "emit-essbase", "other", *SMALL, "--hybrid")["files"]
    assert isinstance(files, list)
    assert "other/README.md" in files
    assert "other/calc/aggreg.csc" not in files
    assert "kit is not empty, and nothing is overwritten" in wrong(said, "emit-essbase", "kit")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scale", "20"], "--scale: 20 is not between"),
        (["--scale", "0"], "--scale: 0 is not between"),
        (["--scale", "nan"], "--scale: nan is not between"),
        (["--seed", "-1"], "--seed: -1 is not between"),
        (["--application", "my app"], "--application: 'my app' is no name"),
        (["--load-threads", "0"], "--load-threads: 0 is less than 1"),
    ],
)
def test_a_kit_that_cannot_be_is_refused(
    tmp_path: Path, said: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert message in wrong(said, "emit-essbase", "kit", *words)
    assert not (tmp_path / "kit").exists()


def test_the_outline_is_written_checked_and_made_hybrid(
    tmp_path: Path, said: pytest.CaptureFixture[str]
) -> None:
    found = document(said, "outline", "out")
    (rows,) = [found["dimensions"]]
    assert [(row["dimension"], row["members"], row["stored"]) for row in rows][-2:] == [
        ("Entity", 8767, 8709),
        ("Product", 8639, 8639),
    ]
    checked = document(said, "check-outline", "out/product.csv", "--dimension", "Product")
    assert (checked["members"], checked["stored"]) == (8639, 8639)
    assert checked["rejects"] == [{"line": 2, "reason": "no valid parent", "hanging": 0}]
    assert "no valid parent" in (tmp_path / "out" / "product.csv.rejects.csv").read_text()
    right("check-outline", "out/product.csv", "--dimension", "product")
    line = "8,639 members, 1 reject, the root's own line, which is normal"
    assert line in said.readouterr().out
    right("dynamic", "out/product.csv", "--dimension", "Product", "--output", "hybrid.csv")
    assert "602 stored parents are dynamic in hybrid.csv" in said.readouterr().out
    stored, hybrid = read_tree(tmp_path / "out" / "product.csv"), read_tree(tmp_path / "hybrid.csv")
    for before, after in zip(stored.lines, hybrid.lines, strict=True):
        is_parent = before.child in stored.below
        assert after.codes == ({"+", "X"} if is_parent else before.codes)
    assert "is there already" in wrong(
        said, "dynamic", "out/product.csv", "--dimension", "Product", "--output", "hybrid.csv"
    )


def test_wrong_lines_are_counted_listed_and_end_with_a_code(
    tmp_path: Path, said: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "years.csv"
    lines = [
        ["parent", "child", "properties", "uda", "formula"],
        ["", "Years", "+ N", "", ""],
        ["Years", "FY14", "~ S", "", ""],
        ["Year", "FY15", "~ S", "", ""],
        ["Years", "FY16", "~ Q", "", ""],
        ["fy16", "FY16a", "~ S", "", ""],
        ["FY16a", "FY16b", "~ S", "", ""],
    ]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    words = ["cube", "check-outline", "years.csv", "--dimension", "Years"]
    assert run_command(words) == ExitCode.FAILED_CHECK
    captured = said.readouterr()
    assert "2 members, 3 rejects; that of the root is normal" in captured.out
    assert "line 4: no valid parent: 'Year'\n" in captured.out
    assert "line 5: no property 'Q' (with 2 lines that hang on it)\n" in captured.out
    assert "years.csv.rejects.csv" in captured.err
    rejected = (tmp_path / "years.csv.rejects.csv").read_text()
    assert rejected.count("\\\\ line ") == 5
    assert run_command([*words, "--json"]) == ExitCode.FAILED_CHECK
    assert "2 lines of years.csv cannot be taken, the first is line 4" in wrong(
        said, "dynamic", "years.csv", "--dimension", "Years", "--output", "h.csv"
    )
    assert not (tmp_path / "h.csv").exists()
    assert "did you mean 'Years'" in wrong(said, "check-outline", "x.csv", "--dimension", "Yeers")
    assert "cannot be read" in wrong(said, "check-outline", "x.csv", "--dimension", "Years")


def test_parents_are_those_with_children(said: pytest.CaptureFixture[str]) -> None:
    found = document(said, "parents", "Product")
    rows = found["parents"]
    assert isinstance(rows, list)
    assert len(rows) == 602
    assert sum(row["children"] for row in rows) == 8638
    assert rows[0] == {
        "name": "Product",
        "parent": "",
        "generation": 1,
        "children": 10,
        "storage": "stored",
    }
    right("parents", "Period")
    text = said.readouterr().out
    assert all(name in text for name in ("YearTotal", "Q1", "Q4", "dynamic"))
    assert "there is no dimension 'Produkt'; did you mean 'Product'?" in wrong(
        said, "parents", "Produkt"
    )


def test_data_are_written_counted_and_split(
    tmp_path: Path, said: pytest.CaptureFixture[str]
) -> None:
    found = document(said, "data", "d", *SMALL)
    rows = found["files"]
    assert isinstance(rows, list)
    assert [row["file"] for row in rows] == [
        *(f"native_{number}.txt" for number in range(1, 9)),
        "cells.csv",
    ]
    for row in rows[:-1]:
        cells = [int(value) for _, value in read_native(tmp_path / "d" / row["file"])]
        assert (len(cells), sum(cells)) == (row["cells"], row["sum"])
    manifest = json.loads((tmp_path / "d" / "manifest.json").read_text())
    wrong_lines = {own["line"] for own in manifest["cells"]["injected"]}
    lines = dict(read_cells(tmp_path / "d" / "cells.csv"))
    values = [int(value) for line, (_, value) in lines.items() if line not in wrong_lines]
    assert (len(values), sum(values)) == (rows[-1]["cells"], rows[-1]["sum"])
    assert len(wrong_lines) == rows[-1]["wrong"] == 4
    assert "d is not empty" in wrong(said, "data", "d", *SMALL)
    split = document(said, "split", "d/cells.csv", "--parts", "3", "--output", "parts")
    parts = split["parts"]
    assert isinstance(parts, list)
    assert [Path(part["file"]).name for part in parts] == [f"cells.{n}.csv" for n in (1, 2, 3)]
    assert parts[0]["first_line"] == 2
    together = [cell for part in parts for _, cell in read_cells(tmp_path / part["file"])]
    assert together == list(lines.values())
    assert "parts/cells.1.csv is there already" in wrong(
        said, "split", "d/cells.csv", "--parts", "2", "--output", "parts"
    )
    right("split", "d/native_8.txt", "--parts", "2")
    assert (tmp_path / "d" / "native_8.2.txt").is_file()


def test_fewer_parts_than_asked_are_told(tmp_path: Path, said: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f.csv").write_text("a,b\n1,2\n3,4\n")
    right("split", "f.csv", "--parts", "5")
    assert "2 parts, not 5: f.csv has no more places to cut at" in said.readouterr().err


def test_what_cannot_be_split_or_written_is_said_in_a_line(
    tmp_path: Path, said: pytest.CaptureFixture[str]
) -> None:
    assert "--parts: 0 is less than 1" in wrong(said, "split", "x.csv", "--parts", "0")
    assert "cannot be split" in wrong(said, "split", "x.csv", "--parts", "2")
    (tmp_path / "file").write_text("x")
    assert "file is no folder, and nothing is overwritten" in wrong(said, "outline", "file")
    assert "cannot be written" in wrong(said, "outline", "file/below")
