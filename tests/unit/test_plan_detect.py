"""`loadstone plan --detect`: its advice from earlier results, what it says without, refusals."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import loadstone
from sample_results import Sample, compare, write_results

from loadstone.cli.detection import Detection, detection_lines, detection_of, pilot_command
from loadstone.errors import ExitCode
from loadstone.experiments.file import load_experiment, write_experiment
from loadstone.spec.model import Experiment
from loadstone.spec.profile import ProfileSpec

NOOP = [
    *("noop", "--users", "2", "--param", "distribution=exponential"),
    *("--measure", "0.2s", "--warm-up", "0s"),
]
PLANNED = compare(repeats=9).model_copy(
    update={"profile": ProfileSpec(users=8, warm_up="0s", measure="8s")}
)
PAIR = [*NOOP, "--factor", "service_time_us", "--levels", "500,500"]


pytestmark = pytest.mark.usefixtures("own_places")


def told_as_written(*words: str, code: ExitCode = ExitCode.OK) -> str:
    """What is said to a command."""
    done = loadstone(*words)
    assert done.returncode == code, done.stderr
    return done.stdout if code is ExitCode.OK else done.stderr


def told(*words: str, code: ExitCode = ExitCode.OK) -> str:
    """The same, as one line."""
    return " ".join(told_as_written(*words, code=code).split())


def document(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told("plan", *words, "--json"))["detection"]
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of `PLANNED` as they lie there once it has been made here, 12 s beside each trial."""
    folder = write_results(tmp_path_factory.mktemp("made"), PLANNED, Sample())
    for trial in folder.glob("*/result.json"):
        record = json.loads(trial.read_text())
        record["took"] = [
            {"name": "load the data", "seconds": 500.0},
            {"name": "restore", "seconds": 7.0},
            {"name": "load", "seconds": 13.0},
        ]
        trial.write_text(json.dumps(record))
        inventory = trial.with_name("inventory.json")
        told_of = json.loads(inventory.read_text())
        told_of["host"]["name"] = socket.gethostname()
        inventory.write_text(json.dumps(told_of))
    return folder


def again(made: Path, results: Path, experiment: Experiment) -> Path:
    """The same trials as another experiment."""
    folder = results / experiment.name
    shutil.copytree(made, folder)
    (folder / "experiment.json").write_text(experiment.model_dump_json())
    return folder


def detecting(percent: float = 2.0, **other: Any) -> Experiment:
    return PLANNED.model_copy(update={"detect": percent, **other})


def answer(experiment: Experiment, results: Path) -> Detection:
    found = detection_of(experiment, results, unsafe=False)
    assert found is not None
    return found


@pytest.mark.long
def test_the_command_of_the_pilot_then_tells_what_the_plan_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["loadstone", "plan", *PAIR, "--detect", "5%"])
    said = told("plan", *PAIR, "--detect", "5%")
    assert "What finds a change of 5% is not known" in said
    command = said.partition("Run first: ")[2]
    assert command.endswith("--repeats 9 --name noop-compare-pilot")
    words = shlex.split(command)[1:]
    words[words.index("9")] = "3"  # as much as a test has time for
    told(*words)
    said = told("plan", *PAIR, "--detect", "5%", "--repeats", "6")
    assert "To find a change of 5% in operations, in 80 of 100 experiments:" in said
    assert "upper 80 % limits, because so few trials tell no more" in said
    assert re.search(
        r"Beside what it measures a trial takes about .*, as in noop-compare-pilot", said
    )
    found = document(*PAIR, "--detect", "5%", "--repeats", "6")
    assert found["earlier"]["experiments"] == ["noop-compare-pilot"]
    assert found["earlier"]["scatter"]["freedom"] in (1, 2), "a busy machine may disturb one"
    assert found["present"]["repeats"] == 6 and found["present"]["trials"] == 12
    assert 0 < found["present"]["power"] <= 1
    assert found["cheapest"] is None or found["cheapest"]["repeats"] >= 4
    longer = [word.replace("0.2s", "0.4s") for word in PAIR]
    assert document(*longer, "--detect", "5%")["earlier"] is None, "a tick tells nothing of it"


def test_the_advice_is_made_of_scatter_and_cost(made: Path) -> None:
    found = answer(detecting(), made.parent)
    assert found.earlier is not None
    assert found.cheapest is not None and found.present is not None
    assert found.earlier.beside_s == pytest.approx(12.0)
    assert found.earlier.scatter.freedom == 8 and not found.earlier.scatter.is_limit
    assert found.cheapest.power >= 0.8
    assert found.cheapest.finds_percent is not None and found.cheapest.finds_percent <= 2.0
    assert found.cheapest.trials == 2 * found.cheapest.repeats
    assert found.cheapest.duration_s == found.cheapest.trials * (12 + found.cheapest.measured_s)
    lines = " ".join(detection_lines(found))
    assert f"Cheapest: repeats: {found.cheapest.repeats}, measure: " in lines
    assert "As it is (repeats: 9, measure: 8s; about 6min), it finds " in lines


def test_only_results_of_the_same_experiment_on_this_machine_count(
    made: Path, tmp_path: Path
) -> None:
    changes: dict[str, dict[str, Any]] = {
        "load": {"profile": PLANNED.profile.model_copy(update={"users": 9})},
        "levels": {"design": PLANNED.design.model_copy(update={"levels": ["128MB", "2GB"]})},
        "settings": {"target": PLANNED.target.model_copy(update={"settings": {}})},
    }
    for name, change in changes.items():
        again(made, tmp_path, PLANNED.model_copy(update={"name": name, **change}))
    elsewhere = again(made, tmp_path, PLANNED.model_copy(update={"name": "elsewhere"}))
    for inventory in elsewhere.glob("*/inventory.json"):
        inventory.write_text(inventory.read_text().replace(socket.gethostname(), "another"))
    assert answer(detecting(), tmp_path).earlier is None
    again(made, tmp_path, PLANNED.model_copy(update={"name": "first"}))
    longer = {"profile": PLANNED.profile.model_copy(update={"measure": 30.0}), "seed": 7}
    again(made, tmp_path, PLANNED.model_copy(update={"name": "second", **longer}))
    found = answer(detecting(), tmp_path).earlier
    assert found is not None
    assert sorted(found.experiments) == ["first", "second"]
    assert found.scatter.freedom == 16


@pytest.mark.parametrize("metric", ["new-order p95", "transactions_per_s"])
def test_ticks_tell_of_rates_and_of_percentiles(made: Path, metric: str) -> None:
    found = answer(detecting(metric=metric), made.parent).earlier
    assert found is not None and found.scatter.within_trial is not None


def test_a_figure_that_is_the_same_in_all_trials_is_told(made: Path) -> None:
    found = answer(detecting(metric="driver_cpu_us"), made.parent)
    assert "do not differ at all in driver CPU per transaction" in " ".join(detection_lines(found))


def test_a_change_that_no_repeats_find_is_told(made: Path) -> None:
    lines = " ".join(detection_lines(answer(detecting(0.01, repeats=2), made.parent)))
    assert "Not even 40 repeats find it" in lines
    assert "it finds none, however large" in lines


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--detect", "five%"], "'five%' is not a percentage"),
        (["--detect", "0%"], "should be greater than 0"),
        (["--detect", "nan%"], "'nan%' is not a percentage"),
        (["--detect", "2000%"], "should be less than or equal to 1000"),
    ],
)
def test_a_change_that_is_none_is_refused(words: list[str], said: str) -> None:
    assert said in told("plan", *PAIR, *words, code=ExitCode.WRONG_INPUT)


@pytest.mark.parametrize("design", [[], ["--over", "users", "--levels", "1,2"], ["--from", "8"]])
def test_where_nothing_is_compared_no_change_is_found(design: list[str]) -> None:
    words = [word for word in NOOP if word not in ("--users", "2")]
    said = told("plan", *words, *design, "--detect", "5%", code=ExitCode.WRONG_INPUT)
    assert "compares nothing, so it finds no change" in said


def test_a_file_says_it_too(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(
        told_as_written("plan", *PAIR, "--detect", "2.5%", "--as-file")
    )
    written = load_experiment(tmp_path / "x.yaml").experiment
    assert written.detect == 2.5
    assert "detect: 2.5%" in write_experiment(written)
    assert Experiment.model_validate_json(written.model_dump_json()) == written
    assert "What finds a change of 2.5% is not known" in told("plan", "x.yaml")


def test_the_pilot_keeps_what_was_typed_but_its_own_options() -> None:
    words = shlex.split("x.yaml --detect=5% --repeats 3 --json --set a=b --name y --detect 5%")
    assert pilot_command(words, "ladder", 4, "z-pilot") == (
        "loadstone ladder x.yaml --set a=b --repeats 4 --name z-pilot"
    )
