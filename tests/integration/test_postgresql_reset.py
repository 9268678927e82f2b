"""Every trial starts from the same state, whatever the one before did."""

import shutil
import subprocess
from pathlib import Path

import pytest
from integration.conftest import ROWS, START, on_each_version
from listing import postgresql_memory, shared_memory
from machine import need

from loadstone.spec.target import StorageSpec
from loadstone.targets.postgresql import OwnedPostgreSQL, processes

pytestmark = pytest.mark.xdist_group("postgresql")

CACHED = """
SELECT sum(heap_blks_hit + idx_blks_hit), sum(heap_blks_read + idx_blks_read)
FROM pg_statio_user_tables
"""
SEGMENT_BYTES = 16 * 1024**2


def test_data_are_analysed_and_frozen(owned_target: OwnedPostgreSQL) -> None:
    owned_target.restore(START, owned_target.spec)
    assert owned_target.query(
        "SELECT reltuples, relallvisible = relpages FROM pg_class WHERE relname = 'item'"
    ) == [(ROWS, True)]
    assert owned_target.query("SELECT count(*) > 0 FROM pg_stats WHERE tablename = 'item'") == [
        (True,)
    ]
    assert owned_target.query("SHOW autovacuum") == [("off",)]
    owned_target.restore(START, owned_target.spec.with_settings({"autovacuum": True}))
    assert owned_target.query("SHOW autovacuum") == [("on",)]


def reads_of_a_scan(target: OwnedPostgreSQL) -> tuple[int, int]:
    """Blocks found in shared buffers and not, when everything is read once."""
    target.query("SELECT count(name) FROM item")
    target.query("SELECT pg_stat_force_next_flush()" if major(target) >= 15 else "SELECT 1")
    target.query("SELECT pg_stat_clear_snapshot()")
    while True:
        hits, reads = target.query(CACHED)[0]
        if hits or reads:
            return int(hits), int(reads)


def major(target: OwnedPostgreSQL) -> int:
    return int(target.query("SHOW server_version_num")[0][0]) // 10_000


@on_each_version
def test_warm_is_in_shared_buffers_and_cold_is_on_the_disk(owned_target: OwnedPostgreSQL) -> None:
    owned_target.restore(START, owned_target.spec)
    owned_target.settle("warm")
    assert owned_target.query(CACHED) == [(0, 0)], "statistics were reset"
    hits, reads = reads_of_a_scan(owned_target)
    assert hits > 0
    assert reads == 0
    owned_target.settle("cold")
    hits, reads = reads_of_a_scan(owned_target)
    assert reads > 0
    assert "dropped from the page cache" in owned_target.inventory()["last_reset"]["cache"]


@pytest.mark.skipif(shutil.which("fincore") is None, reason="fincore tells what is in the cache")
def test_cold_empties_the_page_cache(owned_target: OwnedPostgreSQL) -> None:
    owned_target.restore(START, owned_target.spec)
    owned_target.settle("cold")
    name = owned_target.query("SELECT pg_relation_filepath('item')")[0][0]
    path = Path(owned_target.inventory()["data_folder"]) / name
    told = subprocess.run(
        ["fincore", "--bytes", "--noheadings", "--output", "RES,SIZE", str(path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert int(told[0]) == 0
    assert int(told[1]) > 0


def test_spare_wal_is_not_kept(owned_target: OwnedPostgreSQL) -> None:
    """How much WAL the load made must not decide how much is copied before each trial."""
    large = owned_target.spec.with_settings({"max_wal_size": "1GB"})
    owned_target.restore(START, large)
    for number in range(12):
        owned_target.execute(f"CREATE TABLE t{number} (id integer); SELECT pg_switch_wal()")
    assert wal_bytes(owned_target) >= 12 * SEGMENT_BYTES
    owned_target.snapshot("much log")
    owned_target.restore("much log", large)
    assert wal_bytes(owned_target) <= 7 * SEGMENT_BYTES
    assert owned_target.query("SELECT count(*) FROM t11") == [(0,)]


def wal_bytes(target: OwnedPostgreSQL) -> int:
    folder = Path(target.inventory()["data_folder"]) / "pg_wal"
    return sum(each.stat().st_size for each in folder.iterdir() if each.is_file())


def memory_of(data: Path) -> set[str]:
    """What the processes of a server have mapped; those of other servers come and go meanwhile."""
    mapped = {each for server in processes.all_of(data) for each in postgresql_memory(server.pid)}
    # A line is a path, or a key and an identifier.
    return {each for each in shared_memory() if {*each.split()[1:3]} & mapped}


def test_shared_memory_goes_with_the_power(owned_target: OwnedPostgreSQL) -> None:
    """Nothing on the disk may lead to it any more, and the server may not start again."""
    need("volatile:ext4")
    volatile = StorageSpec(data="volatile:ext4")
    owned_target.restore(START, owned_target.spec.model_copy(update={"storage": volatile}))
    try:
        running = memory_of(Path(owned_target.inventory()["data_folder"]))
        owned_target.crash("power-loss")
        assert len(running) > 1, "a server has both kinds"
        assert not running & set(shared_memory())
    finally:
        # The server is that of the whole session: it must not leave a mount without its disk.
        owned_target.restore(START, owned_target.spec)
