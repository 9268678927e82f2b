"""`loadstone recover`, and what every command says of a killed run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from command_line import loadstone, right

from loadstone.errors import ExitCode, LeftBehindError
from loadstone.journal import state_dir

pytestmark = pytest.mark.usefixtures("own_places")


def leave_a_journal() -> Path:
    """A journal as a killed run leaves it: of a process that is no more."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    started = psutil.Process(gone.pid).create_time()
    gone.wait()
    left = Path("left-behind")
    left.mkdir()
    journal = Path("journal.jsonl").resolve()
    change = {"event": "change", "number": 1, "what": "a folder", "kind": "no-such-kind"}
    journal.write_text(json.dumps({**change, "data": {"path": str(left)}}) + "\n")
    pointer = state_dir() / "open" / "left.json"
    pointer.parent.mkdir(parents=True)
    pointer.write_text(
        json.dumps(
            {
                "journal": str(journal),
                "pid": gone.pid,
                "process_started": started,
                "command": "loadstone run oltp",
            }
        )
    )
    return pointer


def test_what_a_killed_run_left_is_said_by_every_command():
    leave_a_journal()
    done = loadstone("list", "--json")
    assert json.loads(done.stdout)["results"] == []
    assert "a killed run left 1 change" in done.stderr
    assert "loadstone recover" in done.stderr


def test_recover_says_what_it_would_do_and_does_nothing():
    pointer = leave_a_journal()
    document = json.loads(right("recover", "--dry-run", "--json"))
    assert document["journals"][0]["changes"] == [{"what": "a folder", "error": None}]
    assert pointer.exists()


def test_recover_that_cannot_undo_something_says_so_and_fails():
    pointer = leave_a_journal()
    done = loadstone("recover")
    assert done.returncode == ExitCode.TARGET
    assert "a folder: could not be undone" in done.stderr
    assert pointer.exists()


def test_what_could_not_be_put_back_is_said_with_every_reason(monkeypatch: pytest.MonkeyPatch):
    def command() -> None:
        raise LeftBehindError(["a could not be undone", "b could not"])

    monkeypatch.setattr("loadstone.cli.recover.command", command)
    done = loadstone("recover")
    assert done.returncode == ExitCode.TARGET
    assert "loadstone: a could not be undone\n  b could not\n" in done.stderr
    assert "loadstone recover" in done.stderr


def test_nothing_to_recover():
    done = loadstone("recover")
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing to recover" in done.stderr
