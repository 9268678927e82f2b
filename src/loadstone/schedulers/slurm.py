"""Slurm by its commands: sbatch, squeue, scancel, sinfo, sacct."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from loadstone.errors import WrongInputError
from loadstone.schedulers import slurm_output
from loadstone.schedulers.base import (
    MPIRUN,
    YIELD_WHEN_IDLE,
    Accounted,
    JobState,
    Launch,
    NodeInfo,
    Request,
    Scheduler,
    SchedulerError,
    SchedulerSpec,
    SubmissionError,
    mpirun,
)
from loadstone.schedulers.commands import Commands, Said

COMMANDS = ("sbatch", "squeue", "scancel", "sinfo")
"""Without these there is no Slurm here."""

PACKAGE = "slurm-client"
"""The Debian package that has them."""

_REMEMBERED = "now-2days"
"""Jobs that began earlier are not looked for in the accounting: no trial takes so long."""

_SRUN = "srun"
_NO_MPI = "none"
_NO_ACCOUNTING = re.compile("accounting storage is disabled", re.IGNORECASE)
_REFUSED = re.compile(r"Batch job submission failed: (.*)")
_UNSURE = re.compile(
    r"timed out|timeout|unable to contact|connect|communication|zero bytes|unexpected message"
    r"|send/recv|temporarily|try again|protocol",
    re.IGNORECASE,
)
"""In what sbatch says of its failure: the controller may have taken the job all the same."""
_FULL = re.compile("temporarily unable to accept job, sleeping and retrying", re.IGNORECASE)
_GONE = re.compile(r"already complet|invalid job id", re.IGNORECASE)
"""What scancel says of a job that is over."""

_ADVICE = (
    (re.compile("invalid account|account/partition", re.IGNORECASE), "give an account that you may "
     "use: slurm://PARTITION?account=NAME"),
    (re.compile("qos", re.IGNORECASE), "ask for fewer jobs, or give another quality of service: "
     "slurm://PARTITION?qos=NAME"),
    (re.compile("partition", re.IGNORECASE), "give a partition that sinfo shows: slurm://PARTITION"),
    (re.compile("time limit", re.IGNORECASE), "give a shorter time_limit"),
    (re.compile("node config|node count|cpu count|more processors", re.IGNORECASE),
     "ask for fewer ranks or nodes"),
    (re.compile("limit|queue", re.IGNORECASE), "ask for fewer jobs, or wait until there is room"),
)  # fmt: skip
"""Found in a refusal: what to do about it. The first that fits counts."""


class Slurm(Scheduler):
    """A Slurm whose commands are here; SLURM_CONF of the environment says which."""

    kind = "slurm"
    title = "Slurm"

    def __init__(self, spec: SchedulerSpec) -> None:
        super().__init__(spec)
        self._commands = Commands(spec)

    def submit(self, request: Request) -> str:
        """Submits a job that is not requeued, whatever the site's default is."""
        words = ["sbatch", *self._options(request), str(request.script)]
        try:
            return self._commands.submit(request, words, slurm_output.submitted, _refusal)
        except SubmissionError as error:
            if _FULL.search(error.message):  # sbatch was refused, and would have tried again
                raise SubmissionError(
                    f"Slurm refused job {request.name}: its queue was full for "
                    f"{self.spec.call_timeout_s:g} s (Slurm temporarily unable to accept job)",
                    doubtful=False,
                    advice="ask for fewer jobs, or wait until there is room",
                ) from error
            raise

    def jobs(self, prefix: str) -> Mapping[str, JobState]:
        """Those that ended stay known for the controller's MinJobAge, five minutes by default."""
        words = ["squeue", "--noheader", "--states=all", f"--user={os.getuid()}"]
        words.append(f"--Format={slurm_output.QUEUE_FORMAT}")
        found = slurm_output.queue(self._commands.ask(words, TZ="UTC"))
        return {name: job for name, job in found.items() if name.startswith(prefix)}

    def cancel(self, ids: Sequence[str]) -> None:
        """Cancels by scancel, which complains of jobs that are over: that is no failure."""
        said = self._commands.run(["scancel", *ids])
        if said.code == 0:
            return
        complaints = [line for line in said.err.splitlines() if line.strip()]
        if not complaints or not all(_GONE.search(line) for line in complaints):
            raise SchedulerError(f"scancel failed: {said.words()}")

    def nodes(self) -> list[NodeInfo]:
        """Those of the partition, or of all where none is given."""
        words = ["sinfo", "--noheader", "--Node", f"--format={slurm_output.NODE_FORMAT}"]
        if self.spec.partition:
            words.append(f"--partition={self.spec.partition}")
        return slurm_output.nodes(self._commands.ask(words))

    def accounting(self, prefix: str) -> Mapping[str, Accounted]:
        """What slurmdbd has of the last two days, by sacct."""
        if self._commands.find("sacct") is None:
            return {}
        said = self._sacct(",".join(slurm_output.ACCOUNT_FIELDS), _REMEMBERED)
        if said.code != 0 and _NO_ACCOUNTING.search(said.err):
            return {}
        if said.code != 0:
            raise SchedulerError(f"sacct failed: {said.words()}")
        found = slurm_output.accounts(said.out)
        return {name: job for name, job in found.items() if name.startswith(prefix)}

    def accounting_missing(self) -> str:
        """Whether sacct is there, and has something to ask."""
        if self._commands.find("sacct") is None:
            return "the command sacct is not installed here"
        said = self._sacct("JobIDRaw", "now")
        return "" if said.code == 0 else f"sacct says: {said.words()}"

    def launcher(self, request: Request, how: Launch) -> list[str]:
        """Open MPI's mpirun, which follows the allocation, or srun with a type of MPI.

        Ranks that are no MPI are started by srun, each by itself.
        """
        if how == "mpi" and self.spec.launcher == MPIRUN:
            return mpirun(request, self.spec, root=os.geteuid() == 0)
        if how == "mpi":
            # The ranks of a world wait for one that has failed.
            words = _srun(request, _type_of_mpi(self.spec), kill_on_bad_exit=True)
            idle = [f"OMPI_MCA_{YIELD_WHEN_IDLE}=1"] if self.spec.yield_when_idle else []
            return [*words, *(["env", *idle] if idle else [])]
        return [] if request.ranks == 1 else _srun(request, _NO_MPI, kill_on_bad_exit=False)

    def check_launcher(self) -> None:
        """Looks whether srun knows the type of MPI that the spec names; no controller is asked.

        Raises:
            WrongInputError: If it does not.
            SchedulerError: If there is no srun here, or it does not answer.
        """
        wanted = _type_of_mpi(self.spec)
        if self.spec.launcher == MPIRUN or not wanted:
            return
        said = self._commands.run([_SRUN, "--mpi=list"])
        known = slurm_output.types_of_mpi(said.out + said.err)
        if not known:
            raise SchedulerError(f"srun --mpi=list tells no type of MPI: {said.words()}")
        if wanted not in known:
            raise WrongInputError(
                f"target.launcher is {self.spec.launcher}, and this Slurm has no {wanted}",
                advice="write one that it has: mpirun, "
                + ", ".join(f"{_SRUN}:{each}" for each in known),
            )

    def removed(self) -> list[str]:
        """Names of variables such as SLURM_CPU_BIND, SBATCH_TIMELIMIT, SQUEUE_FORMAT."""
        return self._commands.removed

    def version(self) -> str:
        """As sinfo tells it: `slurm-wlm 22.05.8`."""
        return self._commands.ask(["sinfo", "--version"]).strip()

    def missing(self) -> list[str]:
        """Commands of Slurm that are not here."""
        return [each for each in COMMANDS if self._commands.find(each) is None]

    def _options(self, request: Request) -> list[str]:
        """Nodes and tasks of each are always given: a site's defaults would pack as they like."""
        spec, folder = self.spec, request.folder
        minutes, seconds = divmod(request.time_limit_s, 60)
        options = ["--parsable", "--no-requeue", f"--job-name={request.name}", "--export=ALL"]
        options += [f"--chdir={folder}", f"--output={folder}/out.txt", f"--error={folder}/err.txt"]
        options += [f"--nodes={request.nodes}-{request.nodes}", f"--ntasks={request.ranks}"]
        options += [f"--ntasks-per-node={request.per_node}", "--cpus-per-task=1"]
        options.append(f"--time={minutes}:{seconds:02}")
        if request.memory_mib is not None:
            options.append(f"--mem-per-cpu={request.memory_mib}M")
        given = {"partition": spec.partition, "account": spec.account, "qos": spec.qos}
        return options + [f"--{name}={value}" for name, value in given.items() if value]

    def _sacct(self, fields: str, since: str) -> Said:
        words = ["sacct", "--noheader", "--parsable2", f"--user={os.getuid()}"]
        words += [f"--starttime={since}", "--endtime=now", f"--format={fields}"]
        return self._commands.run(words, TZ="UTC")


def _type_of_mpi(spec: SchedulerSpec) -> str:
    """Empty: the site's default."""
    return spec.launcher.partition(":")[2]


def _srun(request: Request, mpi: str, *, kill_on_bad_exit: bool) -> list[str]:
    words = [_SRUN, f"--nodes={request.nodes}", f"--ntasks={request.ranks}"]
    words += [f"--ntasks-per-node={request.per_node}", "--cpus-per-task=1", "--overlap"]
    words += [f"--mpi={mpi}"] if mpi else []
    return [*words, "--cpu-bind=none", "--wait=0", f"--kill-on-bad-exit={int(kill_on_bad_exit)}"]


def _refusal(request: Request, said: Said) -> SubmissionError:
    """Why sbatch took no job, or why nobody knows: only a reason of the controller's is certain."""
    text = " ".join(line.removeprefix("sbatch: ").strip() for line in said.err.splitlines())
    match = _REFUSED.search(text)
    certain = said.code != 0 and match is not None and not _UNSURE.search(match[1])
    if not certain and said.code != 0 and not _UNSURE.search(text):
        certain = _of_the_options(said.err)
    if not certain:
        how = "sbatch told no id" if said.code == 0 else said.words()
        return SubmissionError(f"job {request.name}: {how}; it may have been taken", doubtful=True)
    for words in ("error: ", "Batch job submission failed: "):
        text = text.replace(words, "")
    told = " ".join(text.split())
    advice = next((cure for pattern, cure in _ADVICE if pattern.search(told)), None)
    return SubmissionError(
        f"Slurm refused job {request.name}: {told}", doubtful=False, advice=advice
    )


def _of_the_options(said: str) -> bool:
    """Whether sbatch has refused its own options, before it asked the controller for anything."""
    return bool(re.search(r"unrecognized option|Invalid .*specification|Unable to open file", said))
