"""A test of a storage baseline, and the plan that its generator reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Access = Literal["read", "write", "randread", "randwrite", "rw", "randrw"]
"""fio's words: sequential, random, and both mixed."""
LEAST_BLOCK, MOST_BLOCK = 512, 1 << 30
"""Bytes of a request."""
MOST_PASS_S = 86400.0


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
        file_bytes: Of its test file; None: as large as those of the profile.
        options: All that a job file says of it, in fio's words; fio is told these and no others.
    """

    access: Access
    block_bytes: int
    depth: int = 1
    threads: int = 1
    read_percent: int | None = None
    sync: str | None = None
    file: str = "data"
    name: str = ""
    file_bytes: int | None = None
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def label(self) -> str:
        """As CrystalDiskMark names it since its version 7: `RND4K Q32T1`."""
        kind = "RND" if self.access.startswith("rand") else "SEQ"
        return f"{kind}{_block(self.block_bytes)} Q{self.depth}T{self.threads}"

    @property
    def writes(self) -> bool:
        """Whether it changes what is there."""
        return self.access not in ("read", "randread")


def _block(size_bytes: int) -> str:
    for unit, unit_bytes in (("M", 1 << 20), ("K", 1 << 10)):
        if size_bytes % unit_bytes == 0:
            return f"{size_bytes // unit_bytes}{unit}"
    return f"{size_bytes}B"


@dataclass(frozen=True)
class StorageTest:
    """A measured phase of a baseline.

    Attributes:
        name: As people know it, and as the phase is called: `SEQ1M Q8T1 read`.
        operation: Name of its operation in frames: `seq1m-q8t1-read`.
        jobs: What runs; most tests have one.
        pass_s: Length of its passes at most; None: that of the experiment.
    """

    name: str
    operation: str
    jobs: tuple[Job, ...]
    pass_s: float | None = None

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
    name = f"{label} {what_of(job.access)}"
    return StorageTest(name, name.lower().replace(" ", "-"), (job,))


def what_of(access: Access) -> str:
    """What a job does in a word: `read`, `write` or `mix`."""
    return "mix" if access in ("rw", "randrw") else access.removeprefix("rand")
