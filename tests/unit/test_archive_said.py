"""Faults planted in rows of the archive that keep their numbers, counts and sums."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from loadstone.runner.archive.batch import Batch
from loadstone.runner.archive.station_buffer import EventRun
from loadstone.targets.dialect import Dialect
from loadstone.workloads.archive.checks import SAID, check_said
from loadstone.workloads.archive.contents import by_station, read_contents
from loadstone.workloads.archive.events import EventGenerator
from loadstone.workloads.archive.parameters import ArchiveParameters
from loadstone.workloads.archive.segments import Segment

SEED, EVENTS = 5, 3000
PARAMETERS = ArchiveParameters(rate=2000.0, late_by="500ms", elements=100)
BEGAN_US = (1_700_000_000_000_000, 1_700_000_000_123_456)
SEGMENTS = [
    Segment(1, "one", 0, "open"),
    Segment(2, "two", BEGAN_US[0] + 1_500_000, "current"),
]
DIALECT = Dialect("duckdb")


def source(station: int) -> EventGenerator:
    shape = SimpleNamespace(
        elements=100, events_per_s=1000.0, late_share=0.01, late_by_s=0.5, disorder_share=0.005
    )
    return EventGenerator(station, shape, SEED)


def stored(lost: int = 0) -> duckdb.DuckDBPyConnection:
    """The history of two stations, which may have lost events when a third was stored."""
    connection = duckdb.connect()
    routes = [(each.name, each.begin_us) for each in SEGMENTS]
    for station, began_us in enumerate(BEGAN_US):
        third = EVENTS // 3
        runs = [EventRun(1, 0, third), EventRun(third + 1, third + lost, EVENTS - third)]
        batch = Batch(station, 100, source(station), began_us, runs)
        for name, rows in batch.parts(routes):
            connection.register("given", rows)
            connection.execute(f"CREATE TABLE IF NOT EXISTS {name} AS SELECT * FROM given LIMIT 0")
            connection.execute(f"INSERT INTO {name} SELECT * FROM given")
    return connection


@pytest.fixture(scope="module")
def history() -> duckdb.DuckDBPyConnection:
    return stored()


@pytest.fixture
def planted(history: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    history.execute("BEGIN")
    yield history
    history.execute("ROLLBACK")


def checked(connection: duckdb.DuckDBPyConnection, **given: Any) -> tuple[bool, str]:
    def query(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(sql).fetchall()

    contents = read_contents(query, DIALECT, SEGMENTS)
    assert all(rows.whole for rows in by_station(contents).values())
    found = check_said(contents, PARAMETERS, **{"seed": SEED, "timed": True, **given})
    assert (found.name, found.claim) == (SAID.name, SAID.claim)
    return found.passed, found.detail


def test_what_was_sent_passes(history: duckdb.DuckDBPyConnection) -> None:
    said = f"{2 * EVENTS:,} events of 2 stations, with their times"
    assert checked(history) == (True, said)


def test_events_of_another_seed_are_seen(history: duckdb.DuckDBPyConnection) -> None:
    passed, said = checked(history, seed=SEED + 1)
    assert not passed
    assert said.startswith("other than sent: station 0: elements, values, texts or qualities")


def test_times_are_not_compared_where_events_were_lost() -> None:
    late = stored(7)
    assert checked(late)[0] is False
    assert checked(late, timed=False)[0] is True


def exchange(column: str, one: int, other: int) -> str:
    taken = f"(SELECT {column} FROM one WHERE station = 1 AND seq = {{}})"
    return (
        f"UPDATE one SET {column} = CASE seq WHEN {one} THEN {taken.format(other)} "
        f"ELSE {taken.format(one)} END WHERE station = 1 AND seq IN ({one}, {other})"
    )


STATE = "text IS NOT NULL"
SAYS, TIMES = "elements, values, texts or qualities", "times"
PLANTED = {
    "two values are swapped": (exchange("value", 100, 101), SAYS),
    "two elements are swapped": (exchange("element_id", 100, 101), SAYS),
    "the last digit of a value": (
        "UPDATE one SET value = value + 1e-9 WHERE station = 1 AND seq = 100",
        SAYS,
    ),
    "what one value lost another gained": (
        "UPDATE one SET value = value + CASE seq WHEN 100 THEN 1 ELSE -1 END "
        "WHERE station = 1 AND seq IN (100, 101)",
        SAYS,
    ),
    "a value is lost": ("UPDATE one SET value = NULL WHERE station = 1 AND seq = 100", SAYS),
    "a missing value is 0": (f"UPDATE one SET value = 0 WHERE {STATE}", SAYS),
    "a text is empty": (f"UPDATE one SET text = '' WHERE {STATE}", SAYS),
    "a text is missing": (f"UPDATE one SET text = NULL WHERE {STATE}", SAYS),
    "a missing text is empty": (
        "UPDATE one SET text = '' WHERE station = 1 AND seq = 100",
        SAYS,
    ),
    "a quality is another": (
        "UPDATE one SET status = status - 1 WHERE station = 1 AND seq = 100",
        SAYS,
    ),
    "an event of the sample is a microsecond late": (
        "UPDATE one SET ts = ts + INTERVAL 1 MICROSECOND WHERE station = 1 AND seq = 97",
        TIMES,
    ),
    "two times of the sample are swapped": (exchange("ts", 97, 113), TIMES),
    "the latest event is later": (
        "UPDATE two SET ts = ts + INTERVAL 1 SECOND WHERE station = 1 AND "
        "ts = (SELECT max(ts) FROM two WHERE station = 1)",
        TIMES,
    ),
    "times are cut to seconds": ("UPDATE one SET ts = date_trunc('second', ts)", TIMES),
    "a closed segment is an hour behind": (
        "UPDATE one SET ts = ts - INTERVAL 1 HOUR WHERE station = 1",
        TIMES,
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_seen(planted: duckdb.DuckDBPyConnection, fault: str) -> None:
    statement, which = PLANTED[fault]
    planted.execute(statement)
    passed, said = checked(planted)
    assert not passed
    assert f": {which}" in said


def test_rows_that_moved_with_another_rows_contents_are_seen(
    planted: duckdb.DuckDBPyConnection,
) -> None:
    """All columns but the number: a row that was lost and one that was stored twice."""
    for column in ("element_id", "value", "text", "status", "ts"):
        planted.execute(
            f"UPDATE one SET {column} = (SELECT {column} FROM one WHERE station = 1 AND seq = 101) "
            "WHERE station = 1 AND seq = 100"
        )
    assert checked(planted)[0] is False
