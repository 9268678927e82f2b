"""What parameters ask for: the tests, how each is made, and how long all of it takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum

from loadstone.errors import WrongInputError
from loadstone.placements.place import parse_size
from loadstone.units import format_duration, format_size
from loadstone.workloads.storage.curves import at_depths, chosen, depths_of
from loadstone.workloads.storage.jobs.tests import name_of, tests_of_file
from loadstone.workloads.storage.parameters import StorageParameters
from loadstone.workloads.storage.profiles import CURVE, CURVE_DEPTHS, PROFILES, StorageProfile
from loadstone.workloads.storage.tests import Job, StorageTest


@dataclass(frozen=True)
class Passes:
    """How each test is made, with what the parameters replace of the profile."""

    passes: int
    pass_s: float
    pause_s: float
    file_bytes: int

    def of(self, test: StorageTest) -> float:
        """Seconds of a pass of a test, at most."""
        return self.pass_s if test.pass_s is None else test.pass_s

    def measured_s(self, test: StorageTest) -> float:
        """Seconds of the passes of a test that count."""
        return self.passes * self.of(test)


def profile_of(own: StorageParameters) -> StorageProfile:
    """The tests: those of a profile, of a job file, or one of them at several depths.

    Raises:
        WrongInputError: If there is no such test, or the file is not taken.
    """
    if own.fio is not None:
        return tests_of_file(own.fio, own.pass_length)
    found = PROFILES[own.profile]
    tests, depths = chosen(found.tests, own.test), wanted_depths(own)
    return replace(found, tests=at_depths(tests, depths) if depths else tests)


def wanted_depths(own: StorageParameters) -> tuple[int, ...]:
    """Queue depths at which a test is measured; none: each test at its own."""
    text = own.depths or (CURVE_DEPTHS if own.profile == CURVE else None)
    return () if text is None else depths_of(text)


def passes_of(own: StorageParameters, usual: StorageProfile) -> Passes:
    """How each test of a profile is made.

    Raises:
        WrongInputError: If its blocks do not fit in a test file.
    """
    file_bytes = usual.file_bytes if own.file_size is None else parse_size(own.file_size)
    largest = max((job for test in usual.tests for job in test.jobs), key=_least_file)
    if own.fio is None and file_bytes < _least_file(largest):
        raise WrongInputError(
            f"file_size: {own.file_size} is too small for {largest.label}",
            advice=f"give {format_size(_least_file(largest))} or more",
        )
    return Passes(
        own.passes or usual.passes,
        own.pass_length or usual.pass_s,
        usual.pause_s if own.pause is None else own.pause,
        file_bytes,
    )


def _least_file(job: Job) -> int:
    """Bytes in which each of its threads finds a place of its own."""
    return job.block_bytes * job.threads


def unmeasured_s(own: StorageParameters) -> float:
    """Seconds of the passes that do not count, and of the pauses between tests."""
    profile = profile_of(own)
    passes = passes_of(own, profile)
    discarded_s = profile.discarded * fsum(map(passes.of, profile.tests))
    return discarded_s + passes.pause_s * (len(profile.tests) - 1)


def whole_s(own: StorageParameters) -> float:
    """Seconds of all tests with all that is between them, at most."""
    profile = profile_of(own)
    passes = passes_of(own, profile)
    return fsum(map(passes.measured_s, profile.tests)) + unmeasured_s(own)


def told(own: StorageParameters) -> str:
    """In a line: what is measured, and how long it takes."""
    profile = profile_of(own)
    count = passes_of(own, profile).passes
    tests = "1 test" if len(profile.tests) == 1 else f"{len(profile.tests)} tests"
    passes = "1 pass" if count == 1 else f"{count} passes"
    most = "at most " if any(each.pass_s is not None for each in profile.tests) else ""
    name = own.profile if own.fio is None else name_of(own.fio)
    return f"{name}: {tests} of {passes}, {most}{format_duration(whole_s(own))}"


def direct(own: StorageParameters) -> bool:
    """Whether I/O past the page cache is asked for; of a job file: by all its jobs."""
    if own.fio is None:
        return own.direct
    jobs = [job for test in profile_of(own).tests for job in test.jobs]
    return all(each.options.get("direct") == "1" for each in jobs)
