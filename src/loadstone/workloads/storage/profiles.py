"""The profiles: the tests that people know, in the order in which they know them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadstone.workloads.storage.tests import Job, StorageTest, single

_KB, _MB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class StorageProfile:
    """Tests and how their origin makes them.

    Attributes:
        tests: In order.
        passes: Of each test that count.
        discarded: Passes before them that do not.
        pass_s: Length of a pass.
        pause_s: Between two tests.
        file_bytes: Of each test file.
        score: How the origin makes its figure of a test of its passes: `maximum` or `mean`.
        origin: Where it comes from.
    """

    tests: tuple[StorageTest, ...]
    passes: int
    discarded: int
    pass_s: float
    pause_s: float
    file_bytes: int
    score: str
    origin: str


def _both(labels: Sequence[tuple[str, bool, int, int, int]]) -> tuple[StorageTest, ...]:
    """All reads, then all writes, as CrystalDiskMark goes: label, random, block, depth, threads."""
    found = []
    for words in (("read", "randread"), ("write", "randwrite")):
        for label, random, block, depth, threads in labels:
            found.append(single(label, Job(words[random], block, depth, threads)))
    return tuple(found)


def _crystal(
    labels: Sequence[tuple[str, bool, int, int, int]], version: str, passes: int = 5
) -> StorageProfile:
    return StorageProfile(
        tests=_both(labels),
        passes=passes,
        discarded=1,
        pass_s=5.0,
        pause_s=5.0,
        file_bytes=1 << 30,
        score="maximum",
        origin=f"CrystalDiskMark {version}",
    )


PROFILES = {
    "cdm8": _crystal(
        [
            ("SEQ1M Q8T1", False, _MB, 8, 1),
            ("SEQ1M Q1T1", False, _MB, 1, 1),
            ("RND4K Q32T1", True, 4 * _KB, 32, 1),
            ("RND4K Q1T1", True, 4 * _KB, 1, 1),
        ],
        "8",
    ),
    "cdm8-nvme": _crystal(
        [
            ("SEQ1M Q8T1", False, _MB, 8, 1),
            ("SEQ128K Q32T1", False, 128 * _KB, 32, 1),
            ("RND4K Q32T16", True, 4 * _KB, 32, 16),
            ("RND4K Q1T1", True, 4 * _KB, 1, 1),
        ],
        "8, NVMe",
    ),
}
