"""What Loadstone does with every server of its own, held against one that is no database."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from integration import line_owner
from integration.line_owner import LineServer

from loadstone.errors import TargetError
from loadstone.host.processes import signal_all, wait_ended, wait_stopped
from loadstone.journal import Journal, open_journals
from loadstone.spec.target import ProcessSpec


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    return tmp_path / "own"


@pytest.fixture
def server(tmp_path: Path, folder: Path) -> Iterator[LineServer]:
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        made = LineServer(folder, journal)
        yield made
        made.end()
    assert made.processes() == []


def changes(tmp_path: Path) -> list[str]:
    lines = (tmp_path / "journal.jsonl").read_text().splitlines()
    return [entry["what"] for entry in map(json.loads, lines) if entry["event"] == "change"]


def test_it_is_waited_for_and_stopped(server: LineServer, tmp_path: Path) -> None:
    assert (server.runs, server.pid, server.cpu_s()) == (False, None, None)
    server.start({})
    assert server.answer() == "pong"
    assert server.runs
    assert len(server.processes()) == 2
    assert server.pid in [each.pid for each in server.processes()]
    assert any(server.answer() and server.cpu_s() for _ in range(20_000)), "it counts in 10 ms"
    server.check_alive()
    assert server.stop() == 0
    assert not server.runs
    assert server.processes() == []
    assert server.stop() is None
    assert changes(tmp_path) == [f"run Lines in {server.folder}"]


def test_it_runs_as_its_options_say(server: LineServer) -> None:
    server.options = ProcessSpec(nofile=200)
    server.start({})
    (reading,) = server.readings()
    assert (reading.requested, reading.read_back) == (200, 200)


def test_a_setting_that_it_refuses_is_named(server: LineServer) -> None:
    server.settings = {"size": "7", "colour": "blue"}
    with pytest.raises(TargetError, match=r"Lines does not start with colour = blue; .*: no such"):
        server.start(server.settings)


def test_one_that_has_died_is_noticed(server: LineServer) -> None:
    server.start({})
    main, child = server.processes()
    main.kill()
    assert wait_ended([main], 5)
    with pytest.raises(TargetError, match="Lines has ended; its log says: nothing"):
        server.check_alive()
    assert server.pid is None
    assert server.processes() == [child]
    server.end()
    assert wait_ended([child], 0)


def test_one_that_does_not_stop_is_ended(server: LineServer, monkeypatch) -> None:
    server.start({})
    monkeypatch.setattr(LineServer, "stop_s", 0.05)
    monkeypatch.setattr(LineServer, "stop_signal", signal.SIGCONT)
    with pytest.raises(TargetError, match=r"does not stop within 0\.05 s"):
        server.stop()
    signal_all(server.processes(), signal.SIGSTOP)
    server.end()
    assert server.processes() == []


def test_a_crashed_one_comes_back_and_was_journalled_once(
    server: LineServer, tmp_path: Path
) -> None:
    server.start({})
    server.crash("kill")
    assert server.processes() == []
    server.check_alive()
    server.start({})
    assert server.answer() == "pong"
    assert len(changes(tmp_path)) == 1


def test_a_paused_one_answers_afterwards(server: LineServer) -> None:
    server.start({})
    with server.paused():
        assert {each.status() for each in server.processes()} == {psutil.STATUS_STOPPED}
        with pytest.raises(TimeoutError):
            server.answer(0.1)
    assert server.answer() == "pong"


@pytest.mark.parametrize("how", ["", "paused"])
def test_what_a_killed_owner_left_is_ended_by_its_journal(
    tmp_path: Path, folder: Path, how: str
) -> None:
    words = [str(folder), str(tmp_path / "journal.jsonl"), how]
    done = subprocess.run([sys.executable, line_owner.__file__, *words], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    left = LineServer.processes_of(folder)
    assert len(left) == 2
    assert all((each.status() == psutil.STATUS_STOPPED) == bool(how) for each in left)
    (journal,) = open_journals()
    assert journal.recover(lambda _entry, _error: None)
    assert LineServer.processes_of(folder) == []
    assert open_journals() == []


def test_what_a_journal_says_was_paused_goes_on(server: LineServer, tmp_path: Path) -> None:
    server.start({})
    found = server.processes()
    with Journal(tmp_path / "other.jsonl", "pytest") as journal:
        numbers = [[each.pid, each.create_time()] for each in found]
        entry = journal.before("pause it", "server-resume", processes=numbers)
        signal_all(found, signal.SIGSTOP)
        assert wait_stopped(found, 5)
        journal.undo(entry)
    assert server.answer() == "pong"
