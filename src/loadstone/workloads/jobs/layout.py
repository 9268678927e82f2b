"""Where the ranks of a job go: so many nodes, with so many ranks on each. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadstone.errors import WrongInputError
from loadstone.schedulers.base import NodeInfo

COMPACT, DISTRIBUTED = "compact", "distributed"
PLACEMENTS = (COMPACT, DISTRIBUTED)


@dataclass(frozen=True)
class Layout:
    """Of one job: it has `nodes * per_node` ranks."""

    nodes: int
    per_node: int

    @property
    def ranks(self) -> int:
        """Of the job."""
        return self.nodes * self.per_node

    def __str__(self) -> str:
        """As the published tables write it: `4x2` is four nodes with two ranks each."""
        return f"{self.nodes}x{self.per_node}"


def layout_of(ranks: int, placement: str, asked: int, cluster: Sequence[NodeInfo]) -> Layout:
    """The layout of a job.

    Every node of a job has the same number of ranks: a launcher that deals ranks out unevenly would
    give one job two layouts.

    Args:
        ranks: Of the job.
        placement: `compact`: as few nodes as hold the ranks. `distributed`: all nodes.
        asked: Nodes that the user named; 0: as the placement says.
        cluster: Its nodes.

    Raises:
        WrongInputError: If the ranks do not fit, or cannot be shared evenly.
    """
    if not cluster:
        raise WrongInputError("the cluster has no node that can take a job")
    room = min(node.slots for node in cluster)
    if asked:
        return _shared(ranks, asked, room, len(cluster))
    if placement == DISTRIBUTED:
        if len(cluster) == 1:
            raise WrongInputError(
                "placement distributed is not possible: the cluster has one node",
                advice="write placement: compact, or take a cluster of several nodes",
            )
        return _shared(ranks, len(cluster), room, len(cluster))
    for nodes in range(-(-ranks // room), len(cluster) + 1):
        if ranks % nodes == 0:
            return Layout(nodes, ranks // nodes)
    raise WrongInputError(
        f"a job of {ranks} ranks does not fit on {len(cluster)} nodes of {room} slots",
        advice="give fewer ranks, or a number that the nodes share evenly",
    )


def _shared(ranks: int, nodes: int, room: int, most: int) -> Layout:
    if nodes > most:
        raise WrongInputError(
            f"{nodes} nodes are asked for each job, and the cluster has {most}",
            advice="give fewer nodes",
        )
    if ranks % nodes:
        raise WrongInputError(
            f"{ranks} ranks cannot be shared evenly by {nodes} nodes",
            advice=f"give a multiple of {nodes} as ranks, or another number of nodes",
        )
    if ranks // nodes > room:
        raise WrongInputError(
            f"{ranks // nodes} ranks on each of {nodes} nodes do not fit: a node has {room} slots",
            advice="give fewer ranks, or more nodes",
        )
    return Layout(nodes, ranks // nodes)


def refuse_too_many(layouts: Sequence[Layout], cluster: Sequence[NodeInfo]) -> None:
    """Stops before jobs that can never run at once.

    Raises:
        WrongInputError: If they take more slots than there are.
    """
    wanted = sum(layout.ranks for layout in layouts)
    there = sum(node.slots for node in cluster)
    if wanted > there:
        raise WrongInputError(
            f"{len(layouts)} jobs at once take {wanted} slots, and the cluster has {there}",
            advice="give fewer jobs or ranks, or a larger cluster",
        )
