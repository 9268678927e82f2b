"""The one loop: what a user does, whatever the workload. Each user has a thread of its own."""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from loadstone.runner.board import Board, Duty
from loadstone.runner.messages import Broken, Inbox, Opened
from loadstone.runner.pacing import Pace
from loadstone.runner.phase_recorders import Due, PhaseRecorders
from loadstone.runner.plan import Retry
from loadstone.runner.recorder import Times
from loadstone.runner.retry import BackOff, back_off_of, pause_ns
from loadstone.runner.schedule import Schedule
from loadstone.runner.session import Ending, FailureError, Outcome, Session, Workload

_RECONNECT = BackOff(base_ns=50_000_000, cap_ns=5_000_000_000)
"""The waits before a lost connection is tried again, give or take a half."""


@dataclass(frozen=True)
class Shared:
    """What all users share."""

    workload: Workload
    board: Board
    recorders: PhaseRecorders
    inbox: Inbox
    pace: Pace
    retry: Retry
    seed: int
    delay_ns: int = 0
    """By which each operation takes longer than it would: a planted slowdown."""


def live(number: int, shared: Shared) -> None:
    """The life of a user's thread: opens its session, works until it may leave, closes it."""
    try:
        session = shared.workload.open(number)
    except FailureError as failure:
        shared.inbox.put(Opened(f"cannot open session {number}: {failure.message}"))
        return
    except Exception:
        shared.inbox.put(Broken(traceback.format_exc()))
        return
    shared.board.enter()
    shared.inbox.put(Opened())
    try:
        with closing(session):
            User(number, session, shared).follow()
    except Exception:
        shared.inbox.put(Broken(traceback.format_exc()))
    finally:
        shared.board.leave()


class User:
    """A session, and what its user keeps from one phase to the next."""

    def __init__(self, number: int, session: Session, shared: Shared) -> None:
        self._number = number
        self._session = session
        self._board = shared.board
        self._recorders = shared.recorders
        self._retry = shared.retry
        self._delay_ns = shared.delay_ns
        self._back_off = back_off_of(shared.retry)
        self._draw = random.Random(f"waits {shared.seed} {number}")
        self._schedule = Schedule(number, shared.board, shared.pace, self._draw)
        self._chosen: str | None = None
        self._is_lost = False
        self._failures = 0
        """Fatal ones since the last operation that ended well."""

    def follow(self) -> None:
        """Does what the notices say, until they say that all leave."""
        while True:
            stage, assignment = self._board.stage, self._board.assignment
            over = self._over(stage)
            if assignment.duty is Duty.LEAVE:
                return
            if assignment.duty is Duty.WORK:
                self._drive(over)
                if not over():
                    self._schedule.forget()
            self._board.wait(over)

    def _over(self, stage: int) -> Callable[[], bool]:
        return lambda: self._board.stage != stage

    def _drive(self, over: Callable[[], bool]) -> None:
        """Makes operations until the stage is over or there is no more work."""
        while not over():
            if self._is_lost and not self._restore(over):
                return
            operation = self._chosen = self._chosen or self._session.choose()
            hurries = self._session.hurries
            due = self._schedule.due(operation, hurries=hurries, over=over)
            if due is None:
                return
            self._chosen = None
            if not self._make(operation, due):
                self._board.finish()
                return

    def _make(self, operation: str, due: Due) -> bool:
        """Makes one operation with all its attempts; False if the session has no more work."""
        clock = self._board.clock
        sent_ns = clock.now_ns()
        self._recorders.begun(due, sent_ns)
        goes_on = True
        try:
            outcome = self._persist(operation, due)
        except FailureError as failure:
            self._recorders.failed(due, operation, failure)
            if failure.is_fatal:
                self._recorders.lost(self._number, failure)
                self._is_lost = True
            done_ns = clock.now_ns()
        else:
            done_ns = clock.now_ns()
            self._recorders.ended(due, operation, Times(due.at_ns, sent_ns, done_ns), outcome)
            self._failures = 0
            goes_on = outcome.ending is not Ending.EXHAUSTED
        self._recorders.workload_events(self._session.workload_events())
        self._schedule.done(operation, done_ns)
        return goes_on

    def _persist(self, operation: str, due: Due) -> Outcome:
        """Attempts an operation until it ends well, fails for good or was tried often enough."""
        failures = 0
        while True:
            try:
                return self._held_up(self._session.execute(operation))
            except FailureError as failure:
                failures += 1
                if not failure.is_retryable or failures >= self._retry.max_attempts:
                    raise
                self._recorders.retried(due, operation, failure)
            pause = pause_ns(self._back_off, failures, self._draw)
            leaving = self._is_leaving
            self._board.wait(leaving, at_ns=self._board.clock.now_ns() + pause)

    def _held_up(self, outcome: Outcome) -> Outcome:
        """What an operation gave, after the planted slowdown."""
        if self._delay_ns and outcome.ending is Ending.DONE:
            self._board.wait(self._is_leaving, at_ns=self._board.clock.now_ns() + self._delay_ns)
        return outcome

    def _is_leaving(self) -> bool:
        return self._board.assignment.duty is Duty.LEAVE

    def _restore(self, over: Callable[[], bool]) -> bool:
        """Replaces a lost connection, ever more slowly; False if the stage was over before."""
        while not over():
            if self._failures > 0:
                # Users that were lost together must not come back together.
                wait_ns = _RECONNECT.limit_ns(self._failures) * (0.5 + self._draw.random())
                if self._board.wait(over, at_ns=self._board.clock.now_ns() + int(wait_ns)):
                    return False
            self._failures += 1
            try:
                self._session.reconnect()
            except FailureError as failure:
                self._recorders.report_first(failure)
            else:
                self._is_lost = False
                self._recorders.restored(self._number)
                return True
        return False
