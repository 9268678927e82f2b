"""The plan, as far as fio can do it; whatever else one asks for is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from loadstone.fio.ground import Ground, ground_of
from loadstone.runner import plan as runner_plan
from loadstone.runner.plan import Phase, RefusalError, Strict, read_model
from loadstone.workloads.storage.curves import MOST_DEPTH
from loadstone.workloads.storage.tests import LEAST_BLOCK, MOST_BLOCK, MOST_PASS_S

Sync = Literal["none", "fsync", "fdatasync", "dsync"]


class JobPlan(Strict):
    """As `workloads.storage.tests.Job`."""

    access: Literal["read", "write", "randread", "randwrite", "rw", "randrw"]
    block_bytes: Annotated[int, Field(ge=LEAST_BLOCK, le=MOST_BLOCK)]
    depth: Annotated[int, Field(ge=1, le=MOST_DEPTH)] = 1
    threads: Annotated[int, Field(ge=1, le=512)] = 1
    read_percent: Annotated[int, Field(ge=0, le=100)] | None = None
    sync: Sync | None = None
    file: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")] = "data"
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]*$")] = ""
    file_bytes: Annotated[int, Field(ge=4096)] | None = None
    options: dict[str, str] = Field(default_factory=dict)

    @property
    def writes(self) -> bool:
        """Whether it changes the file."""
        return self.access not in ("read", "randread")


class TestPlan(Strict):
    """As `workloads.storage.tests.StorageTest`."""

    name: Annotated[str, Field(min_length=1)]
    operation: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")]
    jobs: Annotated[list[JobPlan], Field(min_length=1)]
    pass_s: Annotated[float, Field(ge=0.1, le=MOST_PASS_S)] | None = None

    def operation_of(self, job: JobPlan) -> str:
        """The operation of a job: that of the test, or one of its own if the job has a name."""
        return f"{self.operation}-{job.name}" if job.name else self.operation


class StorageParameters(Strict):
    """The parameters of the plan's workload."""

    tests: Annotated[list[TestPlan], Field(min_length=1)]
    passes: Annotated[int, Field(ge=1, le=1000)]
    discarded: Annotated[int, Field(ge=0, le=1000)] = 0
    pass_s: Annotated[float, Field(ge=0.1, le=MOST_PASS_S)]
    pause_s: Annotated[float, Field(ge=0.0, le=86400.0)] = 0.0
    file_bytes: Annotated[int, Field(ge=4096)]
    sync: Sync = "none"
    direct: bool = True
    compressible: Annotated[int, Field(ge=0, le=100)] = 0
    lay_out: bool = False
    """Whether what is no folder is written in full first: it may be written over."""
    memory_group: str | None = None
    """Folder of the control group that fio runs in, which bounds its page cache."""
    folder: Annotated[str, Field(min_length=1)]

    def longest_s(self, test: TestPlan) -> float:
        """How long a pass of a test may last."""
        return self.pass_s if test.pass_s is None else test.pass_s


@dataclass(frozen=True)
class StoragePlan:
    """One run.

    Attributes:
        seed: Of the places of random access.
        parameters: Tests and how they are made.
        phases: Each with the test that it is, in order.
        ground: What fio works on.
    """

    seed: int
    parameters: StorageParameters
    phases: tuple[tuple[Phase, TestPlan], ...]
    ground: Ground

    @property
    def files(self) -> dict[str, int]:
        """The test files that the tests work on, with their bytes."""
        usual, found = self.parameters.file_bytes, dict[str, int]()
        for job in (job for _, test in self.phases for job in test.jobs):
            found[job.file] = max(found.get(job.file, 0), job.file_bytes or usual)
        return found

    @property
    def operations(self) -> tuple[str, ...]:
        """Of all tests, in order."""
        every = (test.operation_of(job) for _, test in self.phases for job in test.jobs)
        return tuple(dict.fromkeys(every))

    @property
    def writes(self) -> bool:
        """Whether a test does."""
        return any(job.writes for _, test in self.phases for job in test.jobs)

    @property
    def folder(self) -> Path:
        """For job files and what fio wrote."""
        return Path(self.parameters.folder) / "fio"


def parse_plan(text: str | bytes) -> StoragePlan:
    """Reads a plan.

    Raises:
        RefusalError: It names the first wrong field.
    """
    plan = runner_plan.parse_plan(text)
    if plan.workload.name != "storage" or plan.workload.role != "run":
        raise RefusalError(
            "workload", f"{plan.workload.name} in the role {plan.workload.role} is not for fio"
        )
    parameters = read_model(
        StorageParameters, plan.workload.parameters, within="workload.parameters"
    )
    return StoragePlan(
        seed=plan.seed,
        parameters=parameters,
        phases=tuple(_tested(plan.phases, parameters.tests)),
        ground=ground_of(plan.connection),
    )


def _tested(phases: tuple[Phase, ...], tests: list[TestPlan]) -> Iterator[tuple[Phase, TestPlan]]:
    by_name = {each.name: each for each in tests}
    for number, phase in enumerate(phases):
        if phase.name not in by_name:
            raise RefusalError(f"phases[{number}].name", f"there is no test {phase.name!r}")
        yield phase, by_name[phase.name]
