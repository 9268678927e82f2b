"""What an earlier version wrote is read: its results, plans, journals and experiment files.

`tests/data/results-993dddf/README.md` says how they were made.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from math import exp, log
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from command_line import process
from lengths import long_but
from scipy.stats import ttest_rel

from loadstone.cli.main import run_command
from loadstone.errors import ExitCode
from loadstone.experiments.file import parse_experiment

ROOT = Path(__file__).parent.parent.parent
MADE = ROOT / "tests" / "data" / "results-993dddf" / "made.tar.xz"
STATUSES = {
    "archive-duckdb": ["valid"],
    "compare-noop": ["valid"] * 10,
    "crash-sqlite": ["valid"] * 4,
    "cube-duckdb": ["valid"],
    "dss-duckdb": ["valid"],
    "failed-sqlite": ["failed"],
    "interrupted-noop": ["interrupted"],
    "ladder-noop": ["valid"] * 6,
    "scale-noop": ["valid"] * 3,
    "search-noop": ["valid"] * 6,
    "wrong-noop": ["invalid"],
}
"""Result: how its trials ended, in order; `killed-sqlite` had no time to write it."""
KILLED = "killed-sqlite"
FIGURES = (
    *("status", "metrics", "operations", "checks", "notices", "unsafe", "durability"),
    *("parameters", "fingerprint", "started_at", "finished_at"),
)
"""What a report tells of a trial as its `result.json` has it."""

Said = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was made then; tests that change it take a copy."""
    folder = tmp_path_factory.mktemp("made")
    subprocess.run(["tar", "-xf", MADE, "-C", folder], check=True)
    return folder


pytestmark = pytest.mark.usefixtures("own_places", "where_it_was_made")


@pytest.fixture
def where_it_was_made(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made)


@pytest.fixture
def own_copy(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all that was made, for one test."""
    folder = shutil.copytree(made, tmp_path / "copy")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    return capsys


def right(said: Said, *arguments: str) -> str:
    """What a command that ends well prints."""
    said.readouterr()
    code = run_command(list(arguments))
    captured = said.readouterr()
    assert code == ExitCode.OK, captured.err
    return captured.out


def document(said: Said, *arguments: str) -> dict[str, Any]:
    """The document that a command prints."""
    value: dict[str, Any] = json.loads(right(said, *arguments, "--json"))
    return value


def kept(name: str) -> dict[str, dict[str, Any]]:
    """Trial: its `result.json`."""
    paths = Path("results", name).glob("*/result.json")
    return {path.parent.name: json.loads(path.read_text()) for path in paths}


def by_block(trial: dict[str, Any]) -> int:
    block: int = trial["result"]["block"]
    return block


def embedded(page: Path) -> dict[str, Any]:
    """The document that a page of a report shows."""
    found = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page.read_text())
    assert found is not None
    value: dict[str, Any] = json.loads(found[1])
    return value


@pytest.mark.parametrize("name", STATUSES)
def test_reports_and_exports_have_the_figures_of_the_results(name: str, said: Said) -> None:
    folder = Path("results", name)
    shown = document(said, "show", name)
    right(said, "report", name)
    before = kept(name)
    for report in (shown, embedded(folder / "report.html")):
        results = {trial["result"]["trial"]: trial["result"] for trial in report["trials"]}
        assert results.keys() == before.keys()
        assert [result["status"] for result in results.values()] == STATUSES[name]
        for trial, result in results.items():
            for check in result["checks"]:
                assert check.pop("claim") == "", "nothing was declared then"
            for operation in result["operations"]:
                assert operation.pop("requests") == [], "no operation was made of any"
            for metric in result["metrics"]:
                assert metric.pop("mark") == "", "no power was measured"
            for field in FIGURES:
                assert result[field] == before[trial][field], f"{trial}: {field}"
    assert right(said, "show", str(folder)).strip().startswith(name)
    trial = next(iter(before))
    assert trial in right(said, "show", str(folder / trial))
    assert_exported(name, said)


def assert_exported(name: str, said: Said) -> None:
    """Both files of an export have every figure of the results."""
    right(said, "export", name, "--csv", "x.csv", "--parquet", "x.parquet")
    figures = {
        (trial, metric["name"]): metric["value"]
        for trial, result in kept(name).items()
        for metric in result["metrics"]
    }
    with Path("x.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    exported = {(row["trial"], row["metric"]): float(row["value"]) for row in rows if row["value"]}
    assert figures.items() <= exported.items()
    columns = pq.read_table("x.parquet").to_pylist()
    exported = {(row["trial"], row["metric"]): row["value"] for row in columns}
    assert figures.items() <= exported.items()


def test_verdicts_are_made_anew_from_the_trials_of_then(said: Said) -> None:
    (pair,) = document(said, "show", "compare-noop")["comparisons"]
    assert (pair["verdict"], pair["n_baseline"], pair["n_candidate"]) == ("better", 5, 5)
    logs: dict[str, list[float]] = {}
    for trial in sorted(document(said, "show", "compare-noop")["trials"], key=by_block):
        (figure,) = [
            metric["value"]
            for metric in trial["result"]["metrics"]
            if metric["name"] == "operations_per_s"
        ]
        logs.setdefault(trial["result"]["variant"], []).append(log(figure))
    paired = ttest_rel(logs[pair["candidate"]], logs[pair["baseline"]])
    interval = paired.confidence_interval(0.95)
    found = [pair[figure] for figure in ("ratio", "low", "high", "p_value")]
    assert found[0] == pytest.approx(1.8510499)
    assert found[1:] == pytest.approx([exp(interval.low), exp(interval.high), paired.pvalue])
    assert "better" in right(said, "show", "compare-noop")
    few = document(said, "show", "ladder-noop")["comparisons"]
    assert {each["verdict"] for each in few} == {"too few repeats"}


def test_a_search_and_a_scaling_are_those_of_then(said: Said) -> None:
    search = document(said, "show", "search-noop")["search"]
    assert [search[each] for each in ("status", "level", "low", "high")] == ["found", 100, 100, 120]
    assert "100 operations/s is sustained" in right(said, "show", "search-noop")
    assert "Most at 4 users: 4,999 operations/s" in right(said, "show", "scale-noop")


def test_what_crashes_have_shown_is_that_of_then(said: Said) -> None:
    variants = document(said, "show", "crash-sqlite")["variants"]
    assert {each["name"]: each["unsafe"] for each in variants} == {
        "synchronous=full": [],
        "synchronous=off": ["synchronous=off"],
    }
    assert "survived 1 of 1 kill" in right(said, "show", "crash-sqlite")


def test_two_results_are_compared(said: Said) -> None:
    levels = [f"compare-noop:service_time_us={level}" for level in (400, 200)]
    pair = document(said, "compare", *levels)["comparison"]
    assert pair["verdict"] == "better"
    assert pair["ratio"] == pytest.approx(1.8510499)
    other = document(said, "compare", "ladder-noop:baseline", "scale-noop:users=1")["comparison"]
    assert other["verdict"] == "too few repeats"


@pytest.mark.usefixtures("own_copy")
def test_results_are_listed_by_the_index_of_then_by_none_and_by_a_new_one(said: Said) -> None:
    of_then = document(said, "list")["results"]
    assert {row["name"] for row in of_then} == {*STATUSES, KILLED}
    Path("results/index.sqlite").unlink()
    assert document(said, "list")["results"] == of_then
    right(said, "reindex")
    now = document(said, "list")["results"]
    assert now == of_then
    (killed,) = [row for row in now if row["name"] == KILLED]
    assert killed["trials"] == {"interrupted": 1}


@pytest.mark.usefixtures("own_copy")
@pytest.mark.parametrize("name", long_but(["compare-noop"], ["compare-noop", "crash-sqlite"]))
def test_a_trial_is_run_again_from_its_plan(name: str) -> None:
    (plan,) = Path("results", name).glob("b01-2-*/plan.json")
    ended = process("run", str(plan), "--json", "--quiet")
    # On a busy machine so short a trial may be marked, never broken.
    assert ended.returncode in {ExitCode.OK, ExitCode.INVALID_TRIAL}, ended.stderr
    (again,) = json.loads(ended.stdout)["trials"]
    assert all(check["passed"] for check in again["result"]["checks"])
    before = json.loads(plan.read_text())
    (folder,) = Path("results", f"{name}-again").glob("*/")
    now = json.loads((folder / "plan.json").read_text())
    for field in ("seed", "data_seed", "block", "workload"):
        assert now[field] == before[field]
    assert now["profile"] == now["profile"] | before["profile"]
    for field in ("engine", "server", "settings"):
        assert now["target"][field] == before["target"][field]


def test_results_without_an_open_journal_need_no_recovery(said: Said) -> None:
    assert document(said, "recover")["journals"] == []


def test_what_a_killed_run_left_is_undone(
    own_copy: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder of data is put elsewhere, for the sake of the test, with its mark."""
    journal = Path("results", KILLED, "journal.jsonl")
    made = json.loads(journal.read_text().splitlines()[-1])["data"]
    left = own_copy / "data of then"
    left.mkdir()
    (left / ".loadstone").write_text(json.dumps({"token": made["token"], "owner": KILLED}))
    (left / "loadstone.db").touch()
    journal.write_text(journal.read_text().replace(made["path"], str(left)))
    monkeypatch.setenv("LOADSTONE_STATE", str(own_copy / "state"))
    (recovered,) = document(said, "recover")["journals"]
    assert str(journal) in recovered["journal"]
    assert not left.exists()
    assert document(said, "recover")["journals"] == []
    (trial,) = document(said, "show", f"results/{KILLED}")["trials"]
    assert trial["result"]["status"] == "interrupted"


def test_each_experiment_file_is_read_and_planned(said: Said) -> None:
    """Those that are as they were are planned by tests/unit/test_cli.py."""
    files = sorted(Path("examples").glob("*.yaml"))
    assert len(files) == 34
    for file in files:
        text, today = file.read_text(), ROOT / file
        assert parse_experiment(text, file.name).experiment.name == file.stem
        if not today.exists() or today.read_text() != text:
            assert document(said, "plan", str(file))["experiment"]["name"] == file.stem
