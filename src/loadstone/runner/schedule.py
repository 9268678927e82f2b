"""When the operations of a user are due."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from loadstone.runner.arrivals import Arrivals
from loadstone.runner.board import Board, Duty
from loadstone.runner.pacing import Grid, Pace
from loadstone.runner.phase_recorders import Due, Readiness


class Schedule:
    """An operation is due when the last is done and the waits are over, or on a grid.

    It is kept from one phase to the next: a wait that began in one goes on in the other.
    """

    def __init__(self, user: int, board: Board, pace: Pace, draw: random.Random) -> None:
        self._user = user
        self._board = board
        self._pace = pace
        self._draw = draw
        self.forget()

    def forget(self) -> None:
        """What the user does next does not follow on what it did."""
        self._begun_ns: int | None = None
        self._free: tuple[str, int] | None = None
        self._planned: tuple[int, bool] | None = None

    def due(self, operation: str, *, hurries: bool, over: Callable[[], bool]) -> Due | None:
        """Waits until an operation is due.

        Args:
            operation: Which.
            hurries: It is due as soon as the last one has ended.
            over: Whether the stage for which the user asks has passed.

        Returns:
            None when there is no more to do in this stage.
        """
        while not over():
            if not self._join(over):
                return None
            assignment = self._board.assignment
            if assignment.arrivals is not None:
                self.forget()
                return self._arrived(assignment.arrivals, assignment.phase, over)
            if hurries or not self._pace.is_paced:
                now_ns = self._board.clock.now_ns()
                self._begun_ns = now_ns
                at_ns = now_ns if self._free is None else self._free[1]
                return self._admit(at_ns, Readiness.UNPACED)
            at_ns, readiness = self._wait(operation, over)
            if not over() and self._board.is_active(self._user):
                self._planned = None
                self._begun_ns = self._board.clock.now_ns()
                return self._admit(at_ns, readiness)
        return None

    def done(self, operation: str, at_ns: int) -> None:
        """Takes note that an operation ended."""
        self._free = (operation, at_ns)

    def _arrived(self, arrivals: Arrivals, phase: int, over: Callable[[], bool]) -> Due | None:
        """Waits for an operation that becomes due by the clock."""
        board = self._board
        free_ns = board.clock.now_ns()
        with arrivals.turn:
            while not over():
                at_ns = arrivals.take(board.clock.now_ns())
                if at_ns is not None:
                    readiness = Readiness.FREE if free_ns <= at_ns else Readiness.BUSY
                    return Due(phase, at_ns, readiness, arrived=True)
                next_ns = arrivals.next_ns()
                board.wait(partial(self._looks_again, arrivals, next_ns, over), at_ns=next_ns)
        return None

    @staticmethod
    def _looks_again(arrivals: Arrivals, next_ns: int | None, over: Callable[[], bool]) -> bool:
        """Whether it is not worth to wait for what was next any more."""
        return over() or arrivals.next_ns() != next_ns

    def _join(self, over: Callable[[], bool]) -> bool:
        """Waits until the user takes part; it then begins afresh."""
        if not self._board.is_active(self._user):
            self.forget()
            self._board.wait(lambda: over() or self._board.is_active(self._user))
        return not over() and self._board.assignment.duty is Duty.WORK

    def _wait(self, operation: str, over: Callable[[], bool]) -> tuple[int, Readiness]:
        """Waits until the operation is due, the user takes part no more, or the stage is over."""
        if self._planned is None:
            self._planned = self._plan(operation)
        at_ns, waits = self._planned
        if not waits:
            return at_ns, Readiness.UNPACED
        if self._board.clock.now_ns() > at_ns:
            return at_ns, Readiness.BUSY
        self._board.wait(lambda: over() or not self._board.is_active(self._user), at_ns=at_ns)
        return at_ns, Readiness.FREE

    def _plan(self, operation: str) -> tuple[int, bool]:
        """When the operation is due, and whether that is after a wait."""
        now_ns = self._board.clock.now_ns()
        period_ns = self._pace.period_ns(operation)
        if period_ns is not None:
            grid = Grid.of_user(period_ns, self._board.origin_ns, self._user)
            # What was missed while the last operation ran is made up for once.
            return grid.after_ns(now_ns if self._begun_ns is None else self._begun_ns), True
        previous, from_ns = (None, now_ns) if self._free is None else self._free
        gap_ns = self._pace.gap_ns(previous, operation, self._draw)
        return from_ns + gap_ns, gap_ns > 0

    def _admit(self, at_ns: int, readiness: Readiness) -> Due | None:
        assignment = self._board.assignment
        if not self._board.admit():
            self._board.finish()
            return None
        return Due(assignment.phase, max(at_ns, assignment.since_ns), readiness)
