"""A test of a storage baseline, and the plan that its generator reads."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Access = Literal["read", "write", "randread", "randwrite", "rw", "randrw"]
"""fio's words: sequential, random, and both mixed."""


@dataclass(frozen=True)
class Job:
    """One kind of access within a test; several run at the same time.

    Attributes:
        access: What is done.
        block_bytes: Of each request.
        depth: Requests in flight of each thread that are asked for.
        threads: That make them.
        read_percent: Of a mixed access.
        sync: As `StorageParameters.sync`; None: that of the experiment.
        file: The test file that it works on; all jobs of one name share it.
        name: Of one that has an operation of its own: `OPERATION-NAME`.
    """

    access: Access
    block_bytes: int
    depth: int = 1
    threads: int = 1
    read_percent: int | None = None
    sync: str | None = None
    file: str = "data"
    name: str = ""

    @property
    def writes(self) -> bool:
        """Whether it changes what is there."""
        return self.access not in ("read", "randread")


@dataclass(frozen=True)
class StorageTest:
    """A measured phase of a baseline.

    Attributes:
        name: As people know it, and as the phase is called: `SEQ1M Q8T1 read`.
        operation: Name of its operation in frames: `seq1m-q8t1-read`.
        jobs: What runs; most tests have one.
    """

    name: str
    operation: str
    jobs: tuple[Job, ...]

    @property
    def operations(self) -> tuple[str, ...]:
        """Of its jobs, each once."""
        names = (
            f"{self.operation}-{job.name}" if job.name else self.operation for job in self.jobs
        )
        return tuple(dict.fromkeys(names))

    @property
    def writes(self) -> bool:
        """Whether a job of it writes."""
        return any(job.writes for job in self.jobs)

    def plan(self) -> dict[str, Any]:
        """What the generator is told of it."""
        return asdict(self)


def single(label: str, job: Job) -> StorageTest:
    """A test of one job, named by a label and what it does."""
    what = {
        "read": "read",
        "randread": "read",
        "write": "write",
        "randwrite": "write",
    }.get(job.access, "mix")
    name = f"{label} {what}"
    return StorageTest(name, name.lower().replace(" ", "-"), (job,))
