"""A device whose unflushed writes a power loss takes.

nbdkit's cache filter keeps every write in a file of its own until the device is flushed
(nbdkit-cache-filter(1), `cache=writeback`), as the write cache of a disk does. Power is cut by
SIGKILL to nbdkit: the kernel removes that file, and the image holds what was flushed.
"""

from __future__ import annotations

import signal
from pathlib import Path

from loadstone.placements import loop, processes
from loadstone.placements.device import IMAGE
from loadstone.placements.network import NetworkDevice, end_fuse

_WRITE_THROUGH = "write through"
_WRITE_BACK = "write back"


class VolatileDevice(NetworkDevice):
    """An image behind a volatile write cache.

    `async` storage, which answers flushes without doing them, is made with the kernel's own switch:
    a device that is said to write through is sent no flushes. So that what was there before the
    load does not count as unflushed, `flush` turns the switch for a moment.
    """

    def server_arguments(self) -> list[str]:
        """As of network storage, and the cache.

        What the cache flushes goes to the image in the page cache of this machine, which stays up;
        it is not waited for until it is on the disk below. So a volatile device is faster than a
        disk, and for crash trials only.
        """
        delay, sync = self.place.write_delay_ms, self.place.writes == "sync"
        filters = ["delay"] if delay else []
        filters += ["fua", "cache"] if sync else ["cache", "fua"]
        parameters = ["cache=writeback"]
        parameters += [f"wdelay={delay}ms"] if delay else []
        parameters += ["fuamode=force" if sync else "fuamode=discard"]
        image = f"file={self._work / IMAGE}"
        return [*(f"--filter={name}" for name in filters), "file", image, *parameters]

    def attach(self) -> Path:
        """As of network storage; where flushes are ignored, they no longer reach it."""
        device = super().attach()
        self._ignore_flushes()
        return device

    def flush(self) -> None:
        """Brings everything to the image."""
        if self.place.writes == "async":
            loop.set_write_cache(self._made(), _WRITE_BACK)
        super().flush()
        self._ignore_flushes()

    def freeze(self) -> None:
        """Answers nothing and writes nothing from now on."""
        self._processes["nbdkit"].send_signal(signal.SIGSTOP)

    def cut_power(self) -> None:
        """Kills the server: what was not flushed is gone."""
        self._processes["nbdkit"].kill()
        self._processes["nbdkit"].wait()

    def restore_power(self) -> Path:
        """Starts all anew on the image as it was left; again, if an earlier try failed."""
        loop.detach(self._loop_entry())
        folder = self._work / "device"
        end_fuse({"socket": str(self._socket), "folder": str(folder)})
        processes.end("nbdkit", str(self._socket), gently=False)
        self.reap()
        self._start_server()
        self._start_fuse()
        return self.attach()

    def _ignore_flushes(self) -> None:
        if self.place.writes == "async":
            loop.set_write_cache(self._made(), _WRITE_THROUGH)
