"""Namespaces that a process holds: they, and all that runs in them, end when it is killed.

The holder is the first process of a process namespace. When it is killed the kernel kills all else
in there at once, also what has left its session or its parent. With the last of them go the
network, its links and the mounts. The journal knows a holder by an argument that no other process
has. See namespaces(7), pid_namespaces(7), unshare(1) and nsenter(1).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import psutil

from loadstone.errors import TargetError
from loadstone.host.processes import lives, matching, signal_all
from loadstone.journal import Entry, Journal, undoes
from loadstone.placements import processes, programs

END = "cluster-end-holder"
_KINDS = ("--mount", "--net", "--uts", "--ipc", "--pid")
_JOIN = 'echo 0 > "$0" && exec "$@"'
"""A shell joins a control group, and replaces itself by the command."""
_WAIT = """
echo up > "$ready"
while :; do sleep 86400 & wait; done
"""
"""The first process of a process namespace has to collect orphans: a shell that waits does."""


class Holder:
    """A set of namespaces of this machine's, with nothing in it but what is started there."""

    def __init__(self, journal: Journal, folder: Path, title: str) -> None:
        """Makes nothing yet.

        Args:
            journal: Told before it is made.
            folder: Its own, which exists; its path marks the holder, and its log is there.
            title: For people: `the node n1`.
        """
        self.title = title
        self.folder = folder
        self._journal = journal
        self._members: Path | None = None
        self._entry: Entry | None = None
        self._outer: subprocess.Popen[bytes] | None = None
        self._pid: int | None = None

    def start(self, script: str, arguments: Sequence[str], members: Path | None = None) -> None:
        """Makes the namespaces and waits until the script in them is through.

        Args:
            script: Of the shell; `$ready` is not for it. It fails as a whole.
            arguments: `$1` and so on.
            members: File of a control group that all that runs here is in.

        Raises:
            TargetError: If they cannot be made, with what the script says.
        """
        self._members = members
        if self._entry is None:
            self._entry = self._journal.before(f"make {self.title}", END, mark=self.mark)
        ready = self.folder / "ready"
        joined = "" if members is None else f'echo 0 > "{members}"\n'
        text = f"set -e\nready=$1\nshift 2\n{joined}{script}{_WAIT}"
        words = ["--fork", "--kill-child", "--propagation", "slave", "--mount-proc"]
        command = [str(programs.needed("unshare")), *_KINDS, *words, "--", "/bin/sh", "-c", text]
        command += ["sh", str(ready), self.mark, *arguments]
        try:
            self._outer = processes.start(command, ready, self.folder / "log", _environment())
        except TargetError as error:
            raise TargetError(f"{self.title} cannot be made: {error.message}") from error
        self._pid = _only_child(self._outer.pid, self.title)

    @property
    def mark(self) -> str:
        """An argument of its processes, and of no other."""
        return str(self.folder / "holder")

    @property
    def pid(self) -> int:
        """Its first process, as this machine counts.

        Raises:
            TargetError: If it was killed, or never made.
        """
        if not self.runs or self._pid is None:
            raise TargetError(f"{self.title} is down")
        return self._pid

    @property
    def runs(self) -> bool:
        """Whether it was made and has not ended since."""
        return self._outer is not None and self._outer.poll() is None

    def enter(self) -> list[str]:
        """Words that stand before a command which is to run in there, in its control group.

        The command begins in `/`, with the variables of whoever starts it. A signal to the process
        group of these words reaches the command too.
        """
        nsenter = [str(programs.needed("nsenter")), f"--target={self.pid}", *_KINDS, "--"]
        if self._members is None:
            return nsenter
        return ["/bin/sh", "-c", _JOIN, str(self._members), *nsenter]

    def enter_network(self) -> list[str]:
        """As `enter`, of the network alone: files and process numbers are the machine's."""
        return [str(programs.needed("nsenter")), f"--target={self.pid}", "--net", "--"]

    def inhabitants(self) -> list[psutil.Process]:
        """All that run in there now, after those outside by which they were brought in."""
        if not self.runs:
            return []
        own = Path(f"/proc/{self.pid}/ns/pid").readlink()
        found = _doors([self.pid])
        for process in psutil.process_iter():
            with contextlib.suppress(OSError, psutil.Error):  # it has ended
                if Path(f"/proc/{process.pid}/ns/pid").readlink() == own and lives(process):
                    found.append(process)
        return found

    def kill(self) -> None:
        """Kills all that run in there at once. It stays journalled: it may come back.

        Raises:
            TargetError: If a process survives SIGKILL.
        """
        _end({"mark": self.mark})
        if self._outer is not None:
            self._outer.wait()
            self._outer = self._pid = None

    def close(self) -> None:
        """Kills all that run in there, for good. Works after any failure."""
        self.kill()
        if self._entry is not None:
            self._journal.undone(self._entry)
            self._entry = None


def _environment() -> dict[str, str]:
    """Few variables: what the lab was given is nobody's business in there."""
    return {"PATH": os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin", "LC_ALL": "C"}


def _only_child(pid: int, title: str) -> int:
    with contextlib.suppress(psutil.Error):
        children = psutil.Process(pid).children()
        if len(children) == 1:
            return int(children[0].pid)
    raise TargetError(f"{title} has ended at once")


def _doors(pids: Collection[int]) -> list[psutil.Process]:
    """The processes of nsenter that wait outside for what they brought in.

    They stop when that is stopped, and collect it when it has ended.

    Args:
        pids: Of the first process within.
    """
    targets = {f"--target={pid}" for pid in pids}
    return matching(
        lambda words: Path(words[0]).name == "nsenter" and not targets.isdisjoint(words)
    )


@undoes(END)
def _end(data: dict[str, Any]) -> None:
    # The kernel ends a process namespace when all in it were collected, also by who stands still.
    first = [each.pid for each in processes.marked(data["mark"])]
    signal_all(_doors(first), signal.SIGCONT)
    processes.end_marked(data["mark"])
