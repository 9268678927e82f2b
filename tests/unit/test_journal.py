"""The journal is written before a change and undone after it, by whoever comes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loadstone import journal as module
from loadstone.journal import Entry, Journal, open_journals, undoes


@undoes("test-remove-file")
def _remove_file(data: dict[str, Any]) -> None:
    Path(data["path"]).unlink(missing_ok=True)
    order = data.get("order")
    if order:
        with Path(order).open("a") as file:
            file.write(Path(data["path"]).name + "\n")


@undoes("test-fails")
def _fails(_data: dict[str, Any]) -> None:
    raise RuntimeError("cannot be undone")


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def test_entry_is_on_disk_before_the_change(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl", "loadstone run") as journal:
        journal.before("make a", "test-remove-file", path=str(tmp_path / "a"))
        assert _lines(journal.path)[-1]["what"] == "make a"
        assert [found.path for found in open_journals()] == [journal.path]
    assert open_journals() == []


def test_leaving_undoes_what_is_open_last_first(tmp_path: Path) -> None:
    order = tmp_path / "order"
    with Journal(tmp_path / "journal.jsonl", "loadstone run") as journal:
        entries = []
        for name in "abc":
            entries.append(
                journal.before(
                    f"make {name}",
                    "test-remove-file",
                    path=str(tmp_path / name),
                    order=str(order),
                )
            )
            (tmp_path / name).touch()
        journal.undone(entries[1])
    assert order.read_text().split() == ["c", "a"]
    assert not (tmp_path / "a").exists()
    assert (tmp_path / "b").exists(), "it was undone in another way"


def test_failed_undo_leaves_the_journal_open_for_recover(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl", "loadstone run")
    journal.before("make a", "test-remove-file", path=str(tmp_path / "a"))
    journal.before("break it", "test-fails")
    (tmp_path / "a").touch()
    with pytest.raises(ExceptionGroup) as raised:
        journal.close()
    assert [str(each) for each in raised.value.exceptions] == [
        "break it: could not be undone: cannot be undone"
    ]
    assert not (tmp_path / "a").exists(), "one failure must not stop the others"
    (found,) = open_journals()
    assert [entry.what for entry in found.entries()] == ["break it"]


def test_unknown_kind_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl", "x") as journal, pytest.raises(KeyError):
        journal.before("change", "no-such-kind")


def test_copies_hold_only_the_lines_of_their_block(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl", "x") as journal:
        journal.note("before")
        with journal.copied_to(tmp_path / "trial.jsonl"):
            journal.note("within")
        journal.note("after")
    assert [line["text"] for line in _lines(tmp_path / "trial.jsonl")] == ["within"]


_KILLED = """
import os, signal, sys
from pathlib import Path
from loadstone.journal import Journal, undoes

@undoes("test-remove-file")
def _(data): ...

folder = Path(sys.argv[1])
journal = Journal(folder / "journal.jsonl", "loadstone run oltp")
for name in "abc":
    journal.before("make " + name, "test-remove-file", path=str(folder / name))
    (folder / name).touch()
with (folder / "journal.jsonl").open("a") as file:
    file.write('{"event": "cha')
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_recover_undoes_what_a_killed_process_left(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _KILLED, str(tmp_path)], check=False, env=dict(os.environ)
    )
    assert ended.returncode == -signal.SIGKILL
    (found,) = open_journals()
    assert not found.alive
    assert found.command == "loadstone run oltp"
    said: list[tuple[Entry, Exception | None]] = []
    assert found.recover(lambda entry, error: said.append((entry, error)))
    assert [entry.what for entry, _ in said] == ["make c", "make b", "make a"]
    assert not any((tmp_path / name).exists() for name in "abc")
    assert open_journals() == []
    assert found.entries() == []


def test_running_owner_is_alive(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl", "x"):
        (found,) = open_journals()
        assert found.alive


def test_full_disk_stops_the_change_but_not_the_undoing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "journal.jsonl", "x")
    journal.before("make a", "test-remove-file", path=str(tmp_path / "a"))
    (tmp_path / "a").touch()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        journal.before("make b", "test-remove-file", path=str(tmp_path / "b"))
    journal.close()
    assert not (tmp_path / "a").exists()


def test_a_change_that_is_left_is_not_tried_at_the_end_and_stays_for_recover(
    tmp_path: Path,
) -> None:
    (tmp_path / "a").touch()
    journal = Journal(tmp_path / "journal.jsonl", "x")
    entry = journal.before("make a", "test-remove-file", path=str(tmp_path / "a"))
    journal.leave(entry, RuntimeError("nobody answers"))
    with pytest.raises(ExceptionGroup) as raised:
        journal.close()
    assert "make a: could not be undone: nobody answers" in str(raised.value.exceptions[0])
    assert (tmp_path / "a").exists()
    (found,) = open_journals()
    assert found.recover(lambda _entry, _error: None)
    assert not (tmp_path / "a").exists()


def test_a_change_that_was_left_may_still_be_undone_before(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl", "x")
    entry = journal.before("make a", "test-remove-file", path=str(tmp_path / "a"))
    journal.leave(entry, RuntimeError("nobody answers"))
    journal.undo(entry)
    journal.close()
    assert open_journals() == []
