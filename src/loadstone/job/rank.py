"""Around each rank: starts its application as a child, and tells where and how it ran.

Usage, by a launcher: python -m loadstone.job.rank DESK

The launcher tells each rank its number by a variable. The application's time is between two stamps
on this node's own clock. What it used is told by the kernel when it ends: its own and that of the
children it has waited for.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from loadstone.job.record import OUTPUT_FOLDER, RANKS_FOLDER, RankRecord, write_record
from loadstone.job.sampling import Sampler, Samples
from loadstone.job.slots import Slot, take_slot
from loadstone.job.system import allowed_cpus, boot_id, io_counts, io_of_tree
from loadstone.job.task import JOB_FILE, JobTask, read_task, work_folder

RANK, RANKS, OUTPUT = "LOADSTONE_RANK", "LOADSTONE_RANKS", "LOADSTONE_OUTPUT"
"""The application finds them in its environment: number, how many, and its folder on the desk."""

_TASK = "SLURM_PROCID"
_SERVED_BY_SRUN = "PMIX_RANK"
"""PMIx of srun's tells no size."""
_TOLD_BY = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMIX_RANK", "PMIX_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    (RANK, RANKS),
    (_TASK, "SLURM_NTASKS"),
)
"""Of launchers, the innermost first: number of a rank, and how many there are."""
_CANNOT_START = 127
_PR_SET_PDEATHSIG = 1
_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


@dataclass(frozen=True)
class Told:
    """What the launcher tells a rank of its place."""

    rank: int = 0
    ranks: int = 1
    """That it started."""
    world: int = 1
    """Ranks that find each other by MPI."""


def place(environment: Mapping[str, str]) -> Told:
    """The place of this rank; alone without a launcher.

    srun numbers its tasks whether or not it serves a protocol by which an MPI library would find
    the others: without one (`--mpi=none`) each is a world of its own.
    """
    for rank, size in _TOLD_BY:
        if environment.get(rank, "").isdigit() and environment.get(size, "").isdigit():
            ranks = int(environment[size])
            alone = rank == _TASK and _SERVED_BY_SRUN not in environment
            return Told(int(environment[rank]), ranks, 1 if alone else ranks)
    return Told()


def run_rank(desk: Path) -> int:
    """Runs the application of one rank and writes its record.

    Args:
        desk: The job's folder on the desk.

    Returns:
        The exit code of the application; 128 and the signal that ended it; 127: it did not start.
    """
    task = read_task(desk / JOB_FILE)
    told = place(os.environ)
    run = _Run(task, desk, told)
    record = run.record()
    folder = desk / RANKS_FOLDER
    folder.mkdir(exist_ok=True)
    # Ranks that all take themselves for the first one must not write over each other.
    write_record(folder / f"{told.rank}-{record.host}-{record.pid}.json", record)
    return record.exit_code if record.exit_code >= 0 else 128 - record.exit_code


class _Run:
    """One application, from its start to its end."""

    def __init__(self, task: JobTask, desk: Path, told: Told) -> None:
        self._task = task
        self._desk = desk
        self._told = told
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._child: int | None = None
        self._signalled: int | None = None

    def record(self) -> RankRecord:
        """Runs it to its end."""
        for number in _FORWARDED:
            signal.signal(number, self._forward)
        problem, slot = "", None
        run_s, code = 0.0, _CANNOT_START
        samples, used = Samples(self._task.sample_s), resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            slot = self._slot()
        except OSError as error:
            problem = f"it has no slot: {error.strerror or error}"
        began_epoch_s, began_s = time.time(), time.monotonic()
        if not problem:
            try:
                process = self._start()
            except OSError as error:
                problem = f"{self._task.command[0]} cannot be started: {error.strerror or error}"
            else:
                run_s, code, used = self._await(process, samples, began_s)
        return RankRecord(
            rank=self._told.rank,
            host=socket.gethostname(),
            cpus=allowed_cpus(),
            world=self._told.world,
            pid=os.getpid(),
            boot_id=boot_id(),
            began_epoch_s=began_epoch_s,
            began_monotonic_s=began_s,
            run_s=run_s,
            cpu_s=used.ru_utime + used.ru_stime,
            max_rss_kib=used.ru_maxrss,
            exit_code=code,
            problem=problem,
            slot=0 if slot is None else slot.number,
            io=samples.all(),
        )

    def _slot(self) -> Slot | None:
        """One of this node; None where slots have no part of the processors of their own.

        Raises:
            OSError: If it gets none.
        """
        if not self._task.slots:
            return None
        return take_slot(self._task.slots.get(socket.gethostname(), []))

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            self._task.command,
            cwd=work_folder(self._task, self._desk),
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            preexec_fn=self._die_with_parent,  # noqa: PLW1509 - there is one thread yet
        )
        self._child = process.pid
        if self._signalled is not None:
            process.send_signal(self._signalled)
        return process

    def _await(
        self, process: subprocess.Popen[bytes], samples: Samples, began_s: float
    ) -> tuple[float, int, resource.struct_rusage]:
        """Waits for the end; returns run time, exit code, and what was used."""
        pid = process.pid
        sampler = Sampler(samples, lambda: io_of_tree(pid), lambda: time.monotonic() - began_s)
        # It stays a zombie until its last counts have been read.
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        run_s = time.monotonic() - began_s
        sampler.stop(io_counts(pid))
        self._child = None
        _, status, used = os.wait4(pid, 0)
        process.returncode = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else status >> 8
        return run_s, process.returncode, used

    def _environment(self) -> dict[str, str]:
        told = {
            RANK: str(self._told.rank),
            RANKS: str(self._told.ranks),
            OUTPUT: str(self._desk / OUTPUT_FOLDER),
        }
        return {**os.environ, **self._task.environment, **told}

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        self._signalled = number
        if self._child is not None:
            os.kill(self._child, number)

    def _die_with_parent(self) -> None:
        """A launcher may kill this process: nothing of the application may stay."""
        self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(run_rank(Path(sys.argv[1])))
