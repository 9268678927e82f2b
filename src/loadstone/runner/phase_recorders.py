"""The recorders of all users: of the phase that runs, and of those whose last operations go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from threading import Lock

from loadstone.runner.arrivals import Arrived
from loadstone.runner.messages import DriverEvent, Inbox, OperationFailed
from loadstone.runner.recorder import Recorder, Times
from loadstone.runner.session import Ending, FailureError, Outcome, WorkloadEvent


class Readiness(Enum):
    """Whether a user was free when its operation became due."""

    UNPACED = "unpaced"
    """It is due because its user is free: there is no lateness to speak of."""
    FREE = "free"
    """All lateness is the generator's."""
    BUSY = "busy"
    """A late start."""


@dataclass(frozen=True)
class Due:
    """An operation that is due, and the phase in which it became due."""

    phase: int
    at_ns: int
    readiness: Readiness
    arrived: bool = False
    """It was counted when it became due."""


class PhaseRecorders:
    """Where users note what happens; the reporter takes it."""

    def __init__(self, operations: Sequence[str], inbox: Inbox) -> None:
        self._operations = operations
        self._inbox = inbox
        self._lock = Lock()
        self._phase = 0
        self._recorders: dict[int, Recorder] = {}
        self._in_flight = 0
        self._known: set[str] = set()
        self._failed: set[int] = set()

    def turn(self, phase: int) -> None:
        """Turns to the recorder of a phase."""
        with self._lock:
            self._phase = phase

    def take(self, phase: int) -> tuple[dict[int, Recorder], int]:
        """What was noted of phases up to this one since the last time, and how much is in flight.

        That of the next phase, which may have begun, waits for its own ticks.
        """
        with self._lock:
            taken = {of: self._recorders.pop(of) for of in list(self._recorders) if of <= phase}
            taken.setdefault(phase, Recorder(self._operations))
            return taken, self._in_flight

    def arrived(self, arrived: Arrived) -> None:
        """Notes what became due by the clock of the phase that runs."""
        with self._lock:
            recorder = self._of(self._phase)
            recorder.due += arrived.due
            recorder.dropped += arrived.dropped

    def begun(self, due: Due, sent_ns: int) -> None:
        """Notes that an operation was begun."""
        with self._lock:
            self._in_flight += 1
            if due.readiness is Readiness.FREE:
                self._of(due.phase).lag_ns.append(max(0, sent_ns - due.at_ns))
            elif due.readiness is Readiness.BUSY:
                self._of(due.phase).late_starts += 1

    def retried(self, due: Due, operation: str, failure: FailureError) -> None:
        """Notes that an attempt failed and the operation is tried again."""
        self.report_first(failure)
        with self._lock:
            self._of(due.phase).operations[operation].retries[failure.error_class] += 1

    def ended(self, due: Due, operation: str, times: Times, outcome: Outcome) -> None:
        """Notes an operation that did not fail."""
        with self._lock:
            self._in_flight -= 1
            if outcome.ending is not Ending.DONE:
                return
            times = (
                times.since(outcome.since_ns).at_latest(outcome.first_ns).until(outcome.until_ns)
            )
            recorder = self._of(due.phase)
            recorder.due += not due.arrived
            recorder.operations[operation].done(times)

    def failed(self, due: Due, operation: str, failure: FailureError) -> None:
        """Notes an operation that failed after all its attempts."""
        self.report_first(failure)
        with self._lock:
            self._in_flight -= 1
            recorder = self._of(due.phase)
            recorder.due += not due.arrived
            recorder.operations[operation].errors[failure.error_class] += 1
            is_first = due.phase not in self._failed
            self._failed.add(due.phase)
        if is_first:
            message = OperationFailed(due.phase, operation, failure.error_class, failure.message)
            self._inbox.put(message)

    def workload_events(self, workload_events: Sequence[WorkloadEvent]) -> None:
        """Passes on the events of a session."""
        for workload_event in workload_events:
            self._inbox.put(workload_event)

    def lost(self, user: int, failure: FailureError) -> None:
        """Notes that the connection of a user is lost."""
        self._inbox.put(DriverEvent("connection-lost", f"user {user}: {failure.message}"))

    def restored(self, user: int) -> None:
        """Notes that it was replaced."""
        with self._lock:
            self._of(self._phase).reconnects += 1
        self._inbox.put(DriverEvent("reconnected", f"user {user}"))

    def report_first(self, failure: FailureError) -> None:
        """Reports the first failure of each class."""
        with self._lock:
            is_known = failure.error_class in self._known
            self._known.add(failure.error_class)
        if not is_known:
            self._inbox.put(DriverEvent("error", failure.message, failure.error_class))

    def _of(self, phase: int) -> Recorder:
        recorder = self._recorders.get(phase)
        if recorder is None:
            recorder = self._recorders[phase] = Recorder(self._operations)
        return recorder
