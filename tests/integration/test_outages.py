"""Servers out of service for a while: nobody is answered, and afterwards nothing is missing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from integration.conftest import ROWS, START
from machine import need

from loadstone.errors import TargetError
from loadstone.spec.target import StorageSpec
from loadstone.targets.database import Database

COUNT = "SELECT count(*) FROM item"
MORE = "INSERT INTO item SELECT id + {0}, quantity, name FROM item WHERE id <= 5000"
MOST_INSERTS = 2000


@pytest.fixture
def target(any_server: Database) -> Database:
    """A server with the rows that it had at first, in a plain folder."""
    any_server.restore(START, any_server.spec)
    return any_server


def servers(folder: str) -> list[psutil.Process]:
    """Processes whose command line or folder is of these data."""
    found = []
    for process in psutil.process_iter():
        try:
            if folder in " ".join(process.cmdline()) or process.cwd() == folder:
                found.append(process)
        except psutil.Error:
            continue
    return found


def test_a_paused_server_answers_nobody_until_it_goes_on(target: Database) -> None:
    folder = target.inventory()["data_folder"]
    running = servers(folder)
    with ThreadPoolExecutor(1) as pool:
        with target.outage("pause"):
            assert {each.status() for each in running} == {psutil.STATUS_STOPPED}
            answer = pool.submit(target.query, COUNT)
            with pytest.raises(TimeoutError):
                answer.result(timeout=0.3)
            assert '"kind": "server-resume"' in target.context.journal.path.read_text()
        assert answer.result(timeout=30)[0][0] == ROWS
    assert psutil.STATUS_STOPPED not in {each.status() for each in servers(folder)}


def test_a_stopped_server_comes_back_without_recovery(target: Database) -> None:
    target.query(MORE.format(10_000))
    folder = target.inventory()["data_folder"]
    with target.outage("stop"):
        assert servers(folder) == []
    assert target.query(COUNT)[0][0] == 2 * ROWS
    log = target.log_path()
    assert log is not None
    assert "recovery" not in log.read_text().lower().rpartition("shut down")[2]


def test_a_killed_server_comes_back_with_all_that_was_committed(target: Database) -> None:
    target.query(MORE.format(10_000))
    folder = target.inventory()["data_folder"]
    with target.outage("kill"):
        assert servers(folder) == []
        with pytest.raises(TargetError):
            target.query(COUNT)
    assert target.query(COUNT)[0][0] == 2 * ROWS
    target.check_alive()


def test_a_full_disk_refuses_rows_and_takes_them_again(target: Database) -> None:
    need("loop:ext4")
    storage = StorageSpec(data="loop:ext4,size=1GB")
    target.restore(START, target.spec.model_copy(update={"storage": storage}))
    stored = 0
    with target.outage("full-disk"), pytest.raises(TargetError):
        for stored in range(MOST_INSERTS):
            target.query(MORE.format(10_000 * (stored + 1)))
    assert stored < MOST_INSERTS - 1
    assert target.query(COUNT)[0][0] == (1 + stored) * ROWS
    target.query(MORE.format(-10_000))
    assert target.query(COUNT)[0][0] == (2 + stored) * ROWS
    target.restore(START, target.spec)


def test_a_disk_that_others_use_is_not_filled(target: Database) -> None:
    with (
        pytest.raises(TargetError, match="others use it too") as caught,
        target.outage("full-disk"),
    ):
        raise AssertionError("it was filled")
    assert "loop" in (caught.value.advice or "")
    assert target.query(COUNT)[0][0] == ROWS
