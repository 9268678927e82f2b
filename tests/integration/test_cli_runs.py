"""The verbs that run, with the real driver and the workload that needs no server."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest
from command_line import process, start

from loadstone.errors import ExitCode
from loadstone.results.frames import read_frames

SHORT = ["--measure", "500ms", "--warm-up", "100ms", "--param", "service_time_us=200"]


pytestmark = pytest.mark.usefixtures("own_places")


def test_a_run_is_answered_kept_listed_shown_exported_and_made_again():
    code, out, err = process("run", "noop", "--users", "2", *SHORT, "--repeats", "2", "--json")
    assert code == ExitCode.OK, err
    document = json.loads(out)
    assert document["name"] == "noop-run"
    assert len(document["trials"]) == 2
    assert err.count("b0") >= 2

    code, out, _ = process("list", "--json")
    assert [row["name"] for row in json.loads(out)["results"]] == ["noop-run"]

    trial = document["trials"][0]["result"]["trial"]
    code, out, _ = process("show", f"noop-run/{trial}", "--json")
    shown = json.loads(out)
    assert (code, shown["trial"]) == (0, trial)
    code, out, _ = process("show", "noop-r")
    assert (code, "noop-run" in out) == (0, True)

    code, out, err = process("export", "noop-run", "--csv", "x.csv", "--parquet", "x.parquet")
    assert (code, out) == (0, "")
    assert Path("x.csv").read_text().startswith("experiment,trial,")
    assert Path("x.parquet").read_bytes().startswith(b"PAR1")

    plan = Path("results") / "noop-run" / trial / "plan.json"
    code, out, err = process("run", str(plan), "--json", "--quiet")
    assert code == ExitCode.OK, err
    again = json.loads((Path("results/noop-run-again") / trial / "plan.json").read_text())
    before = json.loads(plan.read_text())
    for field in ("seed", "data_seed", "block", "workload", "target", "profile"):
        assert again[field] == before[field]


def test_a_comparison_of_two_results_names_what_differs():
    for name, users in (("monday", "1"), ("tuesday", "2")):
        code, _, err = process("run", "noop", "--users", users, *SHORT, "--name", name)
        assert code == ExitCode.OK, err
    code, out, err = process("compare", "monday", "tuesday", "--json")
    document = json.loads(out)
    assert document["comparison"]["verdict"] == "too few repeats"
    assert "profile.users: 1 against 2" in document["comparison"]["differences"]
    assert document["notices"][0]["code"] == "not-interleaved"
    code, out, _ = process("compare", "monday", "tuesday")
    assert "too few repeats" in out


def test_a_ladder_that_keeps_what_is_better_builds_on_it():
    rungs = ["--rung", "quick:service_time_us=100", "--rung", "useless:sigma=0.4"]
    options = ["--users", "1", "--measure", "300ms", "--warm-up", "50ms", "--repeats", "4"]
    base = ["--param", "service_time_us=2000", "--confidence", "0.9"]
    Path("x.yaml").write_text(
        plan_as_file("noop", *rungs, *options, *base, "--keep", "better")
        + "disturbance: 1000\n"  # other programs of this machine are no business of this test
    )
    code, out, err = process("ladder", "x.yaml", "--json")
    assert code == ExitCode.OK, err
    variants = {each["name"]: each for each in json.loads(out)["variants"]}
    assert variants["quick"]["kept"] is True
    assert variants["useless"]["previous"] == "quick"


def plan_as_file(*arguments: str) -> str:
    code, out, err = process("plan", *arguments, "--as-file")
    assert code == ExitCode.OK, err
    return out


def test_an_invalid_trial_has_an_exit_code_of_its_own():
    """Nothing but errors: no operation ends well, so the check of the work done fails."""
    errors = ["--param", "error_rate=1.0", "--param", "error_class=XX000"]
    code, _, err = process("run", "noop", *SHORT, *errors)
    assert code == ExitCode.FAILED_CHECK, err


def measured(frames: Path) -> bool:
    """Whether a tick with operations of the measured phase was written."""
    ticks = [frame for frame in read_frames(frames) if frame["frame"] == "tick"]
    return any(tick["phase"] == "measure" and tick["operations"] for tick in ticks)


def test_ctrl_c_keeps_what_was_measured_and_puts_everything_back():
    options = ["--users", "1", "--warm-up", "0", "--measure", "1h", "--name", "stopped"]
    started = start("run", "noop", *options)
    frames = Path("results/stopped/b01-1-baseline/frames.jsonl.zst")
    while started.poll() is None and not measured(frames):
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=60)
    assert started.returncode == ExitCode.INTERRUPTED, err
    assert "interrupted; what was measured is kept in" in err
    result = json.loads(frames.with_name("result.json").read_text())
    assert result["status"] == "interrupted"
    assert result["operations"]
    code, _, err = process("recover")
    assert (code, "nothing to recover" in err) == (0, True)
