"""What a trial takes beside its load: measured, recorded, said in the report and by `plan`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from loadstone.cli.earlier import around_earlier
from loadstone.cli.main import run_command
from loadstone.experiments import step_clock
from loadstone.experiments.step_clock import StepClock
from loadstone.report.text import around
from loadstone.results.record import StepTime
from loadstone.spec.model import Experiment

NOOP = ["noop", "--measure", "0.2s", "--warm-up", "0s", "--param", "service_time_us=5000"]


def test_a_step_adds_up_and_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 2.0, 5.0, 5.0, 10.0, 11.5])
    monkeypatch.setattr(step_clock, "monotonic", lambda: next(times))
    clock = StepClock()
    with clock.step("machine"):
        pass
    with clock.step("nothing"):
        pass
    with pytest.raises(SystemExit), clock.step("machine"):
        raise SystemExit
    assert clock.took() == [StepTime(name="machine", seconds=3.5)]


def test_the_sentence_leaves_the_load_out() -> None:
    took = [
        StepTime(name=name, seconds=s) for name, s in (("restore", 4), ("load", 9), ("checks", 1))
    ]
    assert around(took) == "Beside its load the trial took 5 s (restore 4 s, checks 1 s)."
    assert around([]) == ""


def test_plan_tells_what_earlier_trials_on_the_same_data_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        assert run_command(list(arguments)) == 0
        return " ".join(capsys.readouterr().out.split())

    assert "is not known before the first trial" in run("plan", *NOOP)
    run("run", *NOOP, "--name", "first")
    (record,) = tmp_path.glob("results/first/*/result.json")
    took = {step["name"]: step["seconds"] for step in json.loads(record.read_text())["took"]}
    assert {"load", "measure the machine"} <= set(took)
    said = run("plan", *NOOP)
    assert "Beside its load a trial takes about" in said
    assert "as in first" in said
    document = json.loads(run("plan", *NOOP, "--json"))["around"]
    assert document["experiment"] == "first"
    assert document["seconds"] == pytest.approx(sum(took.values()) - took["load"])
    again = record.parent.with_name("again")
    shutil.copytree(record.parent, again)
    for folder, steps in ((record.parent, {"restore": 9.0, "load": 3.0}), (again, {"load": 1.0})):
        result = json.loads((folder / record.name).read_text())
        result["took"] = [{"name": name, "seconds": s} for name, s in steps.items()]
        (folder / record.name).write_text(json.dumps(result))
    on_average = json.loads(run("plan", *NOOP, "--json"))["around"]["steps_s"]
    assert on_average == {"restore": 4.5}
    other = Experiment.model_validate(
        {"name": "x", "workload": {"name": "oltp"}, "target": {"engine": "sqlite"}}
    )
    assert around_earlier(other, tmp_path / "results") is None
