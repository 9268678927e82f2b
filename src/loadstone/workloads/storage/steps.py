"""The tests of a baseline as parts of a table: what is judged of each, and what it is equal to."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.workloads.base import StepInfo
from loadstone.workloads.storage.tests import StorageTest

_PLAIN = frozenset(
    {
        *("rw", "bs", "size", "iodepth", "ioengine", "direct", "invalidate", "refill_buffers"),
        *("runtime", "ramp_time", "time_based", "thread", "norandommap", "randrepeat", "randseed"),
        *("rwmixread", "fsync", "fdatasync", "sync"),
    }
)
"""Options of a job file with which a test is still one of its access, block, depth and threads."""
_COLUMNS = ("read", "write", "mix")
"""Last words of the names of tests; each is a column."""
_FIGURES = {
    "score": "score",
    "IO/s": "ios_per_s",
    "p50 ms": "service_p50_ms",
    "p99 ms": "service_p99_ms",
    "in flight": "depth",
    "asked": "depth_asked",
    "CPU us/IO": "cpu_us_per_io",
}
"""What is told of a test, and the metric of its phase."""


def step_infos(tests: Sequence[StorageTest], sync: str) -> list[StepInfo]:
    """A cell of the table for each test, judged by its MB/s.

    Args:
        tests: Of a profile, each a measured phase.
        sync: What follows each write of a test that does not say it.
    """
    return [_step(test, sync, of_phase=len(tests) > 1) for test in tests]


def _step(test: StorageTest, sync: str, *, of_phase: bool) -> StepInfo:
    label, _, last = test.name.rpartition(" ")
    is_cell = last in _COLUMNS and bool(label)
    begin = f"{test.name} " if of_phase else ""
    return StepInfo(
        operation=test.operation,
        title=label if is_cell else test.name,
        metric=f"{begin}mb_per_s",
        family=test.name,
        column=last if is_cell else "mix",
        facts=_facts(test, sync),
        figures={what: f"{begin}{name}" for what, name in _FIGURES.items()},
    )


def _facts(test: StorageTest, sync: str) -> dict[str, float | str]:
    """Of a test with one kind of access; others are equal to none."""
    if len(test.jobs) != 1:
        return {}
    (job,) = test.jobs
    if not job.options.keys() <= _PLAIN:
        return {}
    facts: dict[str, float | str] = {
        "access": job.access,
        "block_bytes": job.block_bytes,
        "depth": job.depth,
        "threads": job.threads,
    }
    if job.read_percent is not None:
        facts["read_percent"] = job.read_percent
    if test.writes and (job.sync or sync) != "none":
        facts["sync"] = job.sync or sync
    return facts
