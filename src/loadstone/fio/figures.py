"""The figures of a pass, read from fio's JSON and merged over its jobs.

Bytes, requests and bins are added; nothing is averaged. So they are the same with and without
`group_reporting`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loadstone.fio.bins import Bins, of_json

_WAITING = frozenset({"stonewall", "wait_for_previous"})
DIRECTIONS = ("read", "write")


class FigureError(Exception):
    """A figure that is needed is not in fio's document."""


@dataclass(frozen=True)
class Times:
    """How long requests took.

    Attributes:
        bins: In nanoseconds, as fio's scale has them.
        least_ns: The shortest, exact.
        most_ns: The longest, exact.
    """

    bins: Bins = field(default_factory=Bins)
    least_ns: int = 0
    most_ns: int = 0

    @property
    def mean_ns(self) -> float:
        """As the bins tell it; 0 if there are none."""
        total = self.bins.total()
        return sum(time * count for time, count in self.bins.items()) / total if total else 0.0


@dataclass(frozen=True)
class Direction(Times):
    """Reads, or writes, of a job, with the times from their submission to their completion.

    Attributes:
        bytes: Moved.
        ios: Requests that were done.
        runtime_s: How long it took fio.
        in_flight_s: Sum of the times of all requests, from before they were submitted; from their
            submission, if fio told no mean.
        submitting_s: Of that, what their submission took.
    """

    bytes: int = 0
    ios: int = 0
    runtime_s: float = 0.0
    in_flight_s: float = 0.0
    submitting_s: float = 0.0


@dataclass(frozen=True)
class JobFigures:
    """One entry of fio's `jobs`: a job, or several that fio merged.

    Attributes:
        name: Of the job.
        error: Number of the error that ended it; 0 if none did.
        directions: By `read` and `write`.
        cpu_s: Of its threads: in user and in system mode.
        thread_s: Sum of the time that its threads ran.
        syncs: Its flushes.
        waits: Whether it began when those before it had ended (`stonewall`).
    """

    name: str
    error: int
    directions: Mapping[str, Direction]
    cpu_s: tuple[float, float]
    thread_s: float
    syncs: Times
    waits: bool = False

    @property
    def runtime_s(self) -> float:
        """How long it ran."""
        return max((each.runtime_s for each in self.directions.values()), default=0.0)


def jobs_of(document: Mapping[str, Any]) -> list[JobFigures]:
    """The jobs of a document of fio 3.

    Raises:
        FigureError: If a figure that is needed is missing or is none.
    """
    jobs = document.get("jobs")
    if not isinstance(jobs, list) or not jobs:
        raise FigureError("it has no jobs")
    return [_job(each) for each in jobs]


def stages(jobs: Sequence[JobFigures]) -> list[list[JobFigures]]:
    """Jobs that ran together, one list after the other."""
    found: list[list[JobFigures]] = []
    for job in jobs:
        if job.waits or not found:
            found.append([])
        found[-1].append(job)
    return found


def wall_s(jobs: Sequence[JobFigures]) -> float:
    """How long all of them took: in each stage the longest."""
    return sum(max(job.runtime_s for job in stage) for stage in stages(jobs))


def together_s(jobs: Sequence[JobFigures]) -> float:
    """For how much of it all jobs of a stage ran."""
    return sum(min(job.runtime_s for job in stage) for stage in stages(jobs))


def limits_of(parts: Sequence[Times]) -> tuple[int, int]:
    """The shortest and the longest time of all of them."""
    timed = [each for each in parts if each.bins]
    least_ns = min((each.least_ns for each in timed), default=0)
    return least_ns, max((each.most_ns for each in timed), default=0)


def _job(job: Mapping[str, Any]) -> JobFigures:
    thread_s = _number(job, "job_runtime", 0.0) / 1e3
    shares = (_number(job, "usr_cpu", 0.0), _number(job, "sys_cpu", 0.0))
    return JobFigures(
        name=str(job.get("jobname", "")),
        error=int(_number(job, "error", 0)),
        directions={each: _direction(job[each]) for each in DIRECTIONS if each in job},
        cpu_s=(shares[0] / 100 * thread_s, shares[1] / 100 * thread_s),
        thread_s=thread_s,
        syncs=_times(job.get("sync", {}).get("lat_ns", {})),
        waits=not _WAITING.isdisjoint(job.get("job options", {})),
    )


def _direction(told: Mapping[str, Any]) -> Direction:
    ios = int(_number(told, "total_ios"))
    times = _times(told.get("clat_ns", {}))
    if ios and not times.bins:
        raise FigureError("it has no bins of completion times")
    return Direction(
        bytes=int(_number(told, "io_bytes")),
        ios=ios,
        runtime_s=_number(told, "runtime") / 1e3,
        bins=times.bins,
        least_ns=times.least_ns,
        most_ns=times.most_ns,
        in_flight_s=_number(told.get("lat_ns", {}), "mean", times.mean_ns) * ios / 1e9,
        submitting_s=_number(told.get("slat_ns", {}), "mean", 0.0) * ios / 1e9,
    )


def _times(told: Mapping[str, Any]) -> Times:
    bins = of_json(told.get("bins", {}))
    if not bins:
        return Times()
    least_ns, most_ns = _number(told, "min", min(bins)), _number(told, "max", max(bins))
    return Times(bins, int(least_ns), int(most_ns))


def _number(told: Mapping[str, Any], name: str, otherwise: float | None = None) -> float:
    value = told.get(name)
    if isinstance(value, (int, float)):
        return value
    if otherwise is None:
        raise FigureError(f"its {name!r} is {'missing' if name not in told else 'no number'}")
    return otherwise
