"""A disk image that tgt serves by iSCSI, on the loopback of this machine.

The server is told by `tgtadm`, through a socket that it is known by. See tgtd(8) and tgtadm(8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import TargetError
from loadstone.placements import programs
from loadstone.placements.libiscsi import has_write_cache

PROGRAMS = ("tgtd", "tgtadm")
SOCKET = "tgt"
"""Name of its socket; tgt writes the number of the channel behind it."""
_IQN = "iqn.2025-01.invalid.loadstone:disk"
_LUN = 1
_TYPE, _PATH, _FLAGS = (f"Backing store {each}:" for each in ("type", "path", "flags"))
"""Lines about a disk, in this order."""
WRITES = {
    "cached": "writes are cached and flushes are done",
    "sync": "every write is on the disk before it is answered",
    "async": "flushes are answered and not done",
    "claimed": "the disk says that it has no write cache, and flushes are not done",
}
_STORES = {
    "cached": ["--bstype", "rdwr"],
    "sync": ["--bstype", "rdwr", "--bsoflags", "sync"],
    "async": ["--bstype", "aio"],
    "claimed": ["--bstype", "aio"],
}
"""tgt's `aio` answers flushes at once: of 200, 2 reached the device below (tgt 1.0.85)."""
_NO_WRITE_CACHE = "8:0:18:0x10:0:0xff:0xff:0:0:0xff:0xff:0xff:0xff:0x80:0x14" + 6 * ":0"
"""SCSI's page of caching with WCE cleared."""


@dataclass(frozen=True)
class IscsiExport:
    """An image and the server of it.

    Attributes:
        socket: Where the server is told things; its path is short enough for the kernel.
        image: What is served.
        writes: One of `WRITES`.
        port: On loopback.
    """

    socket: Path
    image: Path
    writes: str
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
        store = ["--backing-store", str(self.image), *_STORES[self.writes]]
        of_disk = ("--mode", "logicalunit", "--tid", "1", "--lun", str(_LUN))
        self._tell(*of_disk, "--op", "new", *store)
        if self.writes == "claimed":
            self._tell(*of_disk, "--op", "update", "--params", f"mode_page={_NO_WRITE_CACHE}")
        self._tell(*of_target, "--op", "bind", "--initiator-address", "127.0.0.1")

    def say_all(self, *, really: bool) -> None:
        """Has the server write each command that it gets to its log, or stop that."""
        word = "on" if really else "off"
        self._tell("--mode", "system", "--op", "update", "--name", "debug", "--value", word)

    def store(self) -> list[str]:
        """How the server has the image, in the words of its command: what it says itself.

        Raises:
            TargetError: If it does not serve the image.
        """
        lines = [
            each.strip() for each in self._tell("--mode", "target", "--op", "show").split("\n")
        ]
        if f"{_PATH} {self.image}" not in lines:
            raise TargetError(f"tgt does not serve {self.image}")
        at = lines.index(f"{_PATH} {self.image}")
        kind = lines[at - 1].removeprefix(_TYPE).strip()
        flags = lines[at + 1].removeprefix(_FLAGS).split()
        return ["--bstype", kind, *(word for flag in flags for word in ("--bsoflags", flag))]

    def has_write_cache(self) -> bool:
        """As the disk says itself."""
        return has_write_cache(f"127.0.0.1:{self.port}", _IQN, _LUN)

    def serves_as(self) -> str:
        """How the running server writes, by its store and by what its disk says of its cache."""
        store = self.store()
        claims = not self.has_write_cache()
        known = [mode for mode, words in _STORES.items() if words == store]
        found = [mode for mode in known if (mode == "claimed") is claims]
        return next(iter(found), " ".join(store))

    @property
    def _variable(self) -> str:
        return f"TGT_IPC_SOCKET={self.socket}"

    def _tell(self, *words: str) -> str:
        arguments = [self._variable, "tgtadm", "--lld", "iscsi", *words]
        return programs.run("env", arguments, doing="telling tgt what to serve")
