"""A node: a computer of its own as far as its programs can tell, in namespaces of this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from loadstone.cluster.holder import Holder
from loadstone.cluster.network import Shape, shape_of
from loadstone.cluster.plan import NodePlan
from loadstone.errors import TargetError
from loadstone.host.cgroup import CpuGroup, quota_in
from loadstone.host.cpu_group import SHORT_US, QuotaGroup
from loadstone.host.processes import signal_all, wait_ended
from loadstone.journal import Journal

_MACHINE_TMP = "/tmp/.of-the-machine"  # noqa: S108
"""Where a node sees the `/tmp` of the machine."""
_SCRIPT = f"""
name=$1 hosts=$2 new_tmp=$3
shift 3
echo "$name" > /proc/sys/kernel/hostname
mount --bind "$hosts" /etc/hosts
mount -t tmpfs -o mode=1777 loadstone-shm /dev/shm
mount -t tmpfs -o mode=1777 loadstone-tmp "$new_tmp"
mkdir "$new_tmp/{Path(_MACHINE_TMP).name}"
mount --rbind /tmp "$new_tmp/{Path(_MACHINE_TMP).name}"
mount --move "$new_tmp" /tmp
for each in "$@"; do
    mkdir -p "$each"
    mount --rbind "{_MACHINE_TMP}/${{each#/tmp/}}" "$each"
done
ip link set lo up
"""
_SHOW = f"""
mkdir -p "$1"
mountpoint -q "$1" || mount --rbind "{_MACHINE_TMP}/${{1#/tmp/}}" "$1"
"""
_TMP = Path("/tmp")  # noqa: S108
_COLLECT_S = 1.0
_SHUT_DOWN_S = 5.0
"""After which a computer that shuts down kills what is left."""


class Node:
    """A node with a host name, a network, mounts, processes and a `/tmp` of its own.

    What it mounts nobody else sees, and it goes with the node. It sees the files of the machine;
    of the machine's `/tmp` it sees what it is shown.
    """

    def __init__(self, journal: Journal, folder: Path, plan: NodePlan, address: str) -> None:
        """Makes nothing yet.

        Args:
            journal: Told before it is made.
            folder: Its own, which exists; if it lies below `/tmp`, it is among what nodes see.
            plan: What it is to be.
            address: Its own, in the network of the nodes.
        """
        self.plan = plan
        self.name = plan.name
        self.address = address
        self.folder = folder
        self.holder = Holder(journal, folder, f"the node {plan.name}")
        self._group = QuotaGroup(journal)
        self._members: Path | None = None
        self._slots = [QuotaGroup(journal) for _ in range(plan.slots if plan.by_slot else 0)]
        self.slot_groups: tuple[str, ...] = ()
        """Of each slot the file by which a rank joins its group; empty where slots have none."""

    # -- life ----------------------------------------------------------------------------------
    def start(self, hosts: Path, seen: Sequence[Path], *, bound: bool) -> None:
        """Makes it, without a link.

        Args:
            hosts: The hosts file that it has.
            seen: Folders below the machine's `/tmp` that it is to see.
            bound: Whether it is held to the share of its plan.

        Raises:
            TargetError: If it cannot be made.
        """
        share = self.plan.share if bound else None
        if share is not None:
            self._members = self._group.bound(share)
            self.slot_groups = tuple(self._bound_slot(each, share) for each in self._slots)
        new_tmp = self.folder / "tmp"
        new_tmp.mkdir(exist_ok=True)
        arguments = [self.name, str(hosts), str(new_tmp), *map(str, seen)]
        self.holder.start(_SCRIPT, arguments, self._members)

    @property
    def runs(self) -> bool:
        """Whether it was made and was not killed since."""
        return self.holder.runs

    def shut_down(self) -> None:
        """Asks all that runs in it to end, and waits a while until it has."""
        asked = [each for each in self.processes() if each.pid != self.holder.pid]
        signal_all(asked, signal.SIGTERM)
        wait_ended(asked, _SHUT_DOWN_S)

    def kill(self) -> None:
        """Kills all that runs in it at once, as if its power was cut. It may come back."""
        self.holder.kill()

    def close(self) -> None:
        """Kills all that runs in it, and removes its control group. Works after any failure."""
        self.holder.close()
        for group in (*self._slots, self._group):
            group.remove()
        self._members, self.slot_groups = None, ()

    # -- use -----------------------------------------------------------------------------------
    def enter(self) -> list[str]:
        """Words that stand before a command which is to run in it: see `Holder.enter`."""
        return self.holder.enter()

    def popen(
        self, words: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Starts a program in it, in a session of its own, and does not wait.

        Args:
            words: Program and arguments.
            log: What it says is appended to this file.
            environment: All its variables but PATH, which is the lab's unless it is among them.
        """
        with log.open("ab") as output:
            return subprocess.Popen(
                [*self.enter(), *map(str, words)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                env=variables(environment),
            )

    def run(
        self,
        words: Sequence[str | Path],
        *,
        doing: str,
        timeout_s: float = 30.0,
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Runs a program in it to its end.

        Args:
            words: Program and arguments.
            doing: What it is to do, for the message when it fails.
            timeout_s: After which it is killed.
            environment: As of `popen`.

        Returns:
            Its standard output.

        Raises:
            TargetError: If it ends badly or not in time, with what it said.
        """
        process = subprocess.Popen(
            [*self.enter(), *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=variables(environment),
        )
        try:
            told, errors = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            _kill_group(process)
            raise TargetError(
                f"{doing} on {self.name} did not end within {timeout_s:g} s"
            ) from error
        if process.returncode != 0:
            said = " ".join((errors or told).split()) or f"exit code {process.returncode}"
            raise TargetError(f"{doing} on {self.name} failed: {said}")
        return told

    def show(self, folder: Path) -> None:
        """Has the node see a folder of the machine's `/tmp`; others it sees anyway.

        Raises:
            TargetError: If it cannot be mounted.
        """
        real = folder.resolve()
        if real.is_relative_to(_TMP) and real != _TMP:
            self.run(["/bin/sh", "-ec", _SHOW, "sh", real], doing=f"showing {real}")

    # -- observation ---------------------------------------------------------------------------
    def processes(self) -> list[psutil.Process]:
        """All that run in it now."""
        return self.holder.inhabitants()

    def held_share(self) -> float | None:
        """The processors' worth of time that the kernel gives it; None: as much as there is."""
        held = None if self._members is None else quota_in(self._members.parent)
        return None if held is None else held.cpus

    def groups(self) -> list[CpuGroup]:
        """Those that hold its ranks to what they may have: of its slots, or its own; or none."""
        if self._members is None:
            return []
        folders = [Path(each).parent for each in self.slot_groups] or [self._members.parent]
        return [held for each in folders if (held := quota_in(each)) is not None]

    def held_slots(self) -> list[float]:
        """The part of each slot, in processors, as the kernel has it; empty where none has one."""
        return [each.cpus for each in self.groups()] if self.slot_groups else []

    def shape(self) -> Shape:
        """What makes the packets that it sends slow or late, as the kernel has it."""
        return shape_of(self.holder)

    # -- inside --------------------------------------------------------------------------------
    def _bound_slot(self, group: QuotaGroup, share: float) -> str:
        """Gives a slot its part of the node's share; jobs of any user may join it."""
        members = group.bound(share / self.plan.slots, SHORT_US)
        members.chmod(0o666)
        return str(members)


def variables(chosen: Mapping[str, str] | None) -> dict[str, str]:
    """The variables of a program in a node: those chosen, a PATH, and the plain locale."""
    path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    return {"PATH": path, "LC_ALL": "C", **(chosen or {})}


def below_tmp(paths: Sequence[Path]) -> list[Path]:
    """Those of the folders that lie below `/tmp`, none of them below another, each once."""
    real = sorted({each.resolve() for each in paths if each.is_dir()})
    found: list[Path] = []
    for each in real:
        if each.is_relative_to(_TMP) and each != _TMP and not any(map(each.is_relative_to, found)):
            found.append(each)
    return found


def _kill_group(process: subprocess.Popen[str]) -> None:
    """Kills what was entered first: nsenter then collects it, and nobody else has to."""
    with contextlib.suppress(psutil.NoSuchProcess):
        signal_all(psutil.Process(process.pid).children(recursive=True), signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_COLLECT_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
