"""A disk image that tgt serves by iSCSI, on the loopback of this machine.

The server is told by `tgtadm`, through a socket that it is known by. See tgtd(8) and tgtadm(8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import TargetError
from loadstone.placements import programs

PROGRAMS = ("tgtd", "tgtadm")
SOCKET = "tgt"
"""Name of its socket; tgt writes the number of the channel behind it."""
_IQN = "iqn.2025-01.invalid.loadstone:disk"
_LUN = 1
_FLAGS = "Backing store flags:"
_STORE = "Backing store path:"


@dataclass(frozen=True)
class IscsiExport:
    """An image and the server of it.

    Attributes:
        socket: Where the server is told things; its path is short enough for the kernel.
        image: What is served.
        write_through: Every write is on the disk before it is answered, and the disk says that it
            has no write cache. Otherwise it has one, and flushes it when it is told to.
        port: On loopback.
    """

    socket: Path
    image: Path
    write_through: bool
    port: int

    @property
    def url(self) -> str:
        """As libiscsi reads it."""
        return f"iscsi://127.0.0.1:{self.port}/{_IQN}/{_LUN}"

    def command(self) -> Sequence[str]:
        """What starts the server, which serves nothing yet."""
        portal = f"portal=127.0.0.1:{self.port}"
        program = ["tgtd", "--foreground", "--iscsi", portal, "--pid-file", str(self.socket)]
        return ["env", self._variable, *program]

    def is_ready(self) -> bool:
        """Whether the server can be told something."""
        try:
            self._tell("--mode", "system", "--op", "show")
        except TargetError:
            return False
        return True

    def publish(self) -> None:
        """Has the server serve the image.

        Raises:
            TargetError: With the words of the server, or if it serves it in another way.
        """
        of_target = ("--mode", "target", "--tid", "1")
        self._tell(*of_target, "--op", "new", "--targetname", _IQN)
        store = ["--backing-store", str(self.image), "--bstype", "rdwr"]
        store += ["--bsoflags", "sync"] if self.write_through else []
        self._tell("--mode", "logicalunit", "--tid", "1", "--lun", str(_LUN), "--op", "new", *store)
        self._tell(*of_target, "--op", "bind", "--initiator-address", "127.0.0.1")
        if self.writes_through() != self.write_through:
            raise TargetError(f"tgt serves {self.image} with another write cache than it was told")

    def writes_through(self) -> bool:
        """How the server says that it writes.

        Raises:
            TargetError: If it does not serve the image.
        """
        lines = [
            line.strip() for line in self._tell("--mode", "target", "--op", "show").split("\n")
        ]
        if f"{_STORE} {self.image}" not in lines:
            raise TargetError(f"tgt does not serve {self.image}")
        after = lines[lines.index(f"{_STORE} {self.image}") :]
        flags = next(line for line in after if line.startswith(_FLAGS))
        return "sync" in flags.removeprefix(_FLAGS).split()

    @property
    def _variable(self) -> str:
        return f"TGT_IPC_SOCKET={self.socket}"

    def _tell(self, *words: str) -> str:
        arguments = [self._variable, "tgtadm", "--lld", "iscsi", *words]
        return programs.run("env", arguments, doing="telling tgt what to serve")
