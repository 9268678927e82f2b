"""Working folders on a storage node, reached by SFTP through its link: sshfs(1) without SSH."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loadstone.cluster import sftp_listener
from loadstone.cluster.node import Node, variables
from loadstone.cluster.nodes import Nodes
from loadstone.cluster.plan import STORAGE, NodePlan
from loadstone.cluster.storage import WorkingStorage, make_open_folder
from loadstone.errors import TargetError
from loadstone.placements import processes

_PORT = 2022
_SERVERS = (
    "/usr/lib/openssh/sftp-server",
    "/usr/libexec/openssh/sftp-server",
    "/usr/lib/ssh/sftp-server",
    "/usr/libexec/sftp-server",
)
"""Where distributions have it: it is on nobody's path."""
FUSE = Path("/dev/fuse")


class Sshfs(WorkingStorage):
    """A folder of the storage node that each node mounts by FUSE.

    Names are not cached by sshfs, so that a rank sees what a rank of another node has just made.
    """

    kind = "sshfs"
    shared = True
    network = True
    file_system = "fuse.sshfs"
    programs = ("sshfs",)
    _listener: subprocess.Popen[bytes] | None = None

    @property
    def exported(self) -> Path:
        """The folder of the storage node."""
        return self.folder / "exported"

    @classmethod
    def absent(cls) -> str | None:
        """FUSE and the server that is started for each mount."""
        if not FUSE.exists():
            return f"{FUSE} is missing: load the module fuse"
        if sftp_server() is None:
            return "sftp-server is missing: install the package openssh-sftp-server"
        return None

    def make(self, plans: Sequence[NodePlan]) -> None:
        """Makes the folder that is served, too."""
        super().make(plans)
        make_open_folder(self.exported)

    def serve(self, nodes: Nodes) -> None:
        """Starts what serves the folder."""
        server = sftp_server()
        if server is None:
            raise TargetError(str(self.absent()))
        node = nodes[STORAGE]
        program = [sys.executable, sftp_listener.__file__, str(_PORT), str(server)]
        self._listener = processes.start_until(
            [*node.enter(), *program],
            lambda said: sftp_listener.READY in said,
            node.folder / "sftp.log",
            variables(None),
        )

    def mount_on(self, node: Node) -> None:
        """Mounts it."""
        if node.plan.slots:
            node.run(self.words(), doing="mounting sshfs")

    def words(self) -> list[str]:
        """The command that mounts it on a node."""
        options = f"directport={_PORT},allow_other,default_permissions,dir_cache=no,idmap=none"
        return ["sshfs", "-o", options, f"{STORAGE}:{self.exported}", str(self.path)]

    def facts(self) -> dict[str, Any]:
        """How it is mounted."""
        return {**super().facts(), "mount": self.words()}

    def close(self) -> None:
        """The server ended with its node."""
        super().close()
        if self._listener is not None:
            self._listener.wait()
            self._listener = None


def sftp_server() -> Path | None:
    """The program that speaks SFTP, if this machine has it."""
    return next((Path(each) for each in _SERVERS if Path(each).exists()), None)
