"""What the commands of Grid Engine say, as values.

Times are asked for in UTC: the commands tell local time without its zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, ParseError, fromstring

from loadstone.schedulers.base import Accounted, JobState, NodeInfo, SchedulerError, State

_ID = re.compile(r"^\s*(\d+)(?:\.\d+(?:-\d+:\d+)?)?\s*$", re.MULTILINE)
_LONG_ID = re.compile(r"Your job (\d+) ")
_RULE = re.compile(r"^=+$", re.MULTILINE)
_TIME_FORMATS = ("%Y-%m-%dT%H:%M:%S", "%a %b %d %H:%M:%S %Y", "%m/%d/%Y %H:%M:%S")
_SIZE = re.compile(r"([\d.]+)\s*([KMGT]?)B?", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_LIMIT = re.compile(r"\bh_rt=(\d+)")
_STAMP = re.compile(r"^\s*\d+/\d+/\d+ [\d:]+ \[[^\]]*\]: ")
"""Before the reason of an error: when, and which user and process found it."""
_SHOWN = 200

_SILENT = "u"
"""In the state of a queue instance: its node was not heard of for a long time."""
_NO_JOBS = frozenset("uEdDsSCoc")
"""In the state of a queue instance: it takes no job until somebody does something."""

_KILLED = 128
_LOST_WITH_NODE = frozenset({21})
_PUT_BACK = frozenset({24, 25})
_LIMIT_ENFORCED = frozenset({37, 44})
"""Numbers in `failed` of an accounting record: sge_status(5)."""


@dataclass(frozen=True)
class Listed:
    """What `qstat -f -xml` shows: all queue instances, and this user's jobs."""

    jobs: Mapping[str, JobState]
    """By name; those that wait or run."""
    nodes: Sequence[NodeInfo]


@dataclass(frozen=True)
class Ended:
    """A job of the accounting."""

    accounted: Accounted
    reason: str
    owner: str


def submitted(said: str) -> str | None:
    """The id among whatever else qsub, or a script around it, has said; None of several numbers."""
    found = set(_ID.findall(said) or _LONG_ID.findall(said))
    return found.pop() if len(found) == 1 else None


def listed(text: str) -> Listed:
    """Reads `qstat -f -xml`.

    Raises:
        SchedulerError: If it is something else.
    """
    root = _parsed(text, "qstat")
    jobs: dict[str, JobState] = {}
    slots: dict[str, NodeInfo] = {}
    for queue in root.iter("Queue-List"):
        node = _node(queue)
        known = slots.get(node.name)
        if known is None or (node.up, node.slots) > (known.up, known.slots):
            slots[node.name] = node
        for entry in queue.findall("job_list"):
            job = _job(entry, node)
            jobs[job.name] = _joined(jobs.get(job.name), job)
    for queue in root.iter("job_info"):
        for entry in queue.findall("job_list"):
            job = _job(entry, None)
            jobs.setdefault(job.name, job)
    return Listed(jobs, list(slots.values()))


def reasons(text: str) -> dict[str, str]:
    """Reads `qstat -j -xml`: why jobs wait, or why they are in error.

    Returns:
        Id: reason, in the scheduler's own words.

    Raises:
        SchedulerError: If it is something else.
    """
    root = _parsed(text, "qstat -j")
    of_jobs, of_all = _scheduling(root), _general(root)
    found = {}
    for element in root.iter("element"):
        id_ = (element.findtext("JB_job_number") or "").strip()
        if id_:
            errors = [_STAMP.sub("", each.text or "") for each in element.iter("QIM_message")]
            found[id_] = "; ".join(map(_short, errors[-1:] or of_jobs.get(id_) or of_all))
    return found


def ended(text: str) -> dict[str, Ended]:
    """Reads `qacct -j`, a block of `field value` lines for each job, or part of a job, that ended.

    Returns:
        By name. Of a job with several blocks times and use of processors are those of all.
    """
    found: dict[str, Ended] = {}
    for block in _RULE.split(text):
        fields = dict(_fields(block))
        if fields.get("jobname") and fields.get("jobnumber"):
            job = _ended(fields)
            name = job.accounted.name
            found[name] = _added(found[name], job) if name in found else job
    return found


def rule_of(text: str) -> str:
    """The `allocation_rule` that `qconf -sp` tells; empty if it tells none."""
    return dict(_fields(text)).get("allocation_rule", "")


def environments_of(text: str) -> list[str]:
    """The parallel environments that `qconf -sq` tells of a queue, each once.

    Those of single hosts (`[n1=mpi smp]`) are among them.
    """
    lines = text.replace("\\\n", " ").splitlines()
    said = next((line for line in lines if line.startswith("pe_list")), "")
    plain = re.sub(r"\[[^=\]]*=", " ", said.removeprefix("pe_list"))
    names = re.split(r"[\s,\]]+", plain)
    return [name for name in dict.fromkeys(names) if name not in ("", "NONE")]


def state_of(letters: str) -> State:
    """What the letters of a job's state mean, as qstat(1) has them.

    A job in error stays in the list, but it does not run until somebody clears it: it has failed.
    """
    for letter, state in _LETTERS:
        if letter in letters:
            return state
    return "unknown"


_LETTERS: tuple[tuple[str, State], ...] = (
    ("E", "failed"),
    ("R", "requeued"),
    ("s", "held"),
    ("S", "held"),
    ("T", "held"),
    ("r", "running"),
    ("t", "running"),
    ("h", "held"),
    ("w", "waiting"),
)
"""The first that is among the letters counts: `hqw` is held, `Rr` was put back and runs again."""


def _parsed(text: str, command: str) -> Element:
    """The document, without what a site prints before it."""
    begin = max(0, text.find("<?xml"))
    try:
        return fromstring(text[begin:])  # noqa: S314 - the answer of a command that we started
    except ParseError as error:
        raise SchedulerError(f"{command} said what cannot be read: {error}") from error


def _node(queue: Element) -> NodeInfo:
    name = (queue.findtext("name") or "").partition("@")[2]
    letters = (queue.findtext("state") or "").strip()
    slots = int(queue.findtext("slots_total") or 0)
    return NodeInfo(name, slots, letters or "ready", up=not _NO_JOBS.intersection(letters))


def _job(entry: Element, node: NodeInfo | None) -> JobState:
    """A job of a list.

    Args:
        entry: Its element.
        node: That it runs on; None of one that waits.
    """
    letters = (entry.findtext("state") or "").strip()
    state, reason = state_of(letters), "" if letters in ("r", "qw", "t") else letters
    if node is not None and _SILENT in node.state:
        state = "node-failed"
        reason = f"the queue of {node.name} is in state {node.state}: the node does not answer"
    return JobState(
        id=(entry.findtext("JB_job_number") or "").strip(),
        name=(entry.findtext("full_job_name") or entry.findtext("JB_name") or "").strip(),
        state=state,
        reason=reason,
        nodes=() if node is None else (node.name,),
        submitted_s=_epoch(entry.findtext("JB_submission_time")),
        began_s=_epoch(entry.findtext("JAT_start_time")),
    )


def _joined(known: JobState | None, more: JobState) -> JobState:
    """A job that has slots of several nodes: it fails with any of them."""
    if known is None:
        return more
    nodes = tuple(dict.fromkeys((*known.nodes, *more.nodes)))
    worse = more if more.state == "node-failed" else known
    return replace(worse, nodes=nodes)


def _scheduling(root: Element) -> dict[str, list[str]]:
    """Id: why the scheduler has not started it, the last that it says of it."""
    found: dict[str, list[str]] = {}
    for listed in root.iter("SME_message_list"):
        for message in listed:
            for number in message.iter("ULNG_value"):
                found[(number.text or "").strip()] = [message.findtext("MES_message") or ""]
    return found


def _general(root: Element) -> list[str]:
    """What the scheduler says of all jobs: which queue instances take none."""
    return [
        message.findtext("MES_message") or ""
        for listed in root.iter("SME_global_message_list")
        for message in listed
    ][:2]


def _fields(block: str) -> Iterator[tuple[str, str]]:
    for line in block.splitlines():
        name, _, value = line.strip().partition(" ")
        if name:
            yield name, value.strip()


def _ended(fields: Mapping[str, str]) -> Ended:
    failed, _, why = fields.get("failed", "0").partition(":")
    code = int(_first_number(failed) or 0)
    exit_code = int(_first_number(fields.get("exit_status", "")) or 0)
    ran_s = _first_number(fields.get("ru_wallclock", ""))
    state, reason = _how(code, " ".join(why.split()), exit_code, ran_s, fields)
    accounted = Accounted(
        id=fields["jobnumber"],
        name=fields["jobname"],
        state=state,
        nodes=(fields["hostname"],) if fields.get("hostname") else (),
        submitted_s=_epoch(fields.get("qsub_time")),
        began_s=_epoch(fields.get("start_time")),
        ended_s=_epoch(fields.get("end_time")),
        cpu_s=_first_number(fields.get("cpu", "")),
        max_rss_mib=_mib(fields.get("ru_maxrss", "")),
        exit_code=exit_code,
    )
    return Ended(accounted, reason, fields.get("owner", ""))


def _how(
    code: int, why: str, exit_code: int, ran_s: float | None, fields: Mapping[str, str]
) -> tuple[State, str]:
    """How a job ended, and in which words.

    Args:
        code: `failed`: where Grid Engine had trouble with it.
        why: What is told of that.
        exit_code: Of its script; above 128 a signal ended it.
        ran_s: From its begin to its end.
        fields: Of its accounting record.
    """
    by = fields.get("deleted_by", "NONE")
    limit = _LIMIT.search(fields.get("category", ""))
    signal = exit_code - _KILLED
    ended = signal > 0 or code in _LIMIT_ENFORCED
    late = ended and limit is not None and ran_s is not None and ran_s >= int(limit[1])
    ways: tuple[tuple[bool, State, str], ...] = (
        (by not in ("NONE", ""), "cancelled", f"deleted by {by}"),
        (late, "timed-out", f"its limit h_rt of {limit[1]} s was over" if limit else ""),
        (code in _LIMIT_ENFORCED, "timed-out", why),
        (code in _LOST_WITH_NODE, "node-failed", why),
        (code in _PUT_BACK, "requeued", why),
        (code == 0 and exit_code == 0, "ended", ""),
        (signal > 0, "failed", f"killed by signal {signal}"),
        (code != 0, "failed", f"failed {code}: {why}"),
    )
    for is_so, state, reason in ways:
        if is_so:
            return state, reason
    return "failed", f"exit code {exit_code}"


def _added(first: Ended, more: Ended) -> Ended:
    """A job of which each part, or attempt, has a record of its own; the last tells its end."""
    one, other = first.accounted, more.accounted
    whole = replace(
        other,
        nodes=tuple(dict.fromkeys((*one.nodes, *other.nodes))),
        began_s=_least(one.began_s, other.began_s),
        cpu_s=(one.cpu_s or 0.0) + (other.cpu_s or 0.0),
        max_rss_mib=max(one.max_rss_mib or 0.0, other.max_rss_mib or 0.0),
    )
    return replace(more, accounted=whole)


def _least(*times: float | None) -> float | None:
    return min((each for each in times if each is not None), default=None)


def _epoch(said: str | None) -> float | None:
    """Seconds of the epoch; None of what is no time, such as `-/-`."""
    text = " ".join((said or "").split())
    whole, _, fraction = text.partition(".")
    for layout in _TIME_FORMATS:
        try:
            at = datetime.strptime(whole, layout).replace(tzinfo=UTC)
        except ValueError:
            continue
        return at.timestamp() + (float(f"0.{fraction}") if fraction.isdigit() else 0.0)
    return None


def _first_number(said: str) -> float | None:
    match = re.search(r"\d+(?:\.\d+)?", said)
    return float(match[0]) if match else None


def _mib(said: str) -> float | None:
    """MiB of ru_maxrss, which is a number of KiB; 8.1.9 writes `4.855KB` for 4971 of them."""
    match = _SIZE.fullmatch(said.strip())
    if match is None:
        return None
    return float(match[1]) * 1024.0 ** _POWERS[match[2].upper()] / 1024.0


def _short(message: str) -> str:
    return " ".join(message.split())[:_SHOWN]
