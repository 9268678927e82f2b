"""An image on an export of NFS or iSCSI, as a hypervisor has it.

Without a client in the kernel the way is that of a hypervisor: qemu-nbd reads the export by
libnfs or libiscsi and shows it as NBD, nbdfuse and a loop device bring that to the kernel.
"""

from __future__ import annotations

import os
import socket
from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from loadstone.journal import undoes
from loadstone.placements import iscsi_export, loop, nfs_export, processes, programs
from loadstone.placements.device import IMAGE
from loadstone.placements.flushes import tgt_flushes
from loadstone.placements.iscsi_export import IscsiExport
from loadstone.placements.network import SYNCS, NetworkDevice, rewrite_and_sync
from loadstone.placements.nfs_export import NfsExport

END_EXPORT = "storage-end-export"
END_QEMU = "storage-end-qemu-nbd"
_LOG = "tgtd.log"
PROGRAMS = {
    "nfs": (*nfs_export.PROGRAMS, "nsenter", "qemu-nbd"),
    "iscsi": (*iscsi_export.PROGRAMS, "qemu-nbd"),
}
"""By the kind of the placement."""
LIBRARIES = {
    "nfs": {**nfs_export.LIBRARIES, "qemu/block-nfs.so": "qemu-block-extra"},
    "iscsi": {"qemu/block-iscsi.so": "qemu-block-extra"},
}
"""By the kind of the placement: what the programs load, and the package of each."""


class ExportedDevice(NetworkDevice):
    """An image that a server exports, and qemu-nbd speaks to."""

    program: ClassVar[str] = "qemu-nbd"
    title: ClassVar[str]
    """Of its protocol, for people."""

    @property
    @abstractmethod
    def mark(self) -> Path:
        """An argument of each process of the server, and of no other."""

    @abstractmethod
    def start_export(self) -> tuple[list[str], str]:
        """Starts the server. Returns what stands before qemu-nbd, and the address of the image."""

    def _serve(self) -> None:
        self._changes.before(
            f"serve {self._work / IMAGE} by {self.title}", END_EXPORT, mark=str(self.mark)
        )
        before, url = self.start_export()
        self._changes.before(f"show {url} with qemu-nbd", END_QEMU, socket=str(self._socket))
        ready = self._work / "qemu-nbd.pid"
        words = ["--persistent", "--shared", "0", "--format", "raw", "--cache", "none"]
        words += ["--socket", str(self._socket), "--pid-file", str(ready), url]
        command = [*before, str(programs.needed("qemu-nbd")), *words]
        self._processes["qemu-nbd"] = processes.start(
            command, ready, self._work / "qemu-nbd.log", os.environ
        )

    def facts(self) -> dict[str, Any]:
        """As of network storage, and the server of the export."""
        export = processes.marked(str(self.mark))
        return {**super().facts(), "export": [each.cmdline() for each in export]}


class NfsDevice(ExportedDevice):
    """An image in an export of nfs-ganesha."""

    title: ClassVar[str] = "NFS"

    @property
    def mark(self) -> Path:
        """Ganesha's pid file."""
        return nfs_export.mark_of(self._work)

    def start_export(self) -> tuple[list[str], str]:
        """Qemu asks rpcbind for the ports: it is brought into the network of the server."""
        export = NfsExport(self._work, self._work, commit=self.place.writes == "sync")
        server = processes.start_until(
            export.command(),
            lambda said: nfs_export.INITIALIZED in said,
            self._work / "ganesha.log",
            os.environ,
        )
        self._processes["ganesha"] = server
        return ["nsenter", f"--net=/proc/{server.pid}/ns/net"], export.url_of(IMAGE)


class IscsiDevice(ExportedDevice):
    """An image that tgt serves."""

    title: ClassVar[str] = "iSCSI"
    _export: IscsiExport

    @property
    def mark(self) -> Path:
        """Where tgt is told things."""
        return self._socket.with_name(iscsi_export.SOCKET)

    def start_export(self) -> tuple[list[str], str]:
        """On a free port of loopback."""
        writes = self.place.writes or "cached"
        export = IscsiExport(self.mark, self._work / IMAGE, writes, free_ports(1)[0])
        self._processes["tgtd"] = processes.start_until(
            export.command(), lambda _: export.is_ready(), self._work / _LOG, os.environ
        )
        export.publish()
        self._export = export
        return [], export.url

    def make(self) -> Path:
        """As of all, and counts what the server does with flushes, by its own words."""
        device = super().make()
        log, before = self._work / _LOG, loop.flushes(device)
        begin = log.stat().st_size
        self._export.say_all(really=True)
        try:
            rewrite_and_sync(device, SYNCS)
        finally:
            self._export.say_all(really=False)
        said = log.read_bytes()[begin:].decode(errors="replace")
        left_kernel = loop.flushes(device) - before
        claims = not self._export.has_write_cache()
        self._flushes = tgt_flushes(said, SYNCS, left_kernel, claims_no_cache=claims)
        return device


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody uses now."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in held]
    for each in held:
        each.close()
    return ports


@undoes(END_EXPORT)
def _end_export(data: dict[str, Any]) -> None:
    processes.end_marked(data["mark"])


@undoes(END_QEMU)
def _end_qemu(data: dict[str, Any]) -> None:
    processes.end("qemu-nbd", data["socket"], gently=True)
