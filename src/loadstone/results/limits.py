"""What limits a system, named with its evidence. Pure.

The method is Gregg's USE (utilisation, saturation, errors): each resource that can run out is
looked at, and what is full is named. A figure that is full at the same time as the system is slow
is a likely cause, and no proof: to raise it and measure again is one.

Source: Gregg, B. (2013). Thinking Methodically about Performance. CACM 56(2):45-51.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadstone.results.usage import ResourceUse


@dataclass(frozen=True)
class Resource:
    """Something that can run out."""

    title: str
    """As it is said, of a part or of the whole system."""
    enough: float
    """From this share on it may limit."""
    rank: int
    """What is full and has a lower one is named first: a cause before what comes of it."""


GENERATOR = "generator"
RATE_LIMIT, SESSIONS = "rate limit", "sessions"
PART_PROCESSORS, HOST_PROCESSORS, GROUP_QUOTA = "part processors", "host processors", "group quota"
MEMORY, DISK, DISK_WAITS = "memory", "disk", "disk waits"
POOL, LOCKS, LATCHES = "pool", "locks", "latches"
CONNECTIONS, THREADS, LINK = "connections", "threads", "link"

RESOURCES: Mapping[str, Resource] = {
    GENERATOR: Resource("the load generator", 0.9, 0),
    RATE_LIMIT: Resource("the rate limiter", 0.01, 1),
    SESSIONS: Resource("the limit of sessions", 0.01, 1),
    CONNECTIONS: Resource("the limit of connections", 0.5, 1),
    LINK: Resource("the link of", 0.25, 1),
    PART_PROCESSORS: Resource("the processors of", 0.9, 2),
    GROUP_QUOTA: Resource("the quota of the surrounding control group", 0.5, 2),
    HOST_PROCESSORS: Resource("the processors of this machine", 0.9, 3),
    MEMORY: Resource("the memory of this machine", 0.1, 4),
    DISK: Resource("the disk of the data", 0.9, 4),
    DISK_WAITS: Resource("the disk", 0.5, 4),
    POOL: Resource("the pool of connections", 0.01, 5),
    LOCKS: Resource("locks", 0.5, 5),
    LATCHES: Resource("latches within the server", 0.5, 5),
    THREADS: Resource("the threads behind", 0.5, 6),
}
"""By name. docs/limits.md says why each counts from where it does, and why in this order."""
_OF = (" of", " behind")
"""So end titles that the name of a part follows."""


def use_of(
    resource: str, used: float, evidence: str, part: str = "", *, full: bool | None = None
) -> ResourceUse:
    """How far a resource was used.

    Args:
        resource: One of `RESOURCES`.
        used: Share, 0 to 1.
        evidence: The figures, in a few words without a full stop.
        part: Of a system of several, the one that it is of.
        full: Whether it may limit, where that does not hang on the share alone.
    """
    enough = RESOURCES[resource].enough
    return ResourceUse(
        resource=resource,
        part=part,
        used=used,
        full=used >= enough if full is None else full,
        evidence=evidence,
    )


def in_order(uses: Iterable[ResourceUse]) -> list[ResourceUse]:
    """The likeliest limit first.

    What is full comes before what is not; causes come before what comes of them, since threads wait
    where processors are full, and not the other way round. Among equals the fullest is first.
    """
    return sorted(uses, key=_key)


def limiting(uses: Sequence[ResourceUse]) -> ResourceUse | None:
    """What limits; None: not found."""
    return next((each for each in uses if each.full), None)


def title_of(use: ResourceUse) -> str:
    """The resource in words: `the processors of nodes`, `database: locks`."""
    title = RESOURCES[use.resource].title if use.resource in RESOURCES else use.resource
    if not use.part:
        return title
    return f"{title} {use.part}" if title.endswith(_OF) else f"{use.part}: {title}"


# -- inside ------------------------------------------------------------------------------------
def _key(use: ResourceUse) -> tuple[bool, int, float, str, str]:
    known = RESOURCES.get(use.resource, Resource(use.resource, 1.0, 9))
    rank = known.rank if use.full else 0
    return (not use.full, rank, -use.used / known.enough, use.part, use.resource)
