"""The times of a job on the trial's clock, and the event that tells of it."""

from __future__ import annotations

from collections.abc import Mapping

from loadstone.job.record import JobRecord
from loadstone.runner.clock import SECOND_NS, Clock, to_ns, to_s
from loadstone.runner.jobs.course import ENDED, End, arrival
from loadstone.runner.jobs.submission import Submitted
from loadstone.runner.session import WorkloadEvent

JOB = "job"


class TrialTime:
    """Moments of nodes on the runner's clock.

    Nodes with the kernel of this machine have its monotonic clock. Those of others are placed by
    the wall clock, as well as the two agree.
    """

    def __init__(self, clock: Clock, boot_id: str) -> None:
        self._clock = clock
        self._boot_id = boot_id

    def ns(self, boot_id: str, monotonic_s: float, epoch_s: float) -> int:
        """A moment that a node told by both its clocks."""
        if boot_id and boot_id == self._boot_id:
            return self._clock.of_monotonic_s(monotonic_s)
        return self.of_epoch_ns(epoch_s)

    def of_epoch_ns(self, epoch_s: float) -> int:
        """A moment that a node told by the wall clock."""
        return max(0, to_ns(epoch_s) - self._clock.unix_us(0) * 1000)

    def began_ns(self, record: JobRecord) -> int | None:
        """When its application began; None: it did not."""
        if record.began_epoch_s == 0.0:
            return None
        return self.ns(record.boot_id, record.began_monotonic_s, record.began_epoch_s)


def job_event(
    job: Submitted,
    end: End,
    submitted_ns: int,
    gate_open_s: float | None,
    time: TrialTime,
) -> WorkloadEvent:
    """Tells of a job that is over, with all that is known of it.

    Args:
        job: Which.
        end: How it ended.
        submitted_ns: When the scheduler was asked, on the runner's clock.
        gate_open_s: When the gate was opened; None: there is none, or it is shut.
        time: Of the trial.
    """
    times: dict[str, float | None] = {
        "submitted_s": to_s(submitted_ns),
        "seen_s": to_s(end.seen_ns),
        **_arrival(job, submitted_ns, time),
        **_of_record(end, gate_open_s, time),
    }
    hosts = end.record.hosts if end.record is not None and end.record.hosts else end.nodes
    words = {
        "name": job.name,
        "application": job.planned.application,
        "nodes": ",".join(hosts),
        "state": end.state,
        "reason": end.reason,
    }
    known = {name: value for name, value in times.items() if value is not None}
    return WorkloadEvent(JOB, {**words, **known})


def _arrival(job: Submitted, submitted_ns: int, time: TrialTime) -> Mapping[str, float | None]:
    told = arrival(job)
    if not told:
        return {}
    arrived_ns = time.ns(
        str(told["boot_id"]), float(told["arrived_monotonic_s"]), float(told["arrived_epoch_s"])
    )
    waiting_s = max(0.0, to_s(arrived_ns - submitted_ns))
    return {"arrived_s": to_s(arrived_ns), "waiting_s": waiting_s}


def _of_record(end: End, gate_open_s: float | None, time: TrialTime) -> Mapping[str, float | None]:
    record = end.record
    if record is None:
        return {}
    began_ns = time.began_ns(record)
    found: dict[str, float | None] = {"stage_s": record.stage_s}
    if record.gate_s > 0.0:
        found["gate_open_s"] = gate_open_s
    if began_ns is None:
        return found
    found |= {
        "began_s": to_s(began_ns),
        "ended_s": to_s(began_ns) + record.run_s,
        "launch_s": record.launch_s,
        "run_s": record.run_s,
    }
    if end.state == ENDED:
        over_ns = began_ns + round(record.run_s * SECOND_NS)
        found["late_s"] = max(0.0, to_s(end.seen_ns - over_ns))
    return found
