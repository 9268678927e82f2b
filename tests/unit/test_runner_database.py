"""DuckDB as the runner meets it: its settings, its errors, and its end."""

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.runner.database import Database, Link
from loadstone.runner.engines.connections import FileConnection
from loadstone.runner.plan import RefusalError
from loadstone.runner.session import CONFLICT, INVALIDATED, FailureError
from loadstone.runner.settings import differs
from loadstone.runner.usage import EngineMeter


def connection(path: Path, **settings: str) -> FileConnection:
    return FileConnection(protocol="duckdb", database=str(path), settings=settings)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "a.db"
    with duckdb.connect(file) as made:
        made.execute("CREATE TABLE mark (station INTEGER PRIMARY KEY, stored BIGINT NOT NULL)")
        made.execute("INSERT INTO mark VALUES (1, 0), (2, 0)")
    return file


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = Database(connection(path), EngineMeter())
    yield opened
    opened.close()


def failure(link: Link, sql: str) -> FailureError:
    with pytest.raises(FailureError) as failed:
        link.ask(sql)
    return failed.value


# -- settings ----
def test_settings_are_in_force(path: Path) -> None:
    settings = {"checkpoint_threshold": "64MB", "threads": "1", "preserve_insertion_order": "0"}
    opened = Database(connection(path, **settings), EngineMeter())
    rows = opened.connect().ask(
        "SELECT name, value FROM duckdb_settings() WHERE name IN ('threads', "
        "'checkpoint_threshold', 'autoinstall_known_extensions', 'autoload_known_extensions')"
    )
    opened.close()
    assert dict(rows) == {
        "threads": "1",
        "checkpoint_threshold": "61.0 MiB",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }


def test_reading_settings_back_leaves_no_transaction_that_keeps_the_log(path: Path) -> None:
    opened = Database(connection(path, checkpoint_threshold="100KB"), EngineMeter())
    link, log = opened.connect(), Path(f"{path}.wal")
    for _ in range(40):
        link.ask("CREATE OR REPLACE TABLE noise AS SELECT random() FROM range(1000)")
    size = log.stat().st_size if log.exists() else 0
    opened.close()
    assert size < 150_000


@pytest.mark.parametrize(
    ("name", "value"), [("colour", "red"), ("threads", "many"), ("memory_limit", "lots")]
)
def test_a_setting_that_is_not_taken_is_refused(path: Path, name: str, value: str) -> None:
    with pytest.raises(RefusalError, match=rf"connection\.settings\.{name}: "):
        Database(connection(path, **{name: value}), EngineMeter())


def test_a_file_that_is_none_of_duckdb_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusalError, match=r"connection\.database: .* is no file"):
        Database(connection(tmp_path / "none.db"), EngineMeter())
    (tmp_path / "text.db").write_text("no database" * 1000)
    with pytest.raises(RefusalError, match=r"connection\.database: .*not a valid DuckDB"):
        Database(connection(tmp_path / "text.db"), EngineMeter())


@pytest.mark.parametrize(
    ("asked", "found", "differ"),
    [
        ("64MB", "61.0 MiB", False),
        ("177MB", "168.7 MiB", False),
        ("16MiB", "16.0 MiB", False),
        ("16MiB", "17.0 MiB", True),
        ("1GB", "953.6 MiB", False),
        ("1", "true", False),
        ("0", "true", True),
        ("4", "4", False),
        ("4.0", "4", False),
        ("4", "5", True),
        ("ASC", "asc", False),
        ("lots", "16.0 MiB", True),
    ],
)
def test_a_setting_is_read_back_in_the_words_of_duckdb(
    asked: str, found: str, differ: bool
) -> None:
    assert differs(asked, found) is differ


@given(megabytes=st.integers(1, 900))
def test_every_size_that_duckdb_takes_reads_back(megabytes: int) -> None:
    with duckdb.connect(config={"checkpoint_threshold": f"{megabytes}MB"}) as made:
        row = made.execute("SELECT current_setting('checkpoint_threshold')").fetchone()
    assert row is not None
    assert not differs(f"{megabytes}MB", str(row[0]))
    assert differs(f"{megabytes + 1}MB", str(row[0]))


# -- errors ----
def test_two_updates_of_a_row_are_a_conflict_that_leaves_the_other_alone(
    database: Database,
) -> None:
    one, other = database.connect(), database.connect()
    one.ask("BEGIN")
    one.ask("UPDATE mark SET stored = 5 WHERE station = 1")
    with other.undoing():
        other.ask("BEGIN")
        other.ask("UPDATE mark SET stored = 6 WHERE station = 2")
        other.ask("COMMIT")
    lost = failure(other, "UPDATE mark SET stored = 7 WHERE station = 1")
    assert (lost.error_class, lost.is_retryable) == (CONFLICT, True)
    one.ask("COMMIT")
    assert other.ask("SELECT * FROM mark ORDER BY station") == [(1, 5), (2, 6)]


def test_two_makers_of_a_table_are_a_conflict(database: Database) -> None:
    one, other = database.connect(), database.connect()
    for link in (one, other):
        link.ask("BEGIN")
    one.ask("CREATE TABLE segment (number INTEGER)")
    assert failure(other, "CREATE TABLE segment (number INTEGER)").is_retryable


def test_a_table_that_was_altered_meanwhile_is_a_conflict(database: Database) -> None:
    one, other = database.connect(), database.connect()
    one.ask("BEGIN")
    one.ask("INSERT INTO mark VALUES (3, 0)")
    other.ask("ALTER TABLE mark ADD COLUMN more INTEGER")
    assert failure(one, "INSERT INTO mark VALUES (4, 0)").is_retryable


def test_a_failed_transaction_leaves_nothing_open(database: Database) -> None:
    link = database.connect()
    with pytest.raises(FailureError) as failed, link.undoing():
        link.ask("BEGIN")
        link.ask("UPDATE mark SET stored = 5")
        link.ask("INSERT INTO mark VALUES (1, 0)")
    assert failed.value.error_class == "duckdb_constraint"
    link.ask("BEGIN")
    link.ask("COMMIT")
    assert link.ask("SELECT sum(stored) FROM mark") == [(0,)]


@pytest.mark.parametrize(
    ("sql", "error_class"),
    [
        ("SELECT * FROM nowhere", "duckdb_error"),
        ("SELEC 1", "duckdb_error"),
        ("COMMIT", "duckdb_error"),
        ("COPY mark TO '/nowhere/at/all.csv'", "duckdb_io"),
        ("INSERT INTO mark VALUES (1, 0)", "duckdb_constraint"),
    ],
)
def test_errors_have_their_classes(database: Database, sql: str, error_class: str) -> None:
    assert failure(database.connect(), sql).error_class == error_class


def test_memory_that_is_used_up_is_a_class_of_its_own(path: Path) -> None:
    opened = Database(connection(path, memory_limit="20MB"), EngineMeter())
    lost = failure(opened.connect(), "SELECT len(list(range)) FROM range(5_000_000)")
    opened.close()
    assert lost.error_class == "duckdb_memory"


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """The disk is full for this process, as far as files of this size go."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_commit_that_finds_no_room_is_undone(path: Path, database: Database) -> None:
    link = database.connect()
    link.ask("UPDATE mark SET stored = 1")
    with no_file_beyond(Path(f"{path}.wal").stat().st_size):
        assert failure(link, "UPDATE mark SET stored = 2").error_class == "duckdb_io"
        assert link.ask("SELECT sum(stored) FROM mark") == [(2,)]
    link.ask("UPDATE mark SET stored = 3")
    assert link.ask("SELECT sum(stored) FROM mark") == [(6,)]


def test_after_a_fatal_error_the_last_session_opens_the_database_again(
    path: Path, database: Database
) -> None:
    one, other = database.connect(), database.connect()
    one.ask("CREATE TABLE filler (number INTEGER, noise DOUBLE)")
    for _ in range(20):
        one.ask("INSERT INTO filler SELECT range, random() FROM range(1000)")
    with no_file_beyond(path.stat().st_size):
        lost = failure(one, "CHECKPOINT")
    assert (lost.error_class, lost.is_fatal) == (INVALIDATED, True)
    assert failure(other, "SELECT 1 FROM mark").is_fatal
    database.give_back(one, is_lost=True)
    with pytest.raises(FailureError, match="1 sessions still hold"):
        database.connect()
    database.give_back(other, is_lost=True)
    again = database.connect()
    assert again.ask("SELECT count(*) FROM filler") == [(20_000,)]
    again.ask("CHECKPOINT")


# -- processor time ----
def burn(seconds: float) -> None:
    until_s = time.thread_time() + seconds
    while time.thread_time() < until_s:
        pass


def test_only_what_is_used_within_calls_is_the_engines() -> None:
    meter = EngineMeter()
    before_s = meter.total_s()
    burn(0.05)
    assert meter.total_s() - before_s < 0.01
    with meter.call():
        burn(0.05)
    assert 0.04 < meter.total_s() - before_s < 0.08
