"""The figures of fio's own JSON, of versions 2 and 3.

Up to 2.x `io_bytes` is in KiB and times are `clat` and `lat` in microseconds; from 3.0 on bytes,
and `clat_ns` and `lat_ns` in nanoseconds. The rate is made of bytes and `runtime` (milliseconds),
which mean the same in both. fio's HOWTO, "JSON output"; seen in versions 2.16 and 3.33.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadstone.errors import WrongInputError
from loadstone.results.references.foreign import Foreign, ForeignFigure, LeftOut

_VERSION = re.compile(r"fio-(\d+)\.(\d+)")
_SIZE = re.compile(r"(\d+)\s*([kmgtp]?)(i?)(b?)$", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_DIRECTIONS = ("read", "write")
_ONE_AT_A_TIME = {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"}
"""Engines whose depth is 1, whatever is asked for."""
_BOTH = {"rw", "readwrite", "randrw"}
_MIXED_BLOCKS = {"bsrange", "bssplit"}
_PACED = {"rate", "rate_iops", "rate_min", "rate_iops_min", "thinktime", "latency_target"}


@dataclass(frozen=True)
class _Group:
    """Entries of one job: with `numjobs` and without `group_reporting` there are several."""

    name: str
    options: Mapping[str, str]
    entries: Sequence[Mapping[str, Any]]
    beside: int
    """Jobs of other names that ran in the same group."""


def read_fio(document: Mapping[str, Any], notes: Sequence[str]) -> Foreign:
    """Reads the figures of a document, each job and direction by itself.

    Args:
        document: As fio wrote it.
        notes: What it wrote around it.

    Raises:
        WrongInputError: If it is of another version than 2 or 3, or has no jobs.
    """
    told = str(document.get("fio version", ""))
    version = _VERSION.match(told)
    if version is None or version[1] not in ("2", "3"):
        raise WrongInputError(f"the JSON is of {told or 'no version of fio'}; fio 2 and 3 are read")
    jobs = document.get("jobs")
    if not isinstance(jobs, list) or not jobs:
        raise WrongInputError("the JSON of fio has no jobs")
    figures: list[ForeignFigure] = []
    left_out = [LeftOut("beside the JSON", note, f"a note of fio: {note}") for note in notes]
    for group in _groups(document, jobs):
        each = [_figure(group, direction, is_old=version[1] == "2") for direction in _DIRECTIONS]
        figures += [found for found in each if isinstance(found, ForeignFigure)]
        left_out += [found for found in each if isinstance(found, LeftOut)]
        if not any(each):
            left_out.append(LeftOut(f"job {group.name}", group.name, "it moved nothing"))
    return Foreign(
        program=told,
        date=str(document.get("time", "")),
        system="",
        load="",
        figures=figures,
        left_out=left_out,
        remarks=[
            "MB/s are the bytes of a job by its time, 10^6 a second.",
            *(["It asked for no I/O past the page cache (direct=1)."] if _cached(document) else []),
        ],
    )


def _groups(document: Mapping[str, Any], jobs: Sequence[Mapping[str, Any]]) -> Iterator[_Group]:
    shared = {str(k): str(v) for k, v in document.get("global options", {}).items()}
    by_name: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for job in jobs:
        key = str(job.get("jobname", "")), int(job.get("groupid", 0))
        by_name.setdefault(key, []).append(job)
    names = Counter(group for _, group in by_name)
    for (name, group), entries in by_name.items():
        own = {str(k): str(v) for k, v in entries[0].get("job options", {}).items()}
        yield _Group(name, shared | own, entries, names[group] - 1)


def _figure(group: _Group, direction: str, *, is_old: bool) -> ForeignFigure | LeftOut | None:
    """None of a direction in which nothing was moved and nothing was to be."""
    told = [entry[direction] for entry in group.entries if isinstance(entry.get(direction), dict)]
    errors = [entry.get("error") for entry in group.entries if entry.get("error")]
    where = f"job {group.name}, {direction}"
    for name in ("io_bytes", "runtime", "total_ios"):
        if not all(isinstance(each.get(name), int | float) for each in told):
            return LeftOut(where, direction, f"its {name!r} is missing or no number")
    moved = sum(float(each["io_bytes"]) for each in told) * (1024 if is_old else 1)
    seconds = max((float(each["runtime"]) for each in told), default=0.0) / 1e3
    ios = sum(float(each["total_ios"]) for each in told)
    if not moved and not ios:
        return None
    if errors or seconds <= 0:
        why = f"it ended with error {errors[0]}" if errors else "it has no time"
        return LeftOut(where, direction, why)
    facts, problem = _facts(group, direction)
    return ForeignFigure(
        label=f"{group.name} {direction}",
        mb_per_s=moved / seconds / 1e6,
        facts=facts,
        ios_per_s=ios / seconds,
        latency_us=_latency_us(told, ios, is_old=is_old),
        apart=problem,
    )


def _latency_us(told: Sequence[Mapping[str, Any]], ios: float, *, is_old: bool) -> float | None:
    """Mean completion time over all requests; None if it is not told."""
    key, unit = ("clat", 1.0) if is_old else ("clat_ns", 1e-3)
    means = [(each.get(key, {}).get("mean"), float(each["total_ios"])) for each in told]
    known = [(mean, count) for mean, count in means if isinstance(mean, int | float)]
    if not ios or len(known) < len(means):
        return None
    return sum(mean * count for mean, count in known) / ios * unit


def _facts(group: _Group, direction: str) -> tuple[dict[str, float | str], str]:
    """What a test of ours must share, and why it stands beside none."""
    options = group.options
    asked, _, skips = options.get("rw", options.get("readwrite", "read")).partition(":")
    block = _size(options.get("bs", options.get("blocksize", "4k")).split(",")[0])
    engine = options.get("ioengine", "psync")
    known = {
        "block_bytes": block,
        "depth": 1 if engine in _ONE_AT_A_TIME else _size(options.get("iodepth", "1")),
        "threads": _size(options.get("numjobs", "1")),
    }
    told = {name: value for name, value in known.items() if value is not None}
    problem = "its access skips" if skips else _apart(group, asked, block, direction)
    return {"access": asked, **told}, problem


def _apart(group: _Group, asked: str, block: int | None, direction: str) -> str:
    options = group.options
    flushed = direction == "write" and any(
        options.get(each, "0") not in ("0", "none") for each in ("fsync", "fdatasync", "sync")
    )
    reasons = {
        "the JSON does not tell the options of the job": not options,
        "its engine is null, which moves nothing": options.get("ioengine") == "null",
        "reads and writes were mixed, and this is one half": asked in _BOTH,
        f"{group.beside} other jobs ran at the same time": group.beside > 0,
        "its blocks are not all of one size": block is None or bool(options.keys() & _MIXED_BLOCKS),
        "its writes were flushed one by one": flushed,
        "it was held to a rate": bool(options.keys() & _PACED),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _size(text: str) -> int | None:
    """As fio reads it by default: a k, kB and Ki are 1024, and a KiB is 1000 (its parse.c)."""
    found = _SIZE.match(text.strip())
    if found is None:
        return None
    thousand = 1000 if found[3] and found[4] else 1024
    return int(found[1]) * int(thousand ** _POWERS[found[2].lower()])


def _cached(document: Mapping[str, Any]) -> bool:
    every = [document.get("global options", {})]
    every += [job.get("job options", {}) for job in document["jobs"]]
    return not any(str(options.get("direct", "0")) == "1" for options in every)
