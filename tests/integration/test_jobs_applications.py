"""Applications as jobs of a user, from the command line to the checks of a trial."""

from __future__ import annotations

import json
import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from command_line import Done, loadstone

from loadstone.applications.command import OUTPUT
from loadstone.applications.flow.application import RESULT
from loadstone.applications.pattern import COMPLETE, Pattern
from loadstone.errors import ExitCode

FLOW = pytest.mark.skipif(
    shutil.which("flow") is None or find_spec("resfo") is None,
    reason="libopm-simulators-bin or the package resfo is missing",
)
ENDED = {ExitCode.OK, ExitCode.INVALID_TRIAL}
"""On a busy machine jobs may run one after the other, which marks a trial."""


pytestmark = pytest.mark.usefixtures("own_places", "own_cache")


def run(**parameters: Any) -> Done:
    given = {"poll": "100ms", "sample": "100ms", **parameters}
    words = [f"--param={name}={value}" for name, value in given.items()]
    return loadstone("run", "jobs", "--json", "--quiet", *words)


def checks(done: Done) -> dict[str, tuple[bool, str]]:
    (trial,) = json.loads(done.stdout)["trials"]
    found = trial["result"]["checks"]
    return {each["name"]: (each["passed"], each["detail"]) for each in found}


def test_pattern_jobs_move_their_bytes_and_say_how_fast() -> None:
    given = {"applications.pattern.volume_mb": 2, "applications.pattern.steady": 0.3}
    done = run(application="pattern", **given)
    assert done.returncode in ENDED, done.stderr
    found = checks(done)
    assert all(found[name][0] for name in Pattern.claims)
    assert "read at" in found[COMPLETE][1]
    (trial,) = json.loads(done.stdout)["trials"]
    assert all(job["written_mib"] >= 1.9 for job in trial["result"]["jobs"]["jobs"])


def test_a_sum_that_is_not_met_fails_the_trial() -> None:
    given = {"applications.command.output": "out", "applications.command.sha256": "ab" * 32}
    done = run(application="command", command="echo a > out", jobs=1, **given)
    assert done.returncode == ExitCode.FAILED_CHECK, done.stderr
    passed, detail = checks(done)[OUTPUT]
    assert not passed
    assert "has the SHA-256" in detail


@FLOW
def test_a_changed_porosity_fails_the_trial() -> None:
    given = {
        "applications.flow.size": "8x8x3",
        "applications.flow.report_steps": 4,
        "applications.flow.fault": "porosity",
    }
    done = run(application="flow", jobs=1, **given)
    assert done.returncode == ExitCode.FAILED_CHECK, done.stderr
    failed = {name: detail for name, (passed, detail) in checks(done).items() if not passed}
    assert list(failed) == [RESULT]
    assert "the serial run has" in failed[RESULT]


@pytest.mark.parametrize(
    ("missing", "said", "package"),
    [
        ("flow", "the program flow (OPM Flow) is not installed", "libopm-simulators-bin"),
        ("mpirun", "command with 2 ranks needs mpirun", "openmpi-bin"),
    ],
)
def test_a_program_that_is_not_installed_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, said: str, package: str
) -> None:
    """The programs of the system, without that one."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for path in Path(folder).glob("*"):
            if path.name != missing and not (programs / path.name).exists():
                (programs / path.name).symlink_to(path)
    monkeypatch.setenv("PATH", str(programs))
    command = {"application": "command", "command": "true", "applications.command.mpi": "true"}
    given = {"application": "flow"} if missing == "flow" else command
    done = run(jobs=1, ranks=2, **given)
    assert done.returncode == ExitCode.WRONG_INPUT, done.stderr
    assert said in done.stderr
    assert package in done.stderr
    assert not (tmp_path / "results").exists()
