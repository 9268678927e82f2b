"""A MariaDB that somebody else runs: refused, borrowed, given back."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from integration.conftest import ROWS, TABLES, MakeTarget, fill
from integration.test_postgresql_recover import LEFT, recover, run_victim
from lengths import long_but

from loadstone.errors import RefusedError, TargetError, WrongInputError
from loadstone.journal import open_journals
from loadstone.spec.target import TargetSpec
from loadstone.targets import served
from loadstone.targets.mariadb import OwnedMariaDB, RemoteMariaDB
from loadstone.targets.mariadb.client import Client

pytestmark = pytest.mark.xdist_group("mariadb")

DATABASE = "theirs-`x"
PASSWORD = "s3cret"


@dataclass(frozen=True)
class Theirs:
    """Somebody's server, with an empty database."""

    address: str
    server: Client
    database: Client


@pytest.fixture
def theirs(empty_mariadb: OwnedMariaDB) -> Iterator[Theirs]:
    instance = empty_mariadb.server
    server = Client(instance.connection(""))
    server.query("CREATE DATABASE `theirs-``x` CHARACTER SET latin1 COMMENT 'precious'")
    database = Client(instance.connection(DATABASE))
    yield Theirs(f"mysql://loadstone@/theirs-%60x?socket={instance.socket}", server, database)
    database.close()
    server.query("DROP DATABASE `theirs-``x`")
    server.close()


def all_of(theirs: Theirs) -> list[tuple[object, ...]]:
    """Every database with its comment, and every table that is not the server's own."""
    return theirs.server.query(
        "SELECT schema_name, schema_comment, default_character_set_name, table_name "
        "FROM information_schema.SCHEMATA LEFT JOIN information_schema.TABLES "
        "ON table_schema = schema_name WHERE schema_name NOT IN "
        "('mysql', 'sys', 'information_schema', 'performance_schema') ORDER BY 1, 4"
    )


def test_trials_start_from_the_snapshot_and_the_tables_come_back(
    theirs: Theirs, make_target: MakeTarget
) -> None:
    before = all_of(theirs)
    target = make_target(theirs.address, engine="mariadb")
    fill(target)
    target.execute(
        "CREATE TABLE part (item integer, CONSTRAINT part_item FOREIGN KEY (item) "
        "REFERENCES item (id)); INSERT INTO part VALUES (1)"
    )
    target.snapshot("k")
    first = target.fingerprint(TABLES)
    assert first.rows == {"item": ROWS}
    assert first.size_bytes > 100 * ROWS
    for _ in range(2):
        target.execute("DELETE FROM item WHERE id % 2 = 0")
        target.execute("CREATE PROCEDURE litter() SELECT 1\n//\nCREATE VIEW v AS SELECT 1\n//")
        target.restore("k", target.spec)
        target.settle("warm")
        assert target.fingerprint(TABLES).digest == first.digest
        with pytest.raises(TargetError, match="foreign key constraint fails"):
            target.execute("INSERT INTO part VALUES (-1)")
        assert target.query("SHOW PROCEDURE STATUS WHERE db = database()") == []
    target.empty(target.spec)
    assert target.query("SHOW TABLES") == []
    assert target.server_cpu_s() is None
    assert target.log_path() is None
    target.close()
    assert all_of(theirs) == before


def test_settings_go_back_to_what_they_were(theirs: Theirs, make_target: MakeTarget) -> None:
    before = theirs.server.query("SHOW GLOBAL VARIABLES")
    target = make_target(theirs.address, engine="mariadb")
    target.snapshot("k")
    readings = target.restore(
        "k",
        target.spec.with_settings(
            {"innodb_io_capacity": 400, "innodb_buffer_pool_size": "160MB", "sql_mode": "ANSI"}
        ),
    )
    assert [(each.read_back, each.before, each.how) for each in readings[:2]] == [
        ("400", "200", "reload"),
        (str(160 * 1024**2), str(128 * 1024**2), "reload"),
    ]
    target.settle("warm")
    target.restore("k", target.spec.with_settings({"innodb_io_capacity": 500}))
    assert target.query("SELECT @@GLOBAL.innodb_io_capacity, @@GLOBAL.innodb_buffer_pool_size") == [
        (500, 128 * 1024**2)
    ]
    target.close()
    moving = {"gtid_binlog_pos", "gtid_current_pos", "timestamp"}
    after = theirs.server.query("SHOW GLOBAL VARIABLES")
    assert [row for row in after if row not in before and row[0] not in moving] == []


def test_settings_that_need_a_restart_are_refused(theirs: Theirs) -> None:
    spec = TargetSpec(engine="mariadb", server=theirs.address)
    assert "needs a restart" in (
        RemoteMariaDB.setting(spec, "innodb_doublewrite", False).refused or ""
    )
    assert RemoteMariaDB.setting(spec, "innodb_doublewrite", True).refused is None
    assert RemoteMariaDB.setting(spec, "innodb_io_capacity", 1000).refused is None
    assert "tables are made" in (
        RemoteMariaDB.setting(spec, "innodb_file_per_table", 0).refused or ""
    )
    for name, level in (
        ("no_such", 1),
        ("innodb_io_capacity", "1 zebra"),
        ("innodb_io_capacity", 5),
        ("innodb_flush_method", "hope"),
    ):
        with pytest.raises(WrongInputError):
            RemoteMariaDB.setting(spec, name, level)
    assert RemoteMariaDB.layout(spec.with_settings({"innodb_page_size": "4K"})) == {}


def test_database_that_is_not_empty_is_refused(theirs: Theirs, make_target: MakeTarget) -> None:
    theirs.database.query("CREATE TABLE precious AS SELECT 42 AS answer")
    theirs.database.close()
    before = all_of(theirs)
    with pytest.raises(RefusedError, match=r"not empty .*precious"):
        make_target(theirs.address, engine="mariadb")
    target = make_target(theirs.address, engine="mariadb", force=True)
    fill(target)
    target.execute("CREATE TABLE precious (id integer)")
    target.close()
    assert theirs.database.query("SELECT answer FROM precious") == [(42,)]
    theirs.database.query("CREATE VIEW seen AS SELECT * FROM precious")
    theirs.database.close()
    with pytest.raises(RefusedError, match="holds view seen, which MariaDB cannot move"):
        make_target(theirs.address, engine="mariadb", force=True)
    theirs.database.query("DROP VIEW seen")
    assert all_of(theirs) == before


def test_database_in_use_is_refused(theirs: Theirs, make_target: MakeTarget) -> None:
    theirs.database.query("SELECT 1")
    with pytest.raises(TargetError, match="1 other sessions use database"):
        make_target(theirs.address, engine="mariadb")


def test_a_table_in_the_way_is_not_dropped(theirs: Theirs, make_target: MakeTarget) -> None:
    """Somebody took the database back by hand: what lies there then is theirs."""
    theirs.database.query("CREATE TABLE precious AS SELECT 42 AS answer")
    theirs.database.close()
    target = make_target(theirs.address, engine="mariadb", force=True)
    theirs.server.query("ALTER DATABASE `theirs-``x` COMMENT 'mine again'")
    theirs.database.query("CREATE TABLE precious AS SELECT 43 AS answer")
    theirs.database.close()
    with pytest.raises(RefusedError, match="'precious' is in the way"):
        target.close()
    assert theirs.database.query("SELECT answer FROM precious") == [(43,)]
    theirs.database.query("DROP TABLE precious")
    target.close()
    assert theirs.database.query("SELECT answer FROM precious") == [(42,)]


@pytest.mark.parametrize(
    "place",
    long_but(
        ["entry 2", "stage settled"],
        [
            *(f"entry {number}" for number in range(1, 6)),
            *(f"stage {name}" for name in ("open", "loaded", "kept", "restored", "settled")),
        ],
    ),
)
def test_owner_killed_at_an_address(
    theirs: Theirs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("VICTIM_ENGINE", "mariadb")
    monkeypatch.setenv("VICTIM_SERVER", theirs.address)
    sizes = "SELECT @@GLOBAL.sort_buffer_size, @@GLOBAL.innodb_max_dirty_pages_pct"
    before = (all_of(theirs), theirs.server.query(sizes))
    victim = run_victim(tmp_path / "journal.jsonl", *place.split())
    assert victim.returncode == -9, victim.stderr
    assert LEFT in recover()
    assert open_journals() == []
    assert (all_of(theirs), theirs.server.query(sizes)) == before


def test_password_is_checked_and_written_nowhere(
    theirs: Theirs, make_target: MakeTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs.server.query(
        "GRANT ALL PRIVILEGES ON *.* TO guest@localhost IDENTIFIED BY %s", (PASSWORD,)
    )
    address = theirs.address.replace("loadstone@", "guest@")
    monkeypatch.setenv("GUEST_PASSWORD", PASSWORD)
    secret = tmp_path / "secret"
    secret.write_text("wrong\n")
    try:
        with pytest.raises(TargetError, match="Access denied"):
            make_target(address, engine="mariadb", password=f"file:{secret}")
        with pytest.raises(WrongInputError, match="hold the password is not set"):
            make_target(address, engine="mariadb", password="env:NO_SUCH")
        target = make_target(address, engine="mariadb", password="env:GUEST_PASSWORD")
        target.snapshot("k")
        target.restore("k", target.spec.with_settings({"sort_buffer_size": "9MB"}))
        assert target.connection().password == PASSWORD
        assert PASSWORD not in repr(target.connection())
        assert PASSWORD not in target.context.journal.path.read_text()
        assert PASSWORD not in str(target.inventory())
        target.close()
    finally:
        theirs.server.query("DROP USER guest@localhost")


def test_server_at_an_address_is_not_stopped(theirs: Theirs, make_target: MakeTarget) -> None:
    target = make_target(theirs.address, engine="mariadb")
    for act in (target.start, target.stop, lambda: target.crash("kill")):
        with pytest.raises(TargetError, match="from here"):
            act()
    with pytest.raises(TargetError, match="cannot be emptied"):
        target.settle("cold")


def test_address_without_a_server(make_target: MakeTarget, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="cannot connect to database 'd'"):
        make_target(f"mysql://u@/d?socket={tmp_path}/no", engine="mariadb")


@pytest.mark.long
def test_a_silent_server_holds_no_query_for_ever(
    theirs: Theirs, empty_mariadb: OwnedMariaDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert theirs.database.value("SELECT 1") == 1
    monkeypatch.setattr(served, "ANSWER_S", 0.5)
    monkeypatch.setattr(served, "_QUIET_S", 0.0)
    with empty_mariadb.outage("pause"), pytest.raises(TargetError, match="timed out"):
        theirs.database.query("SELECT 1")
    assert theirs.database.value("SELECT 1") == 1
