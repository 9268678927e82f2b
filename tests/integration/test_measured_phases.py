"""A trial with several measured phases: each has its own figures, and the trial those of all."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from loadstone.cli.main import run_command
from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.observer import Observer
from loadstone.experiments.preflight.check import check_experiment
from loadstone.results.folder import read_result
from loadstone.results.record import Status, TrialResult
from loadstone.spec.model import Experiment

PHASES = [
    {"name": "100 %"},
    {"name": "50 %", "share": 0.5},
    {"name": "idle", "share": 0.0, "measure": "0.5s"},
]


def experiment(**fields: Any) -> Experiment:
    given = {
        "version": 1,
        "name": "graduated",
        "workload": {"name": "noop", "parameters": {"service_time_us": 5000}},
        "target": {"engine": "none"},
        "profile": {
            "load": "open",
            "rate_per_s": 100,
            "arrival": "uniform",
            "warm_up": "0.2s",
            "measure": "1s",
            "phases": PHASES,
        },
    }
    return Experiment.model_validate(given | fields)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of one trial."""
    options = RunOptions(results=tmp_path_factory.mktemp("phases"), command="pytest")
    return conduct(experiment(), options, Observer())


@pytest.fixture(scope="module")
def result(folder: Path) -> TrialResult:
    (found,) = [read_result(each.parent) for each in folder.glob("*/result.json")]
    return found


def test_each_phase_runs_its_share_for_its_length(result: TrialResult) -> None:
    assert result.status is not Status.FAILED, result.notices
    assert [phase.name for phase in result.measured] == ["100 %", "50 %", "idle"]
    counts = [sum(each.count for each in phase.operations) for phase in result.measured]
    assert counts == [pytest.approx(100, abs=2), pytest.approx(50, abs=2), 0]
    lengths = [phase.duration_s for phase in result.measured]
    assert lengths == pytest.approx([1.0, 1.0, 0.5], abs=0.2)
    timed = [(each.name, each.kind) for each in result.phases]
    assert timed[1:] == [(phase.name, "measure") for phase in result.measured]


def test_the_figures_of_the_trial_are_those_of_all_phases(result: TrialResult) -> None:
    count = sum(each.count for phase in result.measured for each in phase.operations)
    assert sum(each.count for each in result.operations) == count
    rate = result.metric("operations_per_s")
    length_s = sum(phase.duration_s for phase in result.measured)
    assert rate is not None
    assert rate.value == pytest.approx(count / length_s)
    assert result.steady_state is None


def test_each_phase_has_metrics_of_its_own(result: TrialResult) -> None:
    rates = {
        phase.name: next(each.value for each in phase.metrics if each.name == "operations_per_s")
        for phase in result.measured
    }
    assert rates == {
        "100 %": pytest.approx(100, rel=0.2),
        "50 %": pytest.approx(50, rel=0.2),
        "idle": 0.0,
    }
    assert "response_p99_ms" in {each.name for each in result.measured[0].metrics}
    assert "response_p99_ms" not in {each.name for each in result.measured[2].metrics}


def test_reports_and_exports_name_the_phases(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["show", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "Measured phases" in shown
    assert all(f"\n{phase['name']}" in shown for phase in PHASES)
    table = tmp_path / "figures.csv"
    assert run_command(["export", str(folder), "--csv", str(table)]) == 0
    with table.open() as file:
        values = {row["metric"]: float(row["value"]) for row in csv.DictReader(file)}
    assert values["100 % operations_per_s"] > values["50 % operations_per_s"]


def test_a_verdict_can_be_about_a_phase() -> None:
    assert check_experiment(experiment(metric="50 % operations_per_s")) == []
    (problem,) = check_experiment(experiment(metric="60 % operations_per_s"))
    assert "60 % operations_per_s" in problem.message


def test_a_search_measures_one_phase() -> None:
    (problem,) = check_experiment(experiment(design={"kind": "search"}))
    assert problem.path == ("profile", "phases")


def test_two_phases_have_two_names() -> None:
    twice = {"load": "open", "rate_per_s": 1, "phases": [{"name": "a"}, {"name": "a"}]}
    with pytest.raises(ValueError, match="two phases have the name 'a'"):
        experiment(profile=twice)
