"""What a trial of jobs on a cluster tells: each job, how many ran at once, and on which nodes.

All times are seconds. Moments (`began_s`, `ended_s`, ...) are on the trial's clock. The time that a
job ran (`run_s`) is between two stamps of one node's own clock, so it does not depend on how well
the clocks of nodes and lab agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pydantic import Field

from loadstone.results.base import Record


class JobEntry(Record):
    """One job of a trial."""

    name: str = Field(description="Its unique name at the scheduler.")
    application: str
    placement: str = Field(description="`compact` or `distributed`.")
    nodes: list[str] = Field(default=[], description="Where its ranks ran, as they say themselves.")
    ranks: int
    state: str = Field(description="Of the scheduler: `ended`, `failed`, `timed-out`, ...")
    reason: str = Field(default="", description="The scheduler's own words, or what went wrong.")
    submitted_s: float | None = None
    arrived_s: float | None = Field(default=None, description="It began on its first node.")
    gate_open_s: float | None = Field(default=None, description="All jobs had arrived.")
    began_s: float | None = Field(default=None, description="Begin of the application.")
    ended_s: float | None = Field(default=None, description="End of the application.")
    seen_s: float | None = Field(default=None, description="The lab saw that it had ended.")
    waiting_s: float | None = Field(default=None, description="From submission to arrival.")
    launch_s: float | None = Field(default=None, description="To start the ranks.")
    stage_s: float | None = Field(default=None, description="To copy its input files.")
    run_s: float | None = Field(default=None, description="The application, on one node's clock.")
    late_s: float | None = Field(default=None, description="From its end until the lab saw it.")
    cpu_s: float | None = Field(default=None, description="Processor time of all ranks.")
    max_rss_mib: float | None = Field(default=None, description="Memory of the largest rank.")
    read_mib: float | None = Field(default=None, description="Of all ranks, by read calls.")
    written_mib: float | None = Field(default=None, description="Of all ranks, by write calls.")

    @property
    def span(self) -> tuple[float, float] | None:
        """Begin and end of its application on the trial's clock; None if it did not run."""
        if self.began_s is None or self.ended_s is None:
            return None
        return self.began_s, self.ended_s


class ClusterNode(Record):
    """A node of the cluster, as the target told of it."""

    name: str
    slots: int


class IoPhase(Record):
    """File I/O of all jobs of an application in a part of their run time, from `/proc/PID/io`."""

    application: str
    from_share: float = Field(description="Begin, as a share of each job's run time, 0 to 1.")
    to_share: float
    read_mib: float = Field(description="By read calls, from the page cache too; a job on average.")
    written_mib: float
    reads: float = Field(description="Read calls of a job on average.")
    writes: float
    read_mib_per_s: float
    written_mib_per_s: float
    writes_per_s: float


class JobsRecord(Record):
    """What a trial says of its jobs."""

    asked: int = Field(description="Jobs that were to run at once; 0: an open arrival.")
    at_once: int = Field(description="The most whose applications ran at one moment.")
    reached: bool = Field(description="As many ran at once as were asked for.")
    reason: str = Field(
        default="", description="Why the load was not reached, in the scheduler's own words."
    )
    overlap_s: float = Field(
        default=0.0, description="How long that many ran together; 0 where they never did."
    )
    functional_only: str = Field(
        default="", description="Why its times are no measure of the cluster; empty: they are."
    )
    placement_proved: bool = Field(
        description="Hosts, processors and MPI worlds of all ranks are as asked."
    )
    storage: str = Field(default="", description="Where the working folders were.")
    asked_of: dict[str, int] = Field(
        default={}, description="Application: its jobs at once, without those that replaced others."
    )
    physics: dict[str, str] = Field(
        default={}, description="Application: what it computes, in a few words."
    )
    jobs_label: str = Field(default="", description="The load in words: `2 flow, 1 pstm`.")
    load_share: float = Field(default=0.0, description="Of the cluster's slots, 0 to 1.")
    jobs: list[JobEntry] = []
    nodes: list[ClusterNode] = []
    io: list[IoPhase] = Field(default=[], description="By application, in parts of the run time.")

    @property
    def no_ratio(self) -> str:
        """Why its times must not be set in relation to another trial's; empty: they may."""
        if self.functional_only:
            return self.functional_only
        if not self.reached:
            return self.unreached
        return ""

    @property
    def unreached(self) -> str:
        """That fewer jobs ran at once than were asked for; empty if it is not so."""
        if self.reached:
            return ""
        told = f"{self.asked} asked, {self.at_once} ran at a time"
        return f"{told} (reason: {self.reason})" if self.reason else told

    @property
    def applications(self) -> list[str]:
        """Of its jobs, each once, in order."""
        return list(dict.fromkeys(job.application for job in self.jobs))


def most_at_once(spans: Sequence[tuple[float, float]]) -> int:
    """The largest number of spans that have a moment in common.

    A span that ends when another begins does not overlap with it.

    Args:
        spans: Begin and end of each, seconds on one clock.
    """
    return max((depth for _, _, depth in _depths(spans)), default=0)


def time_at_depth(spans: Sequence[tuple[float, float]], depth: int) -> float:
    """For how long at least `depth` of the spans overlapped, in seconds."""
    return sum(end - begin for begin, end, found in _depths(spans) if found >= depth)


def _depths(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float, int]]:
    """Stretches of time in which nothing begins or ends, each with how many spans cover it."""
    edges = sorted([(begin, 1) for begin, _ in spans] + [(end, -1) for _, end in spans])
    found: list[tuple[float, float, int]] = []
    depth = 0
    for (at, step), (following, _) in pairwise(edges):
        depth += step
        if following > at:
            found.append((at, following, depth))
    return found
