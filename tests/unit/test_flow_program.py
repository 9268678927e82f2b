"""The program `flow` as Loadstone calls it; a script stands for it here."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from loadstone.applications.flow.program import find_flow, run_serial
from loadstone.errors import TargetError, WrongInputError

_PATIENCE_S = 20.0


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is first in PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def make_flow(folder: Path, script: str) -> None:
    path = folder / "flow"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_without_flow_one_line_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(WrongInputError, match=r"flow .* is not installed") as caught:
        find_flow()
    assert "libopm-simulators-bin" in str(caught.value.advice)


def test_its_version_is_told_with_its_place(programs: Path) -> None:
    make_flow(programs, "echo flow 2023.04")
    assert find_flow() == f"2023.04 ({programs}/flow)"


def test_another_program_of_that_name_is_refused(programs: Path) -> None:
    make_flow(programs, "echo usage: something else >&2")
    with pytest.raises(TargetError, match="it is no OPM Flow"):
        find_flow()


def test_a_serial_run_is_given_one_thread_and_no_job_of_others(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    monkeypatch.setenv("SLURM_NTASKS", "4")
    monkeypatch.setenv("PMIX_RANK", "3")
    make_flow(programs, 'echo "$@" > words; env > seen')
    run_serial(tmp_path, "CASE", tmp_path / "out")
    assert (tmp_path / "words").read_text().split() == [
        "CASE.DATA",
        f"--output-dir={tmp_path}/out",
    ]
    seen = dict(line.partition("=")[::2] for line in (tmp_path / "seen").read_text().splitlines())
    assert seen["OMP_NUM_THREADS"] == "1"
    assert seen["TZ"] == "UTC"
    assert not {"SLURM_NTASKS", "PMIX_RANK"} & seen.keys()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "echo some line; echo Error: no such keyword; echo more; exit 1",
            "Error: no such keyword",
        ),
        ("echo some line; echo the last; exit 3", "the last"),
        ("exit 4", "it said nothing"),
    ],
)
def test_a_serial_run_that_fails_says_why_in_one_line(
    programs: Path, tmp_path: Path, script: str, said: str
) -> None:
    make_flow(programs, script)
    with pytest.raises(TargetError) as caught:
        run_serial(tmp_path, "CASE", tmp_path)
    code = script.rsplit(maxsplit=1)[-1]
    assert caught.value.message == f"the serial run of CASE ended with exit code {code}: {said}"


def test_nothing_is_left_of_a_serial_run_whose_lab_was_killed(
    programs: Path, tmp_path: Path
) -> None:
    make_flow(programs, "echo $$ > own.part; mv own.part own; exec sleep 600")
    code = (
        "from pathlib import Path\n"
        "from loadstone.applications.flow.program import run_serial\n"
        "run_serial(Path(), 'CASE', Path())\n"
    )
    lab = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    own = tmp_path / "own"
    _await(own.exists)
    process = psutil.Process(int(own.read_text()))
    lab.send_signal(signal.SIGKILL)
    lab.wait()
    _await(lambda: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE)


def _await(holds: Callable[[], bool]) -> None:
    until_s = time.monotonic() + _PATIENCE_S
    while not holds():
        assert time.monotonic() < until_s
        time.sleep(0.02)
