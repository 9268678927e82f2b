"""The tests of a baseline as parts of a table: what is judged of each, and what it is equal to."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.workloads.base import StepInfo
from loadstone.workloads.storage.tests import StorageTest

_COLUMNS = ("read", "write", "mix")
"""Last words of the names of tests; each is a column."""


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
    return StepInfo(
        operation=test.operation,
        title=label if is_cell else test.name,
        metric=f"{test.name} mb_per_s" if of_phase else "mb_per_s",
        family=test.name,
        column=last if is_cell else "mix",
        facts=_facts(test, sync),
    )


def _facts(test: StorageTest, sync: str) -> dict[str, float | str]:
    """Of a test that other programs make too: one kind of access, and nothing after a write."""
    if len(test.jobs) != 1:
        return {}
    (job,) = test.jobs
    if test.writes and (job.sync or sync) != "none":
        return {}
    mix = {} if job.read_percent is None else {"read_percent": job.read_percent}
    return {
        "access": job.access,
        "block_bytes": job.block_bytes,
        "depth": job.depth,
        "threads": job.threads,
        **mix,
    }
