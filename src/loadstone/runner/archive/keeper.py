"""The keeper: it makes the next segment and switches to it."""

from __future__ import annotations

from dataclasses import dataclass

from loadstone.runner.archive.actor import Actor
from loadstone.runner.archive.common import Common, damaged, whole
from loadstone.runner.archive.parameters import PREALLOCATE, SWITCH
from loadstone.runner.archive.segments import create_index, create_table, replace_view
from loadstone.runner.database import Link
from loadstone.runner.session import DONE, IDLE, Outcome, WorkloadEvent
from loadstone.workloads.archive.tables import segment_name

_EARLY = 0.8
"""The next segment is made when the current one has this share of its events."""
_LEAD_INTERVALS = 2.0
"""A segment begins so many intervals of the stations after it became the current one."""
_NEVER_US = 2**63 - 1
"""Begin of a segment that was made and is not used yet."""


@dataclass(frozen=True)
class _Catalogue:
    """The catalogue, as far as the keeper needs it."""

    current: int
    highest: int
    following: int | None


class Keeper(Actor):
    """What the keeper remembers."""

    def __init__(self, common: Common) -> None:
        super().__init__()
        self._common = common
        self._current: tuple[int, int] | None = None
        """The current segment, and how much was stored when it became that."""
        self._wants_next = False

    def choose(self) -> str:
        """What is to be done next."""
        wanted, self._wants_next = self._wants_next, False
        return PREALLOCATE if wanted else SWITCH

    def execute(self, link: Link, operation: str) -> Outcome:
        """Does it.

        Raises:
            FailureError: The engine's.
        """
        return self._preallocate(link) if operation == PREALLOCATE else self._switch(link)

    def _preallocate(self, link: Link) -> Outcome:
        """Makes the next segment unless there is one."""
        catalogue = _look(link)
        if catalogue.following is not None:
            return IDLE
        self._create(link, catalogue.highest + 1)
        return DONE

    def _switch(self, link: Link) -> Outcome:
        """Switches to the next segment when the current one is full."""
        stored = whole(link.ask("SELECT sum(stored) FROM archive_station")[0][0])
        if self._current is None:
            self._current = _look(link).current, stored
            return IDLE
        known, before = self._current
        parameters = self._common.parameters
        held, full = stored - before, parameters.segment_events
        is_early = parameters.preallocate and held >= _EARLY * full
        if held < full and not is_early:
            return IDLE
        catalogue = _look(link)
        if catalogue.current != known:
            # A switch whose commit was not answered has taken place.
            self._current = catalogue.current, stored
            return IDLE
        if held < full:
            self._wants_next = catalogue.following is None
            return IDLE
        self._current = self._switch_to_next(link, catalogue), stored
        return DONE

    def _switch_to_next(self, link: Link, catalogue: _Catalogue) -> int:
        """Switches to the next segment, which is made if there is none; returns its number."""
        number, create_s = catalogue.following, 0.0
        if number is None:
            number = catalogue.highest + 1
            create_s = self._create(link, number)
        is_preallocated = catalogue.following is not None
        self._switch_to(link, number, create_s, is_preallocated=is_preallocated)
        return number

    def _create(self, link: Link, number: int) -> float:
        """Makes a segment and adds it to the view; returns how long it took, in seconds."""
        name, begun_ns = segment_name(number), self._common.clock.now_ns()
        with link.undoing():
            link.ask("BEGIN")
            link.ask(create_table(name))
            if self._common.parameters.is_live:
                link.ask(create_index(name))
            link.ask(replace_view(number))
            link.ask("COMMIT")
        create_s = self._common.since_s(begun_ns)
        link.ask(
            "INSERT INTO archive_segment (number, name, begin_us, state, created_us, create_s) "
            f"VALUES ({number}, '{name}', {_NEVER_US}, 'next', {self._common.now_us()}, {create_s})"
        )
        data = {"took_s": create_s, "number": number, "create_s": create_s}
        self.workload_events.append(WorkloadEvent("segment-create", data))
        return create_s

    def _switch_to(
        self, link: Link, number: int, create_s: float, *, is_preallocated: bool
    ) -> None:
        """Lets a segment be the current one."""
        begun_ns = self._common.clock.now_ns()
        with self._common.routes, link.undoing():
            link.ask("BEGIN")
            # From here on nobody reads the old routes: what becomes due later can begin the new
            # segment.
            now_us = self._common.now_us()
            begin_us = now_us + int(_LEAD_INTERVALS * self._common.parameters.interval_s * 1e6)
            link.ask("UPDATE archive_segment SET state = 'open' WHERE state = 'current'")
            link.ask(
                f"UPDATE archive_segment SET state = 'current', begin_us = {begin_us}, "
                f"current_us = {now_us} WHERE number = {number}"
            )
            link.ask("COMMIT")
        switch_s = self._common.since_s(begun_ns)
        data = {
            "took_s": switch_s + create_s,
            "number": number,
            "switch_s": switch_s,
            "create_s": create_s,
            "preallocated": int(is_preallocated),
            "begin_unix_s": begin_us / 1e6,
        }
        self.workload_events.append(WorkloadEvent("segment-switch", data))
        link.ask(f"UPDATE archive_segment SET switch_s = {switch_s} WHERE number = {number}")


def _look(link: Link) -> _Catalogue:
    states = {
        str(state): whole(number)
        for number, state in link.ask("SELECT number, state FROM archive_segment ORDER BY number")
    }
    if "current" not in states:
        raise damaged("no segment is the current one")
    return _Catalogue(states["current"], max(states.values()), states.get("next"))
