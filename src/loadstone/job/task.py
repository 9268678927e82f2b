"""`job.json`: what a job is to do, as the lab wrote it for the job's first node."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from loadstone.job.record import read_object

JOB_FILE = "job.json"
COPY = "copy"
LINK = "link"


@dataclass(frozen=True)
class Staged:
    """A file or folder that is put into the job's working folder before the gate."""

    source: str
    """Where it lies, as the node sees it."""
    target: str
    """Its name in the working folder."""
    how: str = COPY
    """`copy`, or `link`: a symbolic link, so that all jobs read one file."""


@dataclass(frozen=True)
class JobTask:
    """What `loadstone.job.main` does.

    The working folder is `scratch`/`name`. It is fresh, and made by the first rank of each node.
    """

    name: str
    """Unique on the cluster, and the name of its folder on the desk."""
    application: str
    number: int
    """Of the job within the load, from 0."""
    ranks: int
    nodes: int
    per_node: int
    command: list[str]
    """Words of one rank's application."""
    launcher: list[str] = field(default_factory=list)
    """Words that start all ranks; empty: there is one rank, and it is started as it is."""
    stage: list[Staged] = field(default_factory=list)
    scratch: str = ""
    """Below it the working folder is made; empty: in the job's folder on the desk."""
    scratch_shared: bool = True
    """All nodes see the same working folder: it is staged once, not once on each node."""
    bring_back: list[str] = field(default_factory=list)
    """Globs, relative to the working folder."""
    gate: str = ""
    """A file: the job waits before its application until it exists; empty: there is no gate."""
    gate_timeout_s: float = 60.0
    sample_s: float = 1.0
    """The file I/O of the ranks is sampled so often."""
    environment: dict[str, str] = field(default_factory=dict)
    """Of the application, beside what the scheduler gives."""
    slots: dict[str, list[str]] = field(default_factory=dict)
    """By host the groups of its slots (`job.slots`); a rank takes one. Empty: none has a group."""


def task_object(task: JobTask) -> dict[str, Any]:
    """As JSON has it."""
    stage = [{"from": each.source, "to": each.target, "how": each.how} for each in task.stage]
    return {**asdict(task), "stage": stage}


def task_of(found: Any) -> JobTask:
    """The task that an object describes.

    Raises:
        ValueError: If it describes none.
    """
    if not isinstance(found, dict):
        raise ValueError("the job is no object")  # noqa: TRY004 - as of other wrong text
    try:
        stage = [
            Staged(str(each["from"]), str(each["to"]), str(each.get("how", COPY)))
            for each in found.get("stage", [])
        ]
        task = JobTask(**{**found, "stage": stage})
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"the job cannot be read: {error}") from error
    _refuse_unfit(task)
    return task


def read_task(path: Path) -> JobTask:
    """The task of a file.

    Raises:
        OSError: If there is none.
        ValueError: If it cannot be read.
    """
    return task_of(read_object(path))


def work_folder(task: JobTask, desk: Path) -> Path:
    """The job's own working folder, on each of its nodes.

    Args:
        task: Of the job.
        desk: The job's folder on the desk.
    """
    return Path(task.scratch) / task.name if task.scratch else desk / "work"


def _refuse_unfit(task: JobTask) -> None:
    for each in task.stage:
        if each.how not in (COPY, LINK):
            raise ValueError(f"stage: {each.how!r} is neither copy nor link")
        to = Path(each.target)
        if to.is_absolute() or ".." in to.parts:
            raise ValueError(f"stage: {each.target!r} is not within the working folder")
    if task.ranks < 1 or task.ranks != task.nodes * task.per_node:
        raise ValueError(f"{task.ranks} ranks are not {task.nodes} nodes with {task.per_node} each")
    if task.ranks > 1 and not task.launcher:
        raise ValueError(f"{task.ranks} ranks and no launcher")
    if not task.command:
        raise ValueError("the application has no command")
