"""Servers on placements: their data and log go there, and survive what they must."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from integration.conftest import START, TABLES, fill, need_mariadb
from lengths import long_but
from machine import apart, assert_as_before, listing, need

from loadstone.errors import TargetError
from loadstone.journal import Journal
from loadstone.spec.base import Level
from loadstone.spec.target import StorageSpec, TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.database import Database
from loadstone.targets.registry import target_for

ENGINES = ["postgresql", "mariadb"]
RELAXED: dict[str, dict[str, Level]] = {
    "postgresql": {"fsync": "off"},
    "mariadb": {"innodb_flush_log_at_trx_commit": 0, "innodb_flush_method": "nosync"},
}
COMMITS = 50
POWER_LOSSES, MORE_POWER_LOSSES = 1, 3


@pytest.fixture(scope="module", autouse=True)
def own_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with apart(tmp_path_factory.mktemp("apart")):
        yield


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "mariadb":
        need_mariadb()
    return str(request.param)


@pytest.fixture(scope="module")
def target(
    engine: str,
    own_machine: None,  # noqa: ARG001
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Database]:
    """A server with a snapshot of a table; all is as before when it is closed.

    Each test puts the data where it wants them, whatever became of the server before.
    """
    need("volatile:ext4", "volatile:xfs", "loop:xfs", "tmpfs")
    folder = Path(tempfile.mkdtemp(prefix="loadstone-test-", dir="/var/tmp"))
    folder.chmod(0o755)
    before = listing()
    with Journal(tmp_path_factory.mktemp(engine) / "journal.jsonl", "pytest") as journal:
        context = TargetContext(journal=journal, owner="pytest")
        spec = TargetSpec(engine=engine, data=str(folder))
        made = target_for(spec)(spec, context)
        made.open()
        fill(made)
        made.snapshot(START)
        yield made
        made.close()
    assert list(folder.iterdir()) == []
    assert_as_before(before, folder)


@pytest.fixture
def power_losses(pytestconfig: pytest.Config) -> range:
    """The numbers of the power losses of a test."""
    return range(MORE_POWER_LOSSES if pytestconfig.getoption("--long") else POWER_LOSSES)


def on(
    target: Database,
    data: str | None,
    log: str | None = None,
    settings: dict[str, Level] | None = None,
) -> TargetSpec:
    spec = target.spec.with_settings(settings or {})
    return spec.model_copy(update={"storage": StorageSpec(data=data, log=log)})


def commit(target: Database, first: int) -> None:
    """Makes commits that the server acknowledges, each of one row."""
    for number in range(first, first + COMMITS):
        target.query(f"INSERT INTO item (id, quantity) VALUES ({number}, 0)")


def found(target: Database, first: int) -> int:
    last = first + COMMITS
    rows = target.query(f"SELECT count(*) FROM item WHERE id >= {first} AND id < {last}")
    return int(rows[0][0])


def test_data_and_log_move_and_stay_the_same(target: Database) -> None:
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


def test_a_power_loss_takes_no_acknowledged_commit(target: Database, power_losses: range) -> None:
    spec = on(target, "volatile:ext4,size=2GB", "volatile:xfs,size=1GB")
    for number in power_losses:
        target.restore(START, spec)
        target.settle("warm")
        commit(target, 10_000)
        target.crash("power-loss")
        target.start()
        assert found(target, 10_000) == COMMITS, f"power loss {number + 1}"
        commit(target, 20_000)


@pytest.mark.parametrize(
    ("engine", "unsafe"),
    long_but(
        [("postgresql", "nobarrier"), ("mariadb", "settings")],
        product(ENGINES, ["nobarrier", "settings"]),
    ),
    indirect=["engine"],
    scope="module",
)
def test_a_power_loss_takes_what_was_never_flushed(
    target: Database, engine: str, unsafe: str
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


def move_away(target: Database, place: str) -> None:
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
def test_what_moved_away_survives_a_power_loss(target: Database, power_losses: range) -> None:
    for number in power_losses:
        move_away(target, "volatile:xfs,size=1GB")
        commit(target, 10_000)
        target.crash("power-loss")
        target.start()
        assert found(target, 10_000) == COMMITS, f"power loss {number + 1}"
        assert target.moved("item") == {"item"}


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
def test_what_moved_away_loses_its_power_too(target: Database) -> None:
    """After a checkpoint the log brings nothing back that its own place did not flush."""
    move_away(target, "volatile:ext4,nobarrier,size=1GB")
    commit(target, 10_000)
    target.query("CHECKPOINT")
    target.crash("power-loss")
    target.start()
    with pytest.raises((TargetError, AssertionError)):
        assert found(target, 10_000) == COMMITS
