"""Nobody who read the old routes stores an event that belongs in the new segment."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from runner_plans import archive_plan, changed, encoded
from runner_process import make_archive

from loadstone.runner.acknowledgements import Acknowledgements
from loadstone.runner.archive.common import Common
from loadstone.runner.archive.keeper import Keeper
from loadstone.runner.archive.parameters import INSERT, SWITCH, read_parameters
from loadstone.runner.archive.segments import create_table
from loadstone.runner.archive.station import Station
from loadstone.runner.clock import Clock
from loadstone.runner.database import Database, Link
from loadstone.runner.engines.connections import read_connection
from loadstone.runner.plan import parse_plan
from loadstone.runner.session import DONE, IDLE, Ending, Outcome
from loadstone.runner.usage import EngineMeter
from loadstone.workloads.archive.tables import segment_name

FIRST, SECOND = segment_name(1), segment_name(2)


@pytest.fixture
def common(tmp_path: Path) -> Iterator[Common]:
    plan = archive_plan(make_archive(tmp_path / "archive.db"))
    plan = changed(plan, "workload.parameters.segment_events", 1)
    read = parse_plan(encoded(changed(plan, "workload.parameters.events_per_s", 1e6)))
    database = Database(read_connection(read.connection), EngineMeter())
    yield Common(database, read_parameters(read), Clock(), 1, None, Acknowledgements(None, Clock()))
    database.close()


class Action:
    """Something that a user does on a thread of its own."""

    def __init__(self, actor: Station | Keeper, link: Link, operation: str) -> None:
        self._outcome: Outcome | None = None
        self._arguments = actor, link, operation
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def waits(self) -> bool:
        """Whether it is still not done after a while."""
        self._thread.join(0.2)
        return self._thread.is_alive()

    def outcome(self) -> Outcome | None:
        self._thread.join(10.0)
        return self._outcome

    def _run(self) -> None:
        actor, link, operation = self._arguments
        self._outcome = actor.execute(link, operation)


def count(link: Link, segment: str) -> int:
    return int(str(link.ask(f"SELECT count(*) FROM {segment}")[0][0]))


def test_a_station_reads_the_routes_after_a_switch_that_is_under_way(common: Common) -> None:
    link, of_station = common.database.connect(), common.database.connect()
    link.ask(create_table(SECOND))
    link.ask(f"INSERT INTO archive_segment (number, name, state) VALUES (2, '{SECOND}', 'next')")
    station = Station(common, of_station, 0, 3)
    assert station.execute(of_station, INSERT) is IDLE
    with common.routes:
        action = Action(station, of_station, INSERT)
        assert action.waits()
        # Of all that the station has taken by now nothing lies before the new segment.
        link.ask("UPDATE archive_segment SET state = 'open' WHERE number = 1")
        link.ask("UPDATE archive_segment SET state = 'current', begin_us = 1 WHERE number = 2")
    assert action.outcome() == DONE
    assert count(link, FIRST) == 0
    assert count(link, SECOND) > 0


def test_a_switch_waits_for_who_reads_the_routes_and_begins_the_segment_later(
    common: Common,
) -> None:
    link, of_station = common.database.connect(), common.database.connect()
    station, keeper = Station(common, of_station, 0, 3), Keeper(common)
    assert keeper.execute(link, SWITCH) is IDLE
    station.execute(of_station, INSERT)
    assert station.execute(of_station, INSERT) == DONE
    with common.routes:
        action = Action(keeper, link, SWITCH)
        assert action.waits()
        assert of_station.ask(
            "SELECT max(number) FROM archive_segment WHERE state = 'current'"
        ) == [(1,)]
        read_us = common.now_us()
    assert action.outcome() == DONE
    rows = link.ask("SELECT number, begin_us FROM archive_segment WHERE state = 'current'")
    assert rows[0][0] == 2
    assert int(str(rows[0][1])) >= read_us + 2 * int(common.parameters.interval_s * 1e6)


def test_a_failed_batch_is_sent_again_as_it_was(common: Common) -> None:
    link, of_station = common.database.connect(), common.database.connect()
    station = Station(common, of_station, 0, 3)
    station.execute(of_station, INSERT)
    link.ask("UPDATE archive_segment SET state = 'closed'")
    with pytest.raises(Exception, match="no segment takes events"):
        station.execute(of_station, INSERT)
    failed_ns = common.clock.now_ns()
    link.ask("UPDATE archive_segment SET state = 'current'")
    outcome = station.execute(of_station, INSERT)
    assert outcome.ending is Ending.DONE
    assert outcome.first_ns is not None
    assert outcome.first_ns < failed_ns
    assert link.ask(f"SELECT min(seq), max(seq), count(*) FROM {FIRST}") == [(1, 400, 400)]
    assert link.ask("SELECT stored FROM archive_station") == [(400,)]
