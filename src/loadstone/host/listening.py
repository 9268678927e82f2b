"""Which processes of this machine answer at an address."""

from __future__ import annotations

from contextlib import suppress

import psutil

_FORWARDERS = ("docker-proxy", "rootlessport", "rootlesskit", "slirp4netns", "pasta", "gvproxy")
"""They hand connections on to processes that they are no parents of: into containers."""


def listeners(host: str, port: int) -> list[int]:
    """Processes that listen at an address, or at a socket in a folder.

    Args:
        host: A name, an address, or a path that begins with `/`.
        port: Its port; of a socket's folder the number in its name.

    Returns:
        Nothing where this user may not see them, or they only hand connections on.
    """
    found = set()
    try:
        for each in psutil.net_connections("unix" if host.startswith("/") else "tcp"):
            if each.pid is not None and _is_at(each.laddr, host, port, each.status):
                found.add(each.pid)
    except psutil.Error:
        return []
    return [] if any(map(_hands_on, found)) else sorted(found)


def _hands_on(pid: int) -> bool:
    """The first process listens for services that it starts when they are asked for."""
    return pid == 1 or _name(pid) in _FORWARDERS


def _name(pid: int) -> str:
    with suppress(psutil.Error):
        return str(psutil.Process(pid).name())
    return ""


def _is_at(address: object, host: str, port: int, status: str) -> bool:
    if isinstance(address, str):
        return address == host or (
            address.startswith(f"{host.rstrip('/')}/") and address.endswith(f".{port}")
        )
    return status == psutil.CONN_LISTEN and getattr(address, "port", None) == port
