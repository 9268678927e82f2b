"""The waits of closed users: keying before an operation, thinking after it, or a grid."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from loadstone.runner.clock import to_ns
from loadstone.runner.plan import Pacing, RefusalError, Waits
from loadstone.runner.think import left_s, think_s

_GOLDEN = 0.618_033_988_749_894_9
"""Fractional part of the golden ratio: its multiples, modulo 1, lie evenly however many there are
(Knuth, The Art of Computer Programming 3, section 6.4)."""


@dataclass(frozen=True)
class Grid:
    """Moments at which an operation of one user is due: `first_ns` and every period after it."""

    period_ns: int
    first_ns: int

    @classmethod
    def of_user(cls, period_ns: int, origin_ns: int, user: int) -> Grid:
        """A grid that begins somewhere in the period after `origin_ns`: users begin spread."""
        return cls(period_ns, origin_ns + int(user * _GOLDEN % 1.0 * period_ns))

    def after_ns(self, at_ns: int) -> int:
        """The first moment that is later than `at_ns`."""
        if at_ns < self.first_ns:
            return self.first_ns
        passed = (at_ns - self.first_ns) // self.period_ns
        return self.first_ns + (passed + 1) * self.period_ns


class Pace:
    """The waits of every operation of a workload.

    Raises:
        RefusalError: The plan names an operation that the workload does not have.
    """

    def __init__(self, pacing: Pacing, operations: Sequence[str]) -> None:
        for name in pacing.operations:
            if name not in operations:
                raise RefusalError(
                    f"pacing.operations.{name}",
                    f"no such operation; the workload has {', '.join(operations)}",
                )
        self._waits = {name: pacing.operations.get(name, pacing.default) for name in operations}
        self.is_paced = any(waits != Waits() for waits in self._waits.values())

    def period_ns(self, operation: str) -> int | None:
        """Nanoseconds between the moments at which an operation is due, if they are a grid."""
        every_s = self._waits[operation].every_s
        return None if every_s is None else to_ns(every_s)

    def gap_ns(self, previous: str | None, following: str, draw: random.Random) -> int:
        """Nanoseconds from the end of `previous` to the intended start of `following`.

        A user who begins with `following` finds its waits under way: what is left of them is drawn.
        """
        waits = self._waits[following]
        if previous is None:
            return to_ns(left_s(waits, draw))
        return to_ns(think_s(self._waits[previous].think, draw) + waits.keying_s)


@dataclass(frozen=True)
class UserRamp:
    """A number of users that changes linearly; without a duration it stays at `start`."""

    start: int
    end: int
    begin_ns: int = 0
    duration_ns: int = 0

    @classmethod
    def constant(cls, users: int) -> UserRamp:
        """A number that does not change."""
        return cls(users, users)

    def at(self, now_ns: int) -> int:
        """Users at a moment: the straight line, rounded to the nearest whole user."""
        step = self._steps_at(now_ns)
        return self.start + (step if self.end >= self.start else -step)

    def next_change_ns(self, now_ns: int) -> int | None:
        """When the number changes next after `now_ns`."""
        steps, done = self._steps(), self._steps_at(now_ns)
        if done >= steps or self.duration_ns == 0:
            return None
        # Half a step after the last one, rounded up.
        return self.begin_ns - (-(2 * done + 1) * self.duration_ns // (2 * steps))

    def _steps(self) -> int:
        return abs(self.end - self.start)

    def _steps_at(self, now_ns: int) -> int:
        if self.duration_ns == 0:
            return 0
        elapsed_ns = min(max(0, now_ns - self.begin_ns), self.duration_ns)
        return (2 * self._steps() * elapsed_ns + self.duration_ns) // (2 * self.duration_ns)
