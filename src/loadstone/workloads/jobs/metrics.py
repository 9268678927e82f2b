"""The figures of jobs, and how they are made of what was measured.

Throughput per job is 3600 s over the mean run time of the jobs: of so many jobs at once each does
as much in an hour. It does not grow with the number of jobs; `jobs_per_h` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from loadstone.applications.registry import APPLICATIONS
from loadstone.results.jobs import JobEntry, JobsRecord
from loadstone.results.latency import merge, summarize_latency
from loadstone.results.record import MetricValue
from loadstone.workloads.base import StepInfo
from loadstone.workloads.jobs.kept import JobsLoad
from loadstone.workloads.jobs.told import counted, well
from loadstone.workloads.measured import Measured, MetricSpec

HEADLINE = "throughput_per_job"
HOUR_S = 3600.0


def throughput_of(application: str) -> str:
    """Name of the throughput per job of an application."""
    return f"{HEADLINE}_{application}"


def run_time_of(application: str) -> str:
    """Name of the mean run time of the jobs of an application."""
    return f"run_s_{application}"


_MEANS: tuple[tuple[MetricSpec, Callable[[JobEntry], float | None]], ...] = (
    (MetricSpec("waiting_s", "from submission to arrival", "s", False), lambda job: job.waiting_s),
    (MetricSpec("launch_s", "to start the ranks", "s", False), lambda job: job.launch_s),
    (MetricSpec("stage_s", "to copy the input files", "s", False), lambda job: job.stage_s),
    (MetricSpec("late_s", "until the end was seen", "s", False), lambda job: job.late_s),
    (MetricSpec("cpu_s", "processor time of a job", "s", False), lambda job: job.cpu_s),
    (
        MetricSpec("max_rss_mib", "memory of the largest rank", "MiB", False),
        lambda job: job.max_rss_mib,
    ),
    (MetricSpec("read_mib", "read by a job", "MiB", False), lambda job: job.read_mib),
    (MetricSpec("written_mib", "written by a job", "MiB", False), lambda job: job.written_mib),
)
"""Each the mean over the jobs that have it."""

METRICS = (
    MetricSpec(HEADLINE, "throughput per job", "1/h", True),
    *(
        MetricSpec(throughput_of(name), f"throughput per job, {name}", "1/h", True)
        for name in APPLICATIONS
    ),
    MetricSpec("run_s", "run time of a job", "s", False),
    *(
        MetricSpec(run_time_of(name), f"run time of a job, {name}", "s", False)
        for name in APPLICATIONS
    ),
    MetricSpec("jobs_per_h", "jobs that ended well", "1/h", True, follows_rate=True),
    MetricSpec("makespan_s", "from the first begin to the last end", "s", False),
    MetricSpec("jobs_at_once", "jobs that ran at once", "jobs", True),
    MetricSpec("response_s", "response time of a job, median", "s", False),
    *(spec for spec, _ in _MEANS),
    MetricSpec("link_mib", "over the links of all nodes", "MiB", False),
)
LINK = "link bytes"
"""How the counters of links begin that the workload observes."""
_BY_NAME = {spec.name: spec for spec in METRICS}


def metric_values(measured: Measured, record: JobsRecord, load: JobsLoad) -> list[MetricValue]:
    """The figures of a trial; one that has no meaning there is left out."""
    return [_BY_NAME[name].of(value) for name, value in _values(measured, record, load)]


def _values(measured: Measured, record: JobsRecord, load: JobsLoad) -> Iterator[tuple[str, float]]:
    ended = [job for job in record.jobs if well(job)]
    of_load = counted(record.jobs, load)
    if of_load:
        yield HEADLINE, fmean(HOUR_S / _mean_run_s(each) for each in _by_application(of_load))
        yield "run_s", _mean_run_s(of_load)
    for name in record.applications:
        own = [job for job in of_load if job.application == name]
        if own and name in APPLICATIONS:
            yield throughput_of(name), HOUR_S / _mean_run_s(own)
            yield run_time_of(name), _mean_run_s(own)
    yield from _of_times(measured, record, ended)
    for spec, of in _MEANS:
        found = [value for job in ended if (value := of(job)) is not None]
        if found:
            yield spec.name, fmean(found)
    begin, end = measured.begin.counters, measured.end.counters
    links = [name for name in end if name.startswith(LINK) and name in begin]
    if links:
        yield "link_mib", sum(end[name] - begin[name] for name in links) / 2**20


def _by_application(jobs: Sequence[JobEntry]) -> list[list[JobEntry]]:
    """Each application counts once, however many jobs it has."""
    names = dict.fromkeys(job.application for job in jobs)
    return [[job for job in jobs if job.application == name] for name in names]


def _of_times(
    measured: Measured, record: JobsRecord, ended: Sequence[JobEntry]
) -> Iterator[tuple[str, float]]:
    spans = [span for job in ended if (span := job.span) is not None]
    if spans:
        makespan_s = max(end for _, end in spans) - min(begin for begin, _ in spans)
        yield "makespan_s", makespan_s
        whole_s = makespan_s if record.asked else measured.duration_s
        if whole_s > 0:
            yield "jobs_per_h", HOUR_S * len(spans) / whole_s
    yield "jobs_at_once", float(record.at_once)
    if not record.asked:
        response = summarize_latency(
            merge(
                operation.response
                for tick in measured.ticks
                for operation in tick.operations.values()
                if operation.response
            )
        )
        if response is not None:
            yield "response_s", response.p50_s


def _mean_run_s(jobs: Sequence[JobEntry]) -> float:
    return fmean(job.run_s for job in jobs if job.run_s is not None)


def step_infos(applications: Sequence[str]) -> tuple[StepInfo, ...]:
    """A job of each application is a step: it is long, and its run time is compared by itself."""
    return tuple(
        StepInfo(operation=name, title=name, metric=run_time_of(name), family="jobs")
        for name in applications
    )
