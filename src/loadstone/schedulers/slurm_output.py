"""What the commands of Slurm say, read into values. Times are asked for in UTC.

Formats, states and options: the manual pages squeue(1), sacct(1), sinfo(1) and sbatch(1) of Slurm.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from loadstone.schedulers.base import (
    OVER,
    Accounted,
    JobState,
    NodeInfo,
    SchedulerError,
    State,
)

QUEUE_FIELDS = (
    *("jobid", "name", "state", "submittime", "starttime", "endtime"),
    *("restartcnt", "exit_code", "nodelist", "reason"),
)
"""Of a job in `squeue --Format`, in the order in which they are read."""

QUEUE_FORMAT = ",".join(f"{name}:{1024 if name == 'nodelist' else 256}|" for name in QUEUE_FIELDS)
"""Each field wide enough for all of it, with a bar behind it; without a width squeue cuts at 20."""

ACCOUNT_FIELDS = (
    *("JobIDRaw", "JobName", "State", "Submit", "Start", "End"),
    *("TotalCPU", "MaxRSS", "ExitCode", "NodeList"),
)
"""Of a job or a step in `sacct --format`, in the order in which they are read."""

NODE_FORMAT = "%N|%c|%Z|%T"
"""Of a node in `sinfo --format`: name, processors, threads of a core, state."""

_STATES: dict[str, State] = {
    "PENDING": "waiting",
    "CONFIGURING": "waiting",
    "RUNNING": "running",
    "COMPLETING": "running",
    "RESIZING": "running",
    "SIGNALING": "running",
    "STAGE_OUT": "running",
    "SUSPENDED": "held",
    "STOPPED": "held",
    "COMPLETED": "ended",
    "FAILED": "failed",
    "OUT_OF_MEMORY": "failed",
    "CANCELLED": "cancelled",
    "PREEMPTED": "cancelled",
    "REVOKED": "cancelled",
    "TIMEOUT": "timed-out",
    "DEADLINE": "timed-out",
    "NODE_FAIL": "node-failed",
    "BOOT_FAIL": "node-failed",
    "REQUEUED": "requeued",
    "REQUEUE_FED": "requeued",
    "REQUEUE_HOLD": "requeued",
    "SPECIAL_EXIT": "requeued",
    "RESV_DEL_HOLD": "held",
}
_HELD = ("JobHeldUser", "JobHeldAdmin", "job_requeued_in_held_state")
_UNDER_WAY: frozenset[State] = frozenset({"waiting", "running"})
_UP = frozenset({"idle", "mixed", "allocated", "completing", "planned"})
_LETTERS = re.compile(r"[a-z]+")
_SUBMITTED = re.compile(r"(?:Submitted batch job )?(\d+)(?:;\S+| on cluster \S+)?")
_TYPE_OF_MPI = re.compile(r"[a-z][a-z0-9_]*")
_MEMORY_MIB = {"": 1 / 2**20, "K": 1 / 2**10, "M": 1.0, "G": 2.0**10, "T": 2.0**20}
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def submitted(text: str) -> str | None:
    """The id of a job that sbatch has submitted, whatever a site prints around it.

    Returns:
        None if there is none, or several different ones.
    """
    lines = (_SUBMITTED.fullmatch(line.strip()) for line in text.splitlines())
    found = {match[1] for match in lines if match}
    return found.pop() if len(found) == 1 else None


def queue(text: str) -> dict[str, JobState]:
    """What `squeue` knows of jobs, by name.

    Of several with one name, which only a requeue or somebody else can make, the last submitted
    counts.

    Raises:
        SchedulerError: If a line cannot be read.
    """
    found: dict[str, JobState] = {}
    for fields in _rows(text, QUEUE_FIELDS, "squeue"):
        job = _job(fields)
        earlier = found.get(job.name)
        if earlier is None or int(earlier.id) < int(job.id):
            found[job.name] = job
    return found


def _job(fields: Mapping[str, str]) -> JobState:
    state: State = _STATES.get(fields["state"], "unknown")
    reason = "" if fields["reason"] in {"None", "(null)"} else fields["reason"]
    if state == "waiting" and reason in _HELD:
        state = "held"
    restarts = fields["restartcnt"]
    if state in _UNDER_WAY and restarts.isdigit() and int(restarts) > 0:
        state, reason = "requeued", f"requeued {restarts} times; {reason}".rstrip("; ")
    elif state == "unknown":
        reason = fields["state"]
    over = state in OVER
    return JobState(
        id=fields["jobid"],
        name=fields["name"],
        state=state,
        reason=reason,
        nodes=tuple(hosts(fields["nodelist"])),
        submitted_s=epoch_s(fields["submittime"]),
        began_s=None if state in {"waiting", "held"} else epoch_s(fields["starttime"]),
        ended_s=epoch_s(fields["endtime"]) if over else None,
        exit_code=_exit_code(fields["exit_code"]) if over else None,
    )


def accounts(text: str) -> dict[str, Accounted]:
    """What `sacct` knows of jobs, by name; the memory is that of the largest task of their steps.

    Raises:
        SchedulerError: If a line cannot be read.
    """
    rows = list(_rows(text, ACCOUNT_FIELDS, "sacct"))
    largest: dict[str, float] = {}
    for fields in rows:
        job, _, step = fields["JobIDRaw"].partition(".")
        used = memory_mib(fields["MaxRSS"])
        if step and used is not None:
            largest[job] = max(used, largest.get(job, 0.0))
    return {
        fields["JobName"]: _accounted(fields, largest.get(fields["JobIDRaw"]))
        for fields in rows
        if "." not in fields["JobIDRaw"]
    }


def _accounted(fields: Mapping[str, str], max_rss_mib: float | None) -> Accounted:
    state = fields["State"].split(" ", 1)[0]  # "CANCELLED by 1000"
    return Accounted(
        id=fields["JobIDRaw"],
        name=fields["JobName"],
        state=_STATES.get(state, "unknown"),
        nodes=tuple(hosts(fields["NodeList"])),
        submitted_s=epoch_s(fields["Submit"]),
        began_s=epoch_s(fields["Start"]),
        ended_s=epoch_s(fields["End"]),
        cpu_s=duration_s(fields["TotalCPU"]),
        max_rss_mib=max_rss_mib,
        exit_code=_exit_code(fields["ExitCode"]),
    )


def nodes(text: str) -> list[NodeInfo]:
    """What `sinfo` knows of nodes: one rank fits on each core.

    Raises:
        SchedulerError: If a line cannot be read.
    """
    found: dict[str, NodeInfo] = {}
    for fields in _rows(text, ("name", "cpus", "threads", "state"), "sinfo"):
        threads = max(_number(fields["threads"]) or 1, 1)
        slots = (_number(fields["cpus"]) or 0) // threads
        state = fields["state"]
        found[fields["name"]] = NodeInfo(fields["name"], slots, state, _is_up(state))
    return list(found.values())


def _is_up(state: str) -> bool:
    """`idle*` does not answer, `idle~` is switched off, `idle-` is promised to another job."""
    word = _LETTERS.match(state)
    return word is not None and word[0] in _UP and "*" not in state


def types_of_mpi(text: str) -> list[str]:
    """The types that `srun --mpi=list` tells, sorted; some versions put `srun: ` before each."""
    lines = [line.strip().removeprefix("srun: ") for line in text.splitlines()]
    versions = [line.partition(":")[2].split(",") for line in lines if "versions available" in line]
    words = [*lines, *(word.strip() for line in versions for word in line)]
    return sorted({word for word in words if _TYPE_OF_MPI.fullmatch(word)})


def hosts(text: str) -> Iterator[str]:
    """The names that a list such as `n[1-3,07],login` stands for."""
    if text in {"", "(null)", "None assigned", "None"}:
        return
    for part in _apart(text):
        head, bracket, rest = part.partition("[")
        if not bracket:
            yield part
            continue
        inside, _, tail = rest.partition("]")
        for number in _numbers(inside):
            yield from hosts(f"{head}{number}{tail}")


def _apart(text: str) -> Iterator[str]:
    """What commas outside of brackets separate."""
    part, depth = "", 0
    for letter in text:
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            yield part
            part = ""
        else:
            part += letter
    yield part


def _numbers(text: str) -> Iterator[str]:
    for match in _RANGE.finditer(text):
        first, last = match[1], match[2] or match[1]
        for number in range(int(first), int(last) + 1):
            yield f"{number:0{len(first)}}"


def epoch_s(text: str) -> float | None:
    """Seconds of the epoch of a time in UTC; None where there is none (`N/A`, `Unknown`)."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def duration_s(text: str) -> float | None:
    """Seconds of `[days-[hours:]]minutes:seconds[.fraction]`; None where there is none."""
    days, dash, rest = text.rpartition("-")
    try:
        parts = [float(each) for each in rest.split(":")]
        seconds = math.fsum(each * 60**place for place, each in enumerate(reversed(parts)))
        return seconds + 86_400 * int(days) if dash else seconds
    except ValueError:
        return None


def memory_mib(text: str) -> float | None:
    """Mebibytes of `1234K`, `1.5G`; None where there is none."""
    unit = text[-1:] if text[-1:] in _MEMORY_MIB else ""
    try:
        return float(text.removesuffix(unit)) * _MEMORY_MIB[unit]
    except ValueError:
        return None


def _exit_code(text: str) -> int | None:
    """Of `CODE:SIGNAL`, as a shell would give it, or of the status that wait(2) gives."""
    code, colon, killed_by = text.partition(":")
    if not code.isdigit():
        return None
    if not colon:
        status = int(code)
        return 128 + (status & 0x7F) if status & 0x7F else status >> 8
    return 128 + int(killed_by) if killed_by.isdigit() and int(killed_by) else int(code)


def _number(text: str) -> int | None:
    digits = text.rstrip("+")
    return int(digits) if digits.isdigit() else None


def _rows(text: str, names: tuple[str, ...], command: str) -> Iterator[dict[str, str]]:
    """The fields of each line by name; a bar behind the last field is none of it."""
    for line in text.splitlines():
        if not line.strip():
            continue
        fields = [each.strip() for each in line.rstrip().removesuffix("|").split("|")]
        if len(fields) != len(names):
            raise SchedulerError(
                f"{command} wrote a line with {len(fields)} fields where {len(names)} were asked "
                f"for: {' '.join(line.split())[:80]!r}",
                advice="see whether the command is a script of the site's that adds text",
            )
        yield dict(zip(names, fields, strict=True))
