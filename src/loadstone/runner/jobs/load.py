"""A load of jobs: submits each and sees it through; knows how many are under way."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from loadstone.errors import LoadstoneError
from loadstone.job.system import boot_id
from loadstone.runner.clock import Clock, to_ns, to_s
from loadstone.runner.jobs.course import ENDED, Common, Course, End
from loadstone.runner.jobs.gate import GateKeeper
from loadstone.runner.jobs.parameters import Gate, Parameters, PlannedJob
from loadstone.runner.jobs.submission import Submitted, Submitter
from loadstone.runner.jobs.told import TrialTime, job_event
from loadstone.runner.jobs.watch import Watch
from loadstone.runner.session import FailureError, WorkloadEvent
from loadstone.schedulers.base import Scheduler

_NO_GATE = Gate()


@dataclass(frozen=True)
class Ran:
    """A job that is over."""

    end: End
    event: WorkloadEvent
    span_ns: tuple[int, int] | None
    """Begin and end of its application on the runner's clock; None if it did not end well."""


class Load:
    """All jobs of a plan. Users call it from their own threads."""

    def __init__(
        self, parameters: Parameters, scheduler: Scheduler, clock: Clock, users: int, *, gated: bool
    ) -> None:
        """Submits nothing yet.

        Args:
            parameters: Of the plan.
            scheduler: That gets the jobs.
            clock: Of the runner.
            users: Each of a closed load has a first job.
            gated: The first jobs wait for each other.
        """

        def now_s() -> float:
            return to_s(clock.now_ns())

        watch = Watch(scheduler, parameters.prefix, parameters.poll_s, now_s)
        call_s = parameters.scheduler.call_timeout_s
        keeper = GateKeeper(parameters.folder, users, parameters.gate_timeout_s, now_s, call_s)
        self.common = Common(parameters, scheduler, watch, clock, keeper if gated else None)
        self.submitter = Submitter(scheduler, parameters, watch)
        self._time = TrialTime(clock, boot_id())
        self._arrivals = itertools.count()
        self._changed = threading.Condition()
        self._in_flight = 0
        self._first = set(range(users))
        """Users whose first job has not ended."""

    @property
    def in_flight(self) -> int:
        """Jobs that were begun to be submitted and are not over."""
        return self._in_flight

    @property
    def is_needed(self) -> bool:
        """Whether a first job is not over yet, beside which replacements keep the load."""
        return bool(self._first)

    def next_arrival(self) -> tuple[PlannedJob, str]:
        """The next job of an open load, in turn, and what follows the prefix in its name."""
        number = next(self._arrivals)
        planned = self.common.parameters.jobs
        job = planned[number % len(planned)]
        return job, f"{job.name}-{number}"

    def run_first(self, planned: PlannedJob, user: int) -> Ran:
        """Sees the first job of a user through."""
        try:
            return self._run(planned, planned.name, user, lambda: True)
        finally:
            with self._changed:
                self._first.discard(user)
                self._changed.notify_all()

    def run_replacement(self, planned: PlannedJob, suffix: str, user: int) -> Ran:
        """Sees a job through that is cancelled when the last first job is over."""
        return self._run(planned, suffix, user, lambda: self.is_needed)

    def run_arrival(self, planned: PlannedJob, suffix: str, user: int) -> Ran:
        """Sees a job of an open load through."""
        return self._run(planned, suffix, user, lambda: True)

    def await_others(self) -> None:
        """Waits until no job is under way, or the run is to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._in_flight == 0 or self.common.stopping.is_set())

    def hurry(self) -> None:
        """Cancels all jobs that are under way."""
        self.common.stopping.set()
        with self._changed:
            self._changed.notify_all()
            in_flight = self._in_flight
        if in_flight:
            threading.Thread(target=self._cancel_all, name="cancel", daemon=True).start()

    # -- inside --------------------------------------------------------------------------------
    def _run(self, planned: PlannedJob, suffix: str, user: int, wanted: Callable[[], bool]) -> Ran:
        common = self.common
        submitted_ns = common.clock.now_ns()
        with self._changed:
            self._in_flight += 1
        try:
            job, failure = self._submitted(planned, suffix, user)
            if failure is None:
                end = Course(common, job, user).follow(wanted)
            else:
                end = End(failure.error_class, failure.message, common.clock.now_ns())
        finally:
            with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()
        opened_s = None if common.keeper is None else common.keeper.opened_s
        event = job_event(job, end, submitted_ns, opened_s, self._time)
        return Ran(end, event, self._span(end))

    def _submitted(
        self, planned: PlannedJob, suffix: str, user: int
    ) -> tuple[Submitted, FailureError | None]:
        """The job, and why it was not taken, if it was not."""
        keeper = self.common.keeper
        try:
            job = self.submitter.submit(
                planned, suffix, _NO_GATE if keeper is None else keeper.told
            )
        except FailureError as failure:
            if keeper is not None:
                keeper.arrived(user)
            return self.submitter.unsent(planned, suffix), failure
        if keeper is not None:
            keeper.submitted(user)
        return job, None

    def _span(self, end: End) -> tuple[int, int] | None:
        record = end.record
        began_ns = None if record is None else self._time.began_ns(record)
        if end.state != ENDED or record is None or began_ns is None:
            return None
        return began_ns, began_ns + to_ns(record.run_s)

    def _cancel_all(self) -> None:
        """What does not answer is left to the lab, which cancels by the same prefix."""
        with suppress(LoadstoneError):
            self.common.scheduler.cancel_all(self.common.parameters.prefix)
