"""The parameters of a plan of jobs, as the workload writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from loadstone.job.task import JobTask, Staged
from loadstone.runner.plan import Plan, RefusalError, Strict, read_model
from loadstone.schedulers.base import SchedulerSpec

FAR_S = 30 * 86400.0


class StagedFile(Strict):
    """A file or folder that is in the working folder when the job runs."""

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    how: Literal["copy", "link"] = "copy"


class PlannedJob(Strict):
    """A job; of a closed load one user's, of an open load one that arrivals take in turn."""

    name: str = Field(min_length=1, description="Follows the prefix in the name of the job.")
    application: str = Field(min_length=1)
    ranks: int = Field(ge=1)
    nodes: int = Field(default=1, ge=1)
    per_node: int = Field(ge=1)
    launch: Literal["mpi", "plain"] = "plain"
    """How the scheduler starts its ranks."""
    command: tuple[str, ...] = Field(min_length=1, strict=False)
    stage: tuple[StagedFile, ...] = Field(default=(), strict=False)
    scratch: str = ""
    scratch_shared: bool = True
    bring_back: tuple[str, ...] = Field(default=(), strict=False)
    environment: dict[str, str] = {}
    sample_s: float = Field(default=1.0, gt=0.0)
    memory_mib: int | None = Field(default=None, ge=1)

    def task(
        self,
        name: str,
        number: int,
        launcher: Sequence[str],
        gate: Gate,
        slots: Mapping[str, Sequence[str]],
    ) -> JobTask:
        """What the job's first node is told.

        Args:
            name: Of the job, unique.
            number: Within the load.
            launcher: Words that start its ranks.
            gate: That it waits at.
            slots: By host the groups of its slots.
        """
        return JobTask(
            name=name,
            application=self.application,
            number=number,
            ranks=self.ranks,
            nodes=self.nodes,
            per_node=self.per_node,
            command=list(self.command),
            launcher=list(launcher),
            stage=[Staged(each.source, each.target, each.how) for each in self.stage],
            scratch=self.scratch,
            scratch_shared=self.scratch_shared,
            bring_back=list(self.bring_back),
            gate=gate.file,
            gate_timeout_s=gate.timeout_s,
            sample_s=self.sample_s,
            environment=dict(self.environment),
            slots={host: list(groups) for host, groups in slots.items()},
        )


class Gate(Strict):
    """What a job waits for before its application begins."""

    file: str = ""
    """Empty: there is none."""
    timeout_s: float = 0.0


class Parameters(Strict):
    """Of a plan."""

    scheduler: SchedulerSpec
    desk: str = Field(min_length=1)
    prefix: str = Field(min_length=1)
    """Of the names of all its jobs; no other job's name begins so."""
    jobs: tuple[PlannedJob, ...] = Field(min_length=1, strict=False)
    gate: bool = True
    """The jobs of a closed load wait for each other."""
    gate_timeout_s: float = Field(default=120.0, gt=0.0, le=FAR_S)
    """After it those that have arrived run without the others."""
    poll_s: float = Field(default=0.5, gt=0.0, le=3600.0)
    replace: bool = False
    """A job that ends is replaced, until the first one of each user has ended."""
    python: str = "python3"
    """The interpreter on the nodes."""
    slots: dict[str, list[str]] = {}
    """By host the control groups of its slots, where each has a part of the processors."""
    wait_timeout_s: float = Field(default=3600.0, gt=0.0, le=FAR_S)
    """A job that has not begun by then is cancelled."""
    patience_s: float = Field(default=90.0, ge=0.0, le=FAR_S)
    """So long a scheduler that does not answer, and a job that it does not know, are waited for."""

    @property
    def operations(self) -> tuple[str, ...]:
        """The applications, each once."""
        return tuple(dict.fromkeys(job.application for job in self.jobs))

    @property
    def folder(self) -> Path:
        """The desk."""
        return Path(self.desk)


def read_parameters(plan: Plan) -> Parameters:
    """Those of a plan.

    Raises:
        RefusalError: It names the first wrong field.
    """
    found = read_model(Parameters, plan.workload.parameters, within="workload.parameters")
    names = [job.name for job in found.jobs]
    if len(set(names)) != len(names):
        raise RefusalError("workload.parameters.jobs", "two jobs have one name")
    for number, job in enumerate(found.jobs):
        if job.ranks != job.nodes * job.per_node:
            raise RefusalError(
                f"workload.parameters.jobs[{number}].ranks",
                f"{job.ranks} ranks are not {job.nodes} nodes with {job.per_node} each",
            )
    if not found.folder.is_dir():
        raise RefusalError("workload.parameters.desk", "there is no such folder")
    return found
