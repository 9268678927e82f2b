"""The closer: it closes segments that no event reaches, and looks for events just stored."""

from __future__ import annotations

import time

from loadstone.runner.archive.actor import Actor
from loadstone.runner.archive.common import Common, whole
from loadstone.runner.archive.parameters import CLOSE, VISIBLE
from loadstone.runner.archive.segments import create_index, instant
from loadstone.runner.clock import SECOND_NS
from loadstone.runner.database import Link
from loadstone.runner.session import DONE, IDLE, Ending, FailureError, Outcome, WorkloadEvent
from loadstone.workloads.archive.tables import VIEW

_CLOSES = 4
"""Closing is looked at so often between two looks at an event."""
_LONGEST_NS = 10 * SECOND_NS
"""An event that is not visible by then is missing."""
_PATIENCE_S = 1.0
"""How long the next event is waited for."""
_PAUSE_S = 0.0002
"""Between two looks for the same event."""


class Closer(Actor):
    """What the closer remembers."""

    def __init__(self, common: Common) -> None:
        super().__init__()
        self._common = common
        self._turn = 0

    def choose(self) -> str:
        """What is to be done next."""
        self._turn = (self._turn + 1) % (_CLOSES + 1)
        return VISIBLE if self._turn == 0 else CLOSE

    def execute(self, link: Link, operation: str) -> Outcome:
        """Does it.

        Raises:
            FailureError: The engine's; an event that does not show.
        """
        return self._look(link) if operation == VISIBLE else self._close(link)

    def _look(self, link: Link) -> Outcome:
        """Waits for the next event that is acknowledged, and looks for it through the view."""
        event = self._common.latest.await_next(_PATIENCE_S)
        if event is None:
            return IDLE
        sql = (
            f"SELECT seq FROM {VIEW} WHERE element_id = {event.element} "
            f"AND ts = {instant(event.ts_us)} AND seq = {event.seq}"
        )
        while not link.ask(sql):
            if self._common.clock.now_ns() > event.at_ns + _LONGEST_NS:
                raise FailureError(
                    "no_data", f"event {event.seq} was stored and is not in the view"
                )
            time.sleep(_PAUSE_S)
        return Outcome(Ending.DONE, since_ns=event.at_ns)

    def _close(self, link: Link) -> Outcome:
        """Closes the oldest open segment once no event reaches it any more."""
        parameters = self._common.parameters
        quiet_us = int((parameters.late_by_s + 2.0 * parameters.interval_s) * 1e6)
        before_us = self._common.now_us() - quiet_us
        rows = link.ask(
            "SELECT number, name FROM archive_segment WHERE state = 'open' AND number + 1 IN "
            f"(SELECT number FROM archive_segment WHERE begin_us < {before_us}) "
            "ORDER BY number LIMIT 1"
        )
        if not rows:
            return IDLE
        number, name = whole(rows[0][0]), str(rows[0][1])
        index_s = 0.0 if parameters.is_live else self._timed(link, create_index(name))
        analyse_s = self._timed(link, f"ANALYZE {name}")
        close_s = index_s + analyse_s
        link.ask(
            f"UPDATE archive_segment SET state = 'closed', closed_us = {self._common.now_us()}, "
            f"close_s = {close_s} WHERE number = {number}"
        )
        data = {
            "took_s": close_s,
            "number": number,
            "close_s": close_s,
            "index_s": index_s,
            "analyse_s": analyse_s,
            "compress_s": 0.0,
            "move_s": 0.0,
        }
        self.workload_events.append(WorkloadEvent("segment-close", data))
        return DONE

    def _timed(self, link: Link, statement: str) -> float:
        """Runs a statement; returns how long it took, in seconds."""
        begun_ns = self._common.clock.now_ns()
        link.ask(statement)
        return self._common.since_s(begun_ns)
