"""Whatever is killed, and whenever: nothing of a MariaDB stays that `recover` does not remove."""

import json
import sys
from pathlib import Path

import psutil
import pytest
from integration.conftest import need_mariadb
from integration.test_postgresql_recover import (
    LEFT,
    STAGES,
    VICTIM,
    changes_in,
    recover,
    run_victim,
    state,
)
from lengths import long_but

from loadstone.journal import open_journals
from loadstone.targets.mariadb.instance import Instance

__all__ = ["state"]

CHANGES = 5
"""How many the victim journals."""


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    need_mariadb()
    monkeypatch.setenv("VICTIM_ENGINE", "mariadb")


def lines_of(journal: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in journal.read_text().splitlines() if line]


def assert_gone(journal: Path) -> None:
    for line in lines_of(journal):
        data = line.get("data", {})
        assert isinstance(data, dict)
        if line.get("kind") == "remove-tree":
            assert not Path(data["path"]).exists()
        elif line.get("kind") == "mariadb-stop":
            assert Instance.processes_of(Path(data["data"])) == []
    assert open_journals() == []


def test_a_run_that_ends_well_leaves_nothing(tmp_path: Path) -> None:
    done = run_victim(tmp_path / "journal.jsonl")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "closed"
    assert_gone(tmp_path / "journal.jsonl")
    assert changes_in(tmp_path / "journal.jsonl") == CHANGES


@pytest.mark.parametrize("number", long_but(["3"], map(str, range(1, CHANGES + 1))))
def test_killed_before_each_change(tmp_path: Path, number: str) -> None:
    journal = tmp_path / "journal.jsonl"
    done = run_victim(journal, "entry", number)
    assert done.returncode == -9, done.stderr
    assert LEFT in recover()
    assert_gone(journal)


@pytest.mark.parametrize("name", long_but(["restored"], STAGES))
def test_killed_after_each_stage(tmp_path: Path, name: str) -> None:
    journal = tmp_path / "journal.jsonl"
    done = run_victim(journal, "stage", name)
    assert done.returncode == -9, done.stderr
    assert LEFT in recover()
    assert_gone(journal)


@pytest.mark.parametrize("seconds", long_but(["0.7"], ["0.4", "0.55", "0.7", "0.85", "1.0", "1.4"]))
def test_killed_at_some_moment(tmp_path: Path, seconds: str) -> None:
    """Somewhere within an installation, a start, the load, a copy: wherever it then is."""
    journal = tmp_path / "journal.jsonl"
    run_victim(journal, "after", seconds)
    if journal.exists():
        recover()
        assert_gone(journal)


def test_killed_within_the_installation(tmp_path: Path) -> None:
    """An installer without its parent must not go on in a folder that is being removed."""
    journal = tmp_path / "journal.jsonl"
    victim = psutil.Popen([sys.executable, str(VICTIM), str(journal)])
    while not any("--bootstrap" in each for each in command_lines(victim)):
        assert victim.poll() is None
    victim.kill()
    victim.wait()
    assert LEFT in recover()
    assert_gone(journal)


def command_lines(process: psutil.Popen) -> list[list[str]]:
    found = []
    for child in process.children(recursive=True):
        try:
            found.append(child.cmdline())
        except psutil.Error:
            continue
    return found
