"""What this machine must have for a cluster, and which kinds of storage there are."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Iterable, Sequence

from loadstone.cluster.glusterfs import GlusterFs
from loadstone.cluster.sshfs import Sshfs
from loadstone.cluster.storage import Local, Shared, WorkingStorage
from loadstone.errors import WrongInputError
from loadstone.host.machine import CAP_SYS_ADMIN, has_capability
from loadstone.placements import programs

STORAGES: dict[str, type[WorkingStorage]] = {
    each.kind: each for each in (Local, Shared, Sshfs, GlusterFs)
}
"""Kind: what makes it. NFS is not among them: see `NO_NFS`."""
NO_NFS = "nfs: this needs a client in the kernel, and is for clusters that exist already"
_CAP_NET_ADMIN = 12
_ALWAYS = ("unshare", "nsenter", "mount", "ip", "mountpoint")
_TRIED = ("--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--mount-proc", "true")
_ELSEWHERE = "use the target local, or the address of a cluster that exists"


def check(storage: str, *, slow_links: bool = False, late_links: bool = False) -> None:
    """Refuses a cluster that cannot be made on this machine, before anything is.

    Args:
        storage: Kind of the storage of working folders.
        slow_links: Whether a link is to be slower than the machine.
        late_links: Whether packets are to be late.

    Raises:
        WrongInputError: With the first thing that is missing.
    """
    if not all(map(has_capability, (CAP_SYS_ADMIN, _CAP_NET_ADMIN))):
        raise WrongInputError(
            "a cluster on this machine is made of namespaces, which only root may make",
            advice=f"run Loadstone as root, {_ELSEWHERE}",
        )
    kind = storage_class(storage)
    shaped = ("tc",) if slow_links or late_links else ()
    refuse_missing((*_ALWAYS, *shaped, *kind.programs))
    reason = kind.absent()
    if reason is not None:
        raise WrongInputError(reason, advice="or choose other storage: --set scratch=shared")
    reason = _refused_namespaces()
    if reason:
        raise WrongInputError(
            f"this machine makes no namespaces for a cluster: {reason}",
            advice=f"allow them to this container, or {_ELSEWHERE}",
        )
    for wanted, setting, queue in (
        (slow_links, "link_mbit", "tbf rate 1mbit burst 10kb latency 50ms"),
        (late_links, "link_delay_ms", "netem delay 1ms"),
    ):
        if wanted and (reason := _refused_queue(queue)):
            raise WrongInputError(
                f"this kernel makes no {setting} (tc {queue.split()[0]}): {reason}",
                advice=f"leave {setting} out, or load the module sch_{queue.split()[0]}",
            )


def storage_class(kind: str) -> type[WorkingStorage]:
    """The storage of that kind.

    Raises:
        WrongInputError: If there is none.
    """
    if kind not in STORAGES:
        told = NO_NFS if kind == "nfs" else f"there is no scratch {kind!r} on a cluster made here"
        raise WrongInputError(told, advice=f"choose {', '.join(STORAGES)}")
    return STORAGES[kind]


def refuse_missing(names: Iterable[str]) -> None:
    """Refuses to begin where a program is missing.

    Raises:
        WrongInputError: It names the program and its package.
    """
    for name in names:
        reason = programs.absent(name)
        if reason is not None:
            raise WrongInputError(reason)


@functools.cache
def _refused_namespaces() -> str:
    """What the kernel says to an attempt; empty if it makes them."""
    return _refused([*_TRIED])


@functools.cache
def _refused_queue(queue: str) -> str:
    """What the kernel says to such a queue in a network of its own; empty if it makes it."""
    tc = str(programs.needed("tc"))
    return _refused(["--net", tc, "qdisc", "add", "dev", "lo", "root", *queue.split()])


def _refused(words: Sequence[str]) -> str:
    command = [str(programs.needed("unshare")), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    return "" if done.returncode == 0 else " ".join(done.stderr.split()) or "it refuses"
