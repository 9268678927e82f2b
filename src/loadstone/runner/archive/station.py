"""A station: it stores what has come since the last time."""

from __future__ import annotations

from loadstone.runner.archive.actor import Actor
from loadstone.runner.archive.batch import ROUTES, Batch
from loadstone.runner.archive.common import Acknowledged, Common, damaged, whole
from loadstone.runner.archive.parameters import INSERT
from loadstone.runner.archive.station_buffer import StationBuffer
from loadstone.runner.clock import to_ns
from loadstone.runner.database import Link
from loadstone.runner.session import DONE, IDLE, Ending, Outcome
from loadstone.workloads.archive.events import EventGenerator, EventSource


class Station(Actor):
    """Station `number` of user `user`; it goes on where its mark is.

    Raises:
        FailureError: The engine does not say the mark.
    """

    def __init__(self, common: Common, link: Link, number: int, user: int) -> None:
        super().__init__()
        self._common = common
        self._number = number
        self._user = user
        parameters = common.parameters
        self._source: EventSource = common.replay or EventGenerator(number, parameters, common.seed)
        self._buffer = StationBuffer(self._source, parameters.buffer_events, _enlist(link, number))
        common.add(self._buffer)
        self._begun_ns: int | None = None
        """When the batch that waits was first begun, if storing it failed: the mark must be read
        before the next attempt."""

    def stop(self) -> None:
        """No events come any more."""
        self._buffer.stop(self._common.clock.now_ns())

    def choose(self) -> str:
        """A station only stores."""
        return INSERT

    def execute(self, link: Link, operation: str) -> Outcome:
        """Stores the oldest events that wait.

        Raises:
            FailureError: The engine's; the events go on waiting.
        """
        hurried, self.hurries = self.hurries, False
        clock = self._common.clock
        failed_ns = self._begun_ns
        if failed_ns is not None:
            self._settle(_enlist(link, self._number), clock.now_ns())
        done = DONE if failed_ns is None else Outcome(Ending.DONE, first_ns=failed_ns)
        now_ns = clock.now_ns()
        batch = self._cut(now_ns)
        if batch is None:
            # What failed may have been stored none the less, and nothing has come since.
            self._begun_ns = None
            return IDLE if failed_ns is None else done
        begun_ns = self._begun_ns = now_ns if failed_ns is None else failed_ns
        self._store(link, batch)
        at_ns = clock.now_ns()
        self._settle(batch.last.seq, at_ns)
        self._judge(at_ns - begun_ns)
        self._begun_ns = None
        last = batch.last
        self._common.latest.publish(Acknowledged(last.element, last.ts_us, last.seq, at_ns))
        full = batch.count == self._common.parameters.batch_events
        self.hurries = (hurried or full) and self._is_behind()
        return done

    def _cut(self, now_ns: int) -> Batch | None:
        """The oldest events that wait now."""
        parameters = self._common.parameters
        began_ns, runs = self._buffer.cut(now_ns, parameters.batch_events)
        if not runs:
            return None
        began_us = self._common.clock.unix_us(began_ns)
        return Batch(self._number, parameters.elements, self._source, began_us, runs)

    def _store(self, link: Link, batch: Batch) -> None:
        """Stores a batch and the new mark in one transaction, each event in its segment."""
        with link.undoing():
            with self._common.routes:
                link.ask("BEGIN")
                routes = [(str(name), whole(begin_us)) for name, begin_us in link.ask(ROUTES)]
            if not routes:
                raise damaged("no segment takes events")
            for segment, rows in batch.parts(routes):
                link.append(segment, rows)
            link.ask(
                f"UPDATE archive_station SET stored = {batch.last.seq} "
                f"WHERE station = {self._number}"
            )
            self._buffer.doubt(batch.count)
            link.ask("COMMIT")
        self._common.sent(batch.bytes)

    def _settle(self, mark: int, at_ns: int) -> None:
        """Takes note that all up to the mark is stored."""
        stored = self._buffer.settle(mark, at_ns)
        if stored is not None:
            self._common.acknowledgements.note(self._user, "insert", self._number, *stored)

    def _judge(self, took_ns: int) -> None:
        if took_ns > to_ns(self._common.parameters.threshold_ms / 1e3):
            self._buffer.slow()

    def _is_behind(self) -> bool:
        """Whether what is left cannot wait for the next moment."""
        parameters = self._common.parameters
        of_interval = int(self._source.per_s * parameters.interval_s)
        return self._buffer.waiting >= max(1, min(parameters.batch_events, of_interval))


def _enlist(link: Link, station: int) -> int:
    """The mark of a station, which is entered when it is new."""
    rows = link.ask(f"SELECT stored FROM archive_station WHERE station = {station}")
    if not rows:
        link.ask(f"INSERT INTO archive_station (station, stored) VALUES ({station}, 0)")
        return 0
    return whole(rows[0][0])
