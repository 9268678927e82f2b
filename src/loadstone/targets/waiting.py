"""Which waits of active sessions tell of something that can run out. Pure.

The kinds are those of the probes: the wait classes of PostgreSQL, the first words of the events of
the performance schema, and what MariaDB's process list and the kernel's threads show.
"""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.results import limits
from loadstone.results.record import Wait
from loadstone.results.usage import ResourceUse

LEAST_SESSIONS = 1.0
"""With less than one session in it on average, a wait is a share of little: the server is idle."""

_RESOURCES = {
    limits.LOCKS: ("Lock", "lock"),
    limits.LATCHES: ("LWLock", "BufferPin", "synch"),
    limits.DISK_WAITS: ("IO", "io"),
}
_NO_DISK = ("socket/", "table/")
"""Events of the kind `io` that are of the network, or of a table in memory as well."""
_LOG_LOCKS = ("WALWrite",)
"""Latches of PostgreSQL that are held while another session writes and flushes its log."""


def waiting_uses(waits: Sequence[Wait], looks: int) -> list[ResourceUse]:
    """Locks, latches and disk, by the time that active sessions spent in each.

    Args:
        waits: Samples of active sessions by wait; those that run among them.
        looks: How often the sessions were looked at; those without an active one count.
    """
    if not looks:
        return []
    return [_use(resource, waits, looks) for resource in _RESOURCES]


def _resource_of(wait: Wait) -> str | None:
    if wait.event in _LOG_LOCKS:
        return limits.DISK_WAITS
    if wait.event.startswith(_NO_DISK):
        return None
    found = (resource for resource, kinds in _RESOURCES.items() if wait.kind in kinds)
    return next(found, None)


def _use(resource: str, waits: Sequence[Wait], looks: int) -> ResourceUse:
    own = [wait for wait in waits if _resource_of(wait) == resource]
    share, sessions = sum(wait.share for wait in own), sum(wait.samples for wait in own) / looks
    most = max(own, key=lambda wait: wait.samples, default=None)
    evidence = (
        f"{100 * share:.0f} % of the time of active sessions was spent there, {sessions:.1f} "
        "sessions on average"
    )
    if most is not None:
        evidence += f"; most at {most.event}"
    enough = share >= limits.RESOURCES[resource].enough and sessions >= LEAST_SESSIONS
    return limits.use_of(resource, share, evidence, full=enough)
