"""Jobs on a cluster, as the loop sees them: an operation is a job, from submission to end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loadstone.errors import LoadstoneError
from loadstone.runner.clock import Clock
from loadstone.runner.jobs.course import CANCELLED, LOAD_OVER
from loadstone.runner.jobs.load import Load, Ran
from loadstone.runner.jobs.parameters import PlannedJob, read_parameters
from loadstone.runner.plan import Open, Plan, RefusalError
from loadstone.runner.session import (
    EXHAUSTED,
    IDLE,
    Ending,
    Outcome,
    Session,
    Workload,
    WorkloadEvent,
)
from loadstone.schedulers.registry import scheduler_of


def open_jobs(plan: Plan, clock: Clock) -> Jobs:
    """The jobs of a plan. Of a closed load each user has one; of an open load each arrival is one.

    Raises:
        RefusalError: It names what is wrong.
    """
    parameters = read_parameters(plan)
    is_open = any(isinstance(phase.load, Open) for phase in plan.phases)
    users = plan.sessions()
    if not is_open and users > len(parameters.jobs):
        raise RefusalError(
            "workload.parameters.jobs", f"there are {len(parameters.jobs)} for {users} users"
        )
    try:
        scheduler = scheduler_of(parameters.scheduler)
    except LoadstoneError as error:
        raise RefusalError("workload.parameters.scheduler", error.message) from error
    gated = parameters.gate and not is_open
    return Jobs(plan, Load(parameters, scheduler, clock, users, gated=gated), is_open=is_open)


class Jobs(Workload):
    """The jobs of a plan at its scheduler."""

    def __init__(self, plan: Plan, load: Load, *, is_open: bool) -> None:
        self._plan = plan
        self._load = load
        self._is_open = is_open
        self._takes_arrivals = is_open

    @property
    def operations(self) -> Sequence[str]:
        """The applications."""
        return self._load.common.parameters.operations

    @property
    def takes_arrivals(self) -> bool:
        """Whether the phase that runs is an open one, and the run goes on."""
        return self._takes_arrivals and not self._load.common.stopping.is_set()

    def open(self, user: int) -> Session:
        """Opens the session of a user; no job is submitted yet."""
        self._load.common.watch.start()
        if self._is_open:
            return ArrivalSession(self, self._load, user)
        return JobSession(self._load, self._load.common.parameters.jobs[user], user)

    def turn(self, phase: int) -> None:
        """The jobs of an open load go on in a closed phase after it, and none is added."""
        self._takes_arrivals = isinstance(self._plan.phases[phase].load, Open)

    def gauges(self) -> Mapping[str, float]:
        """Jobs that are under way, and of these, those that run as the scheduler says, and not."""
        jobs = self._load.common.watch.view.jobs.values()
        running = sum(job.state == "running" for job in jobs)
        in_flight = self._load.in_flight
        return {
            "jobs_in_flight": float(in_flight),
            "jobs_running": float(running),
            "jobs_waiting": float(max(0, in_flight - running)),
        }

    def facts(self) -> Mapping[str, float]:
        """How many were submitted, and how often the scheduler answered."""
        return {
            "jobs_submitted": float(self._load.submitter.submitted),
            "scheduler_answers": float(self._load.common.watch.view.number),
        }

    def hurry(self) -> None:
        """Cancels all jobs that are under way."""
        self._load.hurry()

    def close(self) -> None:
        """Looks at the scheduler no more."""
        self._load.common.watch.stop()


class _Telling(Session):
    """A session that tells of each job when it is over."""

    def __init__(self) -> None:
        self._events: list[WorkloadEvent] = []

    def workload_events(self) -> Sequence[WorkloadEvent]:
        """Of the last job."""
        events, self._events = self._events, []
        return events

    def _told(self, ran: Ran) -> Ran:
        """Keeps its event.

        Raises:
            FailureError: If it did not end well.
        """
        self._events.append(ran.event)
        failure = ran.end.failure
        if failure is not None:
            raise failure
        return ran


class JobSession(_Telling):
    """A user of a closed load: one job, and those that replace it."""

    def __init__(self, load: Load, planned: PlannedJob, user: int) -> None:
        super().__init__()
        self._load = load
        self._planned = planned
        self._user = user
        self._made = 0
        """Jobs of this user."""

    @property
    def hurries(self) -> bool:
        """Nobody thinks between two jobs."""
        return True

    def choose(self) -> str:
        """The application."""
        return self._planned.application

    def execute(self, operation: str) -> Outcome:
        """Sees the next job through, or says that there is none.

        Raises:
            FailureError: It did not end well.
        """
        if self._load.common.stopping.is_set():
            return EXHAUSTED
        self._made += 1
        if self._made == 1:
            ran = self._load.run_first(self._planned, self._user)
        elif self._load.common.parameters.replace and self._load.is_needed:
            suffix = f"{self._planned.name}-r{self._made - 1}"
            ran = self._load.run_replacement(self._planned, suffix, self._user)
            if ran.end.reason == LOAD_OVER:
                self._events.append(ran.event)
                return IDLE
        else:
            return EXHAUSTED
        since_ns, until_ns = self._told(ran).span_ns or (None, None)
        return Outcome(Ending.DONE, since_ns=since_ns, until_ns=until_ns)


class ArrivalSession(_Telling):
    """One of those who submit the jobs of an open load as they become due."""

    def __init__(self, jobs: Jobs, load: Load, user: int) -> None:
        super().__init__()
        self._jobs = jobs
        self._load = load
        self._user = user
        self._next = load.next_arrival()

    @property
    def hurries(self) -> bool:
        """Arrivals are due by a clock."""
        return True

    def choose(self) -> str:
        """The application of the next job."""
        return self._next[0].application

    def execute(self, operation: str) -> Outcome:
        """Sees a job through that has arrived. It counts from its due time to its end.

        Raises:
            FailureError: It did not end well.
        """
        if not self._jobs.takes_arrivals:
            self._load.await_others()
            return EXHAUSTED
        planned, suffix = self._next
        self._next = self._load.next_arrival()
        ran = self._load.run_arrival(planned, suffix, self._user)
        if ran.end.state == CANCELLED and self._load.common.stopping.is_set():
            self._events.append(ran.event)
            return IDLE  # it was under way at the end of the load
        self._told(ran)
        return Outcome(Ending.DONE, until_ns=None if ran.span_ns is None else ran.span_ns[1])
