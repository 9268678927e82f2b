"""Where working folders of jobs lie on the nodes: a disk for each, or something that they share."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from loadstone.cluster.node import Node
from loadstone.cluster.nodes import Nodes
from loadstone.cluster.plan import STORAGE, NodePlan
from loadstone.errors import TargetError
from loadstone.host.proc import parse_mountinfo
from loadstone.journal import Journal
from loadstone.placements import loop
from loadstone.placements.device import Changes, make_file_system
from loadstone.units import format_size

_MOST_BYTES = 8 << 30
_LEAST_BYTES = 256 << 20


class WorkingStorage(ABC):
    """A kind of storage for working folders, at the same path on every node.

    Life: `make` before there are nodes, `serve` once they are there, `mount_on` each node, also one
    that has come back, and `close` when the nodes are gone, with which their mounts went.
    """

    kind: ClassVar[str]
    shared: ClassVar[bool]
    """All nodes see the same files."""
    network: ClassVar[bool] = False
    """Its bytes cross the link of a storage node."""
    file_system: ClassVar[str]
    """As the kernel names what a node has mounted; empty: nothing."""
    programs: ClassVar[tuple[str, ...]] = ()
    """Without which it cannot be made."""

    def __init__(self, journal: Journal, folder: Path) -> None:
        """Makes nothing yet.

        Args:
            journal: Told before anything is made.
            folder: Of the cluster, which exists.
        """
        self.folder = folder
        self.path = folder / "scratch"
        """On the nodes; the machine itself sees it only where it is a plain folder."""
        self._changes = Changes(journal)

    @classmethod
    def absent(cls) -> str | None:
        """Why it cannot be made here although its programs are there, or None."""
        return None

    @classmethod
    def storage_plan(cls, link_mbit: float | None) -> list[NodePlan]:
        """The storage node, if it has one.

        Args:
            link_mbit: Of its link.
        """
        return [NodePlan(STORAGE, link_mbit=link_mbit)] if cls.network else []

    def make(self, plans: Sequence[NodePlan]) -> None:
        """Makes folders and disks, before the nodes: they are removed after these.

        Args:
            plans: Of all nodes there will be.

        Raises:
            TargetError: If there is too little space, or no loop device.
        """
        make_open_folder(self.path)

    def serve(self, nodes: Nodes) -> None:  # noqa: B027 - most need nobody who serves
        """Starts what serves it on the storage node."""

    @abstractmethod
    def mount_on(self, node: Node) -> None:
        """Brings it to a node with slots.

        Raises:
            TargetError: With what the node said.
        """

    def close(self) -> None:
        """Undoes what is left when the nodes have gone."""
        self._changes.undo()

    def facts(self) -> dict[str, Any]:
        """For the inventory."""
        return {"kind": self.kind, "shared": self.shared, "network": self.network}

    def seen_on(self, node: Node) -> str:
        """The file system that a node has mounted there now; empty: none."""
        text = Path(f"/proc/{node.holder.pid}/mountinfo").read_text()
        found = [each for each in parse_mountinfo(text) if each["folder"] == str(self.path)]
        return found[-1]["file_system"] if found else ""


class Shared(WorkingStorage):
    """A plain folder of this machine, seen by all nodes."""

    kind = "shared"
    shared = True
    file_system = ""

    def mount_on(self, node: Node) -> None:
        """The node sees it already."""


class Local(WorkingStorage):
    """A loop disk for each node, which no other node sees."""

    kind = "local"
    shared = False
    file_system = "ext4"
    programs = ("mkfs.ext4",)

    def make(self, plans: Sequence[NodePlan]) -> None:
        """Makes the disks, too."""
        super().make(plans)
        names = [each.name for each in plans if each.slots]
        self._devices = make_disks(self._changes, self.folder, names)

    def mount_on(self, node: Node) -> None:
        """Mounts its disk."""
        if node.name in self._devices:
            mount_disk(node, self._devices[node.name], self.path)

    def facts(self) -> dict[str, Any]:
        """Which device each node has."""
        devices = {name: str(device) for name, device in self._devices.items()}
        return {**super().facts(), "devices": devices}


def make_disks(changes: Changes, folder: Path, names: Sequence[str]) -> dict[str, Path]:
    """Makes a loop disk with ext4 for each node, a sparse file in the folder of the cluster.

    Args:
        changes: Told before each is attached.
        folder: That takes the files.
        names: Of the nodes.

    Returns:
        Node: its device.

    Raises:
        TargetError: If there is too little space, or no loop device.
    """
    size = _size_bytes(folder, len(names))
    devices = {}
    for name in names:
        image, carried = folder / f"disk-{name}.img", f"{folder.name}-{name}"
        with image.open("xb") as file:
            file.truncate(size)
        make_file_system(image, "ext4")
        changes.before(
            f"attach {image} to a loop device", loop.DETACH, name=carried, file=str(image)
        )
        devices[name] = loop.attach(image, carried)
    return devices


def mount_disk(node: Node, device: Path, path: Path) -> None:
    """Mounts a disk on a node, writable by everybody.

    Raises:
        TargetError: With what the node said.
    """
    node.run(["mount", "-t", "ext4", "-o", "nodev,nosuid", device, path], doing=f"mounting {path}")
    node.run(["chmod", "1777", path], doing=f"opening {path}")


def make_open_folder(path: Path) -> None:
    """Makes a folder in which everybody may write, if it is not there."""
    path.mkdir(exist_ok=True)
    path.chmod(0o1777)


def _size_bytes(folder: Path, disks: int) -> int:
    free = shutil.disk_usage(folder).free
    size = min(_MOST_BYTES, free // (disks + 1)) // 4096 * 4096
    if size < _LEAST_BYTES:
        raise TargetError(
            f"{format_size(free)} are free in {folder}: too little for {disks} disks of "
            f"{format_size(_LEAST_BYTES)}",
            advice="free some space, or name another data folder",
        )
    return size
