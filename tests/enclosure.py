"""Namespaces of one test's own, so that a listing is of that test's doing and of nobody else's.

Mounts and shared memory are those of the enclosure; `/var/tmp` and `/dev/shm` are folders of its
own. Host settings and block devices are the machine's. An `Enclosure` has processes of its own:
as a program this is the first of them, and collects children that nobody else waits for, as init
does. Within `enclosed`, the test's own process and all that it starts are in there.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import psutil

_HERE = Path(__file__).parent
_KINDS = {"mnt": 0x00020000, "ipc": 0x08000000}
"""Namespaces that a process can enter: their names in `/proc`, and flags of linux/sched.h."""


def why_not() -> str | None:
    """Why this machine has no enclosures, or None."""
    if os.geteuid() != 0:
        return "needs root"
    missing = [name for name in ("unshare", "nsenter", "mount") if shutil.which(name) is None]
    return f"{missing[0]} is missing" if missing else None


class Enclosure:
    """Its own processes, mounts, shared memory and `/var/tmp`."""

    def __init__(self, folder: Path) -> None:
        """Makes it.

        Args:
            folder: What is seen as `/var/tmp` within; every account may enter it.
        """
        folder.chmod(0o1777)
        self._init = subprocess.Popen(
            [
                *("unshare", "--mount", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"),
                *(sys.executable, str(_HERE / "enclosure.py"), str(folder)),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._init.stdout is not None
        assert self._init.stdout.readline() == "ready\n"
        (first,) = psutil.Process(self._init.pid).children()
        self._enter = ["nsenter", f"--target={first.pid}", "--mount", "--ipc", "--pid", "--"]

    def start(
        self, command: Sequence[str | Path], folder: Path, environment: Mapping[str, str]
    ) -> subprocess.Popen[str]:
        """Starts a command within."""
        return subprocess.Popen(
            [*self._enter, "env", f"--chdir={folder}", *map(str, command)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def listing(self, folder: Path) -> dict[str, Any]:
        """The full listing, as seen from within."""
        program = [*self._enter, sys.executable, str(_HERE / "listing.py"), str(folder)]
        done = subprocess.run(program, capture_output=True, text=True, check=True)
        return cast(dict[str, Any], json.loads(done.stdout))

    def close(self) -> None:
        """Ends every process in there, and with them the namespaces."""
        self._init.kill()
        self._init.wait()


def signal_to(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """Sends a signal to the command itself, not to what brought it into the enclosure."""
    (command,) = psutil.Process(process.pid).children()
    command.send_signal(number)


@contextmanager
def enclosed(folder: Path) -> Iterator[None]:
    """Mounts, shared memory and `/var/tmp` of this thread's own, and of all that it starts.

    Args:
        folder: What is seen as `/var/tmp` meanwhile; every account may enter it.
    """
    here = Path.cwd()
    outside = {kind: os.open(f"/proc/thread-self/ns/{kind}", os.O_RDONLY) for kind in _KINDS}
    _call("unshare", sum(_KINDS.values()))
    try:
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        _furnish(folder)
        yield
    finally:
        for left in inhabitants():
            left.kill()
        for kind, descriptor in outside.items():
            _call("setns", descriptor, _KINDS[kind])
            os.close(descriptor)
        os.chdir(here)


def inhabitants() -> Iterator[psutil.Process]:
    """Every other process that has the mounts of this one."""
    own = Path("/proc/self/ns/mnt").readlink()
    for process in psutil.process_iter():
        with suppress(OSError, psutil.Error):  # it has ended
            if Path(f"/proc/{process.pid}/ns/mnt").readlink() == own and process.pid != os.getpid():
                yield process


def _call(function: str, *arguments: int) -> None:
    """Calls the C library: Python 3.11 has neither of the two functions."""
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, function)(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{function}: {os.strerror(error)}")


def _leave_mounts_of_others() -> None:
    """Mounts below folders for temporary files go when their owners remove them."""
    folders = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for folder in reversed(folders):
        if folder.startswith(("/tmp/", "/var/tmp/")):
            subprocess.run(["umount", "--lazy", folder], check=True)


def _furnish(folder: Path) -> None:
    """Leaves only what is the enclosure's to be seen."""
    _leave_mounts_of_others()
    for mount in (
        ["--bind", folder, "/var/tmp"],
        ["-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/dev/shm"],
    ):
        subprocess.run(["mount", *mount], check=True)


def _be_first(folder: Path) -> None:
    _furnish(folder)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    print("ready", flush=True)
    while True:
        signal.sigwait([signal.SIGCHLD])
        while _collected():
            pass


def _collected() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


if __name__ == "__main__":
    _be_first(Path(sys.argv[1]))
