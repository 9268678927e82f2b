"""What the load of a web application takes of this machine, in words."""

from __future__ import annotations

from loadstone.load.resources import Resources


def needs_said(found: Resources) -> str:
    """Connections, and what they take of this machine."""
    each = f", up to {found.each} each to one origin" if found.each > 1 else ""
    count, is_one = len(found.sources), found.processes == 1
    if not count:
        come_from = "the one that the system chooses"
    elif count == 1:
        come_from = found.sources[0]
    else:
        come_from = f"{count} of them ({found.sources[0]} to {found.sources[-1]})"
    return (
        f"The load opens {_counted(found.connections, 'connection')} at most "
        f"({_counted(found.users, 'user')}{each}). A source address has "
        f"{_counted(found.ports, 'port')}; they come from {come_from}. "
        f"{found.processes} driver process{' opens' if is_one else 'es open'} "
        f"{found.open_files:,} files at most{'' if is_one else ' each'}; "
        f"{found.nofile:,} are allowed."
    )


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
