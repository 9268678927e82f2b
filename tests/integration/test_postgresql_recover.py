"""Whatever is killed, and whenever: nothing stays that `recover` does not remove."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from command_line import process
from lengths import long_but
from listing import postgresql_memory

from loadstone.errors import ExitCode
from loadstone.host.processes import wait_ended
from loadstone.journal import open_journals
from loadstone.targets.postgresql import processes, shared_memory

VICTIM = Path(__file__).with_name("server_victim.py")
LEFT = "left by victim"

STAGES = ["open", "loaded", "kept", "restored", "crashed", "settled"]
CHANGES = 5
"""How many the victim journals."""


@dataclass(frozen=True)
class Remains:
    """What a killed process left."""

    folders: list[Path]
    segments: list[shared_memory.Segment]
    posix: list[Path]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    yield tmp_path / "state"
    for journal in open_journals():
        assert journal.recover(lambda _entry, _error: None)


def run_victim(journal: Path, *when: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(VICTIM), str(journal), *when],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def recover(code: ExitCode = ExitCode.OK) -> str:
    """What `loadstone recover` says; it ends with this exit code."""
    done = process("recover")
    assert done.returncode == code, done.stderr
    return done.stderr


def remains_of(journal: Path) -> Remains:
    lines = [json.loads(line) for line in journal.read_text().splitlines() if line]
    folders = [Path(line["data"]["path"]) for line in lines if line.get("kind") == "remove-tree"]
    segments, posix = [], []
    for folder in folders:
        data = folder / "data"
        segments += shared_memory.left_in(data).segments
        for each in processes.all_of(data):
            mapped = postgresql_memory(each.pid)
            posix += [Path(name) for name in mapped if name.startswith("/")]
    return Remains(folders, segments, posix)


def changes_in(journal: Path) -> int:
    lines = [json.loads(line) for line in journal.read_text().splitlines() if line]
    return sum(line["event"] == "change" for line in lines)


def assert_gone(remains: Remains) -> None:
    in_use = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    identifiers = {int(line.split()[1]) for line in in_use}
    for folder in remains.folders:
        assert not folder.exists()
        assert processes.all_of(folder / "data") == []
    assert [each for each in remains.posix if each.exists()] == []
    assert [each for each in remains.segments if each.identifier in identifiers] == []
    assert open_journals() == []


def check(journal: Path, *when: str) -> None:
    done = run_victim(journal, *when)
    assert done.returncode == -9, done.stderr
    remains = remains_of(journal)
    assert LEFT in recover()
    assert_gone(remains)


def test_a_run_that_ends_well_leaves_nothing(tmp_path: Path) -> None:
    done = run_victim(tmp_path / "journal.jsonl")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "closed"
    assert_gone(remains_of(tmp_path / "journal.jsonl"))
    assert changes_in(tmp_path / "journal.jsonl") == CHANGES


@pytest.mark.parametrize("number", long_but(["2"], map(str, range(1, CHANGES + 1))))
def test_killed_before_each_change(tmp_path: Path, number: str) -> None:
    check(tmp_path / "journal.jsonl", "entry", number)


@pytest.mark.parametrize("name", long_but(["crashed"], STAGES))
def test_killed_after_each_stage(tmp_path: Path, name: str) -> None:
    check(tmp_path / "journal.jsonl", "stage", name)


@pytest.mark.parametrize(
    "seconds", long_but(["0.6"], ["0.15", "0.3", "0.45", "0.6", "0.75", "0.9"])
)
def test_killed_at_some_moment(tmp_path: Path, seconds: str) -> None:
    """Somewhere within initdb, a start, the load, a copy: wherever this machine then is."""
    journal = tmp_path / "journal.jsonl"
    run_victim(journal, "after", seconds)
    if not journal.exists():
        return
    remains = remains_of(journal)
    recover()
    assert_gone(remains)


def runs_as(process: psutil.Process, name: str) -> bool:
    """Whether a process of that name runs; initdb starts and ends many."""
    try:
        return process.name() == name and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_killed_within_initdb(tmp_path: Path) -> None:
    """An initdb without its parent must not go on in a folder that is being removed."""
    journal = tmp_path / "journal.jsonl"
    victim = subprocess.Popen(
        [sys.executable, str(VICTIM), str(journal)], stdout=subprocess.DEVNULL
    )
    children: list[psutil.Process] = []
    while not any(runs_as(each, "postgres") for each in children):
        assert victim.poll() is None
        children = psutil.Process(victim.pid).children(recursive=True)
    victim.kill()
    victim.wait()
    remains = remains_of(journal)
    assert LEFT in recover()
    assert_gone(remains)
    assert wait_ended(children, 0)


def test_killed_with_its_server(tmp_path: Path) -> None:
    """Nobody is left who could remove the shared memory: `recover` must."""
    journal = tmp_path / "journal.jsonl"
    assert run_victim(journal, "stage", "loaded").returncode == -9
    remains = remains_of(journal)
    assert remains.posix, "a running server has shared memory of its own"
    assert remains.segments
    processes.kill_server(remains.folders[0] / "data")
    assert all(each.exists() for each in remains.posix)
    assert LEFT in recover()
    assert_gone(remains)


def test_recovering_twice_and_after_a_half_done_recovery(state: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    assert run_victim(journal, "stage", "open").returncode == -9
    pointer = next((state / "open").iterdir())
    content = pointer.read_text()
    remains = remains_of(journal)
    recover()
    lines = [
        each for each in journal.read_text().splitlines(keepends=True) if "recover" not in each
    ]
    journal.write_text("".join(lines))
    pointer.write_text(content)
    assert LEFT in recover()
    assert_gone(remains)


def test_a_folder_without_the_mark_is_not_removed(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    assert run_victim(journal, "entry", "1").returncode == -9
    [folder] = remains_of(journal).folders
    folder.mkdir()
    precious = folder / "precious"
    precious.touch()
    assert "but not Loadstone's mark" in recover(ExitCode.TARGET)
    assert precious.exists()
    precious.unlink()
    assert os.listdir(folder) == []  # noqa: PTH208
    assert LEFT in recover()
    assert not folder.exists()
