"""The target `sqlite`: one file, the settings of its connections, its crashes."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import order_entry
import pytest

from loadstone.errors import TargetError, WrongInputError
from loadstone.placements.place import parse
from loadstone.placements.support import unavailable
from loadstone.spec.base import Level
from loadstone.spec.target import ProcessSpec, StorageSpec, TargetSpec
from loadstone.targets.schema import Column, ColumnType, ForeignKey, Index, Table
from loadstone.targets.sqlite import SQLite

INTEGER = ColumnType("integer")
EVENT = Table(
    "event",
    (Column("id", INTEGER), Column("text", ColumnType("varchar", 200))),
    primary_key=("id",),
    indexes=(Index("event_text", ("text",)),),
)
NOTE = Table(
    "note",
    (Column("event", INTEGER), Column("amount", ColumnType("decimal", 6, 2))),
    foreign_keys=(ForeignKey("note_event", ("event",), "event", ("id",)),),
)
SUMS = {"event": "id * 1000 + length(text)"}
VOLATILE = "volatile:ext4,size=64MB"


def spec(storage: str | None = None, **settings: Level) -> TargetSpec:
    return TargetSpec(engine="sqlite", settings=settings, storage=StorageSpec(data=storage))


@pytest.fixture
def target(tmp_path: Path) -> Iterator[SQLite]:
    with order_entry.opened("sqlite", tmp_path) as opened:
        assert isinstance(opened, SQLite)
        yield opened


def fill(target: SQLite) -> None:
    target.create_tables([EVENT, NOTE])
    target.execute(
        "INSERT INTO event WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n "
        "WHERE n < 5000) SELECT n, 'text ' || n FROM n"
    )
    target.finish_tables([EVENT, NOTE])


def other_connection(target: SQLite) -> sqlite3.Connection:
    return sqlite3.connect(target.connection().database, isolation_level=None)


def test_only_one_folder_is_made_and_it_is_removed(tmp_path: Path):
    with order_entry.opened("sqlite", tmp_path) as target:
        root = Path(target.connection().database).parent.parent
        assert (root / ".loadstone").is_file()
    assert not root.exists()


def test_the_layout_is_that_of_the_spec(target: SQLite):
    wanted = spec(page_size="16kB", auto_vacuum="full")
    assert SQLite.layout(wanted) == {"page_size": "16384", "auto_vacuum": "1", "encoding": "UTF-8"}
    assert SQLite.layout(spec(page_size=4096)) == SQLite.layout(spec())
    readings = {reading.factor: reading.read_back for reading in target.empty(wanted)}
    assert readings == {"target.page_size": "16384", "target.auto_vacuum": "full"}
    assert target.query("PRAGMA page_size") == [(16384,)]
    assert target.inventory()["fixed"]["page_size"] == 16384


@pytest.mark.parametrize("mode", ["delete", "truncate", "wal"])
def test_a_restored_snapshot_is_the_data_that_were_kept(target: SQLite, mode):
    fill(target)
    target.snapshot("filled")
    before = target.fingerprint(SUMS)
    for _ in range(2):
        target.restore("filled", spec(journal_mode=mode))
        assert target.fingerprint(SUMS) == before
        # What a driver leaves that is killed: a file beside the database.
        left = other_connection(target)
        left.execute("BEGIN IMMEDIATE")
        left.execute("UPDATE event SET text = 'other' WHERE id < 1000")
        left.execute("COMMIT" if mode == "wal" else "ROLLBACK")
        target.execute("DELETE FROM event WHERE id > 4000")
        assert target.fingerprint(SUMS) != before
        left.close()
    target.restore("filled", spec())
    assert target.fingerprint(SUMS) == before
    assert target.query("PRAGMA journal_mode") == [("delete",)]
    files = {path.name for path in Path(target.connection().database).parent.iterdir()}
    assert files == {"loadstone.db"}


def test_settings_are_read_back_and_handed_to_the_driver(target: SQLite):
    fill(target)
    target.snapshot("filled")
    wanted = spec(
        journal_mode="wal", synchronous="normal", cache_size="64MB", cache_spill=True, threads=2
    )
    readings = {each.factor: each for each in target.restore("filled", wanted)}
    assert {name: each.read_back for name, each in readings.items()} == {
        "target.journal_mode": "wal",
        "target.synchronous": "normal",
        "target.cache_size": "65536kB",
        "target.cache_spill": "on",
        "target.threads": "2",
    }
    assert [name for name, each in readings.items() if each.unsafe] == ["target.synchronous"]
    assert target.connection().settings == {
        "foreign_keys": "on",
        "busy_timeout": "5000",
        "journal_mode": "wal",
        "synchronous": "normal",
        "cache_size": "-65536",
        "threads": "2",
    }


def test_references_hold_from_the_end_of_the_load_on(target: SQLite):
    target.create_tables([EVENT, NOTE])
    assert target.connection().settings["foreign_keys"] == "off"
    target.execute("INSERT INTO note VALUES (7, 1)")
    with pytest.raises(TargetError, match="1 rows of note refer to rows that are not there"):
        target.finish_tables([EVENT, NOTE])
    assert target.connection().settings["foreign_keys"] == "on"


def test_a_value_of_another_type_is_refused(target: SQLite):
    target.create_tables([EVENT, NOTE])
    with pytest.raises(TargetError, match="cannot store REAL value in INTEGER column"):
        target.execute("INSERT INTO note VALUES (7, 0.5)")


@pytest.mark.parametrize("cache", ["warm", "cold"])
def test_settle_leaves_no_connection_open(target: SQLite, cache):
    fill(target)
    target.snapshot("filled")
    target.restore("filled", spec(journal_mode="wal"))
    target.settle(cache)
    alone = other_connection(target)
    alone.execute("PRAGMA journal_mode = delete")
    assert alone.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    alone.close()
    assert "page cache" in target.inventory()["last_reset"]["cache"]


def test_sums_are_taken_without_overflow(target: SQLite):
    fill(target)
    large = 2**62
    found = target.fingerprint({"event": f"{large} - id"})
    assert found.sums == {"event": str(5000 * large - 5000 * 5001 // 2)}
    with pytest.raises(TargetError, match="no 64-bit integer"):
        target.fingerprint({"event": f"{large} * id"})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (TargetSpec(engine="sqlite", server="local"), "no server 'local'"),
        (TargetSpec(engine="sqlite", process=ProcessSpec(cpus="0")), "in the load driver"),
    ],
)
def test_what_only_a_server_has_is_refused(wrong, said):
    with pytest.raises(WrongInputError, match=said):
        SQLite.describe(wrong)


def test_an_unknown_snapshot_is_refused(target: SQLite):
    with pytest.raises(WrongInputError, match="no snapshot 'other'"):
        target.restore("other", spec())


def acknowledged_until(
    target: SQLite, rows: int, then: Callable[[subprocess.Popen[str]], None], *settings: str
) -> int:
    """Has a program write rows until that many are there, then lets it fail."""
    command = [sys.executable, str(Path(__file__).with_name("sqlite_writer.py"))]
    command += [target.connection().database, *settings]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for _ in range(rows):
            writer.stdout.readline()
        then(writer)
        rest = writer.stdout.read().split("\n")
    return rows + len([line for line in rest[:-1] if line])


@pytest.mark.parametrize("mode", ["delete", "persist", "wal"])
def test_commits_survive_the_death_of_the_process(target: SQLite, mode):
    target.create_tables([EVENT])
    target.finish_tables([EVENT])
    target.snapshot("empty")
    # Without synchronous: only the machine, not the process, can lose what was written.
    target.restore("empty", spec(journal_mode=mode, synchronous="off"))
    settings = [f"journal_mode={mode}", "synchronous=off"]
    said = acknowledged_until(target, 200, lambda writer: writer.kill(), *settings)
    target.crash("kill")
    target.start()
    assert target.query("SELECT count(*), max(id) FROM event")[0][1] >= said
    assert target.query("PRAGMA integrity_check") == [("ok",)]


@pytest.mark.skipif(
    unavailable(parse(VOLATILE)) is not None, reason=str(unavailable(parse(VOLATILE)))
)
@pytest.mark.parametrize(
    ("settings", "survives"),
    [
        ({"journal_mode": "wal", "synchronous": "full"}, True),
        ({"journal_mode": "truncate", "synchronous": "full"}, True),
        ({"journal_mode": "wal", "synchronous": "off"}, False),
    ],
)
def test_a_power_loss_takes_what_was_not_flushed(target: SQLite, settings, survives):
    target.create_tables([EVENT])
    target.finish_tables([EVENT])
    target.snapshot("empty")
    readings = target.restore("empty", spec(VOLATILE, **settings))
    assert "storage.data" in {reading.factor for reading in readings}
    target.settle("warm")

    def fail(writer: subprocess.Popen[str]) -> None:
        writer.kill()
        writer.wait()
        target.crash("power-loss")

    pragmas = [f"{name}={value}" for name, value in settings.items()]
    said = acknowledged_until(target, 100, fail, *pragmas)
    target.start()
    assert (target.query("SELECT count(*) FROM event")[0][0] >= said) is survives
    if survives:
        assert target.query("PRAGMA integrity_check") == [("ok",)]
