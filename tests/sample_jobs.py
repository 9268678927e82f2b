"""Loads of jobs, what their runner told of them and what they told of themselves, made by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from loadstone.job.record import RECORD_FILE, IoSample, JobRecord, RankRecord, write_record
from loadstone.protocol.frames import Event
from loadstone.results.jobs import ClusterNode
from loadstone.workloads.jobs.kept import JobsLoad, PlannedJobs

PREFIX = "ls00000000-"
KERNEL = "kernel-of-the-lab"
"""Boot id of the machine that all nodes are on, unless another is said."""


def planned(application: str = "command", *, count: int = 2, **fields: Any) -> PlannedJobs:
    """So many jobs of one rank."""
    return PlannedJobs(
        **{
            "application": application,
            "count": count,
            "ranks": 1,
            "nodes": 1,
            "per_node": 1,
            "placement": "compact",
            "one_world": False,
            **fields,
        }
    )


def load(desk: Path, *jobs: PlannedJobs, **fields: Any) -> JobsLoad:
    """These jobs at once, on two nodes of two slots."""
    return JobsLoad(
        **{
            "prefix": PREFIX,
            "desk": str(desk),
            "asked": sum(each.count for each in jobs),
            "replaced": False,
            "jobs": list(jobs),
            "nodes": [ClusterNode(name=name, slots=2) for name in ("n1", "n2")],
            "storage": "shared",
            **fields,
        }
    )


def event(
    name: str, began_s: float, run_s: float, application: str = "command", **data: Any
) -> Event:
    """What the runner tells of a job that ended, unless `data` says otherwise.

    Args:
        name: Without the prefix.
        began_s: Begin of its application on the trial's clock.
        run_s: How long it ran.
        application: Its application.
        data: What is told otherwise.
    """
    told: dict[str, float | str] = {
        "name": f"{PREFIX}{name}",
        "application": application,
        "nodes": "n1",
        "state": "ended",
        "reason": "",
        "submitted_s": began_s - 2.0,
        "arrived_s": began_s - 1.5,
        "gate_open_s": began_s - 0.5,
        "began_s": began_s,
        "ended_s": began_s + run_s,
        "seen_s": began_s + run_s + 0.25,
        "waiting_s": 0.5,
        "launch_s": 0.2,
        "stage_s": 0.1,
        "run_s": run_s,
        "late_s": 0.25,
        **data,
    }
    return Event(t_s=began_s + run_s + 0.25, kind="workload", name="job", data=told)


def rank(
    number: int = 0, host: str = "n1", world: int = 1, cpus: Sequence[int] = (0, 1)
) -> RankRecord:
    """A rank that ran for 10 s and may use the whole machine, unless it is bound."""
    return RankRecord(
        rank=number,
        host=host,
        cpus=list(cpus),
        world=world,
        pid=4711 + number,
        run_s=10.0,
        cpu_s=9.0,
        max_rss_kib=2048,
    )


def sampled(of: RankRecord, *samples: tuple[float, int, int]) -> RankRecord:
    """A rank with samples of its file I/O: seconds, bytes read and bytes written so far."""
    return replace(
        of, io=[IoSample(t_s=t_s, rchar=read, wchar=written) for t_s, read, written in samples]
    )


def record(
    name: str,
    ranks: Sequence[RankRecord] | None = None,
    *,
    application: str = "command",
    boot_id: str = KERNEL,
) -> JobRecord:
    """What a job tells of itself; of one rank on the first node unless they are given.

    Args:
        name: Without the prefix.
        ranks: Of the job.
        application: Its application.
        boot_id: Of the kernel of its first node.
    """
    own = [rank()] if ranks is None else list(ranks)
    return JobRecord(
        name=f"{PREFIX}{name}",
        application=application,
        host=own[0].host,
        boot_id=boot_id,
        arrived_epoch_s=1.79e9,
        arrived_monotonic_s=100.0,
        began_epoch_s=1.79e9 + 1.5,
        began_monotonic_s=101.5,
        run_s=10.0,
        ended_epoch_s=1.79e9 + 12,
        ranks=own,
    )


def records(*found: JobRecord) -> dict[str, JobRecord]:
    """By name."""
    return {each.name: each for each in found}


def put(desk: Path, of: JobRecord) -> None:
    """Submits a job and has it tell of itself."""
    folder = desk / of.name
    folder.mkdir(parents=True, exist_ok=True)
    write_record(folder / RECORD_FILE, of)
    with (desk / "submissions.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"name": of.name}) + "\n")
