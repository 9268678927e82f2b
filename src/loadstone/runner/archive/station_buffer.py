"""The buffer of one station: which of its events have come, wait, are stored or are lost.

Events are not kept. Those that wait are runs of consecutive numbers, because what an event says can
be made again at any time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock

from loadstone.workloads.archive.events import EventSource


@dataclass(frozen=True)
class EventRun:
    """Events that became due one after the other and were all accepted."""

    first_seq: int
    """Number at the station of the first, from 1; only accepted events have one."""
    first_number: int
    """Position of the first in the order in which events become due, from 0."""
    count: int

    def after(self, seq: int) -> EventRun:
        """What follows on a number that lies in it."""
        passed = seq - self.first_seq + 1
        return EventRun(seq + 1, self.first_number + passed, self.count - passed)


@dataclass(frozen=True)
class Totals:
    """Totals of a station, or of several.

    `stored`: acknowledged by the engine. `buffered`: accepted, not acknowledged and not in doubt.
    `in_doubt`: their commit was sent and not answered. `over_threshold`: bulk inserts that took
    longer than that.
    """

    offered: int = 0
    accepted: int = 0
    stored: int = 0
    lost: int = 0
    buffered: int = 0
    in_doubt: int = 0
    over_threshold: int = 0

    def __add__(self, other: Totals) -> Totals:
        names = Totals.__dataclass_fields__
        return Totals(**{name: getattr(self, name) + getattr(other, name) for name in names})


class StationBuffer:
    """The buffer of a station, shared with the reporter; it is locked for moments only.

    Args:
        source: The events.
        capacity: Events that the station can hold back.
        mark: The highest number that was stored before.
    """

    def __init__(self, source: EventSource, capacity: int, mark: int) -> None:
        self._source = source
        self._capacity = capacity
        self._lock = Lock()
        self._began_ns: int | None = None
        self._is_stopped = False
        self._runs: deque[EventRun] = deque()
        self._waiting = 0
        self._deepest = 0
        self._mark = mark
        self._totals = Totals()

    # -- the station's side --------------------------------------------------------------------
    def cut(self, now_ns: int, most: int) -> tuple[int, Sequence[EventRun]]:
        """When the station began, and the oldest events that wait now; they go on waiting.

        The first time the station begins.
        """
        with self._lock:
            if self._began_ns is None:
                self._began_ns = now_ns
            self._advance(now_ns)
            return self._began_ns, self._oldest(most)

    def doubt(self, count: int) -> None:
        """Notes that the commit of the `count` oldest events is sent."""
        with self._lock:
            self._totals = replace(self._totals, in_doubt=count)

    def settle(self, mark: int, now_ns: int) -> tuple[int, int] | None:
        """Notes that all events up to number `mark` are stored and no others.

        What came while the batch was under way found the buffer as it was then.

        Returns:
            The first and the last that were not known to be stored.
        """
        with self._lock:
            self._advance(now_ns)
            stored = min(max(0, mark - self._mark), self._waiting)
            totals = self._totals
            self._totals = replace(totals, in_doubt=0, stored=totals.stored + stored)
            if stored == 0:
                return None
            first = self._mark + 1
            self._mark += stored
            self._waiting -= stored
            self._forget_stored()
            return first, self._mark

    def slow(self) -> None:
        """Counts a bulk insert that took longer than the threshold."""
        with self._lock:
            totals = self._totals
            self._totals = replace(totals, over_threshold=totals.over_threshold + 1)

    def stop(self, now_ns: int) -> None:
        """Takes in what became due up to now, and nothing after it."""
        with self._lock:
            self._advance(now_ns)
            self._is_stopped = True

    @property
    def waiting(self) -> int:
        """Events that wait."""
        return self._waiting

    # -- the reporter's side ---------------------------------------------------------------------
    def totals(self, now_ns: int) -> Totals:
        """What the station has done up to now."""
        with self._lock:
            self._advance(now_ns)
            return replace(self._totals, buffered=self._waiting - self._totals.in_doubt)

    def deepest(self) -> int:
        """The most that waited at once since this was last asked."""
        with self._lock:
            deepest, self._deepest = self._deepest, self._waiting
            return deepest

    # -- inside --------------------------------------------------------------------------------
    def _advance(self, now_ns: int) -> None:
        """Takes in what became due; an event that finds the buffer full is lost."""
        if self._began_ns is None or self._is_stopped:
            return
        totals = self._totals
        fresh = max(0, self._source.due_by(max(0, now_ns - self._began_ns)) - totals.offered)
        accepted = min(fresh, max(0, self._capacity - self._waiting))
        if accepted:
            self._accept(accepted)
        self._totals = replace(
            totals,
            offered=totals.offered + fresh,
            accepted=totals.accepted + accepted,
            lost=totals.lost + fresh - accepted,
        )
        self._waiting += accepted
        self._deepest = max(self._deepest, self._waiting)

    def _accept(self, count: int) -> None:
        fresh = EventRun(self._mark + self._waiting + 1, self._totals.offered, count)
        last = self._runs[-1] if self._runs else None
        if last is not None and last.first_number + last.count == fresh.first_number:
            self._runs[-1] = replace(last, count=last.count + count)
        else:
            self._runs.append(fresh)

    def _oldest(self, most: int) -> list[EventRun]:
        runs = []
        for run in self._runs:
            count = min(run.count, most)
            if count == 0:
                break
            runs.append(replace(run, count=count))
            most -= count
        return runs

    def _forget_stored(self) -> None:
        while self._runs and self._runs[0].first_seq <= self._mark:
            first = self._runs.popleft()
            if first.first_seq + first.count - 1 > self._mark:
                self._runs.appendleft(first.after(self._mark))
