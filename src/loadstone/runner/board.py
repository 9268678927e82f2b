"""The notice board: what the users are to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from threading import Condition

from loadstone.runner.arrivals import Arrivals
from loadstone.runner.clock import Clock, to_s
from loadstone.runner.messages import Changed, Inbox


class Duty(Enum):
    """What users are to do."""

    WAIT = "wait"
    WORK = "work"
    LEAVE = "leave"


@dataclass(frozen=True)
class Assignment:
    """What users are to do from now on; nothing of the phase was due before `since_ns`."""

    duty: Duty
    phase: int = 0
    since_ns: int = 0
    active: int = 0
    """Users below this number take part."""
    allowance: int | None = None
    """Operations that may begin; None: no limit."""
    arrivals: Arrivals | None = None
    """What users serve; None: they work in a closed loop."""


class Board:
    """Users look at it and wait at it; the main thread posts."""

    def __init__(self, clock: Clock, inbox: Inbox) -> None:
        self.clock = clock
        self._inbox = inbox
        self._changed = Condition()
        self._assignment = Assignment(Duty.WAIT)
        self._stage = 0
        self._allowance: int | None = None
        self._active = 0
        self._finished = 0
        self._seats = 0
        self._origin_ns: int | None = None

    # -- the main thread's side ----------------------------------------------------------------
    def post(self, assignment: Assignment) -> None:
        """Posts a new assignment. All users leave what they wait for and look."""
        with self._changed:
            self._assignment = assignment
            self._stage += 1
            self._active = assignment.active
            self._allowance = assignment.allowance
            self._finished = 0
            if assignment.duty is Duty.WORK and self._origin_ns is None:
                self._origin_ns = assignment.since_ns
            self._changed.notify_all()

    def dismiss(self) -> None:
        """Lets all users leave; how many take part is still known."""
        self.post(Assignment(Duty.LEAVE, self._assignment.phase, active=self._active))

    def set_active(self, active: int) -> None:
        """Changes the number of users that take part."""
        with self._changed:
            if active != self._active:
                self._active = active
                self._changed.notify_all()

    def arrivals_changed(self) -> None:
        """Lets those look again who wait for an arrival."""
        with self._changed:
            self._changed.notify_all()

    @property
    def users(self) -> int:
        """Users that take part and are there; when all are to leave, those that did."""
        if self._assignment.duty is Duty.LEAVE:
            return self._active
        return min(self._active, self._seats)

    @property
    def queued(self) -> int:
        """Operations that are due and wait for a user."""
        return 0 if self._assignment.arrivals is None else self._assignment.arrivals.queued()

    @property
    def seats(self) -> int:
        """Users that are there."""
        return self._seats

    @property
    def is_finished(self) -> bool:
        """Whether all users that take part have no more work, and there are some."""
        return 0 < self._active <= self._finished

    # -- the users' side -----------------------------------------------------------------------
    def enter(self) -> None:
        """Takes a seat."""
        with self._changed:
            self._seats += 1

    def leave(self) -> None:
        """Gives the seat back."""
        with self._changed:
            self._seats -= 1
        self._inbox.put(Changed())

    @property
    def stage(self) -> int:
        """The number of the assignment; it grows with each post."""
        return self._stage

    @property
    def assignment(self) -> Assignment:
        """The assignment as it was posted."""
        return self._assignment

    @property
    def origin_ns(self) -> int:
        """When the first phase began."""
        return self._origin_ns or 0

    def is_active(self, user: int) -> bool:
        """Whether a user takes part."""
        return user < self._active

    def admit(self) -> bool:
        """Asks for the permission to begin an operation of this phase."""
        with self._changed:
            if self._allowance is None:
                return True
            if self._allowance == 0:
                return False
            self._allowance -= 1
            return True

    def finish(self) -> None:
        """Says that a user has no more work in this phase."""
        with self._changed:
            self._finished += 1
        self._inbox.put(Changed())

    def wait(self, until: Callable[[], bool], *, at_ns: int | None = None) -> bool:
        """Waits for what depends on assignments or the number of users, or for a moment.

        Returns:
            Whether it was not the moment that came.
        """
        with self._changed:
            while not until():
                left_ns = None if at_ns is None else at_ns - self.clock.now_ns()
                if left_ns is not None and left_ns <= 0:
                    return False
                self._changed.wait(None if left_ns is None else to_s(left_ns))
            return True
