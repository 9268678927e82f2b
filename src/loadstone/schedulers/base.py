"""What Loadstone asks of a scheduler, and the values that go in and out.

A scheduler is told by `SchedulerSpec`, which goes into the plan of a trial: the runner, the
journal's undoing and the target all talk to the same one. Each job has a name that no other job
has; whatever is in doubt is found by that name.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from loadstone.errors import TargetError, WrongInputError
from loadstone.spec.base import Spec

State = Literal[
    "waiting",
    "running",
    "ended",
    "failed",
    "cancelled",
    "timed-out",
    "node-failed",
    "held",
    "requeued",
    "unknown",
]
"""Of a job. What a scheduler does not say, or says in words that are not known, is `unknown`."""

OVER: frozenset[State] = frozenset({"ended", "failed", "cancelled", "timed-out", "node-failed"})
"""States that a job does not leave."""

Launch = Literal["mpi", "plain"]
"""How the ranks of a job are started: as one MPI world, or as processes without each other."""

MPIRUN = "mpirun"
LAUNCHERS = r"^(mpirun|srun(:[A-Za-z0-9_]+)?)$"
"""What may start the ranks of an MPI world under Slurm."""
YIELD_WHEN_IDLE = "mpi_yield_when_idle"
"""Open MPI's parameter by which ranks that wait give way."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,99}")


class SchedulerError(TargetError):
    """A scheduler does not answer, or says what cannot be read."""


class SubmissionError(SchedulerError):
    """A job was not taken, or nobody knows whether it was.

    Args:
        message: What was given, and the scheduler's own words.
        doubtful: It may have been taken: look for it by its name, never send it again blindly.
        advice: What to do about it.
    """

    def __init__(self, message: str, *, doubtful: bool, advice: str | None = None) -> None:
        super().__init__(message, advice=advice)
        self.doubtful = doubtful


class SchedulerSpec(Spec):
    """Which scheduler, and how its commands are called. It holds no secret."""

    kind: str = Field(description="Name of a scheduler: `slurm`, `gridengine`, `plain`.")
    environment: dict[str, str] = Field(
        default_factory=dict,
        description="Added to the cleaned environment of commands and jobs. PATH is put in front.",
    )
    wrap: list[str] = Field(
        default_factory=list, description="Words before every command, such as nsenter's."
    )
    partition: str = ""
    account: str = ""
    qos: str = ""
    queue: str = ""
    parallel_environments: dict[str, str] = Field(
        default_factory=dict, description="Placement: the parallel environment of its jobs."
    )
    call_timeout_s: float = Field(
        default=30.0, gt=0, description="Seconds that a command may take."
    )
    time_limit_s: int = Field(
        default=3600, ge=1, description="Seconds that a job may run, unless its request says so."
    )
    launcher: str = Field(
        default=MPIRUN,
        pattern=LAUNCHERS,
        description="Of `slurm`: what starts the ranks of an MPI world: `mpirun`, `srun` (with the "
        "site's type of MPI), or `srun:TYPE`.",
    )
    state: str = Field(default="", description="Of `plain`: the folder that holds its queue.")
    slots: int = Field(default=1, ge=1, description="Of `plain`: ranks that run at a time.")
    yield_when_idle: bool = Field(
        default=False, description="Ranks that wait give way: there are more ranks than processors."
    )


@dataclass(frozen=True)
class Request:
    """A job that is to be submitted.

    Raises:
        WrongInputError: If the ranks are not `nodes * per_node`, or the name is none that every
            scheduler takes.
    """

    name: str
    """Unique: a letter first, then letters, digits, dots, dashes and underscores."""
    script: Path
    """What runs on the job's first node."""
    folder: Path
    """Desk of the job; `out.txt` and `err.txt` go there."""
    ranks: int
    nodes: int
    per_node: int
    time_limit_s: int
    memory_mib: int | None = None
    """Of each rank; None: what the scheduler gives a job that names none."""

    def __post_init__(self) -> None:
        """Refuses what no scheduler could take."""
        if self.ranks < 1 or self.ranks != self.nodes * self.per_node:
            raise WrongInputError(
                f"{self.ranks} ranks are not {self.nodes} nodes with {self.per_node} each",
                advice="give ranks that the nodes share evenly",
            )
        if not _NAME.fullmatch(self.name):
            raise WrongInputError(f"{self.name!r} is no name of a job")

    @property
    def placement(self) -> str:
        """`compact` on one node, `distributed` over several."""
        return "compact" if self.nodes == 1 else "distributed"


@dataclass(frozen=True)
class JobState:
    """What a scheduler knows of a job. Times are seconds of the epoch, by the scheduler's clock."""

    id: str
    name: str
    state: State
    reason: str = ""
    """The scheduler's own words: why it waits, or how it ended."""
    nodes: tuple[str, ...] = ()
    submitted_s: float | None = None
    began_s: float | None = None
    ended_s: float | None = None
    exit_code: int | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended, well or not."""
        return self.state in OVER


@dataclass(frozen=True)
class NodeInfo:
    """A node of the cluster."""

    name: str
    slots: int
    """Ranks that fit on it at a time."""
    state: str
    """The scheduler's own word."""
    up: bool = True
    """Jobs can run on it, now or after others."""


@dataclass(frozen=True)
class Accounted:
    """What the accounting has of a job. Times are seconds of the epoch."""

    id: str
    name: str
    state: State
    nodes: tuple[str, ...] = ()
    submitted_s: float | None = None
    began_s: float | None = None
    ended_s: float | None = None
    cpu_s: float | None = None
    max_rss_mib: float | None = None
    """Of its largest process."""
    exit_code: int | None = None


class Scheduler(ABC):
    """A scheduler by its commands. Every call is bounded by `spec.call_timeout_s`.

    Adding one is a module and a line in `schedulers.registry`.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    """Its name, for people."""

    def __init__(self, spec: SchedulerSpec) -> None:
        self.spec = spec

    @abstractmethod
    def submit(self, request: Request) -> str:
        """Submits a job that is never run a second time by itself.

        Returns:
            Its id.

        Raises:
            SubmissionError: If it was not taken, or nobody knows (`doubtful`).
        """

    @abstractmethod
    def jobs(self, prefix: str) -> Mapping[str, JobState]:
        """This user's jobs whose name begins with `prefix`, by name, in one call.

        Those that ended are among them as long as the scheduler remembers them. A job that is
        missing is unknown, not over.

        Raises:
            SchedulerError: If the scheduler does not answer.
        """

    @abstractmethod
    def cancel(self, ids: Sequence[str]) -> None:
        """Cancels jobs; one that is over stays as it is.

        Raises:
            SchedulerError: If the scheduler does not answer, or refuses.
        """

    def cancel_all(self, prefix: str) -> list[str]:
        """Cancels this user's jobs whose name begins with `prefix`.

        Returns:
            The ids of those that were not over.

        Raises:
            SchedulerError: As `jobs` and `cancel`.
        """
        ids = [job.id for job in self.jobs(prefix).values() if not job.over]
        if ids:
            self.cancel(ids)
        return ids

    @abstractmethod
    def nodes(self) -> list[NodeInfo]:
        """The nodes that jobs of this spec can run on.

        Raises:
            SchedulerError: If the scheduler does not answer.
        """

    def accounting(self, prefix: str) -> Mapping[str, Accounted]:
        """What the accounting has of this user's jobs, by name; nothing where there is none.

        Raises:
            SchedulerError: If there is one, and it does not answer.
        """
        return {}

    def accounting_missing(self) -> str:
        """Why there is no accounting; empty where there is one."""
        return f"{self.title} has no accounting"

    @abstractmethod
    def launcher(self, request: Request, how: Launch) -> list[str]:
        """The words that start the ranks of a job from within it; the command of a rank follows."""

    def removed(self) -> list[str]:
        """Names of the person's own variables that commands and jobs do not get."""
        return []

    @abstractmethod
    def version(self) -> str:
        """Its name and version, as it tells them.

        Raises:
            SchedulerError: If it does not answer.
        """


def mpirun(request: Request, spec: SchedulerSpec, *, root: bool) -> list[str]:
    """The words of Open MPI's mpirun for a job that has its nodes already.

    Ranks are not bound: mpirun numbers the processors of each node from 0, and nodes that share one
    machine would then share its first processors.

    Args:
        request: The job.
        spec: Says whether ranks that wait give way.
        root: The job runs as root, which mpirun refuses unless told.
    """
    words = [MPIRUN, "-np", str(request.ranks), "--map-by", f"ppr:{request.per_node}:node"]
    words += ["--bind-to", "none", "--oversubscribe"]
    if spec.yield_when_idle:
        words += ["--mca", YIELD_WHEN_IDLE, "1"]
    return [*words, "--allow-run-as-root"] if root else words
