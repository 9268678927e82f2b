"""Where the ranks of a job go, and what a cluster cannot hold."""

from __future__ import annotations

import pytest

from loadstone.errors import BeyondTargetError, WrongInputError
from loadstone.schedulers.base import NodeInfo
from loadstone.workloads.jobs.layout import Layout, layout_of, most_jobs, refuse_too_many


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


@pytest.mark.parametrize(
    ("layout", "nodes_and_slots", "most", "filled"),
    [
        (Layout(1, 1), (4, 2), 8, "8 jobs fill the cluster's 8 slots"),
        (Layout(4, 1), (4, 2), 2, "2 jobs fill the cluster's 8 slots"),
        (Layout(1, 3), (3, 4), 3, "3 jobs take 9 of the cluster's 12 slots, and no other fits"),
        (Layout(2, 1), (3, 1), 1, "1 job takes 2 of the cluster's 3 slots, and no other fits"),
        (Layout(2, 4), (2, 4), 1, "1 job fills the cluster's 8 slots"),
    ],
)
def test_the_most_jobs_are_known_before_any_is_submitted(
    layout: Layout, nodes_and_slots: tuple[int, int], most: int, filled: str
) -> None:
    nodes = cluster(*nodes_and_slots)
    assert most_jobs(layout, nodes) == most
    refuse_too_many([layout] * most, nodes)
    with pytest.raises(BeyondTargetError) as caught:
        refuse_too_many([layout] * (most + 1), nodes)
    assert caught.value.most == filled
    assert caught.value.advice == (
        f"give {most} job{'' if most == 1 else 's'} at most, fewer ranks, or a larger cluster"
    )


def test_of_jobs_that_differ_only_the_slots_are_counted() -> None:
    nodes = cluster(2, 2)
    refuse_too_many([Layout(1, 2), Layout(2, 1)], nodes)
    with pytest.raises(WrongInputError, match="3 jobs at once take 6 slots"):
        refuse_too_many([Layout(1, 2), Layout(2, 1), Layout(1, 2)], nodes)
