"""Closed segments that have not moved are found, whatever of them was left behind."""

from __future__ import annotations

import pytest

from loadstone.workloads.archive.segments import Segment, check_moved
from loadstone.workloads.archive.tables import index_name, segment_name

FIRST, SECOND, THIRD = (segment_name(number) for number in (1, 2, 3))
SEGMENTS = [
    Segment(1, FIRST, 0, "closed", 1),
    Segment(2, SECOND, 10, "closed", 2),
    Segment(3, THIRD, 20, "open"),
]


@pytest.mark.parametrize(
    ("left", "found"),
    [
        (set(), []),
        ({FIRST}, [FIRST]),
        ({index_name(SECOND)}, [SECOND]),
        ({FIRST, index_name(FIRST), SECOND}, [FIRST, SECOND]),
    ],
)
def test_what_was_left_behind_is_named(left: set[str], found: list[str]) -> None:
    def moved(table: str) -> set[str]:
        return set() if table == THIRD else {table, index_name(table)} - left

    check = check_moved(SEGMENTS, moved)
    assert check.passed == (not found)
    assert [name for name in (FIRST, SECOND, THIRD) if name in check.detail] == found
