"""Servers on placements: their data and log go there, and survive what they must."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.conftest import START, TABLES, fill, need_mariadb
from machine import assert_as_before, listing, need

from loadstone.errors import TargetError
from loadstone.experiments.journal import Journal
from loadstone.experiments.model import Level, StorageSpec, TargetSpec
from loadstone.targets.base import Target, TargetContext
from loadstone.targets.registry import target_class

VICTIM = Path(__file__).with_name("placed_victim.py")
ENGINES = ["postgresql", "mariadb"]
RELAXED: dict[str, dict[str, Level]] = {
    "postgresql": {"fsync": "off"},
    "mariadb": {"innodb_flush_log_at_trx_commit": 0, "innodb_flush_method": "nosync"},
}
COMMITS = 50


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "mariadb":
        need_mariadb()
    return str(request.param)


@pytest.fixture
def target(engine: str, tmp_path: Path, open_folder: Path) -> Iterator[Target]:
    """A server with a snapshot of a table; the machine is as before when it is closed."""
    need("volatile:ext4", "volatile:xfs", "loop:xfs", "tmpfs")
    before = listing()
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        context = TargetContext(journal=journal, owner="pytest")
        made = target_class(engine)(TargetSpec(engine=engine, data=str(open_folder)), context)
        made.open()
        fill(made)
        made.snapshot(START)
        yield made
        made.close()
    assert list(open_folder.iterdir()) == []
    assert_as_before(before, open_folder)


def on(
    target: Target,
    data: str | None,
    log: str | None = None,
    settings: dict[str, Level] | None = None,
) -> TargetSpec:
    spec = target.spec.with_settings(settings or {})
    return spec.model_copy(update={"storage": StorageSpec(data=data, log=log)})


def commit(target: Target, first: int) -> None:
    """Makes commits that the server acknowledges, each of one row."""
    for number in range(first, first + COMMITS):
        target.query(f"INSERT INTO item (id, quantity) VALUES ({number}, 0)")


def found(target: Target, first: int) -> int:
    last = first + COMMITS
    rows = target.query(f"SELECT count(*) FROM item WHERE id >= {first} AND id < {last}")
    return int(rows[0][0])


def test_data_and_log_move_and_stay_the_same(target: Target) -> None:
    start = target.fingerprint(TABLES)
    readings = target.restore(START, on(target, "loop:xfs,size=1GB", "tmpfs:size=512MB"))
    assert {each.factor: each.read_back for each in readings} == {
        "storage.data": "loop:xfs,size=1GB",
        "storage.log": "tmpfs:size=512MB",
    }
    assert target.fingerprint(TABLES).digest == start.digest
    places = target.inventory()["places"]
    assert places["data"]["mount"]["file_system"] == "xfs"
    for role in ("data", "log"):
        used = places[role]["total_bytes"] - places[role]["free_bytes"]
        assert used > 4 << 20, f"the {role} lie on their placement"
    target.settle("cold")
    assert target.fingerprint(TABLES).digest == start.digest

    assert target.restore(START, on(target, None)) == []
    assert target.inventory()["places"] == {}
    assert target.fingerprint(TABLES).digest == start.digest
    with pytest.raises(TargetError, match="cannot be cut"):
        target.crash("power-loss")
    assert target.query("SELECT 1") == [(1,)]


def test_a_power_loss_takes_no_acknowledged_commit(target: Target) -> None:
    spec = on(target, "volatile:ext4,size=2GB", "volatile:xfs,size=1GB")
    for number in range(3):
        target.restore(START, spec)
        target.settle("warm")
        commit(target, 10_000)
        target.crash("power-loss")
        target.start()
        assert found(target, 10_000) == COMMITS, f"power loss {number + 1}"
        commit(target, 20_000)


@pytest.mark.parametrize("unsafe", ["nobarrier", "settings"])
def test_a_power_loss_takes_what_was_never_flushed(
    target: Target, engine: str, unsafe: str
) -> None:
    if unsafe == "nobarrier":
        spec = on(target, "volatile:ext4,nobarrier,size=2GB")
    else:
        spec = on(target, "volatile:ext4,commit=300,size=2GB", settings=RELAXED[engine])
    target.restore(START, spec)
    target.settle("warm")
    commit(target, 10_000)
    target.crash("power-loss")
    target.start()
    assert found(target, 10_000) < COMMITS
    assert found(target, 1) == COMMITS, "the start state was made durable before the load"


def move_away(target: Target, place: str) -> None:
    """A start state with a place for what moves away, to which a table then does."""
    storage = StorageSpec(data="volatile:ext4,size=2GB", archive=place)
    readings = target.restore(START, target.spec.model_copy(update={"storage": storage}))
    assert [each.factor for each in readings] == ["storage.data", "storage.archive"]
    target.make_second_place()
    target.settle("warm")
    target.execute("ALTER TABLE item SET TABLESPACE loadstone_archive")
    assert target.moved("item") == {"item"}
    folder = Path(target.inventory()["places"]["archive"]["folder"])
    assert [each for each in folder.rglob("*") if each.is_file()], "the table lies there"


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
def test_what_moved_away_survives_a_power_loss(target: Target) -> None:
    for number in range(2):
        move_away(target, "volatile:xfs,size=1GB")
        commit(target, 10_000)
        target.crash("power-loss")
        target.start()
        assert found(target, 10_000) == COMMITS, f"power loss {number + 1}"
        assert target.moved("item") == {"item"}


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
def test_what_moved_away_loses_its_power_too(target: Target) -> None:
    """After a checkpoint the log brings nothing back that its own place did not flush."""
    move_away(target, "volatile:ext4,nobarrier,size=1GB")
    commit(target, 10_000)
    target.query("CHECKPOINT")
    target.crash("power-loss")
    target.start()
    with pytest.raises((TargetError, AssertionError)):
        assert found(target, 10_000) == COMMITS


@pytest.mark.parametrize("stage", ["placed", "failed", "recovered"])
def test_loadstone_is_killed_while_a_server_runs_on_placements(
    engine: str, stage: str, tmp_path: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, log = "volatile:ext4,size=2GB", "volatile:xfs,size=1GB"
    need(data, log)
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    before = listing()
    arguments = [tmp_path / "journal.jsonl", engine, open_folder, data, log, stage]
    done = subprocess.run(
        [sys.executable, str(VICTIM), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == -9, done.stderr
    assert listing() != before
    said = subprocess.run(
        [sys.executable, "-c", "from loadstone.cli.recover import command; exit(command())"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert list(open_folder.iterdir()) == []
    assert_as_before(before, open_folder)
