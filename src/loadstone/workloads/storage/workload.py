"""The workload `storage`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel

from loadstone.errors import WrongInputError
from loadstone.host import memory_group
from loadstone.host.memory_group import BoundedGroup
from loadstone.placements.place import parse_size
from loadstone.protocol.programs import FIO, Program
from loadstone.results.record import CheckResult, Fingerprint, MetricValue, Notice
from loadstone.spec.problems import Path as Way
from loadstone.spec.profile import MeasuredPhase, ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target
from loadstone.targets.capabilities import OVERWRITING
from loadstone.targets.connection import Connection
from loadstone.workloads.base import LoadContext, StepInfo, Workload
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.measured import Measured, MetricSpec
from loadstone.workloads.storage import below, catalogue_checks, told, wanted
from loadstone.workloads.storage.catalogue_parameters import CATALOGUE
from loadstone.workloads.storage.files import file_name, lay_out
from loadstone.workloads.storage.fio_binary import NETWORK_ENGINES, examine_fio, find_fio
from loadstone.workloads.storage.jobs.reading import is_text
from loadstone.workloads.storage.jobs.resolving import in_full
from loadstone.workloads.storage.jobs.tests import names_in
from loadstone.workloads.storage.metrics import (
    HEADLINE,
    METRICS,
    baseline,
    metrics_of,
    passes_of,
    score_of,
)
from loadstone.workloads.storage.names import is_file
from loadstone.workloads.storage.notices import notices_of
from loadstone.workloads.storage.parameters import StorageParameters
from loadstone.workloads.storage.profiles import StorageProfile
from loadstone.workloads.storage.room import examine_job_file, examine_named_place, fit
from loadstone.workloads.storage.steps import step_infos
from loadstone.workloads.storage.tests import StorageTest

DONE = CheckSpec("work was done", "every test moved bytes, and every pass of it ended")
READ_BACK = CheckSpec(
    "writes are read back",
    "after tests that write, blocks with checksums are written by the same engine and in the same "
    "way, and read back: each holds what was written",
)


class Storage(Workload[Target]):
    """Baselines of a folder, a device or network storage, by fio."""

    name = "storage"
    origin = "CrystalDiskMark, Anvil's Storage Utilities; the tests of fio"
    usual_engine = "folder"
    requires: ClassVar[frozenset[str]] = frozenset({"file-access"})
    Parameters = StorageParameters
    metrics: ClassVar[tuple[MetricSpec, ...]] = METRICS
    headline = HEADLINE
    checks = (DONE, READ_BACK, *catalogue_checks.CHECKS)
    judges_generator = True
    measures_places = True
    before_others: ClassVar[Mapping[str, Any]] = {"profile": "database"}
    decides: ClassVar[frozenset[str]] = frozenset(
        {
            *("load", "users", "rate_per_s", "arrival", "sessions", "queue", "backlog", "drain"),
            *("think_time", "warm_up", "ramp", "measure", "phases", "delay"),
            *("threads", "processes"),
        }
    )
    first_factor = ("storage.data", "loop:ext4, loop:xfs")
    parameters: StorageParameters

    @classmethod
    def for_parameters(cls, parameters: BaseModel) -> type[Workload[Target]]:
        """The profile `catalogue` is made in another way than the rest."""
        from loadstone.workloads.storage.catalogue import Catalogue

        catalogue = isinstance(parameters, StorageParameters) and parameters.profile == CATALOGUE
        return Catalogue if catalogue else cls

    @property
    def profile(self) -> StorageProfile:
        """The tests.

        Raises:
            WrongInputError: If there are none of that name, or the job file is not taken.
        """
        return wanted.profile_of(self.parameters)

    @property
    def passes(self) -> wanted.Passes:
        """Of each test."""
        return wanted.passes_of(self.parameters, self.profile)

    def needs(self) -> frozenset[str]:
        """Leave to write, if a test does, and what is to follow its writes."""
        writing = [job for test in self.profile.tests for job in test.jobs if job.writes]
        syncs = {job.sync or self.parameters.sync for job in writing} - {"none"}
        return self.requires | syncs | ({OVERWRITING} if writing else frozenset())

    @classmethod
    def paths(cls, parameters: Mapping[str, Any]) -> Sequence[Way]:
        """The job file, unless it is its text; the list of names, if it is one's own."""
        fio, names = parameters.get("fio"), parameters.get("names")
        found: list[Way] = [("fio",)] if isinstance(fio, str) and not is_text(fio) else []
        return [*found, ("names",)] if isinstance(names, str) and is_file(names) else found

    def files(self) -> Mapping[str, str]:
        """The job file; none once its text is kept with the experiment."""
        said = self.parameters.fio
        return {} if said is None or is_text(said) else {"fio": said}

    def file_in_full(self, parameter: str) -> str:
        """The job file resolved: what it includes and its variables may change or be gone."""
        return in_full(Path(self.files()[parameter]))

    def examine_file(self, parameter: str) -> None:
        """Only a factor's level is still a path when a configuration is looked at."""
        raise WrongInputError(
            "a job file is no level of a factor: its tests would not be those of another",
            advice="run each file by itself, and compare the results",
        )

    def examine_place(self, target: TargetSpec, profile: ProfileSpec) -> None:
        """An fio speaks with it, or can be built; a job file fits in and names nothing there."""
        examine_fio(target.engine)
        examine_named_place(target)
        if self.parameters.fio is not None:
            names = names_in(self.parameters.fio)
            examine_job_file(target, names, sum(self.test_files.values()))

    @property
    def test_files(self) -> dict[str, int]:
        """The files that the tests work on, with their bytes."""
        usual, found = self.passes.file_bytes, dict[str, int]()
        for job in (job for each in self.profile.tests for job in each.jobs):
            found[job.file] = max(found.get(job.file, 0), job.file_bytes or usual)
        return found

    def expected_size_bytes(self) -> int:
        """Nothing is loaded."""
        return 0

    def growth_bytes(self, profile: ProfileSpec, target: type[Target]) -> int:
        """The test files: what comes later is written over them."""
        return sum(self.test_files.values())

    def prepare(self, target: Target) -> None:
        """Finds, or builds, its fio; writes test files in full, where they are of this machine."""
        find_fio(NETWORK_ENGINES.get(target.engine))
        sizes = list(self.test_files.values())
        fit(max(sizes), target.disk_bytes())
        with self._laying_out(target) as paths:
            if len(paths) == 1:
                sizes = [max(sizes)]  # a disk is all of its test files, the largest too
            for seed, path in enumerate(paths):
                lay_out(path, sizes[seed], self.parameters.compressible, seed)
        group = self._memory_group(target)
        if group is not None:
            memory_group.make(target.context.journal, group)

    def _memory_group(self, target: Target) -> BoundedGroup | None:
        """The control group that bounds the page cache of the load, if one is to."""
        if self.parameters.memory is None:
            return None
        limit_bytes = parse_size(self.parameters.memory)
        return memory_group.group_of(target.context.journal.path, limit_bytes)

    def _laying_out(self, target: Target) -> AbstractContextManager[Sequence[Path]]:
        names = [file_name(each, self.parameters.compressible) for each in self.test_files]
        return target.laying_out(names)

    def loaded(self, profile: ProfileSpec) -> ProfileSpec:
        """A measured phase for each test, as long as its passes."""
        lengths_s = {each.name: self.passes.measured_s(each) for each in self.profile.tests}
        phases = [
            MeasuredPhase.model_validate({"name": name, "measure": f"{length_s}s"})
            for name, length_s in lengths_s.items()
        ]
        measure = max(lengths_s.values())
        return profile.model_copy(
            update={"phases": phases, "measure": measure, "users": 1, "warm_up": 0.0}
        )

    def unmeasured_s(self) -> float:
        """The passes that do not count, and the pauses between tests."""
        return wanted.unmeasured_s(self.parameters)

    def arrival(self, profile: ProfileSpec) -> str:
        """Tests and passes, and how long all of them take."""
        return wanted.told(self.parameters)

    def plan(self, context: LoadContext[Target]) -> dict[str, Any]:
        """Tests, passes and how the bytes are written."""
        own, passes = self.parameters, self.passes
        group = self._memory_group(context.target)
        with self._laying_out(context.target) as paths:
            laid_out = bool(paths)
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
                "lay_out": not laid_out and OVERWRITING in context.target.capabilities,
                "memory_group": str(group.folder) if group else None,
                "folder": str(context.folder),
            },
        }

    def program(self, connection: Connection) -> Program:
        """fio, told and read by a program of ours."""
        return FIO

    def tools(self, connection: Connection | None) -> Mapping[str, Callable[[], str]]:
        """Fio."""
        protocol = None if connection is None else connection.plan()["protocol"]
        tools = {"fio": lambda: str(find_fio(NETWORK_ENGINES.get(protocol)))}
        if self.parameters.memory is not None:
            tools["control group of the load"] = memory_group.where
        return tools

    def observe(self, target: Target) -> dict[str, float]:
        """What the devices below have moved so far, and what of the files is in memory."""
        path = target.data_folder()
        group = self._memory_group(target)
        if path is None:
            return below.read_group(group)
        figures = below.read(path, target.flushes_counted(), served=target.serves)
        return figures | below.read_group(group)

    def measure(self, measured: Measured) -> list[MetricValue]:
        """The figures of the test of a phase, and what was seen below it."""
        test = self._test_of(measured)
        if test is None:
            return []
        found = metrics_of(test, passes_of(measured, test), measured, self.profile.score)
        return [*found, *told.metrics(self._seen(test, measured))]

    def summarize(self, whole: Measured, phases: Sequence[Measured]) -> list[MetricValue]:
        """The baseline; and of a profile of one test its figures."""
        passes = [passes_of(whole, test) for test in self.profile.tests]
        scores = [score_of(each, self.profile.score) for each in passes if each]
        return [*baseline(scores), *(self.measure(phases[0]) if len(phases) == 1 else [])]

    def notices(self, measured: Measured) -> list[Notice]:
        """What limited a test, and what fio said."""
        return [
            notice
            for test in self.profile.tests
            for notice in notices_of(test, passes_of(measured, test))
        ]

    def phase_notices(self, phases: Sequence[Measured]) -> list[Notice]:
        """The way of the bytes, what became of flushes, and what reached the journal."""
        found = [
            self._seen(test, each) for each in phases if (test := self._test_of(each)) is not None
        ]
        seen = [each for each in found if each is not None]
        return told.notices(seen, direct=wanted.direct(self.parameters))

    def _seen(self, test: StorageTest, measured: Measured) -> told.Seen:
        files = {file_name(job.file, self.parameters.compressible) for job in test.jobs}
        return told.seen(test, measured, self.parameters.sync, files)

    def _test_of(self, measured: Measured) -> StorageTest | None:
        """That of a phase by itself; None of all phases together."""
        return next((each for each in self.profile.tests if each.name == measured.phase), None)

    def check(
        self, target: Target, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """Every test did something, and what is written is read back."""
        idle = [
            each.name
            for each in self.profile.tests
            if not all(measured.total_operations.get(name) for name in each.operations)
            or len(passes_of(measured, each)) < self.passes.passes
        ]
        done = DONE.of(passed=not idle, detail=", ".join(idle) or "all tests moved bytes")
        if not any(test.writes for test in self.profile.tests):
            return [done]
        return [done, self._read_back(measured)]

    def _read_back(self, measured: Measured) -> CheckResult:
        written = int(measured.facts.get("verify_written_bytes", 0))
        read = int(measured.facts.get("verify_read_bytes", 0))
        said = [each.data for each in measured.events if each.name == "verify-failed"]
        detail = f"{written} bytes were written and {read} of them read back"
        if said:
            detail += f": {said[0]['detail']}"
        return READ_BACK.of(passed=written == read > 0 and not said, detail=detail)

    def steps(self) -> Sequence[StepInfo]:
        """The tests, each compared by itself."""
        return step_infos(self.profile.tests, self.parameters.sync)

    def fingerprint(self, target: Target) -> Fingerprint:
        """The size of the files and which disk it is; what they hold is written over."""
        what = {
            "files": self.passes.file_bytes,
            "profile": self.parameters.profile,
            "fio": self.parameters.fio,
            "identity": target.identity(),
        }
        text = json.dumps(what, sort_keys=True)
        return Fingerprint(digest=hashlib.sha256(text.encode()).hexdigest())
