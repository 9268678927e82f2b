"""One run of fio: started, waited for, stopped, killed; nothing of it is left."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from loadstone.workloads.storage.fio_binary import Fio

OUTPUT, STREAMS = "output.json", "streams.txt"
_LOOK_S = 0.03
_PATIENCE_S = 5.0
"""After fio was told to stop, and again after it was killed."""
_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")
"""The kernel ends fio when the main thread of this program ends, in whatever way."""

_WITHIN = 'echo $$ > "$0" && exec "$@"'
"""The process is in the group before it is fio, so that all memory of fio counts there."""


@dataclass(frozen=True)
class Ended:
    """How a run of fio ended.

    Attributes:
        code: Its exit code; the number of a signal that ended it, below 0.
        text: What it wrote: its streams, then its file.
        stopped: Whether it was told to stop.
        stuck: Whether it did not end in time and was killed.
        halted: Whether it was stuck because somebody had stopped it (SIGSTOP, a debugger).
        cpu_user_s: All its threads, from its start to its end.
        cpu_system_s: Likewise.
        rss_bytes: The most memory that it had.
    """

    code: int
    text: str
    stopped: bool
    stuck: bool
    halted: bool
    cpu_user_s: float
    cpu_system_s: float
    rss_bytes: int

    @property
    def how(self) -> str:
        """In words."""
        number = -self.code if self.code < 0 else self.code - 128
        if number in set(signal.Signals):
            return f"was ended by {signal.Signals(number).name}"
        return f"ended with code {self.code}"


def run_fio(
    fio: Fio,
    arguments: Sequence[str],
    folder: Path,
    longest_s: float,
    must_stop: Callable[[], bool],
    *,
    group: Path | None = None,
) -> Ended:
    """Runs fio to its end.

    It is in the process group of this program.

    Args:
        fio: The program.
        arguments: All but those about its output.
        folder: Its working folder; what it writes stays there.
        longest_s: After this time it is taken for stuck, and killed.
        must_stop: Asked again and again; fio is interrupted once it says so.
        group: Folder of the control group that it runs in; None: that of this program.
    """
    within = [] if group is None else ["sh", "-c", _WITHIN, str(group / "cgroup.procs")]
    command = [str(fio.path), f"--output={OUTPUT}", "--output-format=json+", "--eta=never"]
    with (folder / STREAMS).open("wb") as streams:
        process = subprocess.Popen(
            [*_WITH_PARENT, *within, *command, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=streams,
            stderr=streams,
        )
        run = _Run(process.pid, longest_s)
        while run.goes_on():
            if must_stop():
                run.stop()
            time.sleep(_LOOK_S)
        process.returncode = run.code
    files = (folder / STREAMS, folder / OUTPUT)
    return Ended(
        code=run.code,
        text="\n".join(each.read_text(errors="replace") for each in files if each.exists()),
        stopped=run.told_at is not None,
        stuck=run.killed_at is not None,
        halted=run.halted,
        cpu_user_s=run.usage.ru_utime if run.usage else 0.0,
        cpu_system_s=run.usage.ru_stime if run.usage else 0.0,
        rss_bytes=run.usage.ru_maxrss * 1024 if run.usage else 0,
    )


def _with_children(pid: int) -> list[psutil.Process]:
    """A child of ours and those that it started: fio runs each job in one of its own."""
    process = psutil.Process(pid)  # it is there until it is waited for
    return [process, *process.children(recursive=True)]


def _is_halted(processes: Iterable[psutil.Process]) -> bool:
    """Whether one of them is in the state T of /proc (proc(5))."""
    halted = {psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP}
    for process in processes:
        with suppress(psutil.Error):
            if process.status() in halted:
                return True
    return False


class _Run:
    """A process, and when it was told what."""

    def __init__(self, pid: int, longest_s: float) -> None:
        self._pid = pid
        self._end_at = time.monotonic() + longest_s
        self.told_at: float | None = None
        self.killed_at: float | None = None
        self.halted = False
        self.code = -signal.SIGKILL
        self.usage: resource.struct_rusage | None = None

    def goes_on(self) -> bool:
        """Looks after it; False when it has ended, or cannot be ended even by force."""
        pid, status, usage = os.wait4(self._pid, os.WNOHANG)
        if pid:
            self.code, self.usage = os.waitstatus_to_exitcode(status), usage
            return False
        now = time.monotonic()
        patient = self.told_at is None or now - self.told_at < _PATIENCE_S
        if self.killed_at is None and (now > self._end_at or not patient):
            found = _with_children(self._pid)
            self.killed_at, self.halted = now, _is_halted(found)
            for process in found:  # who is stopped does not see that its parent is gone
                with suppress(psutil.Error):
                    process.kill()
        return self.killed_at is None or now - self.killed_at < _PATIENCE_S

    def stop(self) -> None:
        """Interrupts it, once."""
        if self.told_at is None:
            self.told_at = time.monotonic()
            os.kill(self._pid, signal.SIGINT)
