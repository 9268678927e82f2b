"""The course of one job, from its submission to its end, as desk and scheduler tell of it.

The record of the job on the desk counts. The scheduler says why a job waits, and how one ended that
left no record.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from loadstone.errors import LoadstoneError
from loadstone.job.main import AGAIN_FILE, READY_FILE
from loadstone.job.record import (
    ARRIVED_FILE,
    BROKEN_OFF,
    RECORD_FILE,
    JobRecord,
    read_object,
    read_record,
)
from loadstone.runner.clock import Clock, to_s
from loadstone.runner.jobs.gate import GateKeeper
from loadstone.runner.jobs.parameters import Parameters
from loadstone.runner.jobs.submission import Submitted
from loadstone.runner.jobs.watch import View, Watch
from loadstone.runner.session import FailureError
from loadstone.schedulers.base import JobState, Scheduler

ENDED, FAILED, CANCELLED, TIMED_OUT = "ended", "failed", "cancelled", "timed-out"
NODE_FAILED, SCHEDULER, UNKNOWN = "node-failed", "scheduler", "unknown"
HELD, REQUEUED, WAITING = "held", "requeued", "waiting"
"""States of jobs, and classes of those that did not end well."""
LOAD_OVER = "the load was over"
"""Reason of a replacement that was cancelled because nobody needed it any more."""

_LOOK_S = 0.1
_LOOK_S_OF_JOB = 0.004
"""Many jobs are looked at less often: each look costs a little."""
_SETTLE_S = 10.0
"""So long a record may be seen later than the end of its job: shared folders lag."""
_LEAVE_S = 6.0
"""So long the end of cancelled jobs is waited for when the run is to end."""
_OVERTIME_S = 120.0
_BLAMED = frozenset({TIMED_OUT, NODE_FAILED, CANCELLED})
"""What the scheduler says of an end counts more than what the job saw of it."""
_HELD_LOOKS = 2


@dataclass(frozen=True)
class Common:
    """What all jobs of a load share."""

    parameters: Parameters
    scheduler: Scheduler
    watch: Watch
    clock: Clock
    keeper: GateKeeper | None = None
    """None: there is no gate."""
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def look_s(self) -> float:
        """Between two looks at the desk."""
        return max(_LOOK_S, _LOOK_S_OF_JOB * len(self.parameters.jobs))


@dataclass(frozen=True)
class End:
    """How a job ended."""

    state: str
    """`ended`, or the class that its failure is counted in."""
    reason: str
    """Of one that ended well: why it had waited, if the scheduler said so."""
    seen_ns: int
    record: JobRecord | None = None
    nodes: tuple[str, ...] = ()
    """As the scheduler says."""

    @property
    def failure(self) -> FailureError | None:
        """None if it ended well."""
        return None if self.state == ENDED else FailureError(self.state, self.reason)


class Course:
    """Follows one job."""

    def __init__(self, common: Common, job: Submitted, user: int) -> None:
        self._common = common
        self._job = job
        self._user = user
        self._began_s = self._now_s()
        self._arrived_s: float | None = None
        self._is_ready = False
        self._why = ""
        """It waited for, in the scheduler's words."""
        self._over_s: float | None = None
        self._missing_s: float | None = None
        self._held: set[int] = set()
        self._known = JobState(job.id, job.name, "unknown")
        self._left_s: float | None = None

    def follow(self, wanted: Callable[[], bool]) -> End:
        """Looks until the job has ended, or nobody waits for it any more.

        Args:
            wanted: Whether it is still needed; if not it is cancelled.
        """
        try:
            while (end := self._look(wanted)) is None:
                time.sleep(self._common.look_s)
        finally:
            self._at_gate()
        return end

    # -- one look ------------------------------------------------------------------------------
    def _look(self, wanted: Callable[[], bool]) -> End | None:
        view = self._common.watch.view
        self._take(view)
        self._look_at_desk()
        return (
            self._told()
            or self._started_again()
            or self._over()
            or self._left(wanted)
            or self._stuck(view)
            or self._late()
        )

    def _take(self, view: View) -> None:
        """Takes up what the scheduler says."""
        found = view.jobs.get(self._job.name)
        now_s = self._now_s()
        if found is None:
            self._missing_s = self._missing_s or now_s
            if view.number == 0:
                self._missing_s = now_s
            return
        self._missing_s = None
        self._known = found
        if found.state == WAITING and found.reason:
            self._why = found.reason
        if found.state == HELD:
            self._held.add(view.number)
        else:
            self._held.clear()
        if found.over and self._over_s is None:
            self._over_s = now_s

    def _look_at_desk(self) -> None:
        folder = self._job.folder
        if self._arrived_s is None and (folder / ARRIVED_FILE).exists():
            self._arrived_s = self._now_s()
        if not self._is_ready and (folder / READY_FILE).exists():
            self._at_gate()
        if self._common.keeper is not None:
            self._common.keeper.look()

    def _at_gate(self) -> None:
        """It waits at the gate, or will never come."""
        self._is_ready = True
        if self._common.keeper is not None:
            self._common.keeper.arrived(self._user)

    # -- ways to end ---------------------------------------------------------------------------
    def _told(self) -> End | None:
        """By the job's own record."""
        path = self._job.folder / RECORD_FILE
        if not path.exists():
            return None
        try:
            record = read_record(path)
        except (OSError, ValueError) as error:
            return self._end(FAILED, f"its record cannot be read: {error}")
        return self._failed(record) if record.problem else self._end(ENDED, self._why, record)

    def _failed(self, record: JobRecord) -> End | None:
        """The scheduler may know better why, and is given time to say so."""
        if self._left_s is not None:
            return self._end(CANCELLED, self._left_why, record)
        self._over_s = self._over_s or self._now_s()
        if not self._known.over and self._now_s() - self._over_s < _SETTLE_S:
            return None
        if self._known.state in _BLAMED:
            return self._end(self._known.state, self._blame(record.problem), record)
        return self._end(record.problem_class or FAILED, record.problem, record)

    def _started_again(self) -> End | None:
        if self._known.state != REQUEUED and not (self._job.folder / AGAIN_FILE).exists():
            return None
        self._cancel()
        return self._end(
            REQUEUED, "the scheduler started it again: a job counts only if it ran once"
        )

    def _over(self) -> End | None:
        """By the scheduler alone: it left no record."""
        if not self._known.over or self._over_s is None:
            return None
        if self._now_s() - self._over_s < _SETTLE_S:
            return None
        if self._known.state == ENDED:
            return self._end(FAILED, "it ended without a record of itself")
        return self._end(self._known.state, self._blame("it left no record of itself"))

    def _left(self, wanted: Callable[[], bool]) -> End | None:
        """Cancelled by the lab: the run is to end, or a replacement is not needed any more."""
        stopping = self._common.stopping.is_set()
        if not stopping and wanted():
            return None
        if self._left_s is None:
            self._left_s = self._now_s()
            self._cancel()
        if not self._known.over and self._now_s() - self._left_s < _LEAVE_S:
            return None
        return self._end(CANCELLED, self._left_why)

    def _stuck(self, view: View) -> End | None:
        """The scheduler keeps it back, does not know it, or does not answer."""
        patience_s = self._common.parameters.patience_s
        if len(self._held) >= _HELD_LOOKS:
            self._cancel()
            return self._end(HELD, self._blame("the scheduler holds it back"))
        missing_s = 0.0 if self._missing_s is None else self._now_s() - self._missing_s
        if missing_s > patience_s and not view.problem:
            return self._end(UNKNOWN, f"the scheduler has not known it for {patience_s:g} s")
        if self._arrived_s is None and self._common.watch.silent_s() > patience_s:
            why = view.problem or "it does not answer"
            return self._end(SCHEDULER, f"no answer for {patience_s:g} s: {why}")
        return None

    def _late(self) -> End | None:
        """It has not begun, or has not ended, in its time."""
        parameters, now_s = self._common.parameters, self._now_s()
        if self._arrived_s is None:
            if now_s - self._began_s <= parameters.wait_timeout_s:
                return None
            self._cancel()
            why = f" (reason: {self._why})" if self._why else ""
            return self._end(
                WAITING, f"it waited {parameters.wait_timeout_s:g} s for its turn{why}"
            )
        limit_s = parameters.scheduler.time_limit_s
        if now_s - self._arrived_s <= limit_s + _OVERTIME_S:
            return None
        self._cancel()
        return self._end(
            TIMED_OUT, f"it did not end within its {limit_s} s, nor did its scheduler see"
        )

    # -- inside --------------------------------------------------------------------------------
    def _end(self, state: str, reason: str, record: JobRecord | None = None) -> End:
        seen_ns = self._common.clock.now_ns()
        return End(state, reason, seen_ns, record, self._known.nodes)

    @property
    def _left_why(self) -> str:
        return BROKEN_OFF if self._common.stopping.is_set() else LOAD_OVER

    def _blame(self, otherwise: str) -> str:
        """The scheduler's own reason; wherever it is told, the state stands beside it."""
        reason = self._known.reason
        return otherwise if not reason or reason.lower() == "none" else reason

    def _cancel(self) -> None:
        """Asks for it once; if nobody answers, the lab cancels by the prefix."""
        job = self._common.watch.view.jobs.get(self._job.name)
        found = self._job.id or ("" if job is None else job.id)
        if found:
            canceller = threading.Thread(target=self._ask_to_cancel, args=(found,), daemon=True)
            canceller.start()

    def _ask_to_cancel(self, job_id: str) -> None:
        with suppress(LoadstoneError):
            self._common.scheduler.cancel([job_id])

    def _now_s(self) -> float:
        return to_s(self._common.clock.now_ns())


def arrival(job: Submitted) -> dict[str, float | str]:
    """What a job told when it began; nothing if it has not, or it cannot be read."""
    try:
        return read_object(job.folder / ARRIVED_FILE)
    except (OSError, ValueError):
        return {}
