"""A folder that nfs-ganesha exports by NFSv3, for nobody but this machine.

Ganesha registers with rpcbind, whatever it serves and to whom. Both get a mount table with a `/run`
of their own, in which rpcbind has its socket, and rpcbind a network of its own as well: port 111 of
the machine, and whoever serves there, are untouched. See ganesha-core-config(8) and
ganesha-export-config(8).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import WrongInputError

PROGRAMS = ("ganesha.nfsd", "rpcbind", "unshare", "ip")
LIBRARIES = {"ganesha/libfsalvfs.so": "nfs-ganesha-vfs"}
"""What ganesha loads, and its package."""
INITIALIZED = "NFS SERVER INITIALIZED"
"""In the log of a server that serves."""
_PLAIN_PATH = re.compile(r"[\w./+-]+", re.ASCII)
_USUAL_PORT = 2049
_START = """
set -e
config=$1 mark=$2 apart=$3
mount --make-rslave /
mount -t tmpfs loadstone-run /run
mkdir /run/rpcbind /run/ganesha
if [ "$apart" = yes ]; then
    ip link set lo up
    rpcbind -f -w "$mark" &
else
    unshare --net rpcbind -f -w "$mark" &
fi
tries=0
until [ -S /run/rpcbind.sock ]; do
    tries=$((tries + 1))
    [ $tries -lt 500 ] || { echo "rpcbind does not start" >&2; exit 1; }
    sleep 0.02
done
exec ganesha.nfsd -F -f "$config" -L STDERR -p "$mark" -N NIV_EVENT
"""


@dataclass(frozen=True)
class NfsExport:
    """An exported folder and the server of it.

    Attributes:
        work: Folder of the server: its configuration, its mark.
        shared: The folder that is exported.
        commit: Every write is on the disk before it is answered (`NFS_Commit`). Otherwise it is
            when the client commits, which is always honoured: there is no asynchronous NFS here.
        ports: Of NFS and of its mount protocol, on the loopback of this machine. None: it listens
            on the usual ones in the network that it has for itself with rpcbind, for a client that
            is brought there and must ask rpcbind.
    """

    work: Path
    shared: Path
    commit: bool
    ports: tuple[int, int] | None = None

    @property
    def mark(self) -> Path:
        """An argument of each of its processes, and of no other: the pid file."""
        return mark_of(self.work)

    @property
    def config(self) -> Path:
        """Its configuration, as of its last start."""
        return self.work / "ganesha.conf"

    @property
    def url(self) -> str:
        """Of the folder, as libnfs reads it."""
        query = "?nfsport={}&mountport={}".format(*self.ports) if self.ports else ""
        return f"nfs://127.0.0.1{self.shared}{query}"

    def url_of(self, name: str) -> str:
        """Of a file in the folder."""
        folder, _, query = self.url.partition("?")
        return f"{folder}/{name}" + (f"?{query}" if query else "")

    def command(self) -> Sequence[str]:
        """Writes the configuration, and returns what starts the server.

        Raises:
            WrongInputError: If the folder cannot be written in an address.
        """
        refuse_unfit_path(self.shared)
        self.config.write_text(self._text())
        alone = [] if self.ports else ["--net"]
        arguments = [str(self.config), str(self.mark), "no" if self.ports else "yes"]
        return ["unshare", "--mount", *alone, "sh", "-c", _START, "sh", *arguments]

    def _text(self) -> str:
        nfs, mount = self.ports or (_USUAL_PORT, _USUAL_PORT + 1)
        commit = "true" if self.commit else "false"
        # Where loopback is the only network, ganesha finds no address to bind to, and needs none.
        bound = "Bind_Addr = 127.0.0.1;" if self.ports else ""
        return f"""
NFS_CORE_PARAM {{
    Protocols = 3; {bound} NFS_Port = {nfs}; MNT_Port = {mount};
    Enable_NLM = false; Enable_RQUOTA = false;
}}
NFSv4 {{ Graceless = true; RecoveryRoot = "{self.work}"; }}
EXPORT {{
    Export_Id = 1; Path = "{self.shared}"; Pseudo = "/loadstone"; Access_Type = RW;
    Squash = None; SecType = sys; Protocols = 3; Transports = TCP; NFS_Commit = {commit};
    FSAL {{ Name = VFS; }}
}}
LOG {{ Default_Log_Level = EVENT; }}
"""


def mark_of(work: Path) -> Path:
    """The pid file of the server that has this folder."""
    return work / "ganesha.pid"


def refuse_unfit_path(folder: Path) -> None:
    """Stops where a folder cannot be part of an address, which has no way to quote.

    Raises:
        WrongInputError: It names the folder.
    """
    if not _PLAIN_PATH.fullmatch(str(folder)):
        raise WrongInputError(
            f"{folder} cannot be exported: an address of NFS takes letters, digits and ./+_- only",
            advice="name another data folder",
        )
