"""Grid Engine by its commands: qsub, qstat, qdel, qacct."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pwd import getpwuid

from loadstone.counting import how_many
from loadstone.schedulers import gridengine_output
from loadstone.schedulers.base import (
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
from loadstone.schedulers.gridengine_output import Ended, Listed

COMMANDS = ("qsub", "qstat", "qdel", "qacct", "qconf")
"""Without these there is no Grid Engine here."""

PACKAGE = "gridengine-client"
"""The Debian package that has them."""

_NAMEABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OF_THE_SHELL = frozenset({"PWD", "OLDPWD", "SHLVL", "_", "TMPDIR", "TMP", "HOSTNAME", "TERM"})
"""They are about where qsub runs, or Grid Engine gives a job its own."""

_REFUSED = re.compile(r"Unable to run job: (.*)|Unknown option|invalid option|ERROR! (.*)")
_UNSURE = re.compile(
    r"timed? ?out|failed receiving|gdi request|unable to (contact|send|connect)|commlib"
    r"|can't (connect|get)|connection|communication|not respond|got no|read error|send error",
    re.IGNORECASE,
)
"""In what qsub says of its failure: qmaster may have taken the job all the same."""
_GONE = re.compile(r"does not exist|already in deletion|registered the job|has deleted job")
"""What qdel says of a job that is over, or is about to be."""
_NOT_THERE = re.compile(r"job (name|id) .* not found|no jobs running", re.IGNORECASE)
"""What qacct says where the accounting has no such job."""
_NO_SUCH_JOB = "loadstone-asks-whether-there-is-an-accounting"

_ADVICE = (
    (re.compile("project", re.IGNORECASE), "give a project: gridengine://QUEUE?project=NAME"),
    (re.compile("parallel environment|PE ", re.IGNORECASE), "name one that qconf -spl shows: "
     "gridengine://QUEUE?distributed=NAME"),
    (re.compile("queue", re.IGNORECASE), "give a queue that qconf -sql shows: gridengine://QUEUE"),
    (re.compile("max_u_jobs|max_jobs|quota|allow", re.IGNORECASE), "ask for fewer jobs, or wait "
     "until there is room"),
)  # fmt: skip
"""Found in a refusal: what to do about it. The first that fits counts."""

_EACH_RANK = """
rank=0 all=
trap 'kill $all 2>/dev/null' TERM INT HUP
while read -r host slots rest; do
    at=0
    while [ "$at" -lt "$slots" ]; do
        if [ "$host" = "$HOSTNAME" ]; then
            LOADSTONE_RANK=$rank LOADSTONE_RANKS=$NSLOTS "$@" </dev/null &
        else
            LOADSTONE_RANK=$rank LOADSTONE_RANKS=$NSLOTS qrsh -inherit -nostdin -V "$host" "$@" &
        fi
        all="$all $!" rank=$((rank + 1)) at=$((at + 1))
    done
done <"$PE_HOSTFILE"
code=0
for each in $all; do wait "$each" || code=$?; done
exit "$code"
"""
"""Starts a process for each slot of a job, on the node of the slot."""


class GridEngine(Scheduler):
    """A Grid Engine whose commands are here; SGE_ROOT and SGE_CELL of the environment say which.

    `parallel_environments` of its spec says which one gives a job its nodes: by placement
    (`compact`, `distributed`), or by the number of ranks of each node (`2`), for those that place a
    fixed number on each host.
    """

    kind = "gridengine"
    title = "Grid Engine"

    def __init__(self, spec: SchedulerSpec) -> None:
        super().__init__(spec)
        self._commands = Commands(spec)
        self._user = getpwuid(os.geteuid()).pw_name
        self._seen: dict[str, JobState] = {}
        self._looked_up: set[str] = set()
        self._cancelled: set[str] = set()

    # -- jobs ----------------------------------------------------------------------------------
    def submit(self, request: Request) -> str:
        """Submits a job that is not rerun, whatever the queue's default is."""
        words = ["qsub", *self._options(request), str(request.script)]
        return self._commands.submit(request, words, gridengine_output.submitted, _refusal)

    def jobs(self, prefix: str) -> Mapping[str, JobState]:
        """By qstat; what has left its list, by qacct, which learns of it some seconds later."""
        now = {name: job for name, job in self._listed().items() if name.startswith(prefix)}
        known = {name: job for name, job in self._seen.items() if name.startswith(prefix)}
        gone = {name for name, job in known.items() if name not in now and not job.over}
        found = {name: job for name, job in known.items() if job.over}
        if gone or prefix not in self._looked_up:
            found |= self._over(prefix, gone)
            self._looked_up.add(prefix)
        found |= self._with_reasons(now)
        found = {name: _with_earlier(job, known.get(name)) for name, job in found.items()}
        self._seen |= found
        return found

    def cancel(self, ids: Sequence[str]) -> None:
        """Deletes by qdel, which complains of jobs that are over: that is no failure."""
        said = self._commands.run(["qdel", ",".join(ids)])
        self._cancelled.update(ids)
        lines = [line for line in (said.out + said.err).splitlines() if line.strip()]
        if said.code != 0 and not all(_GONE.search(line) for line in lines):
            raise SchedulerError(f"qdel failed: {said.words()}")

    def cancel_all(self, prefix: str) -> list[str]:
        """Also those in error, which would wait for ever, and those of nodes that are lost."""
        jobs = [job for name, job in self._listed().items() if name.startswith(prefix)]
        if jobs:
            self.cancel([job.id for job in jobs])
        lost = [job.id for job in jobs if job.state == "node-failed"]
        if lost:
            self._commands.run(["qdel", "-f", ",".join(lost)])
        return [job.id for job in jobs]

    # -- the cluster ---------------------------------------------------------------------------
    def nodes(self) -> list[NodeInfo]:
        """Those of the queue, or of all queues where none is given."""
        only = ["-q", self.spec.queue] if self.spec.queue else []
        said = self._qstat("-f", *only)
        if said.code != 0 and not said.err.strip():  # so it says that there is no such queue
            return []
        return list(_listing(said).nodes)

    def accounting(self, prefix: str) -> Mapping[str, Accounted]:
        """What the accounting file has, by qacct."""
        return {name: job.accounted for name, job in self._ended(prefix).items()}

    def accounting_missing(self) -> str:
        """Whether qacct is there, and has a file to read."""
        if self._commands.find("qacct") is None:
            return "the command qacct is not installed here"
        said = self._qacct(_NO_SUCH_JOB)
        if said.code == 0 or _NOT_THERE.search(said.err + said.out):
            return ""
        return f"qacct says: {said.words()}"

    def launcher(self, request: Request, how: Launch) -> list[str]:
        """Open MPI's mpirun, which follows the allocation; qrsh for ranks that are no MPI."""
        if how == "mpi":
            return mpirun(request, self.spec, root=os.geteuid() == 0)
        return [] if request.ranks == 1 else ["/bin/sh", "-c", _EACH_RANK, "ranks"]

    def removed(self) -> list[str]:
        """Names of variables such as SGE_TASK_ID, PE_HOSTFILE, NSLOTS."""
        return self._commands.removed

    def version(self) -> str:
        """As qstat tells it: `SGE 8.1.9`."""
        lines = self._commands.run(["qstat", "-help"]).out.splitlines()
        if not lines:
            raise SchedulerError("qstat -help says nothing")
        return lines[0].strip()

    def missing(self) -> list[str]:
        """Commands of Grid Engine that are not here."""
        return [each for each in COMMANDS if self._commands.find(each) is None]

    def check_known(self) -> None:
        """Asks for the project and the parallel environments that the spec names.

        Raises:
            SchedulerError: If Grid Engine does not answer, or knows one of them not.
        """
        spec = self.spec
        if spec.account:
            form = "gridengine://QUEUE?project=NAME"
            self._look_up("project", "-sprj", spec.account, f"qconf -sprjl shows all: {form}")
        for placement, name in spec.parallel_environments.items():
            form = f"gridengine://QUEUE?{placement}=NAME"
            self._look_up("parallel environment", "-sp", name, f"qconf -spl shows all: {form}")

    def environments(self) -> dict[str, str]:
        """Parallel environments that place a whole number of ranks on each node.

        Returns:
            `compact`, or ranks of each node: name, of the queue, or of all where none is given.
            `$round_robin` and `$fill_up` are not among them: where the nodes are partly taken, they
            place as many here and there as fit.

        Raises:
            SchedulerError: If Grid Engine does not answer, or has no such queue.
        """
        if self.spec.queue:
            queue = self._commands.ask(["qconf", "-sq", self.spec.queue])
            names = gridengine_output.environments_of(queue)
        else:
            said = self._commands.run(["qconf", "-spl"])  # it fails where there are none
            names = said.out.split() if said.code == 0 else []
        found: dict[str, str] = {}
        for name in names:
            rule = gridengine_output.rule_of(self._commands.ask(["qconf", "-sp", name]))
            if rule == "$pe_slots":
                found.setdefault("compact", name)
            elif rule.isdigit():
                found.setdefault(rule, name)
        return found

    # -- inside --------------------------------------------------------------------------------
    def _look_up(self, what: str, option: str, name: str, advice: str) -> None:
        """Raises a SchedulerError with what qconf says if it does not know it."""
        said = self._commands.run(["qconf", option, name])
        if said.code != 0:
            raise SchedulerError(f"{what} {name}: qconf says: {said.words()}", advice=advice)

    def _options(self, request: Request) -> list[str]:
        """Whatever a person's own `.sge_request` may say otherwise is given."""
        spec, folder = self.spec, request.folder
        options = ["-terse", "-N", request.name, "-wd", str(folder), "-S", "/bin/sh"]
        options += ["-o", f"{folder}/out.txt", "-e", f"{folder}/err.txt", "-j", "n"]
        options += ["-r", "n", "-sync", "n", "-now", "n", "-b", "n"]
        options += ["-v", ",".join(self._variables()), "-l", f"h_rt={request.time_limit_s}"]
        if request.memory_mib is not None:
            options += ["-l", f"h_vmem={request.memory_mib}M"]
        if request.ranks > 1:
            options += ["-pe", self._environment(request), str(request.ranks)]
        given = {"-q": spec.queue, "-P": spec.account}
        return options + [word for name, value in given.items() if value for word in (name, value)]

    def _environment(self, request: Request) -> str:
        """The parallel environment of a job.

        Raises:
            SubmissionError: If none is known that places its ranks as they are asked for.
        """
        named = self.spec.parallel_environments
        found = named.get(request.placement) or named.get(str(request.per_node))
        if found is None:
            raise SubmissionError(
                f"job {request.name}: no parallel environment is known that places "
                f"{how_many(request.per_node, 'rank')} on each of "
                f"{how_many(request.nodes, 'node')}",
                doubtful=False,
                advice=f"name one: gridengine://QUEUE?{request.placement}=NAME",
            )
        return found

    def _variables(self) -> list[str]:
        """Names of those that a job takes over: functions of a shell would break its start."""
        return [
            name
            for name, value in sorted(self._commands.environment.items())
            if _NAMEABLE.fullmatch(name) and name not in _OF_THE_SHELL and "\n" not in value
        ]

    def _listed(self) -> Mapping[str, JobState]:
        """This user's jobs that wait or run, by name."""
        return _listing(self._qstat("-f", "-ne")).jobs

    def _qstat(self, *options: str) -> Said:
        words = ["qstat", *options, "-s", "prs", "-u", self._user, "-xml"]
        return self._commands.run(words, TZ="UTC")

    def _with_reasons(self, jobs: Mapping[str, JobState]) -> dict[str, JobState]:
        """The same jobs; of those that do not run it is said why."""
        still = [job.id for job in jobs.values() if job.state in ("waiting", "held", "failed")]
        if not still:
            return dict(jobs)
        said = self._commands.run(["qstat", "-j", ",".join(still), "-xml"], TZ="UTC")
        if said.code != 0:  # one of them has ended meanwhile: the next look tells
            return dict(jobs)
        why = gridengine_output.reasons(said.out)
        return {name: _with_reason(job, why.get(job.id, "")) for name, job in jobs.items()}

    def _over(self, prefix: str, gone: Iterable[str]) -> dict[str, JobState]:
        """Jobs that the accounting has, and those that were deleted before they began.

        Args:
            prefix: Of their names.
            gone: Names of those that have left qstat's list.
        """
        found = {
            name: JobState(
                id=job.accounted.id,
                name=name,
                state=job.accounted.state,
                reason=job.reason,
                nodes=job.accounted.nodes,
                submitted_s=job.accounted.submitted_s,
                began_s=job.accounted.began_s,
                ended_s=job.accounted.ended_s,
                exit_code=job.accounted.exit_code,
            )
            for name, job in self._ended(prefix).items()
        }
        for name in gone:
            known = found.get(name, self._seen[name])
            if known.id in self._cancelled and known.state != "ended":
                found[name] = replace(known, state="cancelled", reason="deleted by qdel")
        return found

    def _ended(self, prefix: str) -> dict[str, Ended]:
        """This user's jobs of the accounting; none where there is no accounting."""
        if self._commands.find("qacct") is None:
            return {}
        said = self._qacct(f"{prefix}*")
        if said.code != 0:
            return {}
        found = gridengine_output.ended(said.out)
        return {name: job for name, job in found.items() if job.owner == self._user}

    def _qacct(self, pattern: str) -> Said:
        return self._commands.run(["qacct", "-j", pattern], TZ="UTC")


def _listing(said: Said) -> Listed:
    """What qstat has listed.

    Raises:
        SchedulerError: If it failed.
    """
    if said.code != 0:
        raise SchedulerError(f"qstat failed: {said.words()}")
    return gridengine_output.listed(said.out)


def _with_reason(job: JobState, why: str) -> JobState:
    """A job with what the scheduler says of it, behind the letters of an unusual state."""
    return replace(job, reason=": ".join(filter(None, (job.reason, why))))


def _with_earlier(job: JobState, known: JobState | None) -> JobState:
    """A job with what an earlier look has told of it, and this one does not."""
    if known is None or known.id != job.id:
        return job
    return replace(
        job,
        submitted_s=known.submitted_s if job.submitted_s is None else job.submitted_s,
        began_s=known.began_s if job.began_s is None else job.began_s,
        nodes=known.nodes if len(known.nodes) > len(job.nodes) else job.nodes,
    )


def _refusal(request: Request, said: Said) -> SubmissionError:
    """Why qsub took no job, or why nobody knows: only a reason of qmaster's is certain."""
    text = " ".join((said.err + " " + said.out).split())
    if said.code == 0 or not _REFUSED.search(text) or _UNSURE.search(text):
        how = "qsub told no id" if said.code == 0 else said.words()
        return SubmissionError(f"job {request.name}: {how}; it may have been taken", doubtful=True)
    told = " ".join(text.replace("Unable to run job:", "").replace("Exiting.", "").split())
    advice = next((cure for pattern, cure in _ADVICE if pattern.search(told)), None)
    return SubmissionError(
        f"Grid Engine refused job {request.name}: {told}", doubtful=False, advice=advice
    )
