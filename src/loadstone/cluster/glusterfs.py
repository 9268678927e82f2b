"""Working folders on GlusterFS: a brick on the storage node, a FUSE client on each other node.

The server keeps its state below `/var/lib`, `/var/log` and `/run`: on the storage node these are
folders in memory, so that no other server of the machine is met. See glusterd(8) and gluster(8).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from loadstone.cluster.node import Node
from loadstone.cluster.nodes import Nodes
from loadstone.cluster.plan import STORAGE, NodePlan
from loadstone.cluster.sshfs import FUSE
from loadstone.cluster.storage import WorkingStorage, make_disks, mount_disk
from loadstone.errors import TargetError

_VOLUME = "scratch"
_READY_S = 30.0
_POLL_S = 0.05
_STATE = """
for each in /run /var/lib/glusterd /var/log/glusterfs; do
    [ ! -d "$each" ] || mount -t tmpfs loadstone-gluster "$each"
done
mkdir /run/gluster /run/lock
"""


class GlusterFs(WorkingStorage):
    """A volume of one brick, on a loop disk of the storage node: bricks need extended attributes.

    Its daemons listen in the network of the nodes only.
    """

    kind = "glusterfs"
    shared = True
    network = True
    file_system = "fuse.glusterfs"
    programs = ("glusterd", "gluster", "glusterfs", "mkfs.ext4")

    @classmethod
    def absent(cls) -> str | None:
        """FUSE."""
        return None if FUSE.exists() else f"{FUSE} is missing: load the module fuse"

    @property
    def brick(self) -> Path:
        """Where the storage node has its disk."""
        return self.folder / "brick"

    def make(self, plans: Sequence[NodePlan]) -> None:
        """Makes the disk of the brick, too."""
        super().make(plans)
        self.brick.mkdir(exist_ok=True)
        self._disk = make_disks(self._changes, self.folder, [STORAGE])[STORAGE]

    def serve(self, nodes: Nodes) -> None:
        """Starts the server on the storage node, and makes the volume."""
        server = nodes[STORAGE]
        mount_disk(server, self._disk, self.brick)
        self._apart(server)
        log = str(server.folder / "glusterd.log")
        server.run(["glusterd", "-l", log], doing="starting GlusterFS")
        _wait(lambda: _asked(server), "GlusterFS does not answer on the storage node", log)
        for words in (
            ("create", _VOLUME, f"{STORAGE}:{self.brick}/files", "force"),
            # What a client knows of the files of others is never older than its question.
            ("set", _VOLUME, "performance.stat-prefetch", "off"),
            ("start", _VOLUME),
        ):
            _gluster(server, "volume", *words)

    def mount_on(self, node: Node) -> None:
        """Mounts the volume on a node with slots."""
        if not node.plan.slots:
            return
        self._apart(node)
        log = str(node.folder / "glusterfs.log")
        node.run(self.words(log), doing="mounting GlusterFS")
        _wait(lambda: _mounted(node, self.path), f"GlusterFS is not mounted on {node.name}", log)
        node.run(["chmod", "1777", self.path], doing=f"opening {self.path}")

    def words(self, log: str) -> list[str]:
        """The command that mounts it on a node."""
        options = [f"--volfile-server={STORAGE}", f"--volfile-id={_VOLUME}", f"--log-file={log}"]
        return ["glusterfs", *options, str(self.path)]

    def facts(self) -> dict[str, Any]:
        """The volume and its brick."""
        return {**super().facts(), "volume": _VOLUME, "brick": str(self.brick)}

    @staticmethod
    def _apart(node: Node) -> None:
        node.run(["/bin/sh", "-ec", _STATE], doing="keeping GlusterFS apart")


def _wait(done: Callable[[], bool], otherwise: str, log: str) -> None:
    deadline = time.monotonic() + _READY_S
    while not done():
        if time.monotonic() > deadline:
            raise TargetError(f"{otherwise} after {_READY_S:g} s", advice=f"see {log}")
        time.sleep(_POLL_S)


def _gluster(node: Node, *words: str) -> str:
    return node.run(
        ["gluster", "--mode=script", *words], doing=f"gluster {words[0]} {words[1]}", timeout_s=60
    )


def _asked(node: Node) -> bool:
    try:
        _gluster(node, "volume", "list")
    except TargetError:
        return False
    return True


def _mounted(node: Node, path: Path) -> bool:
    try:
        node.run(["mountpoint", "-q", path], doing="looking for the mount")
    except TargetError:
        return False
    return True
