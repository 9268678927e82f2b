"""A graduated trial on the toy target: its rate is found, and each level is judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loadstone.cli.main import run_command
from loadstone.errors import ExitCode
from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.observer import Observer
from loadstone.experiments.preflight.check import check_experiment
from loadstone.protocol.frames import Tick
from loadstone.results.folder import read_result
from loadstone.results.frames import CALIBRATION_FILE, parsed_frames
from loadstone.results.graduated import GraduatedRecord
from loadstone.results.record import Status, TrialResult
from loadstone.spec.model import Experiment

LEVELS = {"levels": [100, 50, 0], "delay": "100ms", "ramp": "200ms", "ramp_down": "100ms"}


def experiment(parameters: dict[str, Any], profile: dict[str, Any], **fields: Any) -> Experiment:
    given = {
        "name": "graduated",
        "workload": {"name": "noop", "parameters": parameters},
        "target": {"engine": "none"},
        "design": {"kind": "graduate"},
        "profile": {"warm_up": "200ms", **profile},
    }
    return Experiment.model_validate(given | fields)


def made(wanted: Experiment, results: Path) -> TrialResult:
    folder = conduct(wanted, RunOptions(results=results, command="pytest"), Observer())
    (found,) = [read_result(each.parent) for each in folder.glob("*/result.json")]
    return found


def record_of(result: TrialResult) -> GraduatedRecord:
    assert result.graduated is not None, result.notices
    return result.graduated


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two servers of 4 ms each can do 500 operations a second, whatever waits for them."""
    return tmp_path_factory.mktemp("graduated")


@pytest.fixture(scope="module")
def result(folder: Path) -> TrialResult:
    wanted = experiment(
        {"service_time_us": 4000, "servers": 2},
        {"sessions": 8, "graduated": {**LEVELS, "measure": "600ms", "calibrations": 2}},
    )
    return made(wanted, folder)


def test_the_rate_is_found_at_full_speed(result: TrialResult) -> None:
    record = record_of(result)
    assert record.calibrated_by == "measured"
    assert 2 <= len(record.calibrations) <= 10
    last = [each.rate_per_s for each in record.calibrations[-2:]]
    assert record.calibrated_per_s == pytest.approx(sum(last) / 2)
    assert 0 < max(last) <= 550  # a busy machine makes it less, none more


def test_each_level_has_its_part_of_the_rate(result: TrialResult) -> None:
    record = record_of(result)
    assert [level.name for level in record.levels] == ["100 %", "50 %", "active idle"]
    assert record.calibrated_per_s is not None
    targets = [level.target_per_s for level in record.levels]
    assert targets == [record.calibrated_per_s, record.calibrated_per_s / 2, 0.0]
    assert [level.steady for level in record.levels] == [False, True, True]
    assert record.levels[1].p99_s is not None
    assert record.levels[2].achieved_per_s == 0
    assert record.form == "own"


def test_without_a_meter_there_is_no_figure_of_all_levels(result: TrialResult) -> None:
    record = record_of(result)
    assert record.overall is None
    assert "no meter gave watts" in record.reason
    assert result.judged_by == "calibrated_per_s"
    assert result.metric("calibrated_per_s") is not None


def test_calibrations_are_kept_apart(result: TrialResult, folder: Path) -> None:
    (kept,) = folder.glob(f"*/*/{CALIBRATION_FILE}")
    phases = {frame.phase for frame in parsed_frames(kept) if isinstance(frame, Tick)}
    assert {"calibration 1", "calibration 2"} <= phases
    assert [phase.name for phase in result.measured] == ["100 %", "50 %", "active idle"]


def test_a_level_that_cannot_be_served_fails_and_there_is_no_figure(tmp_path: Path) -> None:
    wanted = experiment(
        {"service_time_us": 10_000, "servers": 1},
        {"rate_per_s": 200, "graduated": {**LEVELS, "levels": [100, 20], "measure": "1s"}},
    )
    result = made(wanted, tmp_path)
    record = record_of(result)
    assert result.status is Status.INVALID
    assert [level.holds for level in record.levels] == [False, True]
    (reason,) = record.levels[0].reasons
    assert "of what became due was achieved" in reason
    assert "100 % does not hold" in record.reason
    assert "level-failed" in {notice.code for notice in result.notices}
    assert record.calibrated_by == "given"


def test_users_who_think_are_fractions_of_users(tmp_path: Path) -> None:
    wanted = experiment(
        {"service_time_us": 100},
        {
            "users": 20,
            "think_time": "100ms",
            "graduated": {**LEVELS, "measure": "600ms"},
        },
    )
    result = made(wanted, tmp_path)
    record = record_of(result)
    assert [level.users for level in record.levels] == [20, 10, 0]
    assert record.over == "users"
    assert record.calibrated_per_s is None


@pytest.mark.parametrize(("workload", "engine"), [("dss", "duckdb"), ("archive", "postgresql")])
def test_a_load_that_has_no_rate_is_refused(workload: str, engine: str) -> None:
    fields = {"workload": {"name": workload}, "target": {"engine": engine}}
    wanted = experiment({}, {}, **fields)
    (problem,) = check_experiment(wanted)
    assert problem.path == ("profile", "graduated")
    assert f"the load of {workload} is not a rate or users" in problem.message


def test_levels_that_are_no_percent_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["graduate", "noop", "--levels", "100,half"]) == ExitCode.WRONG_INPUT
    assert "--levels '100,half': the levels of a load are percent" in capsys.readouterr().err


def test_its_command_takes_the_length_of_a_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = "graduate noop --rate 50 --levels 100% --measure 300ms --warm-up 0s"
    ended = run_command(words.split())
    assert ended in (ExitCode.OK, ExitCode.INVALID_TRIAL)  # a busy machine may not hold the level
    (path,) = Path("results").glob("*/*/result.json")
    record = record_of(read_result(path.parent))
    assert [level.duration_s for level in record.levels] == [0.3]
    assert capsys.readouterr().out
