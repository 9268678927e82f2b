"""An operator: asks what operators of a control room ask."""

from __future__ import annotations

import random

from loadstone.runner.archive.actor import Actor
from loadstone.runner.archive.common import Common
from loadstone.runner.archive.parameters import ELEMENT_WINDOW, GROUP_LAST, MINUTE
from loadstone.runner.archive.segments import instant
from loadstone.runner.database import Link
from loadstone.runner.session import DONE, Outcome
from loadstone.workloads.archive.tables import VIEW

_QUESTIONS = {ELEMENT_WINDOW: 60, GROUP_LAST: 30, MINUTE: 10}
"""How often each is asked, of a hundred."""
_GROUP = 20
"""Elements of a group."""
_MINUTE_US = 60_000_000
_WINDOW_US = 5 * _MINUTE_US


class Operator(Actor):
    """The operator of a user."""

    def __init__(self, common: Common, user: int) -> None:
        super().__init__()
        self._common = common
        self._draw = random.Random(f"questions {common.seed} {user}")
        self._station = 0
        self._element = 0

    def choose(self) -> str:
        """Draws a question, a station and an element."""
        parameters = self._common.parameters
        self._station = self._draw.randrange(parameters.stations)
        self._element = self._draw.randrange(parameters.elements)
        return self._draw.choices(list(_QUESTIONS), list(_QUESTIONS.values()))[0]

    def execute(self, link: Link, operation: str) -> Outcome:
        """Asks it.

        Raises:
            FailureError: The engine's.
        """
        link.ask(self._sql(operation, self._common.now_us()))
        return DONE

    def _sql(self, question: str, now_us: int) -> str:
        count = self._common.parameters.elements
        first = self._station * count
        element, last = first + self._element, first + count - 1
        if question == GROUP_LAST:
            return _group_last(element, min(element + _GROUP - 1, last), now_us)
        if question == MINUTE:
            return (
                f"SELECT count(*), min(value), max(value) FROM {VIEW} "
                f"WHERE element_id BETWEEN {first} AND {last} AND {_span(now_us, _MINUTE_US)}"
            )
        return (
            f"SELECT ts, value, text, status FROM {VIEW} "
            f"WHERE element_id = {element} AND {_span(now_us, _WINDOW_US)} ORDER BY ts"
        )


def _group_last(first: int, last: int, now_us: int) -> str:
    wanted = f"element_id BETWEEN {first} AND {last} AND {_span(now_us, _WINDOW_US)}"
    return (
        "SELECT h.element_id, h.ts, h.value, h.status "
        f"FROM (SELECT * FROM {VIEW} WHERE {wanted}) h JOIN "
        f"(SELECT element_id, max(ts) AS ts FROM {VIEW} WHERE {wanted} GROUP BY element_id) l "
        "ON h.element_id = l.element_id AND h.ts = l.ts"
    )


def _span(now_us: int, length_us: int) -> str:
    return f"ts >= {instant(now_us - length_us)} AND ts < {instant(now_us)}"
