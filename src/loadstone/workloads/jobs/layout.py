"""Where the ranks of a job go: so many nodes, with so many ranks on each. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadstone.counting import how_many
from loadstone.errors import BeyondTargetError, WrongInputError
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
        f"a job of {how_many(ranks, 'rank')} does not fit on {how_many(len(cluster), 'node')} of "
        f"{how_many(room, 'slot')}",
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
            f"{how_many(ranks, 'rank')} cannot be shared evenly by {nodes} nodes",
            advice=f"give a multiple of {nodes} as ranks, or another number of nodes",
        )
    if ranks // nodes > room:
        raise WrongInputError(
            f"{ranks // nodes} ranks on each of {how_many(nodes, 'node')} do not fit: a node has "
            f"{how_many(room, 'slot')}",
            advice="give fewer ranks, or more nodes",
        )
    return Layout(nodes, ranks // nodes)


def refuse_too_many(layouts: Sequence[Layout], cluster: Sequence[NodeInfo]) -> None:
    """Stops before jobs that can never run at once.

    Where jobs differ, only their slots are counted: how they share nodes is the scheduler's.

    Raises:
        WrongInputError: If they take more slots than there are. Of jobs that are alike a
            BeyondTargetError, also if nodes do not have the slots together.
    """
    wanted, there = sum(layout.ranks for layout in layouts), sum(node.slots for node in cluster)
    jobs = how_many(len(layouts), "job")
    takes = "takes" if len(layouts) == 1 else "at once take"
    message = f"{jobs} {takes} {how_many(wanted, 'slot')}, and the cluster has {there}"
    if len(set(layouts)) > 1:
        if wanted > there:
            advice = "give fewer jobs or ranks, or a larger cluster"
            raise WrongInputError(message, advice=advice)
        return
    most = most_jobs(layouts[0], cluster)
    if len(layouts) <= most:
        return
    if wanted <= there:
        message = (
            f"{jobs} of {layouts[0]} ranks do not fit at once on nodes of "
            f"{', '.join(str(node.slots) for node in cluster)} slots"
        )
    raise BeyondTargetError(
        message,
        most=_filled(most, layouts[0], there),
        advice=f"give {how_many(most, 'job')} at most, fewer ranks, or a larger cluster",
    )


def most_jobs(layout: Layout, cluster: Sequence[NodeInfo]) -> int:
    """How many jobs of a layout fit on a cluster at once.

    A job has each of its nodes once. So many jobs fit if the nodes, each with no more than one
    share of every job, have room for all shares (Gale 1957, Ryser 1957: equal row sums).

    Args:
        layout: Of each job.
        cluster: Its nodes.
    """
    shares = [node.slots // layout.per_node for node in cluster]
    jobs = sum(shares) // layout.nodes
    while jobs and sum(min(jobs, each) for each in shares) < jobs * layout.nodes:
        jobs -= 1
    return jobs


def _filled(jobs: int, layout: Layout, there: int) -> str:
    """What so many jobs take of a cluster, as a clause."""
    taken, one = jobs * layout.ranks, jobs == 1
    if taken == there:
        verb = "fills" if one else "fill"
        return f"{how_many(jobs, 'job')} {verb} the cluster's {how_many(there, 'slot')}"
    verb = "takes" if one else "take"
    return (
        f"{how_many(jobs, 'job')} {verb} {taken} of the cluster's {there} slots, and no other fits"
    )
