"""What a load takes of this machine, in words."""

from __future__ import annotations

from math import ceil

from loadstone.load.resources import Resources

_MOST_NAMED = 5
"""Servers whose connections are told apart."""


def needs_said(found: Resources) -> str:
    """Connections, and what they take of this machine."""
    return " ".join(
        part for part in (_connections(found), _ports(found), _taken(found), _files(found)) if part
    )


def _connections(found: Resources) -> str:
    each = f", up to {found.each} each to one server" if found.each > 1 else ""
    most = sorted(found.destinations, key=lambda place: -place.connections)
    named = ", ".join(
        f"{place.connections:,} to {place.host}:{place.port}" for place in most[:_MOST_NAMED]
    )
    rest = f", and others to {len(most) - _MOST_NAMED} more" if len(most) > _MOST_NAMED else ""
    apart = f": {named}{rest}" if len(most) > 1 else ""
    return (
        f"The load opens {_counted(found.connections, 'connection')} at most "
        f"({_counted(found.users, 'user')}{each}){apart}."
    )


def _ports(found: Resources) -> str:
    count = len(found.sources)
    if not count:
        come_from = "the one that the system chooses"
    elif count == 1:
        come_from = found.sources[0]
    else:
        come_from = f"{count} of them ({found.sources[0]} to {found.sources[-1]})"
    ports = _counted(found.ports, "port")
    return f"A source address has {ports} for each server; they come from {come_from}."


def _taken(found: Resources) -> str:
    """What others have of the ports, where few are left."""
    said = []
    if found.in_use:
        said.append(f"{found.in_use:,} of the ports are in use")
    if found.time_wait:
        until = f", and a run waits {ceil(found.wait_s)} s for them" if found.wait_s else ""
        said.append(f"{found.time_wait:,} are in TIME_WAIT of earlier connections{until}")
    return f"{'; '.join(said)}." if said else ""


def _files(found: Resources) -> str:
    is_one = found.processes == 1
    return (
        f"{found.processes} driver process{' opens' if is_one else 'es open'} "
        f"{found.open_files:,} files at most{'' if is_one else ' each'}; "
        f"{found.nofile:,} are allowed."
    )


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
