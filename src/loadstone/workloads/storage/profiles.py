"""The profiles: the tests that people know, in the order in which they know them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadstone.workloads.storage.tests import Access, Job, StorageTest, single

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


_Label = tuple[str, bool, int, int, int]
"""As its origin calls it; random; block in bytes; depth; threads."""

_SEQ1M_Q8: _Label = ("SEQ1M Q8T1", False, _MB, 8, 1)
_RND4K_Q1: _Label = ("RND4K Q1T1", True, 4 * _KB, 1, 1)
_CRYSTAL_8: tuple[_Label, ...] = (
    _SEQ1M_Q8,
    ("SEQ1M Q1T1", False, _MB, 1, 1),
    ("RND4K Q32T1", True, 4 * _KB, 32, 1),
    _RND4K_Q1,
)


def _tests(sequential: Access, random: Access, labels: Sequence[_Label]) -> tuple[StorageTest, ...]:
    return tuple(
        single(label, Job(random if is_random else sequential, block, depth, threads))
        for label, is_random, block, depth, threads in labels
    )


def _reads(labels: Sequence[_Label]) -> tuple[StorageTest, ...]:
    return _tests("read", "randread", labels)


def _writes(labels: Sequence[_Label]) -> tuple[StorageTest, ...]:
    return _tests("write", "randwrite", labels)


def _crystal(
    labels: Sequence[_Label], version: str, passes: int = 5, file_bytes: int = 1 << 30
) -> StorageProfile:
    """All reads, then all writes; the best of the passes is the score."""
    return StorageProfile(
        tests=_reads(labels) + _writes(labels),
        passes=passes,
        discarded=1,
        pass_s=5.0,
        pause_s=5.0,
        file_bytes=file_bytes,
        score="maximum",
        origin=f"CrystalDiskMark {version}",
    )


def _anvil() -> StorageProfile:
    """Its tests and their order are known, the length of each is not: ten seconds are ours."""
    both: tuple[_Label, ...] = (
        ("Seq 4MB", False, 4 * _MB, 1, 1),
        ("4K", True, 4 * _KB, 1, 1),
        ("4K QD4", True, 4 * _KB, 4, 1),
        ("4K QD16", True, 4 * _KB, 16, 1),
    )
    larger: tuple[_Label, ...] = (
        ("32K", True, 32 * _KB, 1, 1),
        ("128K", True, 128 * _KB, 1, 1),
    )
    return StorageProfile(
        tests=_reads(both + larger) + _writes(both),
        passes=1,
        discarded=0,
        pass_s=10.0,
        pause_s=0.0,
        file_bytes=1 << 30,
        score="mean",
        origin="Anvil's Storage Utilities 1.1, its SSD benchmark; a pass has a length of ours",
    )


def _database() -> StorageProfile:
    """What a transaction database asks of its disks: pages, a log, and both at the same time.

    Pages are read and written 70 to 30, in blocks as PostgreSQL (8 KB) and InnoDB (16 KB) have
    them, by several processes each of which waits; a log is written block after block, and each
    block is on the disk before the next one is begun.
    """

    def pages(block_bytes: int, name: str = "") -> Job:
        return Job("randrw", block_bytes, 4, 4, read_percent=70, file="pages", name=name)

    def log(name: str = "") -> Job:
        return Job("write", 8 * _KB, 1, 1, sync="fdatasync", file="log", name=name)

    def together(block_bytes: int) -> StorageTest:
        jobs = (pages(block_bytes, "pages"), log("log"))
        size = f"{block_bytes // _KB}K"
        return StorageTest(f"Pages {size} and log mix", f"pages-{size.lower()}-and-log", jobs)

    return StorageProfile(
        tests=(
            single("Pages 8K Q4T4", pages(8 * _KB)),
            single("Pages 16K Q4T4", pages(16 * _KB)),
            single("Log 8K sync", log()),
            together(8 * _KB),
            together(16 * _KB),
        ),
        passes=3,
        discarded=1,
        pass_s=10.0,
        pause_s=5.0,
        file_bytes=1 << 30,
        score="mean",
        origin="Loadstone: pages and logs of PostgreSQL and InnoDB",
    )


def _curve() -> StorageProfile:
    """A test at depth 1, to be measured at rising depths (`depths`)."""
    return StorageProfile(
        tests=_reads([_RND4K_Q1]),
        passes=1,
        discarded=1,
        pass_s=5.0,
        pause_s=0.0,
        file_bytes=1 << 30,
        score="mean",
        origin="Loadstone: throughput against latency at rising queue depths",
    )


PROFILES = {
    "cdm3": _crystal(
        [
            ("Seq", False, _MB, 1, 1),
            ("512K", True, 512 * _KB, 1, 1),
            ("4K", True, 4 * _KB, 1, 1),
            ("4K QD32", True, 4 * _KB, 32, 1),
        ],
        "3; its passes are cut by time as those of later versions",
        file_bytes=1000 * _MB,
    ),
    "cdm5": _crystal(
        [
            ("Seq Q32T1", False, 128 * _KB, 32, 1),
            ("4K Q32T1", True, 4 * _KB, 32, 1),
            ("Seq", False, _MB, 1, 1),
            ("4K", True, 4 * _KB, 1, 1),
        ],
        "5",
    ),
    "cdm6": _crystal(
        [
            ("Seq Q32T1", False, 128 * _KB, 32, 1),
            ("4KiB Q8T8", True, 4 * _KB, 8, 8),
            ("4KiB Q32T1", True, 4 * _KB, 32, 1),
            ("4KiB Q1T1", True, 4 * _KB, 1, 1),
        ],
        "6",
    ),
    "cdm8": _crystal(_CRYSTAL_8, "8"),
    "cdm8-nvme": _crystal(
        [
            _SEQ1M_Q8,
            ("SEQ128K Q32T1", False, 128 * _KB, 32, 1),
            ("RND4K Q32T16", True, 4 * _KB, 32, 16),
            _RND4K_Q1,
        ],
        "8, NVMe",
    ),
    "cdm9": _crystal(_CRYSTAL_8, "9.0.1", passes=3),
    "anvil": _anvil(),
    "database": _database(),
    "curve": _curve(),
}
"""Name: its tests."""
CURVE = "curve"
CURVE_DEPTHS = "1..64"
"""Depths at which the test of `curve` is measured, where none are named."""
