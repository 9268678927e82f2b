"""A controller of an existing Slurm that hangs for good: all commands end, `recover` cleans up."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from lengths import LONG
from session import Session, until
from slurm_by_hand import PARTITION, SlurmByHand, slurm_by_hand

from loadstone.errors import ExitCode

_WORDS = (
    *("run", "jobs", "--target", "slurm", "--server", f"slurm://{PARTITION}"),
    *("--param", "application=command", "--param", "poll=100ms", "--set", "call_timeout_s=2"),
)


@pytest.fixture(scope="module")
def hanging() -> Iterator[SlurmByHand]:
    with slurm_by_hand() as found:
        yield found


@pytest.fixture
def slurm(hanging: SlurmByHand) -> Iterator[SlurmByHand]:
    yield hanging
    hanging.signal("slurmctld", signal.SIGCONT)


@pytest.fixture
def user(slurm: SlurmByHand, tmp_path: Path) -> Iterator[Session]:
    folder = tmp_path / "user"
    folder.mkdir()
    with Session(folder) as found:
        found.environment["SLURM_CONF"] = str(slurm.conf)
        yield found
        slurm.signal("slurmctld", signal.SIGCONT)


@LONG
def test_nothing_is_begun_where_the_controller_does_not_answer(
    slurm: SlurmByHand, user: Session
) -> None:
    slurm.signal("slurmctld", signal.SIGSTOP)
    done = user.run(*_WORDS, "--param", "command=true", "--quiet")
    assert done.returncode == ExitCode.TARGET
    lines = done.stderr.strip().splitlines()
    assert "sinfo did not answer within 2 s" in lines[0]
    assert len(lines) <= 2, done.stderr
    assert not list(user.results.glob("jobs*"))


def _submitted(user: Session, _slurm: SlurmByHand) -> bool:
    """The first of several jobs is being submitted."""
    return bool(list(user.results.glob("*/*/desk/submissions.jsonl")))


def _running(_user: Session, slurm: SlurmByHand) -> bool:
    """All jobs run."""
    return slurm.run("squeue", "--noheader", "--format=%T").split() == ["RUNNING"] * 4


@LONG
@pytest.mark.parametrize("moment", [_submitted, _running])
def test_a_trial_ends_though_the_controller_never_answers_again(
    slurm: SlurmByHand, user: Session, moment: Callable[[Session, SlurmByHand], bool]
) -> None:
    """Jobs that run end by themselves; what else was submitted is cancelled by `recover` later."""
    process = user.start(*_WORDS, "--param", "command=sleep 4", "--param", "jobs=4", "--quiet")
    until("the moment", lambda: moment(user, slurm))
    slurm.signal("slurmctld", signal.SIGSTOP)
    _, err = process.communicate(timeout=300)
    assert process.returncode == ExitCode.TARGET, err
    assert "could not be cancelled: squeue did not answer within 2 s" in err
    assert err.strip().endswith("then: loadstone recover")
    assert len(err.strip().splitlines()) == 2, err
    assert user.result()["status"] == "failed"

    hung = user.run("recover")
    assert hung.returncode == ExitCode.TARGET
    assert "squeue did not answer within 2 s" in hung.stderr + hung.stdout
    assert list((user.folder / "state").glob("open/*.json"))

    slurm.signal("slurmctld", signal.SIGCONT)
    recovered = user.run("recover")
    assert recovered.returncode == ExitCode.OK, recovered.stderr
    assert slurm.run("squeue", "--noheader") == ""
    until("an end of all that the jobs started", lambda: not _at_work(user.folder))
    user.assert_nothing_left()


def _at_work(folder: Path) -> list[str]:
    """Working folders of processes, below a folder; of one that was removed, too."""
    found = (process.info["cwd"] or "" for process in psutil.process_iter(["cwd"]))
    return [each for each in found if each.startswith(str(folder))]
