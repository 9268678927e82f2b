"""The workload `storage`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from loadstone.errors import WrongInputError
from loadstone.placements.place import parse_size
from loadstone.protocol.programs import FIO, Program
from loadstone.results.record import CheckResult, Fingerprint, MetricValue, Notice
from loadstone.spec.problems import near
from loadstone.spec.profile import MeasuredPhase, ProfileSpec
from loadstone.targets.base import Target
from loadstone.targets.capabilities import OVERWRITING
from loadstone.targets.connection import Connection
from loadstone.workloads.base import LoadContext, StepInfo, Workload
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.measured import Measured, MetricSpec
from loadstone.workloads.storage import below, told
from loadstone.workloads.storage.files import file_name, lay_out
from loadstone.workloads.storage.parameters import StorageParameters
from loadstone.workloads.storage.profiles import PROFILES, StorageProfile
from loadstone.workloads.storage.steps import step_infos

DONE = CheckSpec("work was done", "every test moved bytes, and every pass of it ended")


@dataclass(frozen=True)
class _Passes:
    """How each test is made, with what the parameters replace of the profile."""

    passes: int
    pass_s: float
    pause_s: float
    file_bytes: int


class Storage(Workload[Target]):
    """Baselines of a folder, a device or network storage, by fio."""

    name = "storage"
    origin = "CrystalDiskMark, Anvil's Storage Utilities; the tests of fio"
    usual_engine = "folder"
    requires: ClassVar[frozenset[str]] = frozenset({"file-access"})
    Parameters = StorageParameters
    metrics = (
        MetricSpec("mb_per_s", "bytes moved", "MB/s", True),
        MetricSpec("ios_per_s", "requests", "IO/s", True),
    )
    headline = "mb_per_s"
    checks = (DONE,)
    decides: ClassVar[frozenset[str]] = frozenset({"phases", "measure", "users", "warm_up"})
    first_factor = ("storage.data", "loop:ext4, loop:xfs")
    parameters: StorageParameters

    @property
    def profile(self) -> StorageProfile:
        """The tests.

        Raises:
            WrongInputError: If there is no such profile.
        """
        name = self.parameters.profile
        if name not in PROFILES:
            raise WrongInputError(f"there is no profile {name!r}; {near(name, PROFILES)}")
        return PROFILES[name]

    @property
    def passes(self) -> _Passes:
        """Of each test."""
        own, usual = self.parameters, self.profile
        return _Passes(
            own.passes or usual.passes,
            own.pass_length or usual.pass_s,
            usual.pause_s if own.pause is None else own.pause,
            usual.file_bytes if own.file_size is None else parse_size(own.file_size),
        )

    def needs(self) -> frozenset[str]:
        """Leave to write, if a test does."""
        writes = any(test.writes for test in self.profile.tests)
        return self.requires | ({OVERWRITING} if writes else frozenset())

    @property
    def test_files(self) -> tuple[str, ...]:
        """The files that the tests work on."""
        return tuple(dict.fromkeys(job.file for each in self.profile.tests for job in each.jobs))

    def expected_size_bytes(self) -> int:
        """Of the test files."""
        return len(self.test_files) * self.passes.file_bytes

    def prepare(self, target: Target) -> None:
        """Writes test files in full, where they are files of this machine."""
        names = [file_name(each, self.parameters.compressible) for each in self.test_files]
        with target.laying_out(names) as paths:
            for seed, path in enumerate(paths):
                lay_out(path, self.passes.file_bytes, self.parameters.compressible, seed)

    def loaded(self, profile: ProfileSpec) -> ProfileSpec:
        """A measured phase for each test, as long as its passes."""
        length_s = self.passes.passes * self.passes.pass_s
        phases = [
            MeasuredPhase.model_validate({"name": each.name, "measure": f"{length_s}s"})
            for each in self.profile.tests
        ]
        return profile.model_copy(
            update={"phases": phases, "measure": length_s, "users": 1, "warm_up": 0.0}
        )

    def plan(self, context: LoadContext[Target]) -> dict[str, Any]:
        """Tests, passes and how the bytes are written."""
        own, passes = self.parameters, self.passes
        return {
            "name": self.name,
            "role": "run",
            "parameters": {
                "tests": [each.plan() for each in self.profile.tests],
                "passes": passes.passes,
                "discarded": self.profile.discarded,
                "pass_s": passes.pass_s,
                "pause_s": passes.pause_s,
                "file_bytes": passes.file_bytes,
                "sync": own.sync,
                "direct": own.direct,
                "compressible": own.compressible,
                "folder": str(context.folder),
            },
        }

    def program(self, connection: Connection) -> Program:
        """fio, told and read by a program of ours."""
        return FIO

    def observe(self, target: Target) -> dict[str, float]:
        """What the devices below have moved so far, and what of the files is in memory."""
        path = target.data_folder()
        return {} if path is None else below.read(path, target.flushes_counted())

    def measure(self, measured: Measured) -> list[MetricValue]:
        """Rates of the measured passes, and of a phase by itself what was seen below it."""
        values = {
            "mb_per_s": measured.counters.get("bytes", 0) / measured.duration_s / 1e6,
            "ios_per_s": sum(measured.operations.values()) / measured.duration_s,
        }
        seen = self._seen(measured)
        return [
            *(spec.of(values[spec.name]) for spec in self.metrics),
            *([] if seen is None else told.metrics(seen)),
        ]

    def phase_notices(self, phases: Sequence[Measured]) -> list[Notice]:
        """The way of the bytes, what became of flushes, and what reached the journal."""
        found = [seen for each in phases if (seen := self._seen(each)) is not None]
        return told.notices(found, direct=self.parameters.direct)

    def _seen(self, measured: Measured) -> told.Seen | None:
        """What was seen below a phase by itself; the whole has pauses, which are not counted."""
        test = next((each for each in self.profile.tests if each.name == measured.phase), None)
        return None if test is None else told.seen(test, measured, self.parameters.sync)

    def check(
        self, target: Target, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """Every test did something."""
        idle = [
            each.name
            for each in self.profile.tests
            if not all(measured.total_operations.get(name) for name in each.operations)
        ]
        return [DONE.of(passed=not idle, detail=", ".join(idle) or "all tests moved bytes")]

    def steps(self) -> Sequence[StepInfo]:
        """The tests, each compared by itself."""
        return step_infos(self.profile.tests)

    def fingerprint(self, target: Target) -> Fingerprint:
        """The size of the files and which disk it is; what they hold is written over."""
        what = {
            "files": self.passes.file_bytes,
            "profile": self.parameters.profile,
            "identity": target.identity(),
        }
        text = json.dumps(what, sort_keys=True)
        return Fingerprint(digest=hashlib.sha256(text.encode()).hexdigest())
