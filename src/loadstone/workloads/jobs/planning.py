"""What the runner is told of the jobs of a trial."""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loadstone.applications.base import AnyApplication
from loadstone.results.jobs import ClusterNode
from loadstone.schedulers.base import NodeInfo
from loadstone.targets.cluster import Cluster
from loadstone.workloads.jobs.inputs import Inputs, staged
from loadstone.workloads.jobs.kept import JobsLoad, PlannedJobs
from loadstone.workloads.jobs.layout import Layout, layout_of, refuse_too_many
from loadstone.workloads.jobs.parameters import JobsParameters

_PREFIX = "ls"
"""How the names of all jobs begin; a letter first, as every scheduler takes it."""
_PATIENCE_S = 60.0
"""So long a scheduler may be silent, at least."""


def layouts_of(
    parameters: JobsParameters, cluster: Sequence[NodeInfo], *, at_once: bool
) -> dict[str, Layout]:
    """The layout of the jobs of each application.

    Args:
        parameters: Of the workload.
        cluster: Its nodes.
        at_once: All jobs are to run together.

    Raises:
        WrongInputError: If a job does not fit, or all together do not.
    """
    found = {
        name: layout_of(
            parameters.ranks_of(name),
            parameters.placement_of(name),
            parameters.nodes_of(name),
            cluster,
        )
        for name in parameters.counts
    }
    if at_once:
        every = [found[name] for name, count in parameters.counts.items() for _ in range(count)]
        refuse_too_many(every, cluster)
    return found


def load_of(
    parameters: JobsParameters, target: Cluster, folder: Path, *, at_once: bool
) -> JobsLoad:
    """The load of a trial on a cluster that runs.

    Args:
        parameters: Of the workload.
        target: Where the jobs run.
        folder: Of the trial.
        at_once: All jobs are to run together; else they arrive one after the other.

    Raises:
        WrongInputError: As `layouts_of`.
    """
    cluster = target.slots()
    layouts = layouts_of(parameters, cluster, at_once=at_once)
    scratch = target.scratch()
    return JobsLoad(
        prefix=f"{_PREFIX}{secrets.token_hex(4)}-",
        desk=str(target.desk(folder)),
        asked=parameters.at_once if at_once else 0,
        replaced=parameters.replace,
        jobs=[
            PlannedJobs(
                application=name,
                count=count,
                ranks=layouts[name].ranks,
                nodes=layouts[name].nodes,
                per_node=layouts[name].per_node,
                placement=parameters.placement_of(name),
                one_world=parameters.made(name).launch == "mpi",
                physics=parameters.made(name).physics(),
            )
            for name, count in parameters.counts.items()
        ],
        nodes=[ClusterNode(name=node.name, slots=node.slots) for node in cluster],
        storage=scratch.kind,
        functional_only=target.functional_only(),
        unaccounted=target.cross_check_only(),
    )


def told(
    parameters: JobsParameters,
    load: JobsLoad,
    inputs: Mapping[str, Inputs],
    target: Cluster,
    seed: int,
) -> dict[str, Any]:
    """The plan's parameters; input files are on the desk afterwards.

    Args:
        parameters: Of the workload.
        load: Of the trial.
        inputs: By application.
        target: Where the jobs run.
        seed: Of the order of the jobs.

    Raises:
        WrongInputError: If the desk has no space.
    """
    desk = Path(load.desk)
    scheduler = target.scheduler_spec().model_copy(
        update={"time_limit_s": max(1, round(parameters.time_limit))}
    )
    jobs = [
        {"name": name, **_job(parameters, each, inputs, target, desk)}
        for each in load.jobs
        for name in each.names
    ]
    random.Random(seed).shuffle(jobs)
    return {
        "scheduler": scheduler.model_dump(mode="json"),
        "desk": load.desk,
        "prefix": load.prefix,
        "jobs": jobs,
        "gate": bool(load.asked),
        "gate_timeout_s": parameters.gate_timeout,
        "poll_s": parameters.poll,
        "replace": parameters.replace and bool(load.asked),
        "python": target.python(),
        "slots": {host: list(groups) for host, groups in target.slot_groups().items()},
        "patience_s": max(_PATIENCE_S, 2 * scheduler.call_timeout_s),
    }


def _job(
    parameters: JobsParameters,
    planned: PlannedJobs,
    inputs: Mapping[str, Inputs],
    target: Cluster,
    desk: Path,
) -> dict[str, Any]:
    application: AnyApplication = parameters.made(planned.application)
    scratch = target.scratch()
    return {
        "application": application.name,
        "ranks": planned.ranks,
        "nodes": planned.nodes,
        "per_node": planned.per_node,
        "launch": application.launch,
        "command": application.command(planned.ranks, target.python()),
        "stage": staged(inputs[application.name], desk, application.name, parameters.inputs),
        "scratch": scratch.path,
        "scratch_shared": scratch.shared,
        "bring_back": list(application.bring_back()),
        "environment": dict(application.environment),
        "sample_s": parameters.sample,
        "memory_mib": parameters.memory,
    }
