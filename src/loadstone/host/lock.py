"""One run at a time may change the settings of a host: a lock.

Two at once would each take the other's levels for those of the machine, and put them back. The
lock is on a file that all users of the machine share; the kernel ends it with the process.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from pathlib import Path

from loadstone.errors import RefusedError
from loadstone.journal import open_journals

LOCK_NAME = "loadstone-host.lock"
_LOCK_FOLDERS = (Path("/run/lock"), Path("/var/lock"), Path(tempfile.gettempdir()))


class HostLock:
    """Held from the first change of the host until all is put back."""

    def __init__(self, kind: str, folder: Path | None = None) -> None:
        """Locks nothing yet.

        Args:
            kind: Journal entries of this kind are changes of the host.
            folder: Of the lock; default: where the machine keeps locks.
        """
        self._kind = kind
        self._path = (folder or lock_folder()) / LOCK_NAME
        self._descriptor: int | None = None

    def take(self) -> None:
        """Locks the host, unless it is locked already.

        Raises:
            RefusedError: If another run has it, or a killed one left settings changed.
        """
        if self._descriptor is not None:
            return
        # Others must be able to lock it too, so it is made for all and opened without O_CREAT.
        with contextlib.suppress(OSError):
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o666))
            self._path.chmod(0o666)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 100, 0).decode(errors="replace").strip()
            os.close(descriptor)
            raise RefusedError(
                f"another run changes the settings of this host ({holder or 'unknown'})",
                advice="wait for its end: two at once would put back each other's levels",
            ) from None
        self._descriptor = descriptor
        self._refuse_left_over()
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()}\n".encode(), 0)

    def look(self) -> None:
        """Refuses as `take` would, and claims nothing."""
        self.take()
        self.release()

    def release(self) -> None:
        """Lets others have the host."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def _refuse_left_over(self) -> None:
        for journal in open_journals():
            if not journal.alive and any(each.kind == self._kind for each in journal.entries()):
                self.release()
                raise RefusedError(
                    "a killed run left settings of this host changed "
                    f"({journal.command or journal.path})",
                    advice="loadstone recover puts them back",
                )


def lock_folder() -> Path:
    """Where this machine keeps locks that everybody shares."""
    return next(
        folder for folder in _LOCK_FOLDERS if folder.is_dir() and os.access(folder, os.W_OK)
    )
