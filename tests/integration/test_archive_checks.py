"""Each check of the archive fails for the damage it is there to find, and for nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import event_archive
import order_entry
import pytest
from event_archive import ENGINES, EVENTS, FACTS, STATIONS
from order_entry import undone

from loadstone.targets.database import Database
from loadstone.workloads.archive.checks import check_account, check_history
from loadstone.workloads.archive.contents import by_station
from loadstone.workloads.archive.parameters import ArchiveParameters
from loadstone.workloads.archive.tables import index_name, segment_name
from loadstone.workloads.archive.workload import EventArchive
from loadstone.workloads.durability import Acknowledgement

ONCE, ACCOUNT = "every event is stored once", "events add up"
MARKS = "stations know what is stored"
PLACES = "events lie in the segment of their time"
ORDER, INDEXES = "segments are in order", "segments have their index"
VIEW = "the view is the sum of its segments"

FIRST, SECOND, THIRD, NEXT = (segment_name(number) for number in (1, 2, 3, 4))
PARAMETERS = ArchiveParameters(elements=event_archive.ELEMENTS)


def moved(what: str, source: str, destination: str) -> str:
    return (
        f"INSERT INTO {destination} SELECT * FROM {source} WHERE {what}; "
        f"DELETE FROM {source} WHERE {what}"
    )


DAMAGES = {
    "a row is lost": (f"DELETE FROM {SECOND} WHERE station = 1 AND seq = 90", {ONCE, ACCOUNT}),
    "a station's last row is lost": (
        f"DELETE FROM {SECOND} WHERE station = 1 AND seq = {EVENTS}",
        {MARKS, ACCOUNT},
    ),
    "a station's first row is lost": (
        f"DELETE FROM {FIRST} WHERE station = 2 AND seq = 1",
        {ONCE, ACCOUNT},
    ),
    "a row is there twice": (
        f"INSERT INTO {SECOND} SELECT * FROM {SECOND} WHERE station = 0 AND seq = 100",
        {ONCE, ACCOUNT},
    ),
    "a row took another's number": (
        f"UPDATE {SECOND} SET seq = 91 WHERE station = 1 AND seq = 90",
        {ONCE},
    ),
    "two rows took the numbers of two others of the same sum": (
        f"UPDATE {THIRD} SET seq = CASE seq WHEN 150 THEN 151 ELSE 154 END "
        "WHERE station = 1 AND seq IN (150, 155)",
        {ONCE},
    ),
    "a row lies in the segment after its own": (
        moved("station = 1 AND seq = 90", SECOND, THIRD),
        {PLACES},
    ),
    "a row lies in the segment before its own": (
        moved("station = 1 AND seq = 90", SECOND, FIRST),
        {PLACES},
    ),
    "a row that came in time was put into the segment after a closed one": (
        moved("station = 1 AND seq = 20", FIRST, SECOND),
        {PLACES},
    ),
    "a row lies in the segment to come": (
        moved("station = 1 AND seq = 190", THIRD, NEXT),
        {PLACES},
    ),
    "a mark is too low": (
        f"UPDATE archive_station SET stored = {EVENTS - 1} WHERE station = 2",
        {MARKS},
    ),
    "a mark is gone": ("DELETE FROM archive_station WHERE station = 2", {MARKS}),
    "two segments are current": (
        "UPDATE archive_segment SET state = 'current' WHERE number = 2",
        {ORDER},
    ),
    "none is current": ("UPDATE archive_segment SET state = 'open' WHERE number = 3", {ORDER}),
    "one has a state that there is not": (
        "UPDATE archive_segment SET state = 'lost' WHERE number = 2",
        {ORDER},
    ),
    "two segments begin at once": (
        f"UPDATE archive_segment SET begin_us = {event_archive.BEGINS_US[1]} WHERE number = 3",
        {ORDER, PLACES},
    ),
    "a closed segment has no time of it": (
        "UPDATE archive_segment SET closed_us = NULL WHERE number = 1",
        {ORDER},
    ),
}


@pytest.fixture(scope="module", params=ENGINES)
def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    if not order_entry.available(request.param):
        pytest.skip(f"no {request.param} here")
    with order_entry.opened(request.param, tmp_path_factory.mktemp("archive")) as target:
        event_archive.make(target, PARAMETERS)
        yield target


@dataclass
class Checked:
    failed: set[str]
    details: dict[str, str]


def checked(target: Database, facts: dict[str, float] = FACTS) -> Checked:
    checks, contents = check_history(target, PARAMETERS)
    checks.append(check_account(contents, facts))
    return Checked(
        {each.name for each in checks if not each.passed},
        {each.name: each.detail for each in checks},
    )


def test_a_sound_archive_passes(target: Database) -> None:
    found = checked(target)
    assert found.failed == set(), found.details
    assert "6 came after the segment of their time was closed" in found.details[PLACES]
    assert found.details[ONCE].startswith(f"{STATIONS * EVENTS} events of {STATIONS} stations")


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damage_fails_its_checks_and_no_others(target: Database, damage: str) -> None:
    statements, expected = DAMAGES[damage]
    with undone(target):
        for statement in statements.split(";"):
            target.query(statement)
        found = checked(target)
    assert found.failed == expected, found.details


def test_a_view_without_a_segment_is_found(target: Database) -> None:
    target.execute(event_archive.view((1, 3, 4)))
    try:
        assert checked(target).failed == {VIEW}
    finally:
        target.execute(event_archive.view((1, 2, 3, 4)))


def test_a_view_with_as_many_other_rows_is_found(target: Database) -> None:
    target.execute(event_archive.view((1, 2, 3, 4), value="value + 1 AS value"))
    try:
        assert checked(target).failed == {VIEW}
    finally:
        target.execute(event_archive.view((1, 2, 3, 4)))


def test_a_segment_in_place_of_another_in_the_view_is_found(target: Database) -> None:
    """By what it lacks, not by how many rows there are."""
    target.execute(event_archive.view((1, 2, 2, 4)))
    try:
        found = checked(target)
        assert found.failed == {VIEW}
        assert " 0 of which differ" not in found.details[VIEW]
    finally:
        target.execute(event_archive.view((1, 2, 3, 4)))


def test_an_index_that_is_gone_is_found(target: Database) -> None:
    name, on = index_name(SECOND), f" ON {SECOND}" if target.dialect.name == "mariadb" else ""
    target.execute(f"DROP INDEX {name}{on};")
    try:
        assert checked(target).failed == {INDEXES}
    finally:
        target.execute(f"CREATE INDEX {name} ON {SECOND} (element_id, ts);")


@pytest.mark.parametrize(
    ("facts", "passes"),
    [
        ({"events_offered": FACTS["events_offered"] + 1}, False),
        ({"events_lost": 9.0}, False),
        ({"events_buffered": 21.0}, False),
        ({"events_stored": FACTS["events_stored"] - 1}, False),
        ({"events_stored": FACTS["events_stored"] - 7, "events_in_doubt": 7.0}, True),
        ({"events_in_doubt": 7.0, "events_buffered": 13.0}, True),
        ({"events_stored": FACTS["events_stored"] - 8, "events_in_doubt": 7.0}, False),
    ],
)
def test_events_add_up(target: Database, facts: dict[str, float], passes: bool) -> None:
    assert (ACCOUNT not in checked(target, {**FACTS, **facts}).failed) is passes


def acknowledged(station: int, first: int, last: int) -> Acknowledgement:
    return Acknowledgement(1.0, station, "insert", (station, first, last))


def test_acknowledged_inserts_that_are_gone_are_told(target: Database) -> None:
    workload = EventArchive(PARAMETERS)
    noted = [acknowledged(1, 1, 80), acknowledged(1, 81, 180), acknowledged(1, 181, EVENTS)]
    assert workload.durability.lost(target, noted) == []
    assert workload.durability.lost(target, [acknowledged(1, EVENTS, EVENTS + 1)]) != []
    assert workload.durability.lost(target, [acknowledged(9, 1, 1)]) != []
    with undone(target):
        target.query(f"DELETE FROM {SECOND} WHERE station = 1 AND seq = 90")
        assert workload.durability.lost(target, noted) == [noted[1]]
    with undone(target):
        target.query(f"DELETE FROM {FIRST} WHERE station = 1 AND seq BETWEEN 11 AND 20")
        target.query(
            f"INSERT INTO {FIRST} SELECT * FROM {FIRST} WHERE station = 1 AND seq BETWEEN 21 AND 30"
        )
        batches = [acknowledged(1, first, first + 9) for first in (1, 11, 21, 31)]
        assert workload.durability.lost(target, batches) == [batches[1]]


def test_a_history_is_consistent_whatever_the_driver_counted(target: Database) -> None:
    assert all(each.passed for each in EventArchive(PARAMETERS).durability.consistency(target))


def test_time_ranges_come_from_the_rows(target: Database) -> None:
    _, contents = check_history(target, PARAMETERS)
    rows = by_station(contents)[1]
    assert rows.first_us == event_archive.BEGIN_US + event_archive.PERIOD_US + 1
    assert rows.last_us == event_archive.BEGIN_US + 198 * event_archive.PERIOD_US + 1


def observed(target: Database) -> dict[str, Any]:
    return EventArchive(PARAMETERS).observe(target)


def test_it_counts_events_bytes_and_log(target: Database) -> None:
    found = observed(target)
    assert found["events"] == STATIONS * EVENTS
    assert found["size_bytes"] > 0
    with undone(target):
        target.query(f"INSERT INTO {THIRD} SELECT * FROM {SECOND}")
    if not target.in_process:
        assert observed(target)["log_bytes"] > found["log_bytes"]
