"""When a user of the runner is due, by a clock that the test moves."""

import random
from typing import Any

from loadstone.runner.board import Assignment, Board, Duty
from loadstone.runner.clock import Clock
from loadstone.runner.messages import Inbox
from loadstone.runner.pacing import Pace
from loadstone.runner.phase_recorders import Due, Readiness
from loadstone.runner.plan import Pacing, Think, Waits
from loadstone.runner.schedule import Schedule

MS = 1_000_000


class HandClock(Clock):
    """It stands where it was put, and goes on a little whenever someone looks at it."""

    def __init__(self) -> None:
        super().__init__()
        self.at_ns = 0

    def now_ns(self) -> int:
        self.at_ns += MS // 2
        return self.at_ns


class User:
    """A user with its schedule; each operation takes no time of its own."""

    def __init__(self, **waits: Any) -> None:
        self.clock = HandClock()
        self.board = Board(self.clock, Inbox())
        pace = Pace(Pacing(default=Waits(**waits)), ("work",))
        self.schedule = Schedule(0, self.board, pace, random.Random(1))

    def begin(self, phase: int = 0, *, allowance: int | None = None) -> None:
        assignment = Assignment(Duty.WORK, phase, self.clock.at_ns, active=1, allowance=allowance)
        self.board.post(assignment)

    def due(self, *, hurries: bool = False) -> Due | None:
        stage = self.board.stage
        over = lambda: self.board.stage != stage  # noqa: E731 - as the loop has it
        return self.schedule.due("work", hurries=hurries, over=over)

    def done_at(self, at_ns: int) -> None:
        self.clock.at_ns = at_ns
        self.schedule.done("work", at_ns)


def test_the_first_missed_moment_of_a_grid_is_made_up_for_and_the_others_are_skipped() -> None:
    user = User(every_s=0.01)
    user.begin()
    assert user.due() == Due(0, 10 * MS, Readiness.FREE)
    user.done_at(35 * MS)
    assert user.due() == Due(0, 20 * MS, Readiness.BUSY)
    user.done_at(36 * MS)
    assert user.due() == Due(0, 40 * MS, Readiness.FREE)


def test_a_user_that_hurries_does_not_wait_for_its_grid() -> None:
    user = User(every_s=0.01)
    user.begin()
    user.due()
    user.done_at(12 * MS)
    assert user.due(hurries=True) == Due(0, 12 * MS, Readiness.UNPACED)
    user.done_at(13 * MS)
    assert user.due() == Due(0, 20 * MS, Readiness.FREE)


def test_without_waits_an_operation_is_due_when_the_last_has_ended() -> None:
    user = User()
    user.begin()
    user.due()
    user.done_at(7 * MS)
    assert user.due() == Due(0, 7 * MS, Readiness.UNPACED)


def test_keying_and_thinking_count_from_the_end_of_the_last_operation() -> None:
    user = User(keying_s=0.002, think=Think(distribution="constant", mean_s=0.003))
    user.begin()
    first = user.due()
    assert first is not None
    # What is left of the two waits, from when the clock was looked at.
    assert 0 <= first.at_ns <= 6 * MS
    user.done_at(20 * MS)
    assert user.due() == Due(0, 25 * MS, Readiness.FREE)


def test_a_wait_goes_on_from_one_phase_into_the_next() -> None:
    user = User(every_s=0.01)
    user.begin()
    user.due()
    user.done_at(12 * MS)
    user.begin(1)
    due = user.due()
    assert due == Due(1, 20 * MS, Readiness.FREE)


def test_nothing_of_a_phase_is_due_before_it_began() -> None:
    user = User(every_s=0.01)
    user.begin()
    user.due()
    user.done_at(34 * MS)
    user.begin(1)
    assert user.due() == Due(1, 34 * MS, Readiness.BUSY)


def test_no_more_operations_begin_than_are_allowed() -> None:
    user = User()
    user.begin(allowance=2)
    assert [user.due() is None for _ in range(3)] == [False, False, True]
    assert user.board.is_finished
