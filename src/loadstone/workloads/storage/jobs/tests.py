"""The tests of a job file: a group of jobs that run at the same time is one, and is measured apart.

Bytes and seconds are known before the start: each job has a size, and no pass lasts longer than it
says, or than `pass_length`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from loadstone.errors import WrongInputError
from loadstone.units import format_duration
from loadstone.workloads.storage.curves import MOST_DEPTH
from loadstone.workloads.storage.jobs.options import ALLOWED
from loadstone.workloads.storage.jobs.reading import is_text, name_in
from loadstone.workloads.storage.jobs.resolving import ResolvedJob, jobs_of
from loadstone.workloads.storage.profiles import StorageProfile
from loadstone.workloads.storage.tests import (
    LEAST_BLOCK,
    MOST_BLOCK,
    MOST_PASS_S,
    Access,
    Job,
    StorageTest,
    what_of,
)

_LONGEST_S = 600.0
"""Of a pass that has no end of its own but that of its bytes."""
_MOST_THREADS = 512
_MOST_NAME = 40
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"(\d+)([kmgt]?)b?")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = re.compile(r"(\d+)(us|ms|s|m|h|d)?")
_ACCESS: dict[str, Access] = {
    **{access: access for access in get_args(Access)},
    "readwrite": "rw",
}
"""fio's words: ours."""


def tests_of_file(said: str, pass_s: float | None) -> StorageProfile:
    """The tests of a job file, one pass of each.

    Args:
        said: Path of the file, or the text that was made of it.
        pass_s: Most seconds of a pass whose job has no runtime.

    Raises:
        WrongInputError: If a line may not be, fio does not take it, or something is not said.
    """
    jobs, file = jobs_of(said), name_of(said)
    _refuse_alike(file, names_in(said))
    longest_s = _LONGEST_S if pass_s is None else pass_s
    tests = tuple(_tests(_groups(jobs), longest_s))
    if len(names := [each.name for each in tests]) != len(set(names)):
        twice = next(each for each in names if names.count(each) > 1)
        raise WrongInputError(f"{file}: two groups of jobs are called {twice!r}: name jobs apart")
    return StorageProfile(
        tests=tests,
        passes=1,
        discarded=0,
        pass_s=longest_s,
        pause_s=0.0,
        file_bytes=max(job.file_bytes or 0 for test in tests for job in test.jobs),
        score="mean",
        origin=f"the job file {file}",
    )


def name_of(said: str) -> str:
    """Name of the file, without its folder."""
    return name_in(said) if is_text(said) else Path(said).name


def names_in(said: str) -> list[str]:
    """The files that a job file names, and its jobs: by these fio would open something.

    Raises:
        WrongInputError: As `tests_of_file`.
    """
    jobs = jobs_of(said)
    return list(dict.fromkeys(dict(job.options).get("filename", job.name) for job in jobs))


def _groups(jobs: Sequence[ResolvedJob]) -> list[list[ResolvedJob]]:
    """Jobs up to the next `stonewall`."""
    groups: list[list[ResolvedJob]] = []
    for job in jobs:
        stands = dict(job.options).get("stonewall")
        walled = stands is not None and stands != "0"
        if walled or not groups:
            groups.append([])
        groups[-1].append(job)
    return groups


def _refuse_alike(file: str, names: Sequence[str]) -> None:
    """Names that differ in signs only would be one file here."""
    words: dict[str, str] = {}
    for name in names:
        other = words.setdefault(_word(name), name)
        if other != name:
            raise WrongInputError(f"{file} names {other!r} and {name!r}: choose names that differ")


def _tests(groups: Sequence[Sequence[ResolvedJob]], longest_s: float) -> Iterator[StorageTest]:
    for group in groups:
        several = len(group) > 1
        jobs = [made for each in group for made in _made(each, longest_s, several=several)]
        threads = sum(each.threads for each in jobs)
        name = ", ".join(each.name for each in group)
        if threads > _MOST_THREADS:
            raise WrongInputError(
                f"jobs [{name}] have {threads} threads together: {_MOST_THREADS} are the most"
            )
        short = name if len(name) <= _MOST_NAME else f"{name[: _MOST_NAME - 4]} ..."
        pass_s = max(_pass_s(each, longest_s) for each in group)
        if pass_s > MOST_PASS_S:
            raise WrongInputError(
                f"jobs [{name}] run for {format_duration(pass_s)}: a pass of a day is the longest",
                advice="write a shorter runtime",
            )
        kinds = {what_of(each.access) for each in jobs}
        what = kinds.pop() if len(kinds) == 1 else "mix"
        yield StorageTest(
            name=f"{short} {what}",
            operation=_word(f"{short}-{what}"),
            jobs=tuple(jobs),
            pass_s=pass_s,
        )


def _made(job: ResolvedJob, longest_s: float, *, several: bool) -> Iterator[Job]:
    """The job, or one for each of its threads where each has a file of its own, as in fio."""
    options = dict(job.options)
    size_bytes, offset_bytes = _size(job, "size"), _bytes(options.get("offset", "0"))
    access = _ACCESS[options.get("rw", "read")]
    block = re.split("[,/:-]", options.get("bssplit", options.get("bsrange", "")))[0]
    threads = int(options.get("numjobs", "1"))
    file = options.get("filename")
    count = 1 if file is not None else threads
    block_bytes = _bytes(block or options.get("bs", "4k").partition(",")[0])
    depth = int(options.get("iodepth", "1"))
    _refuse_beyond(job.name, size_bytes, block_bytes, depth)
    for number in range(count):
        yield Job(
            access=access,
            block_bytes=block_bytes,
            depth=depth,
            threads=threads // count,
            read_percent=_read_percent(access, options),
            sync=_sync(options),
            file=f"job-{_word(job.name)}-{number}" if file is None else f"file-{_word(file)}",
            name=_word(job.name) if several else "",
            file_bytes=-(-(offset_bytes + size_bytes) // 4096) * 4096,
            options=_told(options, longest_s),
        )


def _refuse_beyond(name: str, size_bytes: int, block_bytes: int, depth: int) -> None:
    """What fio, or a disk, would not do once it is asked."""
    problems = {
        f"a block of {block_bytes} bytes is none of {LEAST_BLOCK} bytes to 1 GB": (
            not LEAST_BLOCK <= block_bytes <= MOST_BLOCK
        ),
        f"its size of {size_bytes} bytes holds no block of {block_bytes}": size_bytes < block_bytes,
        f"iodepth={depth} is none of 1 to {MOST_DEPTH}": not 1 <= depth <= MOST_DEPTH,
    }
    wrong = next((problem for problem, holds in problems.items() if holds), None)
    if wrong is not None:
        raise WrongInputError(f"job [{name}]: {wrong}")


def _read_percent(access: Access, options: dict[str, str]) -> int | None:
    if what_of(access) != "mix":
        return None
    if "rwmixwrite" in options:
        return 100 - int(options["rwmixwrite"])
    return int(options.get("rwmixread", "50"))


def _sync(options: dict[str, str]) -> str:
    """What follows its writes, if not each of them too."""
    if options.get("sync", "0") not in ("0", "none"):
        return "dsync"
    flushes = [name for name in ("fsync", "fdatasync") if options.get(name, "0") != "0"]
    return flushes[0] if flushes else "none"


def _told(options: dict[str, str], longest_s: float) -> dict[str, str]:
    """What fio is told: what it would take by itself is said too, and when it ends at last."""
    told = {name: value for name, value in options.items() if ALLOWED[name].told}
    told.setdefault("ioengine", "psync")
    if _seconds(told.get("runtime", "0")) == 0:
        told["runtime"] = f"{round(longest_s * 1000)}ms"
    return {name: value or "1" for name, value in told.items()}


def _pass_s(job: ResolvedJob, longest_s: float) -> float:
    options = dict(job.options)
    return _seconds(options.get("ramp_time", "0")) + (
        _seconds(options.get("runtime", "0")) or longest_s
    )


def _size(job: ResolvedJob, option: str) -> int:
    """Bytes of a file.

    Raises:
        WrongInputError: If the job does not say.
    """
    value = dict(job.options).get(option)
    if value is None:
        raise WrongInputError(
            f"job [{job.name}] has no {option}: how many bytes it uses is known before the start",
            advice=f"write {option}=1g",
        )
    return _bytes(value)


def _bytes(text: str) -> int:
    """Reads a size as fio does by default: a k has 1024 bytes."""
    found = _SIZE.fullmatch(text.lower())
    if found is None:
        raise WrongInputError(f"{text!r} is no size: write for example 64m")
    return int(found[1]) * _UNITS[found[2]]


def _seconds(text: str) -> float:
    """Reads a time as fio does: seconds where no unit is written."""
    found = _TIME.fullmatch(text)
    if found is None:
        raise WrongInputError(f"{text!r} is no time: write for example 30s")
    return int(found[1]) * _SECONDS[found[2] or ""]


def _word(text: str) -> str:
    """A name in small letters, digits and dashes."""
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-") or "job"
