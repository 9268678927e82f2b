"""What a reader of a baseline should be told besides its figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loadstone.results.record import Notice
from loadstone.units import format_size
from loadstone.workloads.storage.metrics import BEYOND_S, PassFigures
from loadstone.workloads.storage.tests import StorageTest

CPU_SHARE = 0.9
"""Of a processor: a thread of fio that used more had no time to wait for storage."""
TOGETHER_SHARE = 0.95
"""Of a pass in which all its jobs should have run."""
DEPTH_SHARE = 0.9
"""Of the depth that was asked for."""
SUBMITTING_SHARE = 0.4
"""Of the time of requests, before the service times begin: fast disks have up to a third."""


def notices_of(test: StorageTest, passes: Sequence[PassFigures]) -> list[Notice]:
    """What is to be said of a test.

    Args:
        test: The test.
        passes: Its passes that count.
    """
    if not passes:
        return []
    found = [
        _limited_by_cpu(test, passes),
        _not_so_deep(test, passes),
        _done_at_once(test, passes),
        _not_together(test, passes),
        _mixed(test),
        _beyond(test, passes),
    ]
    return [*filter(None, found), *_notes(test, passes)]


def _limited_by_cpu(test: StorageTest, passes: Sequence[PassFigures]) -> Notice | None:
    busiest = max(passes, key=lambda each: each.figures["busiest_cpu_share"])
    share = busiest.figures["busiest_cpu_share"]
    if share < CPU_SHARE:
        return None
    user_s, system_s = busiest.figures["cpu_user_s"], busiest.figures["cpu_system_s"]
    own = user_s / (user_s + system_s)
    return Notice(
        code="limited-by-cpu",
        severity="warning",
        message=f"{test.name}: a thread of fio used {share:.0%} of a processor ({own:.0%} of that "
        f"in fio itself, {1 - own:.0%} in the kernel for it): the storage may be faster than this",
        advice="use more threads or a larger block to see where the storage ends",
    )


def _not_so_deep(test: StorageTest, passes: Sequence[PassFigures]) -> Notice | None:
    asked = sum(job.depth * job.threads for job in test.jobs)
    reached = min(each.figures["depth"] for each in passes)
    if reached >= DEPTH_SHARE * asked or asked == len(test.jobs):
        return None
    return Notice(
        code="depth-not-reached",
        severity="warning",
        message=f"{test.name}: {reached:.3g} requests were in flight where {asked} were asked for",
        advice="read the figure as that of the depth that was reached",
    )


def _done_at_once(test: StorageTest, passes: Sequence[PassFigures]) -> Notice | None:
    """Memory and page caches answer while a request is submitted; fio's times begin after that."""
    share = max(each.figures["submitting_share"] for each in passes)
    if share < SUBMITTING_SHARE:
        return None
    return Notice(
        code="done-at-once",
        severity="warning",
        message=f"{test.name}: {share:.0%} of the time of its requests passed while they were "
        "submitted, as where memory or a page cache answers at once: service times leave that out",
        advice="requests in flight divided by IO/s are the whole time of a request",
    )


def _not_together(test: StorageTest, passes: Sequence[PassFigures]) -> Notice | None:
    share = min(each.figures["together_share"] for each in passes)
    if share >= TOGETHER_SHARE:
        return None
    return Notice(
        code="jobs-not-together",
        severity="warning",
        message=f"{test.name}: all its jobs ran for {share:.0%} of its time only; the rate is over "
        "all of that time",
    )


def _mixed(test: StorageTest) -> Notice | None:
    blocks = sorted({job.block_bytes for job in test.jobs})
    if len(blocks) < 2 or len(test.operations) == len(test.jobs):
        return None
    sizes = " and ".join(format_size(each) for each in blocks)
    return Notice(
        code="blocks-mixed",
        severity="warning",
        message=f"{test.name}: its percentiles are of requests of {sizes} together",
    )


def _beyond(test: StorageTest, passes: Sequence[PassFigures]) -> Notice | None:
    count = sum(int(each.figures["beyond"]) for each in passes)
    if not count:
        return None
    return Notice(
        code="beyond-scale",
        severity="warning",
        message=f"{test.name}: {count} requests took longer than {BEYOND_S:.2f} s, where fio's "
        "scale ends: a percentile that lies there is left out",
    )


def _notes(test: StorageTest, passes: Sequence[PassFigures]) -> Iterator[Notice]:
    """Each note of fio once, with the passes that it came with."""
    noted: dict[str, list[int]] = {}
    for each in passes:
        for note in each.notes:
            noted.setdefault(note, []).append(each.number)
    for note, numbers in noted.items():
        which = ", ".join(map(str, numbers))
        yield Notice(
            code="fio-note", severity="info", message=f"{test.name}, pass {which}: fio said: {note}"
        )
