"""Commands of schedulers: bounded, in an environment without what a person has set for himself.

The variables of a scheduler steer it silently: the shell of a job hands down its processor masks
and sizes, and people set formats and filters of their own. They are taken out, and named.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from loadstone.schedulers.base import Request, SchedulerError, SchedulerSpec, SubmissionError

_STEERING = (
    "SLURM_",
    "SLURMD_",
    "SBATCH_",
    "SRUN_",
    "SALLOC_",
    "SQUEUE_",
    "SACCT_",
    "SINFO_",
    "SCANCEL_",
    "SCONTROL_",
    "PMIX_",
    "PMI_",
    "PRTE_",
    "OMPI_",
    "SGE_",
)
"""Beginnings of the names of variables by which schedulers and launchers are steered."""

_INSIDE_GRID_ENGINE = frozenset(
    {"JOB_ID", "JOB_NAME", "NSLOTS", "NHOSTS", "NQUEUES", "PE", "PE_HOSTFILE", "QUEUE", "TASK_ID"}
)
"""Set by Grid Engine in the shell of a job."""

_WHERE = frozenset(
    {
        "SLURM_CONF",
        "SGE_ROOT",
        "SGE_CELL",
        "SGE_CLUSTER_NAME",
        "SGE_QMASTER_PORT",
        "SGE_EXECD_PORT",
    }
)
"""They say where the cluster is: without them it is not found."""

_SHOWN = 200
"""Characters of what a command says that are repeated."""


class NoAnswerError(SchedulerError):
    """A command did not end within its time, and was killed.

    Args:
        program: That was asked.
        timeout_s: That it had.
        err: What it had written to its standard error by then.
    """

    def __init__(self, program: str, timeout_s: float, err: str) -> None:
        said = " ".join(err.split())[-_SHOWN:]
        super().__init__(
            f"{program} did not answer within {timeout_s:g} s"
            + (f"; it says: {said}" if said else "")
        )


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    def words(self) -> str:
        """What it says of its failure, in one line."""
        text = " ".join((self.err.strip() or self.out.strip()).split())
        return text[:_SHOWN] or f"exit code {self.code}"


def cleaned(environment: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """An environment without what steers schedulers and launchers.

    Returns:
        What is left, and the names of what was taken out, sorted.
    """
    removed = sorted(name for name in environment if _steers(name))
    kept = {name: value for name, value in environment.items() if name not in removed}
    return kept, removed


def _steers(name: str) -> bool:
    if name in _WHERE:
        return False
    return name in _INSIDE_GRID_ENGINE or name.startswith(_STEERING)


class Commands:
    """The commands of one scheduler, called as its spec says."""

    def __init__(self, spec: SchedulerSpec) -> None:
        self._wrap = spec.wrap
        self._timeout_s = spec.call_timeout_s
        kept, self.removed = cleaned(os.environ)
        added = dict(spec.environment)
        if "PATH" in added:
            added["PATH"] = os.pathsep.join(filter(None, (added["PATH"], kept.get("PATH"))))
        self.environment = {**kept, **added, "LC_ALL": "C", "LANG": "C"}
        """Of every command, and of the jobs that take it over."""

    def find(self, program: str) -> str | None:
        """Where a program is by the PATH of the commands; None if it is not there."""
        return shutil.which(program, path=self.environment.get("PATH"))

    def run(self, words: Sequence[str], **variables: str) -> Said:
        """Runs a command to its end, in a session of its own.

        Args:
            words: Program and arguments; no secret, for everybody sees them.
            **variables: More of its environment.

        Raises:
            NoAnswerError: If it takes longer than a call may; it is killed with what it started.
            SchedulerError: If it cannot be run.
        """
        process = self._start(words, variables)
        try:
            out, err = process.communicate(timeout=self._timeout_s)
        except subprocess.TimeoutExpired as error:
            _end(process)
            raise NoAnswerError(words[0], self._timeout_s, _text(error.stderr)) from None
        except BaseException:  # an interrupt: nothing goes on behind the back of who asked for it
            _end(process)
            raise
        return Said(process.returncode, _text(out), _text(err))

    def ask(self, words: Sequence[str], **variables: str) -> str:
        """As `run`, of a command that must succeed.

        Returns:
            What it wrote to its standard output.

        Raises:
            SchedulerError: If it does not answer, cannot be run, or fails.
        """
        said = self.run(words, **variables)
        if said.code != 0:
            raise SchedulerError(f"{words[0]} failed: {said.words()}")
        return said.out

    def submit(
        self,
        request: Request,
        words: Sequence[str],
        id_of: Callable[[str], str | None],
        refusal: Callable[[Request, Said], SubmissionError],
    ) -> str:
        """Submits a job.

        Args:
            request: The job.
            words: The command that does it.
            id_of: Finds the id in what it wrote to its standard output.
            refusal: Of one that told no id, or failed: why, and whether it is in doubt.

        Raises:
            SubmissionError: If the job was not taken, or nobody knows.
        """
        try:
            said = self.run(words)
        except NoAnswerError as error:
            raise SubmissionError(
                f"job {request.name}: {error.message}; it may have been taken", doubtful=True
            ) from error
        found = id_of(said.out)
        if said.code == 0 and found is not None:
            return found
        raise refusal(request, said)

    def _start(self, words: Sequence[str], variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
        program = self.find(words[0])
        if program is None:
            raise SchedulerError(f"the command {words[0]} is not installed here")
        try:
            return subprocess.Popen(
                [*self._wrap, program, *words[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**self.environment, **variables},
                start_new_session=True,
            )
        except OSError as error:
            raise SchedulerError(f"{words[0]} cannot be run: {error.strerror}") from error


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kills its process group; what has left the group keeps no stream of ours open."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _text(said: bytes | str | None) -> str:
    return said if isinstance(said, str) else (said or b"").decode(errors="replace")
