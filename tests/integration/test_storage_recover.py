"""Whatever is killed, and whenever: mounts, loop and zram devices and servers are as before."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import count, product
from pathlib import Path

import pytest
from alone import zram_to_itself
from integration.conftest import need_mariadb
from lengths import LONG, long_but
from machine import apart, assert_as_before, changed, listing, need

from loadstone.cli.recover import command as recover
from loadstone.errors import ExitCode
from loadstone.journal import Journal, open_journals
from loadstone.placements import loop, mounts, processes
from loadstone.placements.account import Account
from loadstone.placements.memory import REMOVE as REMOVE_ZRAM
from loadstone.placements.mounted import MountedPlace
from loadstone.placements.place import parse

VICTIM = Path(__file__).with_name("storage_victim.py")
PLACED_VICTIM = Path(__file__).with_name("placed_victim.py")
MOST_ENTRIES = 30
RECOVER = "from loadstone.cli.recover import command; raise SystemExit(command())"
SETUPS = [
    ("loop:ext4,size=64MB", "-"),
    ("loop:btrfs,raid1,write-cache=through,size=256MB", "-"),
    ("loop:btrfs,size=512MB", "tmpfs:size=8MB"),
    ("zram:ext4,size=64MB", "-"),
    ("nbd:ext4,sync,size=64MB", "-"),
    ("nfs:ext4,size=64MB", "-"),
    pytest.param("iscsi:ext4,size=64MB", "-", marks=LONG),
    ("volatile:ext4,size=64MB", "volatile:xfs,async,size=512MB"),
]


@pytest.fixture(scope="module", autouse=True)
def own_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with apart(tmp_path_factory.mktemp("apart")):
        yield


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    yield tmp_path / "state"
    for journal in open_journals():
        assert journal.recover(lambda _entry, _error: None)


@pytest.fixture(scope="module")
def victims(own_machine: None) -> Iterator[subprocess.Popen[str]]:  # noqa: ARG001
    """What lets victims live and die."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, str(VICTIM)], **pipes) as server:
        yield server
        server.kill()


def run_victim(victims: subprocess.Popen[str], *arguments: object) -> int:
    """Lets one live until it dies; returns its exit code, or less than 0 for a signal."""
    assert victims.stdin is not None
    assert victims.stdout is not None
    words = [os.environ["LOADSTONE_STATE"], *map(str, arguments)]
    print(shlex.join(words), file=victims.stdin, flush=True)
    return int(victims.stdout.readline())


def recover_anew() -> None:
    """As a user does: this process knows of nothing that it has to undo."""
    done = subprocess.run(
        [sys.executable, "-c", RECOVER], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr


def turn(data: str) -> AbstractContextManager[None]:
    """What a placement needs for itself."""
    return zram_to_itself() if data.startswith("zram") else nullcontext()


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(("data", "log"), SETUPS)
def test_killed_at_every_entry_of_the_journal(
    tmp_path: Path, open_folder: Path, victims: subprocess.Popen[str], data: str, log: str
) -> None:
    need(data, "tmpfs", *([log] if log != "-" else []))
    before = listing()
    with turn(data):
        for number in count(1):
            assert number < MOST_ENTRIES
            journal = tmp_path / f"journal-{number}.jsonl"
            code = run_victim(victims, journal, open_folder, data, log, "entry", number)
            if code == 0:
                break
            assert code == -signal.SIGKILL
            assert recover() == ExitCode.OK
            assert_as_before(before, open_folder)
            assert list(open_folder.iterdir()) == []
        assert number > 3
        assert_as_before(before, open_folder)
    assert list(open_folder.iterdir()) == []


TWO_VOLATILE = ("volatile:xfs,size=512MB", "volatile:ext4,size=64MB")
STAGES = ["written", "cut", "recovered", "moved", "removed"]


@pytest.mark.parametrize(
    ("data", "log", "stage"),
    [*((*TWO_VOLATILE, stage) for stage in STAGES), ("zram:ext4,size=64MB", "-", "written")],
    ids=[*STAGES, "zram"],
)
def test_killed_after_each_stage_with_everything_in_use(  # noqa: PLR0917
    tmp_path: Path,
    open_folder: Path,
    victims: subprocess.Popen[str],
    data: str,
    log: str,
    stage: str,
) -> None:
    need(data, "tmpfs", *([log] if log != "-" else []))
    before = listing()
    with turn(data):
        path = tmp_path / "journal.jsonl"
        code = run_victim(victims, path, open_folder, data, log, "stage", stage)
        assert code == -signal.SIGKILL
        if stage != "removed":
            assert changed(before, open_folder)
        if stage == "written":
            recover_anew()
        else:
            assert recover() == ExitCode.OK
        assert_as_before(before, open_folder)
    assert list(open_folder.iterdir()) == []
    assert recover() == ExitCode.OK, "twice does no harm"


@pytest.mark.parametrize(
    ("engine", "stage"),
    long_but(
        [("postgresql", "failed"), ("mariadb", "placed")],
        product(["postgresql", "mariadb"], ["placed", "failed", "recovered"]),
    ),
)
def test_killed_while_a_server_runs_on_placements(
    tmp_path: Path, open_folder: Path, engine: str, stage: str
) -> None:
    data, log = "volatile:ext4,size=2GB", "volatile:xfs,size=1GB"
    need(data, log)
    if engine == "mariadb":
        need_mariadb()
    before = listing()
    arguments = [tmp_path / "journal.jsonl", engine, open_folder, data, log, stage]
    done = subprocess.run(
        [sys.executable, str(PLACED_VICTIM), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert changed(before, open_folder)
    recover_anew()
    assert list(open_folder.iterdir()) == []
    assert_as_before(before, open_folder)


@pytest.mark.parametrize("data", ["loop:ext4,size=64MB", "volatile:xfs,size=512MB"])
def test_a_mount_that_somebody_holds(
    tmp_path: Path,
    open_folder: Path,
    victims: subprocess.Popen[str],
    data: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is detached after a while, and the kernel removes the rest when its user goes."""
    need(data, "tmpfs")
    monkeypatch.setattr(mounts, "_BUSY_S", 0.2)
    monkeypatch.setattr(loop, "_DETACH_S", 0.2)
    before = listing()
    code = run_victim(victims, tmp_path / "j.jsonl", open_folder, data, "-", "stage", "written")
    assert code == -signal.SIGKILL
    [mount_point] = open_folder.glob("*/places/*/mount")
    with subprocess.Popen(["sleep", "300"], cwd=mount_point) as holder:
        try:
            assert recover() == ExitCode.OK
            assert mounts.at(mount_point) is None
            assert list(open_folder.iterdir()) == []
            assert changed(before, open_folder), "it is held"
        finally:
            holder.kill()
    wait_until(lambda: not changed(before, open_folder))
    assert_as_before(before, open_folder)


def test_beside_a_mount_that_died_and_that_nobody_removes(
    tmp_path: Path, open_folder: Path
) -> None:
    """As a container has it that was started during a trial: with copies of all mounts."""
    need("nbd:ext4", "loop:btrfs")
    before = listing()
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        dead = MountedPlace(journal, parse("nbd:ext4,size=64MB"), Account("me", 0, 0, False))
        (open_folder / "dead").mkdir()
        dead.open(open_folder / "dead", "pytest", 1 << 30)
        processes.end("nbdfuse", str(open_folder / "dead" / "nbd.sock"), gently=False)
        wait_until(lambda: mounts.dead() != [])
        with pytest.raises(OSError) as said:
            (open_folder / "dead" / "device" / "disk").stat()
        # The first to ask while the connection is torn down learns of the tearing down.
        assert said.value.errno in {errno.ENOTCONN, errno.ECONNABORTED}

        alive = MountedPlace(journal, parse("loop:btrfs,size=512MB"), Account("me", 0, 0, False))
        (open_folder / "alive").mkdir()
        alive.open(open_folder / "alive", "pytest", 1 << 30)
        assert [str(each) for each in mounts.dead()] == [str(open_folder / "dead" / "mount")]
        alive.close()
        dead.close()
    assert_as_before(before, open_folder)


def test_a_server_that_died_by_itself(tmp_path: Path, open_folder: Path) -> None:
    need("nbd:ext4")
    before = listing()
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        place = MountedPlace(journal, parse("nbd:ext4,size=64MB"), Account("me", 0, 0, False))
        work = open_folder / "work"
        work.mkdir()
        place.open(work, "pytest", 1 << 30)
        processes.end("nbdkit", str(work / "nbd.sock"), gently=False)
        place.close()
    assert_as_before(before, open_folder)


def test_only_what_the_journal_names_is_touched(tmp_path: Path) -> None:
    """Another's loop device, mount or zram device of the same number is left alone."""
    need("loop:ext4", "zram:ext4")
    theirs = tmp_path / "theirs.img"
    theirs.write_bytes(bytes(1 << 20))
    device = loop.attach(theirs, "somebody-else")
    try:
        loop.detach({"name": "loadstone-000000000000", "file": str(tmp_path / "ours.img")})
        assert loop.attached("somebody-else", theirs) == [device]
    finally:
        loop.detach({"name": "somebody-else", "file": str(theirs)})
    assert loop.attached("somebody-else", theirs) == []

    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    number = int(Path("/sys/class/zram-control/hot_add").read_text())
    block = Path(f"/sys/block/zram{number}")
    try:
        (block / "disksize").write_text(str(1 << 20))
        from loadstone.journal import _UNDO

        undo = _UNDO[REMOVE_ZRAM]
        undo({"number": number, "size_bytes": 1 << 21, "boot": boot})
        undo({"number": number, "size_bytes": 1 << 20, "boot": "another"})
        assert block.exists()
        undo({"number": number, "size_bytes": 1 << 20, "boot": boot})
        assert not block.exists()
        undo({"number": number, "size_bytes": 1 << 20, "boot": boot})
    finally:
        if block.exists():
            Path("/sys/class/zram-control/hot_remove").write_text(str(number))


def test_undoing_what_was_never_done(tmp_path: Path) -> None:
    """The entry is written before the change: a kill between them leaves nothing to undo."""
    mounts.unmount({"folder": str(tmp_path / "never")})
    loop.detach({"name": "loadstone-never", "file": str(tmp_path / "never")})
    processes.end("nbdkit", str(tmp_path / "never"), gently=True)
    assert os.listdir(tmp_path) == []  # noqa: PTH208
