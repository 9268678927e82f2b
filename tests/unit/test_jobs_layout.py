"""Where the ranks of a job go, and what a cluster cannot hold."""

from __future__ import annotations

import pytest

from loadstone.errors import WrongInputError
from loadstone.schedulers.base import NodeInfo
from loadstone.workloads.jobs.layout import Layout, layout_of, refuse_too_many


def cluster(nodes: int, slots: int) -> list[NodeInfo]:
    return [NodeInfo(f"n{number}", slots, "idle") for number in range(1, nodes + 1)]


@pytest.mark.parametrize(
    ("ranks", "placement", "asked", "nodes_and_slots", "found"),
    [
        # The published tests: MM8 has 8 ranks, PSTM 16; nodes have 8 slots.
        (8, "compact", 0, (8, 8), "1x8"),
        (8, "distributed", 0, (8, 8), "8x1"),
        (8, "distributed", 0, (4, 8), "4x2"),
        (16, "compact", 0, (4, 8), "2x8"),
        (16, "distributed", 0, (4, 8), "4x4"),
        (1, "compact", 0, (1, 2), "1x1"),
        (6, "compact", 0, (4, 4), "2x3"),
        (9, "compact", 0, (4, 8), "3x3"),  # two nodes cannot share nine evenly
        (4, "distributed", 2, (4, 4), "2x2"),
    ],
)
def test_a_layout(
    ranks: int, placement: str, asked: int, nodes_and_slots: tuple[int, int], found: str
) -> None:
    layout = layout_of(ranks, placement, asked, cluster(*nodes_and_slots))
    assert str(layout) == found
    assert layout.ranks == ranks


@pytest.mark.parametrize(
    ("ranks", "placement", "asked", "nodes_and_slots", "said"),
    [
        (17, "compact", 0, (2, 8), "does not fit on 2 nodes of 8 slots"),
        (3, "distributed", 0, (2, 8), "3 ranks cannot be shared evenly by 2 nodes"),
        (4, "compact", 3, (2, 8), "3 nodes are asked for each job, and the cluster has 2"),
        (8, "distributed", 2, (2, 2), "4 ranks on each of 2 nodes do not fit"),
        (1, "distributed", 0, (1, 8), "the cluster has one node"),
    ],
)
def test_what_a_cluster_cannot_hold_is_said_in_one_line(
    ranks: int, placement: str, asked: int, nodes_and_slots: tuple[int, int], said: str
) -> None:
    with pytest.raises(WrongInputError, match=said) as caught:
        layout_of(ranks, placement, asked, cluster(*nodes_and_slots))
    assert "\n" not in caught.value.message
    assert caught.value.advice


def test_a_cluster_without_nodes_is_said() -> None:
    with pytest.raises(WrongInputError, match="no node"):
        layout_of(1, "compact", 0, [])


def test_jobs_that_can_never_run_at_once_are_refused_before_any_is_submitted() -> None:
    refuse_too_many([Layout(1, 2)] * 4, cluster(4, 2))
    with pytest.raises(WrongInputError, match=r"5 jobs at once take 10 slots.* has 8"):
        refuse_too_many([Layout(1, 2)] * 5, cluster(4, 2))
