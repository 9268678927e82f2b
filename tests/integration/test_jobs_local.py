"""Jobs as plain processes of this machine, by the commands of users: no scheduler, no root."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Done, loadstone
from lengths import LONG

from loadstone.errors import ExitCode

COMMAND = ("--param", "application=command", "--param", "poll=100ms", "--param", "sample=100ms")
ENDED = {ExitCode.OK, ExitCode.INVALID_TRIAL}
"""On a busy machine jobs may run one after the other, which marks a trial."""


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(autouse=True)
def nothing_left(own_places: Path) -> Iterator[None]:
    yield
    assert list((own_places / "state").glob("open/*.json")) == []


def run(*options: str, verb: str = "run") -> Done:
    return loadstone(verb, "jobs", "--json", "--quiet", *options)


def result_of(done: Done) -> dict[str, Any]:
    assert done.stdout, done.stderr
    (trial,) = json.loads(done.stdout)["trials"]
    found: dict[str, Any] = trial["result"]
    return found


def checks_of(result: dict[str, Any]) -> dict[str, tuple[bool, str]]:
    return {each["name"]: (each["passed"], each["detail"]) for each in result["checks"]}


def test_two_jobs_at_once_are_placed_checked_and_timed(tmp_path: Path) -> None:
    words = "head -c 100000 /dev/zero > made; sleep 1"
    done = run(
        *COMMAND, "--param", f"command={words}", "--param", "applications.command.output=made"
    )
    assert done.returncode in ENDED, done.stderr
    result = result_of(done)
    checks = checks_of(result)
    assert {name for name, (passed, _) in checks.items() if not passed} <= {"jobs ran at once"}
    told = result["jobs"]
    assert told["asked"] == len(told["jobs"]) == 2
    assert told["placement_proved"]
    metrics = {each["name"]: each["value"] for each in result["metrics"]}
    for job in told["jobs"]:
        assert job["state"] == "ended"
        assert job["run_s"] >= 1.0
        assert job["submitted_s"] <= job["arrived_s"] <= job["began_s"] < job["ended_s"]
        assert job["ended_s"] <= job["seen_s"]
        assert job["ranks"] == 1
    mean_s = sum(job["run_s"] for job in told["jobs"]) / 2
    assert metrics["throughput_per_job"] == pytest.approx(3600 / mean_s)
    assert metrics["throughput_per_job_command"] == metrics["throughput_per_job"]
    (operation,) = (each for each in result["operations"] if each["name"] == "command")
    assert operation["count"] == 2
    trial = next(tmp_path.glob("results/*/*/jobs.json"))
    assert json.loads(trial.read_text())["prefix"] in told["jobs"][0]["name"]


def test_a_job_that_fails_makes_the_trial_invalid_and_is_named() -> None:
    done = run(*COMMAND, "--param", "command=exit 3", "--param", "jobs=1")
    assert done.returncode == ExitCode.FAILED_CHECK, done.stderr
    result = result_of(done)
    assert result["status"] == "invalid"
    passed, detail = checks_of(result)["every job ended well"]
    assert not passed
    assert "exit code 3" in detail


SINGLE = """#!/bin/sh
n=$2
while [ "$1" != env ]; do shift; done
while [ "$n" -gt 0 ]; do "$@" & n=$((n - 1)); done
wait
"""
"""An mpirun that does not match: each rank is alone, and nothing says so."""


def test_an_mpi_job_that_is_single_jobs_is_invalid_though_each_ended_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shims = tmp_path / "shims"
    shims.mkdir()
    (shims / "mpirun").write_text(SINGLE)
    (shims / "mpirun").chmod(0o755)
    monkeypatch.setenv("PATH", f"{shims}:{os.environ['PATH']}")
    mpi = ("--param", "jobs=1", "--param", "ranks=2", "--param", "applications.command.mpi=true")
    done = run(*COMMAND, "--param", "command=true", *mpi, "--set", "slots=2")
    assert done.returncode == ExitCode.FAILED_CHECK, done.stderr
    checks = checks_of(result_of(done))
    assert [name for name, (passed, _) in checks.items() if not passed] == ["placement is proved"]
    assert checks["placement is proved"][1].endswith("2 ranks asked, 2 worlds of 1 rank seen")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--set", "slots=1"), "2 jobs at once take 2 slots, and the cluster has 1"),
        (("--param", "jobs=500"), "jobs"),
        (("--param", "placement=distributed"), "the cluster has one node"),
        (("--param", "deck=a.DATA"), "deck is a parameter of none of command"),
        (("--param", "applications.command.input=none.dat"), "none.dat"),
        (("--users", "3"), "decided by workload jobs"),
        (("--measure", "3s"), "jobs run to their end"),
    ],
)
def test_what_cannot_be_is_said_before_anything_begins(
    options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    done = run(*COMMAND, "--param", "command=true", *options)
    assert done.returncode in {ExitCode.WRONG_INPUT, ExitCode.INVALID_TRIAL, ExitCode.TARGET}
    assert said in done.stderr + done.stdout
    assert not list(tmp_path.glob("results/*/*/desk/*/job.json"))


@LONG
def test_a_shorter_job_is_replaced_until_the_longest_has_ended() -> None:
    mix = ("--param", "mix=command=1,pattern=1", "--param", "replace=true")
    pattern = (
        "--param",
        "applications.pattern.volume_mb=1",
        "--param",
        "applications.pattern.steady=4",
    )
    done = run(*COMMAND, "--param", "command=sleep 1", *mix, *pattern)
    assert done.returncode in ENDED, done.stderr
    result = result_of(done)
    jobs = result["jobs"]["jobs"]
    assert sum(job["application"] == "command" for job in jobs) > 1
    assert sum(job["application"] == "pattern" for job in jobs) == 1
    assert any(each["code"] == "jobs-replaced" for each in result["notices"])
    failed = {name for name, (passed, _) in checks_of(result).items() if not passed}
    assert failed <= {"jobs ran at once"}


@LONG
def test_jobs_that_arrive_are_timed_from_when_they_were_due() -> None:
    done = run(
        *(*COMMAND, "--param", "command=sleep 0.2", "--param", "jobs=2"),
        *("--rate", "1", "--arrival", "uniform", "--measure", "8s"),
    )
    assert done.returncode in ENDED, done.stderr
    result = result_of(done)
    assert result["jobs"]["asked"] == 0
    metrics = {each["name"]: each["value"] for each in result["metrics"]}
    assert metrics["response_s"] > 0.2
    assert metrics["jobs_per_h"] > 0
    assert checks_of(result)["jobs ran at once"][0]
