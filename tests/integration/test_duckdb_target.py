"""The target `duckdb`: one file, the settings of the engine, its crashes."""

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
from loadstone.targets.duckdb import DuckDB
from loadstone.targets.duckdb.database import connect
from loadstone.targets.schema import Column, ColumnType, Index, Table

EVENT = Table(
    "event",
    (Column("id", ColumnType("integer")), Column("text", ColumnType("varchar", 200))),
    primary_key=("id",),
    indexes=(Index("event_text", ("text",)),),
)
SUMS = {"event": "id * 1000 + length(text)"}
VOLATILE = "volatile:ext4,size=64MB"


def spec(storage: str | None = None, **settings: Level) -> TargetSpec:
    return TargetSpec(engine="duckdb", settings=settings, storage=StorageSpec(data=storage))


@pytest.fixture
def target(tmp_path: Path) -> Iterator[DuckDB]:
    with order_entry.opened("duckdb", tmp_path) as opened:
        assert isinstance(opened, DuckDB)
        yield opened


def fill(target: DuckDB) -> None:
    target.create_tables([EVENT])
    target.execute("INSERT INTO event SELECT n, 'text ' || n FROM range(1, 5001) t(n)")
    target.finish_tables([EVENT])


def test_only_one_folder_is_made_and_it_is_removed(tmp_path: Path):
    with order_entry.opened("duckdb", tmp_path) as target:
        root = Path(target.connection().database).parent.parent
        assert (root / ".loadstone").is_file()
    assert not root.exists()


def test_the_layout_is_that_of_the_spec(target: DuckDB):
    wanted = spec(default_block_size=16384)
    assert DuckDB.layout(wanted)["default_block_size"] == "16384"
    assert DuckDB.layout(wanted) != DuckDB.layout(spec())
    assert DuckDB.layout(spec(default_block_size=262144)) == DuckDB.layout(spec())
    (reading,) = target.empty(wanted)
    assert (reading.factor, reading.read_back) == ("target.default_block_size", "16384")
    assert target.inventory()["block_size_bytes"] == 16384


def test_a_file_of_another_block_size_is_noticed(target: DuckDB):
    target.empty(spec())
    with pytest.raises(TargetError, match="was set to '16384', but DuckDB has '262144'"):
        target.read_back(target.store.database, spec(default_block_size=16384))


def test_a_restored_snapshot_is_the_data_that_were_kept(target: DuckDB):
    fill(target)
    target.snapshot("filled")
    before = target.fingerprint(SUMS)
    for _ in range(2):
        target.restore("filled", spec(threads=1))
        assert target.fingerprint(SUMS) == before
        target.execute("DELETE FROM event WHERE id > 4000")
        assert target.fingerprint(SUMS) != before
    target.restore("filled", spec())
    assert target.fingerprint(SUMS) == before
    assert target.index_names("event") == {"event_text"}
    files = {path.name for path in Path(target.connection().database).parent.iterdir()}
    assert files == {"loadstone.duckdb"}


def test_settings_are_read_back_and_handed_to_the_runner(target: DuckDB):
    fill(target)
    target.snapshot("filled")
    wanted = spec(threads=1, memory_limit="1GB", fsync_mode="none", preserve_insertion_order=False)
    readings = {each.factor: each for each in target.restore("filled", wanted)}
    assert {name: each.read_back for name, each in readings.items()} == {
        "target.threads": "1",
        "target.memory_limit": "953.6 MiB",
        "target.fsync_mode": "none",
        "target.preserve_insertion_order": "false",
    }
    assert [name for name, each in readings.items() if each.unsafe] == ["target.fsync_mode"]
    connection = target.connection()
    assert connection.settings == {
        "threads": "1",
        "memory_limit": "1GB",
        "fsync_mode": "none",
        "preserve_insertion_order": "false",
    }
    target.stop()
    with connect(Path(connection.database), connection.settings) as opened:
        assert opened.execute("SELECT current_setting('threads')").fetchone() == (1,)


@pytest.mark.parametrize("cache", ["warm", "cold"])
def test_the_file_is_left_to_the_runner(target: DuckDB, cache):
    fill(target)
    target.snapshot("filled")
    target.restore("filled", spec())
    target.settle(cache)
    assert "page cache" in target.inventory()["last_reset"]["cache"]
    target.make_way()
    other = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute('DELETE FROM event')"
    command = [sys.executable, "-c", other, target.connection().database]
    subprocess.run(command, check=True, timeout=60)
    assert target.query("SELECT count(*) FROM event") == [(0,)]


def test_sums_are_taken_without_overflow(target: DuckDB):
    fill(target)
    large = 2**62
    found = target.fingerprint({"event": f"{large} - id"})
    assert found.sums == {"event": str(5000 * large - 5000 * 5001 // 2)}
    with pytest.raises(TargetError, match="no integer"):
        target.fingerprint({"event": "id / 2"})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (TargetSpec(engine="duckdb", server="local"), "no server 'local'"),
        (TargetSpec(engine="duckdb", process=ProcessSpec(cpus="0")), "in the runner"),
    ],
)
def test_what_only_a_server_has_is_refused(wrong, said):
    with pytest.raises(WrongInputError, match=said):
        DuckDB.describe(wrong)


def test_an_error_names_the_statement(target: DuckDB):
    with pytest.raises(TargetError, match=r"Table with name nowhere .*SELECT \* FROM nowhere"):
        target.query("SELECT * FROM nowhere")


def acknowledged_until(
    target: DuckDB, rows: int, then: Callable[[subprocess.Popen[str]], None], *settings: str
) -> int:
    """Has a program write rows until that many are there, then lets it fail."""
    target.stop()
    command = [sys.executable, str(Path(__file__).with_name("duckdb_writer.py"))]
    command += [target.connection().database, *settings]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for _ in range(rows):
            writer.stdout.readline()
        then(writer)
        rest = writer.stdout.read().split("\n")
    return rows + len([line for line in rest[:-1] if line])


def test_commits_survive_the_death_of_the_process(target: DuckDB):
    target.create_tables([EVENT])
    target.finish_tables([EVENT])
    target.snapshot("empty")
    # Without synchronous writes: only the machine, not the process, can lose what was written.
    target.restore("empty", spec(fsync_mode="NONE"))
    said = acknowledged_until(target, 200, lambda writer: writer.kill(), "fsync_mode=NONE")
    target.crash("kill")
    target.start()
    assert target.query("SELECT max(id) FROM event")[0][0] >= said
    assert target.query("SELECT count(*) = max(id) FROM event") == [(True,)]


@pytest.mark.skipif(
    unavailable(parse(VOLATILE)) is not None, reason=str(unavailable(parse(VOLATILE)))
)
@pytest.mark.parametrize(("mode", "survives"), [("STANDARD", True), ("NONE", False)])
def test_a_power_loss_takes_what_was_not_flushed(target: DuckDB, mode, survives):
    target.create_tables([EVENT])
    target.finish_tables([EVENT])
    target.snapshot("empty")
    readings = target.restore("empty", spec(VOLATILE, fsync_mode=mode))
    assert "storage.data" in {reading.factor for reading in readings}
    target.settle("warm")

    def fail(writer: subprocess.Popen[str]) -> None:
        writer.kill()
        writer.wait()
        target.crash("power-loss")

    said = acknowledged_until(target, 100, fail, f"fsync_mode={mode}")
    target.start()
    assert (target.query("SELECT count(*) FROM event")[0][0] >= said) is survives
