"""Runs on a Slurm that was there before: what its user is told, and that each job ran once."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Done, loadstone
from lengths import LONG
from meeting import met
from packages import do_without
from session import Session, until
from sleepers import asleep, nap
from slurm_by_hand import PARTITION, SlurmByHand, slurm_by_hand
from slurm_by_hand import missing as slurm_by_hand_missing

import loadstone as package
from loadstone.errors import ExitCode
from loadstone.host.processes import matching
from loadstone.placements.account import Account, server_account
from loadstone.targets.slurm.daemons import missing

WHOLE = "whole"
"""A partition that gives each job whole nodes."""
_PACKAGES = (str(Path(package.__file__).parent.parent), sysconfig.get_path("purelib"))
_JOBS = ("--param", "application=command", "--param", "poll=100ms", "--param", "sample=100ms")


@pytest.fixture(scope="module")
def slurm() -> Iterator[SlurmByHand]:
    second = f"PartitionName={WHOLE} Nodes=n1,n2 State=UP OverSubscribe=EXCLUSIVE"
    with slurm_by_hand(partition=f"\n{second}") as found:
        yield found


pytestmark = pytest.mark.usefixtures("own_places", "own_cache")


@pytest.fixture(autouse=True)
def configuration(slurm: SlurmByHand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_CONF", str(slurm.conf))


def _words(*options: str, partition: str = PARTITION) -> list[str]:
    server = f"slurm://{partition}"
    return ["run", "jobs", "--target", "slurm", "--server", server, *_JOBS, *options]


def _run(*options: str, partition: str = PARTITION) -> Done:
    return loadstone(*_words(*options, partition=partition), "--json", "--quiet")


def _result(done: Done) -> dict[str, Any]:
    assert done.stdout, done.stderr
    (trial,) = json.loads(done.stdout)["trials"]
    found: dict[str, Any] = trial["result"]
    return found


def test_jobs_run_at_once_and_the_variables_of_a_job_around_steer_nothing(
    slurm: SlurmByHand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 9: Loadstone is started from within a job of somebody else's."""
    mine = {
        "SLURM_CPU_BIND": "quiet,mask_cpu:0x1",
        "SLURM_CPUS_PER_TASK": "2",
        "SLURM_NTASKS": "1",
        "SLURM_JOB_ID": "9",
        "SBATCH_TIMELIMIT": "0:05",
        "SBATCH_EXCLUSIVE": "1",
    }
    for name, value in mine.items():
        monkeypatch.setenv(name, value)
    done = _run("--param", f"command={met(tmp_path / 'met', 4)}", "--param", "jobs=4")
    told = _result(done)["jobs"]
    assert (told["asked"], told["at_once"], told["reached"]) == (4, 4, True), done.stderr
    assert told["placement_proved"]
    names = sorted(job["name"] for job in told["jobs"])
    prefix = names[0].partition("-")[0]
    until("the completion log", lambda: slurm.completed(prefix) == names)
    inventory = next(tmp_path.glob("results/*/*/inventory.json")).read_text()
    assert all(name in inventory for name in mine)


def test_a_load_that_was_not_reached_is_said_with_the_reason_of_slurm(tmp_path: Path) -> None:
    """Case 2: a job of one rank gets a whole node."""
    done = _run(
        *("--param", f"command={met(tmp_path / 'met', 2)}"),
        *("--param", "jobs=3", "--param", "gate_timeout=4s"),
        partition=WHOLE,
    )
    result = _result(done)
    told = result["jobs"]
    assert (told["asked"], told["at_once"], told["reached"]) == (3, 2, False), done.stderr
    assert told["reason"] == "Resources"
    assert "3 asked, 2 ran at a time (reason: Resources)" in json.dumps(result["notices"])


@pytest.mark.parametrize(
    ("server", "said"),
    [("slurm://nights", "partition nights"), ("slurm://a/b", "cannot be read")],
)
def test_an_address_of_nothing_is_one_line_before_anything_is_begun(
    server: str, said: str, tmp_path: Path
) -> None:
    words = ("run", "jobs", "--target", "slurm", "--server", server, *_JOBS)
    command = ("--param", "command=true")
    done = loadstone(*words, *command)
    assert done.returncode in {ExitCode.TARGET, ExitCode.WRONG_INPUT}
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("results/jobs*/*"))


@LONG
def test_an_ordinary_user_gets_the_table() -> None:
    """Daemons, lab and jobs are of one account, and none of it is root's.

    Case 9: from within a job of his own all is as from a clean shell.
    """
    if reason := slurm_by_hand_missing():
        do_without(reason)
    account = server_account("nobody")
    python = _python_for(account)
    folder = Path(tempfile.mkdtemp(prefix="user-"))
    account.own(folder)
    options = account.process_options()
    options["env"] |= {"PYTHONPATH": os.pathsep.join(_PACKAGES), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [python, str(Path(__file__).with_name("slurm_user.py")), str(folder)],
            **options,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    finally:
        shutil.rmtree(folder)
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)
    assert told["uid"] == account.uid != 0
    jobs = [line for line in told["states"] if line.split()[1].startswith("ls")]
    assert {(line.split()[0], line.split()[2]) for line in jobs} == {
        (str(account.uid), "COMPLETED")
    }
    assert len(jobs) == 4
    found = {}
    for shell, run in told["runs"].items():
        assert run["out"], run["err"]
        (trial,) = json.loads(run["out"])["trials"]
        result = trial["result"]
        at_once = result["jobs"]["at_once"], result["jobs"]["placement_proved"]
        found[shell] = result["status"], at_once, run["masks"]
        (removed,) = run["removed"]
        assert ("SLURM_JOB_ID" in removed) == (shell == "salloc")
        assert "SLURM_CONF" not in removed
    assert found["clean"] == found["salloc"]
    assert found["clean"][1:] == ((2, True), [1, 1])


def _python_for(account: Account) -> str:
    """An interpreter that the account may run, and that has what Loadstone needs."""
    options = account.process_options()
    options["env"]["PYTHONPATH"] = os.pathsep.join(_PACKAGES)
    for python in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            words = [python, "-c", "import loadstone.cli.main, pytest, psutil, pydantic_core"]
            if (
                subprocess.run(
                    words, **options, cwd="/", capture_output=True, check=False
                ).returncode
                == 0
            ):
                return python
    pytest.skip("an ordinary user may run no interpreter that has Loadstone's packages")


@LONG
def test_jobs_that_were_taken_although_sbatch_failed_run_once(
    slurm: SlurmByHand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 8: the second sbatch says that it timed out, the third never comes back."""
    said = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"
    at = slurm.shim(
        "sbatch",
        'echo >> "$calls"\n'
        'case $(wc -l < "$calls") in\n'
        f'2) real "$@" > /dev/null; echo "{said}" >&2; exit 1;;\n'
        '3) real "$@" > /dev/null; sleep 600;;\n'
        '*) real "$@";;\n'
        "esac\n",
    )
    monkeypatch.setenv("PATH", os.pathsep.join([at, os.environ["PATH"]]))
    command = f"command={met(tmp_path / 'met', 4)}"
    options = ("--param", command, "--param", "jobs=4", "--set", "call_timeout_s=5")
    told = _result(_run(*options))["jobs"]
    assert [job["state"] for job in told["jobs"]] == ["ended"] * 4
    assert told["reached"]
    names = sorted(job["name"] for job in told["jobs"])
    prefix = names[0].partition("-")[0]
    until("the completion log", lambda: slurm.completed(prefix) == names)


@LONG
def test_a_node_that_dies_under_load_fails_its_jobs_and_no_others(tmp_path: Path) -> None:
    if reason := missing(accounting=False):
        do_without(reason)
    settings = ("nodes=2", "slots=1", "node_timeout_s=5")
    words = ["run", "jobs", "--target", "slurm", *_JOBS, "--param", "jobs=2"]
    words += [word for each in settings for word in ("--set", each)]
    folder = tmp_path / "user"
    folder.mkdir()
    with Session(folder) as user:
        process = user.start(*words, "--param", f"command=sleep {nap(15)}", "--json")
        until("two ranks", lambda: len(asleep(nap(15))) == 2)
        text = next(folder.glob("results/*/journal.jsonl")).read_text()
        entries = [json.loads(line) for line in text.splitlines()]
        (mark,) = {each["data"]["mark"] for each in entries if "the node n2" in str(each)}
        for holder in matching(lambda line: mark in line):
            holder.kill()
        out, err = process.communicate(timeout=300)
        assert process.returncode == ExitCode.FAILED_CHECK, err
        (trial,) = json.loads(out)["trials"]
        jobs = trial["result"]["jobs"]["jobs"]
        assert sorted(job["state"] for job in jobs) == ["ended", "node-failed"]
        assert not matching(lambda line: mark in line)
        user.assert_nothing_left()


@LONG
def test_after_a_kill_recover_cancels_also_the_job_of_an_sbatch_that_hung(
    slurm: SlurmByHand, tmp_path: Path
) -> None:
    """Case 8: nobody but Slurm knows of the second job when Loadstone is killed."""
    at = slurm.shim(
        "sbatch",
        'echo >> "$calls"\n'
        'if [ $(wc -l < "$calls") = 2 ]; then real "$@" > /dev/null; exec sleep 600; fi\n'
        'real "$@"\n',
    )
    folder = tmp_path / "user"
    folder.mkdir()
    with Session(folder) as user:
        user.environment["PATH"] = os.pathsep.join([at, os.environ["PATH"]])
        process = user.start(*_words("--param", "command=sleep 600", "--param", "jobs=2"))
        until("two jobs", lambda: len(slurm.run("squeue", "--noheader").splitlines()) == 2)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        recovered = user.run("recover")
        assert recovered.returncode == 0, recovered.stderr
        assert slurm.run("squeue", "--noheader") == ""
        assert list((folder / "state").glob("open/*.json")) == []
