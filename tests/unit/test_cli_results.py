"""The verbs that look at results, on results that were made up."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from sample_results import Sample, ladder, write_results

from loadstone.cli.main import run_command
from loadstone.errors import ExitCode


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with an index beside it; each test has a copy."""
    folder = write_results(
        tmp_path_factory.mktemp("indexed"), ladder(repeats=2), Sample(tick_s=5.0)
    )
    assert run_command(["reindex", "--results", str(folder.parent)]) == ExitCode.OK
    return folder


@pytest.fixture(autouse=True)
def results(indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(indexed.parent, tmp_path / "results")
    return tmp_path / "results" / indexed.name


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    capsys.readouterr()
    return capsys


def test_results_are_listed(results: Path, said: pytest.CaptureFixture[str]):
    assert run_command(["list"]) == ExitCode.OK
    assert results.name in said.readouterr().out
    assert run_command(["list", "--workload", "noop", "--json"]) == ExitCode.OK
    assert json.loads(said.readouterr().out)["results"] == []


def test_a_result_is_found_by_name_beginning_trial_and_path(
    results: Path, said: pytest.CaptureFixture[str]
):
    trial = next(path for path in sorted(results.iterdir()) if path.is_dir())
    for reference in (results.name, results.name[:-2], str(results)):
        assert run_command(["show", reference, "--json"]) == ExitCode.OK
        assert json.loads(said.readouterr().out)["name"] == results.name
    for reference in (f"{results.name}/{trial.name}", str(trial)):
        assert run_command(["show", reference, "--json"]) == ExitCode.OK
        assert json.loads(said.readouterr().out)["trial"] == trial.name
        assert run_command(["show", reference]) == ExitCode.OK
        assert trial.name in said.readouterr().out


def test_a_path_needs_no_index_and_none_is_made(
    results: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    trial = next(path for path in sorted(results.iterdir()) if path.is_dir())
    monkeypatch.chdir("/")
    assert run_command(["show", str(trial), "--results", str(tmp_path / "none")]) == ExitCode.OK
    assert not list(tmp_path.rglob(f"{results.name}/index.sqlite"))


def test_a_name_that_is_nearly_right_is_answered(results: Path, said: pytest.CaptureFixture[str]):
    assert run_command(["show", results.name + "x"]) == ExitCode.WRONG_INPUT
    captured = said.readouterr()
    assert captured.out == ""
    assert f"did you mean {results.name}?" in captured.err


def test_the_report_and_the_exports_are_files(results: Path, said: pytest.CaptureFixture[str]):
    assert run_command(["export", results.name, "--csv", "x.csv", "--json"]) == ExitCode.OK
    rows = json.loads(said.readouterr().out)["rows"]
    assert len(Path("x.csv").read_text().splitlines()) == len(rows) + 1


def test_two_variants_of_a_result_are_compared(results: Path, said: pytest.CaptureFixture[str]):
    names = [each["name"] for each in json.loads((results / "design.json").read_text())["variants"]]
    pair = [f"{results.name}:{name}" for name in names[:2]]
    assert run_command(["compare", *pair, "--json"]) == ExitCode.OK
    document = json.loads(said.readouterr().out)
    assert [document["comparison"][side] for side in ("baseline", "candidate")] == pair
    assert document["comparison"]["role"] == "pair"
    assert "not-interleaved" not in {notice["code"] for notice in document["notices"]}
    assert run_command(["compare", *pair]) == ExitCode.OK
    assert document["comparison"]["verdict"] in said.readouterr().out


def test_a_result_of_several_variants_asks_for_one(results: Path, said: pytest.CaptureFixture[str]):
    assert run_command(["compare", results.name, results.name]) == ExitCode.WRONG_INPUT
    assert f"'{results.name}:baseline'" in said.readouterr().err
    wrong = f"{results.name}:baselin"
    assert run_command(["compare", wrong, wrong]) == ExitCode.WRONG_INPUT
    assert "did you mean 'baseline'?" in said.readouterr().err
