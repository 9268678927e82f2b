"""An owned MariaDB: its settings, its layouts, its tables, its start state."""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from integration.conftest import ROWS, START, TABLES, fill, need_mariadb
from lengths import long_but

from loadstone.errors import TargetError, WrongInputError
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.mariadb import OwnedMariaDB, binaries, catalog
from loadstone.targets.schema import Column, ColumnType, ForeignKey, Index, Table

pytestmark = pytest.mark.xdist_group("mariadb")

LOCAL = TargetSpec(engine="mariadb")

ORDERS = (
    Table(
        "parent",
        (Column("id", ColumnType("integer")), Column("name", ColumnType("char", 10))),
        primary_key=("id",),
    ),
    Table(
        "child",
        (
            Column("parent", ColumnType("integer"), nullable=True),
            Column("amount", ColumnType("decimal", 6, 2)),
            Column("at", ColumnType("timestamp")),
        ),
        foreign_keys=(ForeignKey("child_parent", ("parent",), "parent", ("id",)),),
        indexes=(Index("child_amount", ("amount",), unique=True),),
    ),
)


@pytest.fixture(autouse=True)
def _mariadb() -> None:
    need_mariadb()


def folder_of(target: OwnedMariaDB, name: str) -> Path:
    return Path(target.inventory()[f"{name}_folder"])


def test_settings_are_applied_and_read_back(mariadb_target: OwnedMariaDB) -> None:
    wanted = {
        "innodb_buffer_pool_size": "256MB",
        "innodb-log-file-size": "128 MiB",
        "innodb_flush_log_at_trx_commit": 2,
        "Innodb_Flush_Method": "O_DSYNC",
        "innodb_adaptive_hash_index": True,
        "innodb_max_dirty_pages_pct": 75.5,
        "transaction_isolation": "READ-COMMITTED",
        "sql_mode": "TRADITIONAL",
        "optimizer_switch": "mrr=on",
        "init_connect": "SET @note = 'it''s # a \\\\ \"name\"'",
    }
    readings = {
        each.factor: each
        for each in mariadb_target.restore(START, mariadb_target.spec.with_settings(wanted))
    }
    assert set(readings) == {f"target.{name}" for name in wanted}
    assert readings["target.innodb_buffer_pool_size"].read_back == str(256 * 1024**2)
    assert readings["target.innodb-log-file-size"].read_back == str(128 * 1024**2)
    assert readings["target.innodb_flush_log_at_trx_commit"].unsafe
    assert not readings["target.Innodb_Flush_Method"].unsafe
    mariadb_target.restore(START, mariadb_target.spec)
    assert mariadb_target.query("SELECT @@innodb_buffer_pool_size") == [(128 * 1024**2,)]
    assert mariadb_target.query("SELECT @@GLOBAL.tx_isolation") == [("REPEATABLE-READ",)]


def test_redo_log_may_have_any_size_in_each_trial(mariadb_target: OwnedMariaDB) -> None:
    for size in ("8MB", "1GB", "96MB"):
        mariadb_target.restore(
            START, mariadb_target.spec.with_settings({"innodb_log_file_size": size})
        )
        mariadb_target.execute("UPDATE item SET quantity = quantity + 1")
        [log] = folder_of(mariadb_target, "redo").iterdir()
        assert log.stat().st_size == int(size.rstrip("MGB")) * (1024**3 if "G" in size else 1024**2)


def test_load_with_a_large_redo_log_keeps_a_small_snapshot(mariadb_target: OwnedMariaDB) -> None:
    spec = mariadb_target.spec.with_settings({"innodb_log_file_size": "512MB"})
    mariadb_target.restore(START, spec)
    mariadb_target.execute("DELETE FROM item WHERE id > 1000")
    mariadb_target.snapshot("large")
    snapshots = folder_of(mariadb_target, "data").parent.parent / "snapshots"
    assert (snapshots / "large" / "redo" / "ib_logfile0").stat().st_size == 96 * 1024**2
    mariadb_target.restore("large", spec)
    assert mariadb_target.query("SELECT @@innodb_log_file_size") == [(512 * 1024**2,)]
    assert mariadb_target.fingerprint(TABLES).rows == {"item": 1000}


def test_binary_log_lies_with_the_redo_log_and_is_safe(mariadb_target: OwnedMariaDB) -> None:
    spec = mariadb_target.spec.with_settings({"log_bin": True})
    mariadb_target.restore(START, spec)
    mariadb_target.execute("UPDATE item SET quantity = 0")
    assert list(folder_of(mariadb_target, "redo").glob("binlog.0*"))
    assert mariadb_target.query("SELECT @@log_bin, @@sync_binlog") == [(1, 1)]
    mariadb_target.restore(START, mariadb_target.spec)
    assert not list(folder_of(mariadb_target, "redo").glob("binlog*"))
    assert not OwnedMariaDB.setting(spec, "log_bin", True).unsafe
    assert OwnedMariaDB.setting(spec, "sync_binlog", 0).unsafe
    assert not OwnedMariaDB.setting(LOCAL, "sync_binlog", 0).unsafe


def test_snapshot_of_a_server_with_a_binary_log_goes_anywhere(mariadb_target: OwnedMariaDB) -> None:
    target = mariadb_target
    target.restore(START, target.spec.with_settings({"log_bin": True}))
    target.execute("DELETE FROM item WHERE id > 1000")
    target.snapshot("binary log")
    for settings in ({"log_bin": True}, {"log_bin": False}, {"log_bin": True}):
        target.restore("binary log", target.spec.with_settings(settings))
        target.settle("cold")
        assert target.fingerprint(TABLES).rows == {"item": 1000}
        present = [each.name for each in folder_of(target, "redo").glob("binlog.0*")]
        assert sorted(present) == ["binlog.000001", "binlog.000002"] * settings["log_bin"]


@pytest.mark.parametrize(
    ("size", "files"),
    long_but(
        [("4k", "shared")],
        [("4k", "shared"), ("4k", "own"), ("16K", "own"), ("16K", "shared"), ("64k", "own")],
    ),
)
def test_data_of_another_layout_are_made_anew(
    mariadb_target: OwnedMariaDB, size: str, files: str
) -> None:
    target = mariadb_target
    wanted = {"innodb_page_size": size, "innodb_file_per_table": files == "own"}
    spec, key = target.spec.with_settings(wanted), f"of {size} in {files} files"
    readings = {each.factor: each.read_back for each in target.empty(spec)}
    assert readings == {
        "target.innodb_page_size": str(int(size[:-1]) * 1024),
        "target.innodb_file_per_table": "ON" if files == "own" else "OFF",
    }
    fill(target)
    target.snapshot(key)
    target.restore(key, spec)
    assert target.fingerprint(TABLES).rows == {"item": ROWS}
    own = [each.name for each in folder_of(target, "data").glob("loadstone/*.ibd")]
    assert own == (["item.ibd"] if files == "own" else [])
    assert target.size_bytes() > ROWS * 100
    target.empty(target.spec)
    assert target.query("SELECT @@innodb_page_size, @@innodb_file_per_table") == [(16384, 1)]
    assert target.query("SHOW TABLES") == []


def test_layout_is_what_differs_from_the_defaults() -> None:
    def layout(**settings: object) -> dict[str, Level]:
        return OwnedMariaDB.layout(LOCAL.with_settings(settings))

    assert layout(innodb_page_size="4k") == {"innodb_page_size": "4096"}
    assert layout(innodb_page_size="16K") == {}


def test_setting_that_the_machine_cannot_carry_is_named(mariadb_target: OwnedMariaDB) -> None:
    small = mariadb_target.spec.with_settings({"innodb_data_file_path": "ibdata1:5M"})
    with pytest.raises(
        TargetError, match=r"does not start with innodb_data_file_path = ibdata1:5M"
    ):
        mariadb_target.restore(START, small)
    mariadb_target.restore(START, mariadb_target.spec)
    assert mariadb_target.fingerprint(TABLES).rows["item"] > 0


def test_setting_that_the_server_bounds_is_noticed(mariadb_target: OwnedMariaDB) -> None:
    wanted = {"innodb_io_capacity_max": 100, "innodb_io_capacity": 200}
    with pytest.raises(TargetError, match="innodb_io_capacity was set to '200', but"):
        mariadb_target.restore(START, mariadb_target.spec.with_settings(wanted))


@pytest.mark.parametrize(
    ("name", "level", "message"),
    [
        ("innodb_bufer_pool_size", "1GB", "has no setting 'innodb_bufer_pool_size'"),
        ("innodb_buffer_pool_size", "1 zebra", "Unknown suffix"),
        ("innodb_buffer_pool_size", "1B", "adjusted to"),
        ("innodb_flush_method", "hope", "Error while setting value 'hope'"),
        ("innodb_doublewrite", "maybe", "invalid value 'maybe'"),
        ("innodb_page_size", "5000", "4K, 8K, 16K, 32K, 64K"),
        ("log_bin", "/tmp/mine", "write on or off"),
        ("x; DROP TABLE item", 1, "has no setting"),
    ],
)
def test_wrong_settings(name: str, level: str, message: str) -> None:
    with pytest.raises(WrongInputError, match=message):
        OwnedMariaDB.setting(LOCAL, name, level)


@pytest.mark.parametrize("name", ["port", "socket", "datadir", "innodb_log_group_home_dir"])
def test_settings_that_loadstone_needs_are_refused(name: str) -> None:
    assert "Loadstone sets it itself" in (OwnedMariaDB.setting(LOCAL, name, "1").refused or "")


def test_what_a_setting_needs() -> None:
    def needs(name: str, level: int | str) -> str:
        return OwnedMariaDB.setting(LOCAL, name, level).needs

    assert needs("innodb_buffer_pool_size", "1GB") == "reload"
    assert needs("innodb_doublewrite", 1) == "restart"
    assert needs("innodb_page_size", "8k") == "new data"
    assert "was built" in (OwnedMariaDB.setting(LOCAL, "version", 1).refused or "")
    assert "one session" in (OwnedMariaDB.setting(LOCAL, "timestamp", 1).refused or "")
    assert OwnedMariaDB.setting(LOCAL, "innodb_flush_method", "fsync").default == "O_DIRECT"


def test_settings_are_listed_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / ("a folder whose path is longer than that of a socket may be " * 2).strip()
    monkeypatch.setenv("LOADSTONE_CACHE", str(cache))
    stale = cache / "asking-old"
    stale.mkdir(parents=True)
    catalog.variables.cache_clear()
    found = catalog.variables(binaries.find("local"))
    assert len(found) > 500
    assert found["innodb_flush_method"].choices[0] == "fsync"
    [lock, kept] = sorted(cache.iterdir())
    assert (lock.name, kept.name[:9]) == ("asking.lock", "mariadb-1")
    catalog.variables.cache_clear()
    assert catalog.variables(binaries.find("local")) == found
    catalog.variables.cache_clear()


def test_several_that_ask_for_settings_at_once_are_all_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADSTONE_CACHE", str(tmp_path))
    ask = catalog.variables.__wrapped__
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, 4 * [binaries.find("local")]))
    assert len(answers[0]) > 500
    assert answers[1:] == 3 * answers[:1]


def test_describe_starts_nothing() -> None:
    assert "MariaDB" in OwnedMariaDB.describe(LOCAL)["version"]
    with pytest.raises(TargetError, match="looked for mariadbd"):
        OwnedMariaDB.describe(LOCAL.model_copy(update={"server": "local:99"}))
    with pytest.raises(WrongInputError, match="no embedded MariaDB"):
        OwnedMariaDB.describe(LOCAL.model_copy(update={"server": "embedded"}))
    with pytest.raises(WrongInputError, match="not one that MariaDB can have"):
        OwnedMariaDB.describe(LOCAL.model_copy(update={"server": "locl"}))


def test_tables_are_made_for_the_load_and_finished_after_it(mariadb_target: OwnedMariaDB) -> None:
    mariadb_target.restore(START, mariadb_target.spec)
    mariadb_target.create_tables(ORDERS)
    mariadb_target.execute(
        "INSERT INTO parent VALUES (1, 'a'); INSERT INTO child VALUES "
        "(1, 0.1, '2024-01-01 10:00:00.123456'), (NULL, 0.2, '2024-01-01')"
    )
    mariadb_target.finish_tables(ORDERS)
    assert (
        mariadb_target.query("SELECT sum(amount), max(at) FROM child WHERE amount > 0")[0][0]
        .as_tuple()
        .exponent
        == -2
    )
    for statement, message in (
        ("INSERT INTO child VALUES (9, 9, now())", "foreign key constraint fails"),
        ("INSERT INTO child VALUES (1, 0.2, now())", "Duplicate entry"),
        ("INSERT INTO parent VALUES (1, 'b')", "Duplicate entry"),
    ):
        with pytest.raises(TargetError, match=message):
            mariadb_target.execute(statement)
    # By code points, as in the C locale: large letters before small ones.
    mariadb_target.execute("INSERT INTO parent VALUES (2, 'B')")
    assert mariadb_target.query("SELECT name FROM parent ORDER BY name") == [("B",), ("a",)]


def test_rows_that_refer_to_nothing_are_found(mariadb_target: OwnedMariaDB) -> None:
    mariadb_target.restore(START, mariadb_target.spec)
    mariadb_target.create_tables(ORDERS)
    mariadb_target.execute("INSERT INTO child VALUES (7, 1, now())")
    with pytest.raises(TargetError, match=r"breaks foreign key child\.child_parent: \(7,\)"):
        mariadb_target.finish_tables(ORDERS)


def test_procedures_come_between_lines_of_slashes(mariadb_target: OwnedMariaDB) -> None:
    mariadb_target.restore(START, mariadb_target.spec)
    mariadb_target.execute(
        "-- two of them; with semicolons\nCREATE PROCEDURE one() BEGIN SELECT 1; SELECT 2; END\n"
        "//\nCREATE PROCEDURE two(OUT n int) BEGIN SET n = 2; END\n//\n"
    )
    names = mariadb_target.query("SELECT name FROM mysql.proc WHERE db = database() ORDER BY name")
    assert names == [("one",), ("two",)]


def test_warm_is_in_the_buffer_pool_and_nothing_is_left_to_do(mariadb_target: OwnedMariaDB) -> None:
    mariadb_target.restore(START, mariadb_target.spec)
    mariadb_target.execute("UPDATE item SET quantity = quantity + 1")
    mariadb_target.settle("warm")
    assert status(mariadb_target, "Innodb_buffer_pool_pages_dirty") == 0
    assert status(mariadb_target, "Innodb_history_list_length") == 0
    assert status(mariadb_target, "Innodb_checkpoint_age") < 1024
    before = status(mariadb_target, "Innodb_buffer_pool_reads")
    scan(mariadb_target)
    assert status(mariadb_target, "Innodb_buffer_pool_reads") == before
    mariadb_target.settle("cold")
    before = status(mariadb_target, "Innodb_buffer_pool_reads")
    scan(mariadb_target)
    assert status(mariadb_target, "Innodb_buffer_pool_reads") > before
    assert "dropped from the page cache" in mariadb_target.inventory()["last_reset"]["cache"]
    assert mariadb_target.query("SELECT @@innodb_max_dirty_pages_pct") == [(90.0,)]


def scan(target: OwnedMariaDB) -> None:
    target.query("SELECT sum(length(name)) FROM item FORCE INDEX (PRIMARY)")
    target.query("SELECT count(*) FROM item FORCE INDEX (item_quantity)")


def status(target: OwnedMariaDB, name: str) -> int:
    return int(target.query("SHOW GLOBAL STATUS LIKE %s", (name,))[0][1])


@pytest.mark.skipif(shutil.which("fincore") is None, reason="fincore tells what is in the cache")
def test_cold_empties_the_page_cache(mariadb_target: OwnedMariaDB) -> None:
    mariadb_target.restore(START, mariadb_target.spec)
    mariadb_target.settle("cold")
    path = folder_of(mariadb_target, "data") / "loadstone" / "item.ibd"
    told = subprocess.run(
        ["fincore", "--bytes", "--noheadings", "--output", "RES,SIZE", str(path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert int(told[0]) < int(told[1]) / 2


def test_statistics_of_the_optimizer_are_kept_and_stay(mariadb_target: OwnedMariaDB) -> None:
    mariadb_target.restore(START, mariadb_target.spec)
    sql = "SELECT n_rows FROM mysql.innodb_table_stats WHERE table_name = 'item'"
    [(estimate,)] = mariadb_target.query(sql)
    assert 0.8 * ROWS < estimate < 1.2 * ROWS
    assert mariadb_target.query("SELECT @@innodb_stats_auto_recalc") == [(0,)]


def test_inventory(mariadb_target: OwnedMariaDB) -> None:
    mariadb_target.restore(START, mariadb_target.spec.with_settings({"sort_buffer_size": "9MB"}))
    found = mariadb_target.inventory()
    assert found["settings"]["sort_buffer_size"]["value"] == str(9 * 1024**2)
    assert found["settings"]["sort_buffer_size"]["source"] == "config"
    assert "innodb_page_size" not in found["settings"]
    assert found["fixed"]["innodb_page_size"] == "16384"
    assert "InnoDB" in found["extensions"]
    assert found["file_system"]["kind"]
    files = folder_of(mariadb_target, "data").glob("loadstone/*.ibd")
    assert found["size_bytes"] == sum(each.stat().st_size for each in files)
    assert found["data_folder_bytes"] > found["size_bytes"] > 0
