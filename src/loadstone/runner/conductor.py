"""The story of one run, as the main thread conducts it. It never calls the engine itself."""

from __future__ import annotations

import threading
from queue import Empty
from typing import IO

from loadstone.runner.arrivals import Arrivals, Backlog
from loadstone.runner.board import Assignment, Board, Duty
from loadstone.runner.clock import Clock, to_ns, to_s
from loadstone.runner.messages import (
    Begin,
    Broken,
    DriverEvent,
    Inbox,
    Message,
    Opened,
    OperationFailed,
    SetRate,
    SetUsers,
    Stop,
)
from loadstone.runner.pacing import Pace, UserRamp
from loadstone.runner.phase_recorders import PhaseRecorders
from loadstone.runner.plan import Open, Plan
from loadstone.runner.reporter import Reporter
from loadstone.runner.session import Workload, WorkloadEvent
from loadstone.runner.users import Shared, live

STOPPED = "stopped"
FAILED = "failed"
COMPLETED = "completed"
_DRAIN_NS = to_ns(30.0)
_DRAIN_LOOK_NS = to_ns(0.01)


class Conductor:
    """Conducts one run. Frames go to `output`.

    Raises:
        RefusalError: The plan does not fit the workload.
    """

    def __init__(
        self, plan: Plan, workload: Workload, clock: Clock, inbox: Inbox, output: IO[bytes]
    ) -> None:
        self._plan = plan
        self._workload = workload
        self._clock = clock
        self._inbox = inbox
        self._board = Board(clock, inbox)
        recorders = self._recorders = PhaseRecorders(workload.operations, inbox)
        pace = Pace(plan.pacing, workload.operations)
        self._shared = Shared(
            workload,
            self._board,
            recorders,
            inbox,
            pace,
            plan.retry,
            plan.seed,
            to_ns(plan.delay_s),
        )
        self._reporter = Reporter(plan, workload, self._board, recorders, output)
        self._users = 0
        """Users whose threads were started."""
        self._awaited = 0
        """Of these, those who have not said yet that their session is open."""
        self._phase: int | None = None
        self._ramp = UserRamp.constant(0)
        self._backlog = Backlog()
        """Of the phase that runs."""
        self._begin_ns: int | None = None
        self._reason: str | None = None
        self._error: str | None = None

    def conduct(self) -> bool:
        """Runs the plan to its end; False if it could not go on."""
        self._reporter.hello()
        self._hire(self._plan.sessions())
        while self._awaited and self._goes_on:
            self._attend(None)
        self._await_begin()
        for index in range(len(self._plan.phases)):
            if not self._goes_on:
                break
            # Only the first phase has a moment that was told.
            start_ns = self._clock.now_ns() if self._begin_ns is None else self._begin_ns
            self._begin_ns = None
            self._begin(index, start_ns)
            self._hold(index, start_ns)
            self._drain(index)
        self._finish()
        self._reporter.end(self._reason or COMPLETED, self._error)
        return self._reason != FAILED

    @property
    def _goes_on(self) -> bool:
        return self._reason is None

    def _hire(self, users: int) -> None:
        """Starts the threads of users up to a number; each opens its session."""
        for number in range(self._users, users):
            self._awaited += 1
            name = f"user-{number}"
            arguments = (number, self._shared)
            threading.Thread(target=live, args=arguments, name=name, daemon=True).start()
        self._users = max(self._users, users)

    def _await_begin(self) -> None:
        """Waits for the moment at which the first phase begins, if that is told."""
        if self._plan.start == "now" or not self._goes_on:
            return
        ready_ns = self._clock.now_ns()
        self._reporter.event("ready", "the sessions are open")
        while self._goes_on and self._begin_ns is None:
            self._attend(None)
        self._begin_ns = max(self._begin_ns or 0, ready_ns)
        while self._goes_on and self._attend(self._begin_ns):
            pass

    def _begin(self, index: int, start_ns: int) -> None:
        """Begins a phase; the one before ends at the same moment."""
        phase = self._plan.phases[index]
        duration_ns = to_ns(phase.duration_s or 0.0)
        users, load = phase.users, phase.load
        arrivals = None
        if isinstance(load, Open):
            seed = f"{self._plan.seed} {index}"
            arrivals = Arrivals(load, start_ns, phase.duration_s or 0.0, seed)
        self._ramp = UserRamp(users.start, users.end, start_ns, duration_ns)
        self._workload.turn(index)
        self._recorders.turn(index)
        active = self._ramp.at(self._clock.now_ns())
        self._board.post(Assignment(Duty.WORK, index, start_ns, active, phase.iterations, arrivals))
        if self._phase is not None:
            self._reporter.phase_ends(start_ns, self._backlog)
        self._backlog = Backlog()
        self._phase = index
        self._reporter.phase_begins(index, start_ns)

    def _hold(self, index: int, start_ns: int) -> None:
        """Lets the phase run until its time is over, its work is done or the run is stopped."""
        duration_s = self._plan.phases[index].duration_s
        end_ns = None if duration_s is None else start_ns + to_ns(duration_s)
        while self._goes_on and not self._is_done and self._attend(end_ns):
            pass

    def _drain(self, index: int) -> None:
        """Works off, or throws away, what is due and not begun."""
        arrivals = self._board.assignment.arrivals
        if arrivals is None:
            return
        self._reporter.tick()
        ended_ns = self._clock.now_ns()
        waiting = arrivals.end(ended_ns)
        self._recorders.arrived(arrivals.arrived(ended_ns))
        self._board.arrivals_changed()
        until_ns = ended_ns + (_DRAIN_NS if self._plan.phases[index].backlog == "drain" else 0)
        while self._goes_on and arrivals.queued() and self._clock.now_ns() < until_ns:
            self._attend(min(until_ns, self._clock.now_ns() + _DRAIN_LOOK_NS))
        discarded = arrivals.discard()
        self._backlog = Backlog(waiting - discarded, discarded, ended_ns)

    @property
    def _is_done(self) -> bool:
        """Whether all work of the phase is done, and what its users told is dealt with."""
        return self._board.is_finished and self._inbox.empty()

    def _finish(self) -> None:
        """Lets operations in flight finish and users leave."""
        now_ns = self._clock.now_ns()
        until_ns = now_ns + to_ns(self._plan.finish_s)
        self._board.dismiss()
        self._workload.hurry()
        if self._phase is not None:
            self._reporter.phase_ends(now_ns, self._backlog)
            self._phase = None
        while self._board.seats and self._attend(until_ns):
            pass
        while not self._inbox.empty():
            self._deal_with(self._inbox.get())
        in_flight = self._reporter.tick()
        if in_flight:
            self._reporter.event(
                "stalled",
                f"{in_flight} operations did not end within {self._plan.finish_s} s and are not "
                "counted",
            )
        if not self._board.seats:
            self._workload.close()

    # -- messages ------------------------------------------------------------------------------
    def _attend(self, until_ns: int | None) -> bool:
        """Waits for a message or the next tick and deals with it; False once the time is past."""
        now_ns = self._clock.now_ns()
        wakes = (until_ns, self._reporter.next_tick_ns, self._ramp.next_change_ns(now_ns))
        wake_ns = min((wake for wake in wakes if wake is not None), default=None)
        try:
            timeout = None if wake_ns is None else max(0.0, to_s(wake_ns - now_ns))
            self._deal_with(self._inbox.get(timeout=timeout))
        except Empty:
            pass
        now_ns = self._clock.now_ns()
        in_time = until_ns is None or now_ns < until_ns
        if self._phase is not None:
            self._board.set_active(self._ramp.at(now_ns))
        # A tick that falls on the end of the phase is left to the end of the phase.
        next_tick_ns = self._reporter.next_tick_ns
        if in_time and next_tick_ns is not None and now_ns >= next_tick_ns:
            self._reporter.tick()
        if self._reporter.is_broken:
            self._fail("standard output is closed")
        return in_time

    def _deal_with(self, message: Message) -> None:
        match message:
            case Stop(reason):
                if self._goes_on:
                    self._reporter.event("stopping", reason)
                    self._reason = STOPPED
            case DriverEvent():
                self._reporter.driver_event(message)
            case WorkloadEvent():
                self._reporter.workload_event(message)
            case Opened(problem):
                self._deal_with_opened(problem)
            case OperationFailed():
                self._deal_with_failed(message)
            case Broken(trace):
                self._fail(f"a fault of the runner: {trace}")
            case Begin(monotonic_s):
                self._tell_begin(monotonic_s)
            case SetUsers(users):
                self._set_users(users)
            case SetRate(rate_per_s):
                self._set_rate(rate_per_s)

    def _fail(self, error: str) -> None:
        if self._goes_on:
            self._reason, self._error = FAILED, error

    def _deal_with_opened(self, problem: str | None) -> None:
        self._awaited -= 1
        if problem is None:
            return
        if self._phase is None:
            opened = self._users - self._awaited - 1
            self._fail(f"{problem} ({opened} of {self._users} sessions are open)")
        else:
            self._reporter.event("refused", problem)

    def _deal_with_failed(self, failed: OperationFailed) -> None:
        """Data that lacks a part is of no use: where data is prepared, all must end well."""
        phase = self._plan.phases[failed.phase]
        if phase.kind == "prepare":
            self._fail(
                f"{failed.operation} failed in phase {phase.name} ({failed.error_class}): "
                f"{failed.message}"
            )

    def _tell_begin(self, monotonic_s: float) -> None:
        if self._plan.start == "now":
            self._reporter.event("refused", 'begin: the plan\'s start is "now"')
        elif self._phase is not None or self._begin_ns is not None:
            self._reporter.event("refused", "begin: it was told before")
        else:
            self._begin_ns = self._clock.of_monotonic_s(monotonic_s)

    def _set_users(self, users: int) -> None:
        if self._phase is None:
            self._reporter.event("refused", "users: no phase runs")
            return
        if self._board.assignment.arrivals is not None:
            self._reporter.event("refused", "users: this phase is open")
            return
        self._hire(users)
        self._ramp = UserRamp.constant(users)
        self._reporter.event("users", str(users))

    def _set_rate(self, rate_per_s: float) -> None:
        arrivals = self._board.assignment.arrivals
        if arrivals is None:
            what = "no phase runs" if self._phase is None else "this phase is closed"
            self._reporter.event("refused", f"rate: {what}")
            return
        arrivals.set_rate(rate_per_s, self._clock.now_ns())
        self._board.arrivals_changed()
