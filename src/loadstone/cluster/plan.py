"""What a cluster on this machine is to be: its nodes, their shares and links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from loadstone.counting import how_many
from loadstone.errors import WrongInputError

HEAD = "head"
"""The node of controllers, where commands of the scheduler run; it has no slots."""
STORAGE = "storage"
"""The node whose disk the others reach over its link; it has no slots either."""
FOR_DAEMONS = 0.3
"""Processors that are left over for daemons and the lab when the nodes get their shares."""
MOST_NODES = 64
_NETWORK = IPv4Address("10.200.0.0")
PREFIX_BITS = 24
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")


@dataclass(frozen=True)
class NodePlan:
    """A node as it is asked for."""

    name: str
    """Its host name: lower case, digits, dashes."""
    slots: int = 0
    """Ranks that it holds; none: it is no node of jobs."""
    share: float | None = None
    """Processors' worth of time for all that runs in it; None: no bound."""
    link_mbit: float | None = None
    """Million bits a second, each way, of its link; None: as fast as the machine is."""
    link_delay_ms: float | None = None
    """By which each packet that it sends is late."""
    by_slot: bool = False
    """Each slot has an equal part of the share to itself."""

    def __post_init__(self) -> None:
        """Refuses what cannot be made.

        Raises:
            WrongInputError: It names the value.
        """
        if not _NAME.fullmatch(self.name):
            raise WrongInputError(f"{self.name!r} is no name of a node", advice="write n1, n2, ...")
        for what, value in (
            ("share", self.share),
            ("link_mbit", self.link_mbit),
            ("link_delay_ms", self.link_delay_ms),
        ):
            if value is not None and value <= 0:
                raise WrongInputError(f"{what} {value:g} of {self.name} is not above 0")


def compute_plans(
    nodes: int,
    slots: int,
    *,
    processors: int,
    share: float | None = None,
    link_mbit: float | None = None,
    link_delay_ms: float | None = None,
    by_slot: bool = False,
) -> list[NodePlan]:
    """Equal nodes `n1`, `n2` and so on.

    Args:
        nodes: How many.
        slots: Of each.
        processors: Of this machine.
        share: Processors of each node; None: what is left over for all after the daemons' part.
        link_mbit: Of each link.
        link_delay_ms: Of each link.
        by_slot: Each slot has an equal part of the share to itself.

    Raises:
        WrongInputError: If the shares are more than the machine has.
    """
    if not 1 <= nodes <= MOST_NODES:
        raise WrongInputError(f"{nodes} nodes: a cluster here has 1 to {MOST_NODES}")
    whole = round(nodes * share, 6) if share is not None else 0.0
    if whole > processors:
        raise WrongInputError(
            f"{how_many(nodes, 'node')} with a share of {share:g} are {whole:g} processors, and "
            f"this machine has {processors}",
            advice="make the share smaller, or leave it out",
        )
    of_each = share if share is not None else (processors - FOR_DAEMONS) / nodes
    return [
        NodePlan(f"n{number}", slots, round(of_each, 3), link_mbit, link_delay_ms, by_slot)
        for number in range(1, nodes + 1)
    ]


def functional_only(plans: Sequence[NodePlan], processors: int) -> str:
    """Why ratios of times mean nothing on such nodes; empty where they do.

    A node with one slot gives each rank the same time at any load, and so does one whose slots have
    a part each. Another with several gives a rank less the more of them run, unless its share has a
    processor for each.

    Args:
        plans: Those with slots count.
        processors: Of this machine.
    """
    for each in plans:
        if each.share is not None and not each.by_slot and each.share < each.slots > 1:
            return f"{each.slots} slots of {each.name} share {each.share:g} processors"
    unbounded = sum(each.slots for each in plans if each.share is None)
    if unbounded > processors:
        has = how_many(processors, "processor")
        return f"{how_many(unbounded, 'slot')} share the {has} of this machine"
    return ""


def addresses(names: Sequence[str]) -> dict[str, str]:
    """An address for each node, in a network that only the nodes see.

    Args:
        names: In the order of their numbers.
    """
    return {name: str(_NETWORK + number) for number, name in enumerate(names, start=1)}


def hosts_text(of: dict[str, str]) -> str:
    """The hosts file of every node.

    Args:
        of: Node: its address.
    """
    lines = ["127.0.0.1 localhost", *(f"{address} {name}" for name, address in of.items())]
    return "\n".join(lines) + "\n"
