"""Network storage: an image served by nbdkit, brought to the kernel by nbdfuse and a loop device.

The server listens on a Unix socket whose path nobody else has, and is known by it. Filters of
nbdkit change what the storage promises: see nbdkit-fua-filter(1) and nbdkit-delay-filter(1).
"""

from __future__ import annotations

import mmap
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from loadstone.errors import TargetError
from loadstone.host.below import ground_of
from loadstone.journal import undoes
from loadstone.placements import loop, mounts, processes, programs
from loadstone.placements.device import (
    IMAGE,
    Changes,
    Device,
    flush_for_good,
    make_image,
    tell_write_cache,
)
from loadstone.placements.flushes import ServerFlushes, server_flushes
from loadstone.placements.place import Place

END_SERVER = "storage-end-nbdkit"
END_FUSE = "storage-end-nbdfuse"
SOCKET = "nbd.sock"
SOCKET_PATH_LIMIT = 107
_STATS, _LOG = "flushes.stats", "flushes.log"
SYNCS = 8
"""That are made to count what the server does with flushes."""
_BLOCK = 4096
_FORCE, DISCARD = "fuamode=force", "fuamode=discard"
"""What nbdkit is told to do with durable writes and flushes."""


class NetworkDevice(Device):
    """An image on a server of its own."""

    program: ClassVar[str] = "nbdkit"
    """What serves the socket."""

    def __init__(
        self,
        changes: Changes,
        work: Path,
        socket: Path,
        name: str,
        *,
        place: Place,
        size_bytes: int,
    ) -> None:
        self._changes = changes
        self._work = work
        self._socket = socket
        self._name = name
        self.place = place
        self._asked_bytes = size_bytes
        self.device: Path | None = None
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._flushes: ServerFlushes | None = None

    def make(self) -> Path:
        """Makes the image and starts what serves it."""
        image, folder = self._work / IMAGE, self._work / "device"
        make_image(image, self.place, self._asked_bytes, self.journal)
        folder.mkdir()
        socket = str(self._socket)
        self._serve()
        self._changes.before(
            f"bring {image} to {folder} with nbdfuse", END_FUSE, socket=socket, folder=str(folder)
        )
        self._start_fuse()
        self._changes.before(
            f"attach {folder}/disk to a loop device", loop.DETACH, **self._loop_entry()
        )
        device = self.attach()
        if self.counts_flushes:
            self._flushes = self._count_flushes(device)
            self._start_server()
            self._start_fuse()
            device = self.attach()
        tell_write_cache(device, self.place)
        return device

    @property
    def flushes_counted(self) -> ServerFlushes | None:
        """What the server does with flushes, counted when the device was made."""
        return self._flushes

    @property
    def counts_flushes(self) -> bool:
        """Whether the server is asked, before it is used, what it does with flushes.

        Counting each request costs too much to go on under load: it is done for some syncs, and the
        server is then started anew without it. Not of a volatile device, whose losses are seen
        themselves.
        """
        return self.place.kind == "nbd"

    def attach(self) -> Path:
        """Makes what nbdfuse shows a block device."""
        self.device = loop.attach(self._work / "device" / "disk", self._name)
        return self.device

    def facts(self) -> dict[str, Any]:
        """Of the loop device, the image and the server."""
        image = self._work / IMAGE
        server = processes.serving(self.program, str(self._socket))
        return {
            **loop.facts(self._made()),
            "image": str(image),
            "image_bytes": image.stat().st_blocks * 512,
            "server": server[0].cmdline() if server else None,
            "flushes": self._flushes.facts() if self._flushes else None,
        }

    @property
    def size_bytes(self) -> int:
        """Of the loop device."""
        return int(loop.facts(self._made())["size_bytes"])

    @property
    def served_by(self) -> str:
        """The socket, which nbdfuse has, too."""
        return str(self._socket)

    def flush(self) -> None:
        """Flushes the loop device, which has the server flush."""
        flush_for_good(self._made(), self.place)

    def reap(self) -> None:
        """Takes note that its processes have ended, so that none stays as a zombie."""
        for process in self._processes.values():
            process.wait()

    def _serve(self) -> None:
        """Starts what serves the image at the socket, journalled."""
        self._changes.before(
            f"serve {self._work / IMAGE} with nbdkit", END_SERVER, socket=str(self._socket)
        )
        self._start_server(counting=self.counts_flushes)

    def server_arguments(self) -> list[str]:
        """Filters, plugin and parameters of nbdkit."""
        return nbdkit_arguments(
            self._work / IMAGE,
            self.place.writes,
            self.place.write_delay_ms,
            read_delay_ms=self.place.read_delay_ms,
            disk_delay_ms=self.place.disk_delay_ms,
            rate_bytes=self.place.rate_bytes,
        )

    def _loop_entry(self) -> dict[str, str]:
        """What `loop.detach` needs."""
        return {"name": self._name, "file": str(self._work / "device" / "disk")}

    def _count_flushes(self, device: Path) -> ServerFlushes:
        """Syncs the device some times, ends what serves it, and reads what the server counted."""
        before = loop.flushes(device)
        rewrite_and_sync(device, SYNCS)
        left_kernel = loop.flushes(device) - before
        self.take_down()
        return counted(self._work, SYNCS, left_kernel)

    def take_down(self) -> None:
        """Ends what serves the image, and leaves the image as it is."""
        loop.detach(self._loop_entry())
        end_fuse({"socket": str(self._socket), "folder": str(self._work / "device")})
        processes.end("nbdkit", str(self._socket), gently=True)
        self.reap()

    def _start_server(self, *, counting: bool = False) -> None:
        arguments = self.server_arguments()
        if counting:
            arguments = counting_arguments(arguments, self._work)
        self._socket.unlink(missing_ok=True)
        ready = self._work / "nbdkit.pid"
        self._processes["nbdkit"] = processes.start(
            [
                str(programs.needed("nbdkit")),
                "--foreground",
                "--unix",
                str(self._socket),
                "--pidfile",
                str(ready),
                *arguments,
            ],
            ready,
            self._work / "nbdkit.log",
            {**os.environ, "TMPDIR": str(self._work)},
        )

    def _start_fuse(self) -> None:
        ready = self._work / "nbdfuse.pid"
        self._processes["nbdfuse"] = processes.start(
            [
                str(programs.needed("nbdfuse")),
                "--pidfile",
                str(ready),
                str(self._work / "device" / "disk"),
                "--unix",
                str(self._socket),
            ],
            ready,
            self._work / "nbdfuse.log",
            os.environ,
        )

    def _made(self) -> Path:
        if self.device is None:
            raise TargetError("the device was not made yet")
        return self.device


def nbdkit_arguments(
    image: Path,
    writes: str | None,
    write_delay_ms: int,
    *,
    read_delay_ms: int = 0,
    disk_delay_ms: int = 0,
    rate_bytes: int | None = None,
) -> list[str]:
    """Filters, plugin and parameters of an nbdkit that serves an image.

    Args:
        image: The file.
        writes: As of a placement: `sync`, `async`, or None.
        write_delay_ms: How much longer each write takes.
        read_delay_ms: Likewise each read.
        disk_delay_ms: How much longer each write takes on the disk of the server. With `async` it
            is answered before that.
        rate_bytes: A second of reads, and as many of writes; None: as fast as it is.
    """
    filters, parameters = [], []
    delays = {"wdelay": write_delay_ms, "rdelay": read_delay_ms}
    if any(delays.values()):
        filters.append("delay")
        parameters += [f"{name}={delay}ms" for name, delay in delays.items() if delay]
    if rate_bytes is not None:
        filters.append("rate")
        parameters.append(f"rate={8 * rate_bytes}")  # the filter counts bits
    if writes is not None:
        filters.append("fua")
        parameters.append(_FORCE if writes == "sync" else DISCARD)
    if disk_delay_ms:
        # With `async` a write is answered from the server's page cache. The filter stays: reads
        # take the same way whatever writes do.
        filters.append("delay")
        parameters.append(f"wdelay={0 if writes == 'async' else disk_delay_ms}ms")
    return [*(f"--filter={name}" for name in filters), "file", f"file={image}", *parameters]


def counting_arguments(arguments: Sequence[str], folder: Path) -> list[str]:
    """The arguments of an nbdkit that counts what arrives and what is passed on besides.

    Args:
        arguments: As of `nbdkit_arguments`.
        folder: For its counts, which `counted` reads when it has ended.
    """
    # What arrives is counted outside the other filters, what is passed on inside them.
    plugin = arguments.index("file")
    outside, inside = arguments[:plugin], arguments[plugin:]
    files = [f"statsfile={folder / _STATS}", f"logfile={folder / _LOG}"]
    return ["--filter=stats", *outside, "--filter=log", *inside, *files]


def counted(folder: Path, syncs: int, left_kernel: int | None) -> ServerFlushes:
    """What an nbdkit that has ended counted.

    Args:
        folder: As it was told.
        syncs: That were made meanwhile.
        left_kernel: As of `ServerFlushes`.
    """
    stats, log = ((folder / name).read_text() for name in (_STATS, _LOG))
    return server_flushes(stats, log, syncs, left_kernel)


def dropping_server(folder: Path) -> str | None:
    """What the server below a folder was told, if that is to drop flushes.

    Args:
        folder: Of which nbdkit, nbdfuse and a loop device make a disk, or of any other.

    Returns:
        The word on its command line; None if there is no such server, or it drops none.
    """
    file = ground_of(folder).ends_at
    if file is None:
        return None
    for fuse in processes.serving("nbdfuse", str(file)):
        words = fuse.cmdline()
        if "--unix" not in words:
            continue
        for server in processes.serving("nbdkit", words[words.index("--unix") + 1]):
            if DISCARD in server.cmdline():
                return DISCARD
    return None


def rewrite_and_sync(device: Path, times: int) -> None:
    """Writes the first block of a device over with what it holds, past the page cache, and syncs.

    Args:
        device: One that nobody uses.
        times: That this is done.
    """
    descriptor = os.open(device, os.O_RDWR | os.O_DIRECT)
    try:
        with mmap.mmap(-1, _BLOCK) as block:
            os.preadv(descriptor, [block], 0)
            for _ in range(times):
                os.pwritev(descriptor, [block], 0)
                os.fsync(descriptor)
    finally:
        os.close(descriptor)


@undoes(END_SERVER)
def _end_server(data: dict[str, Any]) -> None:
    processes.end("nbdkit", data["socket"], gently=True)


@undoes(END_FUSE)
def end_fuse(data: dict[str, Any]) -> None:
    """Ends nbdfuse and what it mounted, also when its server has gone."""
    processes.end("nbdfuse", data["socket"], gently=True)
    mounts.unmount({"folder": data["folder"]})
