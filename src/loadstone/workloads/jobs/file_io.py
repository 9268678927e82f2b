"""File I/O of jobs in parts of their run time, of the samples that each rank took."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from statistics import fmean

from loadstone.job.record import IoSample, JobRecord, RankRecord
from loadstone.results.jobs import IoPhase

PARTS = 10
"""Equal parts of the run time; the first tenth shows the reading of the input."""


def io_phases(records: Mapping[str, JobRecord]) -> list[IoPhase]:
    """Of each application, the mean job in each part of its run time.

    Args:
        records: Of jobs that ended well, by name.
    """
    by_application: dict[str, list[JobRecord]] = {}
    for record in records.values():
        if record.run_s > 0 and any(rank.io for rank in record.ranks):
            by_application.setdefault(record.application, []).append(record)
    return [
        _phase(application, jobs, part)
        for application, jobs in by_application.items()
        for part in range(PARTS)
    ]


def _phase(application: str, jobs: Sequence[JobRecord], part: int) -> IoPhase:
    parts = [_moved(job, part / PARTS, (part + 1) / PARTS) for job in jobs]
    seconds = fmean(job.run_s for job in jobs) / PARTS
    read, written, reads, writes = (
        fmean(getattr(each, name) for each in parts)
        for name in ("rchar", "wchar", "syscr", "syscw")
    )
    return IoPhase(
        application=application,
        from_share=part / PARTS,
        to_share=(part + 1) / PARTS,
        read_mib=read / 2**20,
        written_mib=written / 2**20,
        reads=reads,
        writes=writes,
        read_mib_per_s=read / 2**20 / seconds,
        written_mib_per_s=written / 2**20 / seconds,
        writes_per_s=writes / seconds,
    )


def _moved(job: JobRecord, begin: float, end: float) -> IoSample:
    """What all ranks of a job moved between two shares of its run time."""
    found = [_between(rank, begin * job.run_s, end * job.run_s) for rank in job.ranks if rank.io]
    return IoSample(
        t_s=end * job.run_s,
        rchar=sum(each.rchar for each in found),
        wchar=sum(each.wchar for each in found),
        syscr=sum(each.syscr for each in found),
        syscw=sum(each.syscw for each in found),
    )


def _between(rank: RankRecord, begin_s: float, end_s: float) -> IoSample:
    begin, end = _at(rank.io, begin_s), _at(rank.io, end_s)
    return IoSample(
        t_s=end_s,
        rchar=end.rchar - begin.rchar,
        wchar=end.wchar - begin.wchar,
        syscr=end.syscr - begin.syscr,
        syscw=end.syscw - begin.syscw,
    )


def _at(samples: Sequence[IoSample], t_s: float) -> IoSample:
    """The counters at a moment, on a straight line between the samples around it."""
    after = bisect_right([sample.t_s for sample in samples], t_s)
    if after == len(samples):
        return samples[-1]
    late = samples[after]
    early = samples[after - 1] if after else IoSample(t_s=0.0)
    length_s = late.t_s - early.t_s
    share = (t_s - early.t_s) / length_s if length_s > 0 else 1.0

    def between(low: int, high: int) -> int:
        return round(low + share * (high - low))

    return IoSample(
        t_s=t_s,
        rchar=between(early.rchar, late.rchar),
        wchar=between(early.wchar, late.wchar),
        syscr=between(early.syscr, late.syscr),
        syscw=between(early.syscw, late.syscw),
    )
