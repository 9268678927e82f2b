"""Which host a target is on, and where its data lie there."""

from __future__ import annotations

from pathlib import Path

import psutil

from loadstone.host.machine import Absent
from loadstone.spec.target import TargetSpec

_DEFAULT = Path("/var/tmp")  # noqa: S108
_IN_MEMORY = ("tmpfs", "zram")
_LOOPBACK = ("localhost", "127.", "::1", "/")


def data_folder(target: TargetSpec | None) -> Path | Absent:
    """The folder whose disk holds the data, or why there is none on this machine.

    Placements on loop devices and network block devices keep their files in the target's data
    folder, so the disk below that one works for them. Of a system of several parts that says
    nothing itself, the first part that says where its data lie counts.
    """
    if target is None:
        return _DEFAULT
    if at_address(target):
        return Absent("the data are at another address: name the disk, as host.queue.vda.FIELD")
    parts = [each for each in target.parts.values() if each.data or each.storage.data]
    owner = parts[0] if parts and not (target.data or target.storage.data) else target
    placement = owner.storage.data or ""
    kind, _, rest = placement.partition(":")
    if kind in _IN_MEMORY:
        return Absent(f"the data lie in memory ({kind}), which has no block queue")
    if kind == "folder" and rest:
        return Path(rest)
    return Path(owner.data) if owner.data else _DEFAULT


def at_address(target: TargetSpec) -> bool:
    """Whether the server is one that Loadstone does not start."""
    return "://" in target.server


def is_here(host: str) -> bool:
    """Whether a host is this machine: no name, a socket's folder, or an address of its own."""
    if not host or host.startswith(_LOOPBACK):
        return True
    own = {address.address for each in psutil.net_if_addrs().values() for address in each}
    return host in own
