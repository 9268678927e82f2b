"""LOAD DATA into MariaDB in several sessions."""

from pathlib import Path

import pytest
from integration.conftest import START

from loadstone.targets.mariadb import OwnedMariaDB
from loadstone.targets.mariadb.client import connect
from loadstone.targets.schema import Column, ColumnType, Table

pytestmark = pytest.mark.xdist_group("mariadb")

ROWS = 4000
PAIRS = Table(
    "pairs",
    (Column("part", ColumnType("integer")), Column("supplier", ColumnType("integer"))),
    primary_key=("part", "supplier"),
)


@pytest.fixture
def chunks(tmp_path: Path) -> list[Path]:
    """Files of adjacent ranges of the key, as a generator leaves them."""
    found = [tmp_path / f"pairs.{number}.csv" for number in range(2)]
    for number, path in enumerate(found):
        keys = range(number * ROWS, (number + 1) * ROWS)
        path.write_text("part,supplier\n" + "".join(f"{key},{key % 7}\n" for key in keys))
    return found


def test_no_session_locks_the_whole_table(chunks: list[Path], mariadb_target: OwnedMariaDB):
    mariadb_target.restore(START, mariadb_target.spec)
    mariadb_target.create_tables([PAIRS])
    other = connect(mariadb_target.connection())
    with other, other.cursor() as cursor:
        cursor.execute("SET GLOBAL innodb_lock_wait_timeout = 2")
        # What each session holds before its first row: an intention to write.
        cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        cursor.execute("START TRANSACTION")
        cursor.execute("SELECT * FROM pairs FOR UPDATE")
        mariadb_target.load_files(PAIRS, chunks, sessions=2)
        cursor.execute("COMMIT")
        cursor.execute("SELECT count(*), min(part), max(part) FROM pairs")
        assert cursor.fetchone() == (2 * ROWS, 0, 2 * ROWS - 1)
