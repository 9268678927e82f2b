"""What a reader of the figures of jobs is told besides."""

from __future__ import annotations

from collections.abc import Iterator

from loadstone.counting import how_many
from loadstone.results.jobs import JobEntry, JobsRecord
from loadstone.results.record import Notice
from loadstone.workloads.jobs.kept import JobsLoad
from loadstone.workloads.jobs.told import counted, is_spare, share_at_load, well

_WHOLE_SHARE = 0.75
"""With less of the time at the whole load, figures of it are also of a smaller one."""


def notices_of(record: JobsRecord, load: JobsLoad) -> Iterator[Notice]:
    """What there is no account of, and what counts of unequal applications."""
    if load.unaccounted:
        yield Notice(
            code="no-accounting",
            severity="info",
            message=f"no accounting: {load.unaccounted}",
            advice="the figures are the jobs' own; nothing of the scheduler stands beside them",
        )
    if not load.asked and (cut_off := sum(is_spare(job, load) for job in record.jobs)):
        were = "was" if cut_off == 1 else "were"
        yield Notice(
            code="jobs-under-way",
            severity="warning",
            message=f"{how_many(cut_off, 'job')} that had arrived {were} under way at the end of "
            f"the load and {were} cancelled: the figures of responses are without "
            f"{'it' if cut_off == 1 else 'them'}",
            advice="let the load last longer than many jobs, or let fewer arrive; a queue that "
            "grows ends so",
        )
    if load.asked and len(load.jobs) > 1:
        yield _replaced(record, load) if load.replaced else _overlapping(record, load)


def _replaced(record: JobsRecord, load: JobsLoad) -> Notice:
    spare = sum(is_spare(job, load) for job in record.jobs)
    more = len(record.jobs) - record.asked
    spans = [job.span for job in record.jobs if job.name in load.first and job.span is not None]
    whole_s = max((end for _, end in spans), default=0.0) - min(
        (begin for begin, _ in spans), default=0.0
    )
    share = min(record.overlap_s / whole_s, 1.0) if whole_s > 0 else 0.0
    return Notice(
        code="jobs-replaced",
        severity="info" if share >= _WHOLE_SHARE else "warning",
        message=f"{how_many(more, 'job')} replaced others that had ended, until the first ones had "
        f"all ended; {spare} of them {'was' if spare == 1 else 'were'} cancelled then. The load "
        f"was whole for {share:.0%} of that time: a job takes a while to begin",
        advice="" if share >= _WHOLE_SHARE else "let the shorter application do more in each job",
    )


def _overlapping(record: JobsRecord, load: JobsLoad) -> Notice:
    """What ran beside fewer jobs, once the shorter application had ended, is left out."""
    counts = {job.name for job in counted(record.jobs, load)}
    left_out = [job for job in record.jobs if well(job) and job.name not in counts]
    if not left_out:
        return Notice(
            code="jobs-overlap",
            severity="info",
            message="jobs that ended were not replaced; all ran at the whole load for nearly all "
            "of their time",
        )
    shares = ", ".join(_share(job, record) for job in left_out)
    return Notice(
        code="jobs-overlap",
        severity="warning",
        message="jobs that ended were not replaced, and only what ran at the whole load counts: "
        f"left out are {shares}",
        advice="with --param replace=true the load stays until the longest job has ended",
    )


def _share(job: JobEntry, record: JobsRecord) -> str:
    share = share_at_load(job, record.jobs, record.asked)
    return f"{job.name} (at the whole load for {share:.0%} of its time)"
