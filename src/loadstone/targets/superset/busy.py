"""Whether all threads of the nodes, or all connections of the balancer, were taken. Pure.

A node answers as many requests at a time as it has threads in all workers. What comes on top waits
in gunicorn, where nobody counts it; the balancer knows how many it has sent and not had back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from loadstone.results import limits
from loadstone.results.usage import ResourceUse


@dataclass(frozen=True)
class Busy:
    """What the balancer had at a time of the trial's clock."""

    t_s: float
    requests: float
    """With the nodes, or waiting for one."""
    connections: float
    """Of people."""


def busy_uses(seen: Sequence[Busy], threads: int, connections: float) -> list[ResourceUse]:
    """Of an interval.

    Args:
        seen: What the balancer had, once a second.
        threads: Of all nodes together; 0: not known.
        connections: That the balancer may have; 0: not known.
    """
    if not seen:
        return []
    found = []
    if threads:
        taken = [each.requests for each in seen]
        evidence = (
            f"all {threads} had a request in {_percent(taken, threads)} % of the time; "
            f"{fmean(taken):.1f} requests at a time on average"
        )
        found.append(limits.use_of(limits.THREADS, _share(taken, threads), evidence))
    if connections:
        taken = [each.connections for each in seen]
        evidence = (
            f"all {connections:,.0f} (maxconn) were open in {_percent(taken, connections)} % of "
            f"the time; {fmean(taken):,.0f} on average"
        )
        found.append(limits.use_of(limits.CONNECTIONS, _share(taken, connections), evidence))
    return found


def _share(taken: Sequence[float], most: float) -> float:
    return sum(each >= most for each in taken) / len(taken)


def _percent(taken: Sequence[float], most: float) -> str:
    return f"{100 * _share(taken, most):.0f}"
