"""What a job tells of itself: a record of the job, and one of each of its ranks.

Each is a file of its own in the job's folder on the desk, written whole: it is written under
another name and renamed. `read_record` is for whoever reads it afterwards.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

BROKEN_OFF = "broken off: the run is to end"
"""Reason of a job that the lab cancelled, as its load was over."""
RECORD_FILE = "record.json"
ARRIVED_FILE = "arrived.json"
"""Written as soon as the job has begun: where, and when by both clocks."""
RANKS_FOLDER = "ranks"
OUTPUT_FOLDER = "output"
GATE, FAILED, CANCELLED = "gate", "failed", "cancelled"
"""Classes of problems."""

T = TypeVar("T")


@dataclass(frozen=True)
class IoSample:
    """Of all processes of a rank, counted from their start (`/proc/PID/io`).

    `rchar` and `wchar` are what was asked of the system, `read_bytes` and `write_bytes` what
    reached a block device; `syscr` and `syscw` count the calls.
    """

    t_s: float
    """After the rank's application began, on its node's clock."""
    rchar: int = 0
    wchar: int = 0
    syscr: int = 0
    syscw: int = 0
    read_bytes: int = 0
    write_bytes: int = 0


@dataclass(frozen=True)
class RankRecord:
    """One rank, as its wrapper saw it."""

    rank: int
    host: str
    cpus: list[int]
    """The processors that it was allowed to use."""
    world: int
    """The size of its MPI world, as the launcher's environment says; 1 without a launcher."""
    pid: int
    boot_id: str = ""
    began_epoch_s: float = 0.0
    began_monotonic_s: float = 0.0
    """On its own node's clock."""
    run_s: float = 0.0
    cpu_s: float = 0.0
    max_rss_kib: int = 0
    """Of its largest process."""
    exit_code: int = 0
    """Of its application; -9 if SIGKILL ended it."""
    problem: str = ""
    """Why its application could not be started; empty if it was."""
    slot: int = 0
    """Of its node, from 1, with a part of the processors of its own; 0 where slots have none."""
    io: list[IoSample] = field(default_factory=list)


@dataclass(frozen=True)
class JobRecord:
    """One job. Epoch times are of the wall clock, monotonic ones of its first node's own clock."""

    name: str
    application: str
    host: str
    boot_id: str
    """Of the kernel of its first node: monotonic times of one kernel can be compared."""
    arrived_epoch_s: float
    arrived_monotonic_s: float
    """The script of the job began."""
    gate_s: float = 0.0
    """It waited so long at the gate."""
    stage_s: float = 0.0
    launch_s: float = 0.0
    """From the launcher's start to the moment at which rank 0's application was about to begin."""
    began_epoch_s: float = 0.0
    began_monotonic_s: float = 0.0
    """Rank 0's first stamp, as seen on the first node; 0.0 if the application never began."""
    run_s: float = 0.0
    """Between the two stamps around the application, of rank 0 on its node's own clock."""
    ended_epoch_s: float = 0.0
    """All is over, with what was brought back."""
    exit_code: int = 0
    """Of the launcher, or of the first rank that failed."""
    problem: str = ""
    """Why it did not end well, in one line; empty if it did."""
    problem_class: str = ""
    """One of the classes; empty if it ended well."""
    ranks: list[RankRecord] = field(default_factory=list)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Of its ranks, each once, in the order of the ranks."""
        return tuple(dict.fromkeys(rank.host for rank in self.ranks))


def write_json(path: Path, value: Any) -> None:
    """Writes a document whole: no reader ever sees a part of it."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    with beside.open("w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def write_record(path: Path, record: JobRecord | RankRecord) -> None:
    """Writes a record of this module."""
    write_json(path, asdict(record))


def read_record(path: Path) -> JobRecord:
    """The record of a job.

    Raises:
        OSError: If there is none.
        ValueError: If it cannot be read.
    """
    found = read_object(path)
    ranks = [_rank(each) for each in _list(found.pop("ranks", []))]
    return _made(JobRecord, {**found, "ranks": ranks})


def read_ranks(folder: Path) -> list[RankRecord]:
    """The records of the ranks that wrote one, in their order.

    Args:
        folder: The job's on the desk.

    Raises:
        OSError: If one cannot be read.
        ValueError: If one is no record.
    """
    paths = (folder / RANKS_FOLDER).glob("*.json")
    return sorted((_rank(read_object(path)) for path in paths), key=lambda rank: rank.rank)


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file.

    Raises:
        OSError: If there is none.
        ValueError: If it holds something else.
    """
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} holds no object")  # noqa: TRY004 - as of other wrong text
    return found


def _rank(found: Any) -> RankRecord:
    if not isinstance(found, dict):
        raise ValueError("a rank is no object")  # noqa: TRY004 - as of other wrong text
    samples = [_made(IoSample, each) for each in _list(found.get("io", []))]
    return _made(RankRecord, {**found, "io": samples})


def _list(found: Any) -> Sequence[Any]:
    if not isinstance(found, list):
        raise ValueError("a list is missing")  # noqa: TRY004 - as of other wrong text
    return found


def _made(kind: type[T], found: Any) -> T:
    """A dataclass of this module out of an object with its fields."""
    known = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    if not isinstance(found, dict) or not known.issuperset(found):
        raise ValueError(f"no {kind.__name__}")
    try:
        return kind(**found)
    except TypeError as error:
        raise ValueError(str(error)) from error
