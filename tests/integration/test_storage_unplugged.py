"""What is pulled out from under a storage baseline: one clear line, and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from lengths import LONG
from packages import needs
from session import Session, until

PARAMETERS = ("--param", "file_size=16MB", "--param", "passes=1", "--param", "pause=0s")
LONG_PASS = (*PARAMETERS, "--param", "pass_length=60s", "--param", "test=RND4K Q1T1 read")


pytestmark = needs("fio")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    (tmp_path / "user" / "disk").mkdir(parents=True)
    with Session(tmp_path / "user") as found:
        yield found


def fio_of(run: subprocess.Popen[str]) -> psutil.Process:
    """The fio of a pass, below a run."""

    def found() -> psutil.Process | None:
        for each in psutil.Process(run.pid).children(recursive=True):
            try:
                if each.name() == "fio" and "jobs.fio" in each.cmdline():
                    return each
            except psutil.Error:
                continue
        return None

    process = until("fio", found)
    assert isinstance(process, psutil.Process)
    return process


def test_a_killed_fio_fails_the_trial_with_the_test_that_it_made(session: Session) -> None:
    run = session.start("run", "storage", "--on", "disk", *LONG_PASS)
    fio_of(run).kill()
    said = "".join(run.communicate(timeout=120))
    assert run.returncode == 5
    assert "RND4K Q1T1 read" in said
    assert "fio was ended by SIGKILL" in " ".join(said.split())
    assert list((session.folder / "disk").iterdir()) == []


@LONG
def test_control_c_ends_fio_at_once(session: Session) -> None:
    run = session.start("run", "storage", "--on", "disk", *LONG_PASS)
    fio = fio_of(run)
    os.kill(run.pid, signal.SIGINT)
    run.communicate(timeout=120)
    assert run.returncode == 130
    assert not fio.is_running()
    assert list((session.folder / "disk").iterdir()) == []


def test_a_killed_loadstone_takes_fio_with_it_and_is_recovered(session: Session) -> None:
    run = session.start("run", "storage", "--on", "disk", *LONG_PASS)
    fio = fio_of(run)
    run.kill()
    run.communicate()
    until("the end of fio", lambda: not fio.is_running())
    assert list((session.folder / "disk").iterdir()) != []
    assert session.run("recover").returncode == 0
    assert list((session.folder / "disk").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "fio", "code", "said"),
    [
        (("--on", "none"), None, 2, "none (make it, or name another)"),
        (("--on", "disk"), "/none/fio", 2, "LOADSTONE_FIO_BINARY is '/none/fio'"),
        (("--on", "disk"), "/bin/false", 2, "/bin/false is no fio"),
        (("--on", "disk", "--param", "file_size=4096TB"), None, 6, "a trial needs about"),
        (("--on", "/dev/null"), None, 2, "/dev/null"),
    ],
)
def test_what_is_found_before_anything_begins(
    session: Session, options: tuple[str, ...], fio: str | None, code: int, said: str
) -> None:
    if fio is not None:
        session.environment["LOADSTONE_FIO_BINARY"] = fio
    ended = session.run("run", "storage", *options)
    assert ended.returncode == code
    assert said in ended.stderr
    assert not session.results.exists()
