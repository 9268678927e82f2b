"""Starts a module of this package on all ranks of a job, waits for it, and says what went wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from loadstone.job.record import FAILED, RankRecord
from loadstone.job.system import await_end, unblock_told
from loadstone.job.task import JobTask

_END_S = 5.0
"""So long ranks that are told to end may take before their launcher is killed."""


class EndedError(Exception):
    """The job cannot go on."""

    def __init__(self, problem_class: str, problem: str) -> None:
        super().__init__(problem)
        self.problem_class = problem_class
        """One of those in `record`."""
        self.problem = problem


class Launching:
    """The launcher of a job."""

    def __init__(self, launcher: Sequence[str], desk: Path) -> None:
        """Starts nothing yet.

        Args:
            launcher: Its words; none: what there is runs once, here.
            desk: The job's folder on the desk.
        """
        self._launcher = list(launcher)
        self._desk = desk
        self.told: int | None = None
        """The signal by which the last run was told to end; None: it was not."""

    def run(self, module: str, *words: str) -> int:
        """Runs a module on all ranks to its end; told to end meanwhile, it ends them.

        Returns:
            The launcher's exit code; 128 and the signal if one ended it.

        Raises:
            EndedError: If it cannot be started.
        """
        # Launchers hand few variables on to other nodes.
        path = f"PYTHONPATH={os.environ.get('PYTHONPATH', '')}"
        command = [*self._launcher, "env", path, sys.executable, "-m", module, *words]
        self.told = None
        try:
            process = subprocess.Popen(
                command,
                cwd=self._desk,
                stdin=subprocess.DEVNULL,
                preexec_fn=unblock_told,  # noqa: PLW1509 - there is one thread
            )
        except OSError as error:
            why = f"{command[0]} cannot be started: {error.strerror or error}"
            raise EndedError(FAILED, why) from error
        self.told = await_end(process)
        if self.told is not None:
            process.terminate()
            await_end(process, _END_S)
            process.kill()
        code = process.wait()
        return code if code >= 0 else 128 - code


def problem_of(task: JobTask, ranks: Sequence[RankRecord], code: int) -> str:
    """What is wrong with ranks that have ended, in one line; empty: nothing.

    Args:
        task: What they were to do.
        ranks: Those that wrote a record.
        code: Of their launcher.
    """
    unable = next((rank for rank in ranks if rank.problem), None)
    if unable is not None:
        return f"rank {unable.rank} on {unable.host}: {unable.problem}"
    failed = next((rank for rank in ranks if rank.exit_code), None)
    if failed is not None:
        how = f"exit code {failed.exit_code}"
        if failed.exit_code < 0:
            how = f"ended by {signal_name(-failed.exit_code)}"
        return f"rank {failed.rank} on {failed.host}: {how}"
    if code:
        return f"the launcher ended with exit code {code}: see err.txt and out.txt"
    if len(ranks) != task.ranks:
        return f"{len(ranks)} of {task.ranks} ranks told how they ended"
    return ""


def signal_name(number: int) -> str:
    """As `SIGTERM`."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
