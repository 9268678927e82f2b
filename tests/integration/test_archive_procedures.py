"""The procedure of path `staged` puts rows where they belong, on every engine that has one."""

from collections.abc import Iterator

import event_archive
import order_entry
import pytest
from event_archive import BEGINS_US, EVENTS, PERIOD_US
from order_entry import undone

from loadstone.errors import TargetError
from loadstone.targets.database import Database
from loadstone.targets.registry import TARGETS
from loadstone.workloads.archive.checks import check_history
from loadstone.workloads.archive.parameters import ArchiveParameters
from loadstone.workloads.archive.tables import EVENT_COLUMNS, segment_name

ENGINES = [name for name, cls in TARGETS.items() if {"bulk", "procedures"} <= cls.capabilities]
PARAMETERS = ArchiveParameters(elements=event_archive.ELEMENTS, path="staged")
STATION = 1


@pytest.fixture(scope="module", params=ENGINES)
def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    if not order_entry.available(request.param):
        pytest.skip(f"no {request.param} here")
    with order_entry.opened(request.param, tmp_path_factory.mktemp("archive")) as target:
        event_archive.make(target, PARAMETERS)
        columns = ", ".join(EVENT_COLUMNS)
        target.execute(
            f"CREATE TEMPORARY TABLE archive_staging AS SELECT {columns} "
            f"FROM {segment_name(1)} WHERE 1 = 0;"
        )
        yield target


def store(target: Database, moments_us: list[int], station: int = STATION) -> dict[int, int]:
    """Stages events of these times with the numbers after the last, and stores them.

    Returns:
        Sequence number: the segment that it lies in now.
    """
    first = EVENTS + 1
    for seq, moment in enumerate(moments_us, start=first):
        target.query(
            f"INSERT INTO archive_staging VALUES (11, {target.dialect.instant(moment)}, 1.5, "
            f"NULL, 192, {station}, {seq})"
        )
    target.query(f"CALL archive_store({station}, {EVENTS + len(moments_us)})")
    return {
        int(seq): number
        for number in (1, 2, 3, 4)
        for (seq,) in target.query(
            f"SELECT seq FROM {segment_name(number)} WHERE station = {station} AND seq >= {first}"
        )
    }


def test_rows_go_into_the_open_segment_of_their_time(target: Database) -> None:
    open_us, current_us = BEGINS_US[1:]
    moments = [current_us, current_us - 1, open_us, open_us - 1, current_us + 10**9 * PERIOD_US]
    with undone(target):
        where = store(target, moments)
        marks = dict(target.query("SELECT station, stored FROM archive_station"))
        left = target.query("SELECT count(*) FROM archive_staging")[0][0]
        checks, _ = check_history(target, PARAMETERS)
    assert [where[seq] for seq in sorted(where)] == [3, 2, 2, 2, 3]
    assert marks[STATION] == EVENTS + len(moments)
    assert left == (len(moments) if target.dialect.name == "postgresql" else 0)
    assert [each.name for each in checks if not each.passed] == []


def test_a_station_without_a_mark_is_refused(target: Database) -> None:
    with undone(target), pytest.raises(TargetError, match="archive_station"):
        store(target, [BEGINS_US[2]], station=77)
