"""The jobs of a trial, of what the runner told of each and what each told of itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.job.record import BROKEN_OFF, JobRecord
from loadstone.protocol.frames import Event
from loadstone.results.jobs import JobEntry, JobsRecord, most_at_once, time_at_depth
from loadstone.workloads.jobs.file_io import io_phases
from loadstone.workloads.jobs.kept import JobsLoad, read_load, records_of
from loadstone.workloads.jobs.places import places_of, wrong_places

JOB = "job"
"""Name of the event that tells of one."""
ENDED, CANCELLED = "ended", "cancelled"
NO_REASON = frozenset({"", "None", "none", "NONE"})
"""What schedulers say where there is nothing to say."""
_TIMES = (
    *("submitted_s", "arrived_s", "gate_open_s", "began_s", "ended_s", "seen_s"),
    *("waiting_s", "launch_s", "stage_s", "run_s", "late_s"),
)
_FULL_LOAD_SHARE = 0.9
"""Of its run time a job must have run at the whole load, to tell of that load."""


@dataclass(frozen=True)
class TrialJobs:
    """The jobs of a trial that has ended: figures, notices and checks are made of it."""

    load: JobsLoad
    """What was asked for."""
    records: Mapping[str, JobRecord]
    """What the jobs told of themselves, by name."""
    record: JobsRecord
    """What comes of both."""


def recalled(folder: Path, events: Sequence[Event]) -> TrialJobs | None:
    """The jobs of a trial; None if it did not come so far.

    Args:
        folder: Of the trial.
        events: That the runner told.

    Raises:
        WrongInputError: If the file of the load is damaged.
    """
    load = read_load(folder)
    if load is None:
        return None
    records = records_of(load)
    return TrialJobs(load, records, jobs_record(events, load, records))


def entries_of(
    events: Iterable[Event], load: JobsLoad, records: Mapping[str, JobRecord]
) -> list[JobEntry]:
    """The jobs, in the order in which they were submitted."""
    found = [
        _entry(event, load, records.get(str(event.data.get("name", ""))))
        for event in events
        if event.name == JOB
    ]
    return sorted(found, key=lambda job: (job.submitted_s is None, job.submitted_s, job.name))


def jobs_record(
    events: Sequence[Event], load: JobsLoad, records: Mapping[str, JobRecord]
) -> JobsRecord:
    """What a trial says of its jobs.

    Args:
        events: That the runner told.
        load: What was asked for.
        records: What the jobs told of themselves, by name.
    """
    jobs = entries_of(events, load, records)
    spans = [job.span for job in jobs if job.span is not None]
    at_once = most_at_once(spans)
    asked = load.asked or at_once
    reached = at_once >= asked
    slots = sum(node.slots for node in load.nodes)
    wanted = sum(each.count * each.ranks for each in load.jobs)
    whole = {
        name: record
        for name, record in records.items()
        if name in {job.name for job in jobs if job.state == ENDED}
    }
    return JobsRecord(
        asked=load.asked,
        at_once=at_once,
        reached=reached,
        reason="" if reached else why_fewer(jobs),
        overlap_s=time_at_depth(spans, asked) if asked else 0.0,
        functional_only=load.functional_only,
        placement_proved=bool(places := places_of(jobs, records))
        and not wrong_places(places, load),
        storage=load.storage,
        asked_of={each.application: each.count for each in load.jobs} if load.asked else {},
        physics={each.application: each.physics for each in load.jobs if each.physics},
        jobs_label=", ".join(f"{each.count} {each.application}" for each in load.jobs),
        load_share=wanted / slots if slots and load.asked else 0.0,
        jobs=jobs,
        nodes=load.nodes,
        io=io_phases(whole),
    )


def why_fewer(jobs: Sequence[JobEntry]) -> str:
    """The scheduler's words of the jobs that waited longest; empty if it said nothing."""
    by_wait = sorted(jobs, key=lambda job: job.waiting_s or 0.0, reverse=True)
    return next((job.reason for job in by_wait if job.reason not in NO_REASON), "")


def is_spare(job: JobEntry, load: JobsLoad) -> bool:
    """Whether nobody needed it any more: the lab cancelled it, as the load was over.

    It replaced another, or it arrived and was still under way at the end of an open load.
    """
    if job.state != CANCELLED:
        return False
    if not load.asked:
        return job.reason == BROKEN_OFF
    return load.replaced and job.name not in load.first


def well(job: JobEntry) -> bool:
    """Whether it ran to a good end."""
    return job.state == ENDED and job.run_s is not None


def counted(jobs: Sequence[JobEntry], load: JobsLoad) -> list[JobEntry]:
    """Those whose run time is a figure of the load.

    All that ended well are, where the jobs are alike or are replaced when they end. Where
    applications differ and are not replaced, a job counts only if it ran at the whole load nearly
    all the time: what ran beside fewer jobs tells of another load.
    """
    found = [job for job in jobs if well(job)]
    if not load.asked or load.replaced or len(load.jobs) == 1:
        return found
    return [job for job in found if share_at_load(job, jobs, load.asked) >= _FULL_LOAD_SHARE]


def share_at_load(job: JobEntry, jobs: Sequence[JobEntry], asked: int) -> float:
    """For what share of its run time so many jobs ran, itself among them."""
    span = job.span
    if span is None or span[1] <= span[0]:
        return 0.0
    within = [
        (max(begin, span[0]), min(end, span[1]))
        for begin, end in (other.span for other in jobs if other.span is not None)
        if begin < span[1] and end > span[0]
    ]
    return time_at_depth(within, asked) / (span[1] - span[0])


def _entry(event: Event, load: JobsLoad, record: JobRecord | None) -> JobEntry:
    data = event.data
    application = str(data.get("application", ""))
    planned = load.of(application)
    times = {name: float(data[name]) for name in _TIMES if name in data}
    hosts = list(record.hosts) if record is not None else []
    told = [name for name in str(data.get("nodes", "")).split(",") if name]
    return JobEntry(
        name=str(data["name"]),
        application=application,
        placement=planned.placement,
        nodes=hosts or told,
        ranks=planned.ranks,
        state=str(data.get("state", "unknown")),
        reason=str(data.get("reason", "")),
        **times,
        **_used(record),
    )


def _used(record: JobRecord | None) -> dict[str, float]:
    """Processor time, memory and file I/O of all ranks."""
    if record is None or not record.ranks:
        return {}
    last = [rank.io[-1] for rank in record.ranks if rank.io]
    return {
        "cpu_s": sum(rank.cpu_s for rank in record.ranks),
        "max_rss_mib": max(rank.max_rss_kib for rank in record.ranks) / 1024,
        "read_mib": sum(sample.rchar for sample in last) / 2**20,
        "written_mib": sum(sample.wchar for sample in last) / 2**20,
    }
