"""The job file of a pass."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from loadstone.fio.ground import Ground
from loadstone.fio.plan import JobPlan, StorageParameters, TestPlan

HISTORY = "times"
"""How the histogram logs begin: `times_clat_hist.N.log`, N a thread, from 1."""


def job_file(
    test: TestPlan, parameters: StorageParameters, ground: Ground, engine: str, seed: int
) -> str:
    """The text that fio reads: all jobs of the test at the same time, for the time of a pass.

    A job of somebody's file is told what that file says of it, and nothing else.

    Args:
        test: What runs.
        parameters: How long, and how the bytes are written.
        ground: What it works on.
        engine: fio's.
        seed: Of the places of random access.
    """
    usual = {
        **common_options(parameters, engine, seed),
        "time_based": "1",
        "runtime": f"{round(parameters.longest_s(test) * 1000)}ms",
        "norandommap": "1",
    }
    sections = [section("global", {"write_hist_log": HISTORY, "log_hist_msec": "1000"})]
    for number, job in enumerate(test.jobs):
        own = (
            _options_of_file(job, parameters, ground)
            if job.options
            else usual | _options(job, parameters, ground)
        )
        sections.append(section(f"job{number}", own))
    return "\n".join(sections)


def _options_of_file(job: JobPlan, parameters: StorageParameters, ground: Ground) -> dict[str, str]:
    """Those of a job of somebody's file; network storage has an engine of its own."""
    options = job.options | ground.options(job.file, parameters.compressible)
    if ground.engine is not None:
        options["ioengine"] = ground.engine
    return options | {"numjobs": str(job.threads)}


def common_options(parameters: StorageParameters, engine: str, seed: int) -> dict[str, str]:
    """How bytes are read and written, whatever is done with them."""
    options = {
        "ioengine": engine,
        "thread": "1",
        "randrepeat": "0",
        "randseed": str(seed),
        "direct": str(int(parameters.direct)),
    }
    if parameters.compressible:
        options["buffer_compress_percentage"] = str(parameters.compressible)
        options["refill_buffers"] = "1"
    return options


def _options(job: JobPlan, parameters: StorageParameters, ground: Ground) -> dict[str, str]:
    size_bytes = job.file_bytes or parameters.file_bytes
    options = {
        **ground.options(job.file, parameters.compressible),
        "size": str(size_bytes),
        "rw": job.access,
        "bs": str(job.block_bytes),
        "iodepth": str(job.depth),
        "numjobs": str(job.threads),
    }
    if job.access in ("rw", "randrw"):
        options["rwmixread"] = str(50 if job.read_percent is None else job.read_percent)
    if job.threads > 1 and not job.access.startswith("rand"):
        # Threads that read the same place one after the other would find it in a cache.
        options["offset_increment"] = str(_aligned(size_bytes, job))
        options["size"] = options["offset_increment"]
    if job.writes:
        options |= sync_options(job.sync or parameters.sync)
    return options


def _aligned(file_bytes: int, job: JobPlan) -> int:
    share = file_bytes // job.threads // job.block_bytes * job.block_bytes
    return max(share, job.block_bytes)


def sync_options(sync: str) -> dict[str, str]:
    """What follows each write, in fio's words."""
    match sync:
        case "fsync":
            return {"fsync": "1"}
        case "fdatasync":
            return {"fdatasync": "1"}
        case "dsync":
            return {"sync": "dsync"}
        case _:
            return {}


def section(name: str, options: Mapping[str, str]) -> str:
    """A section of a job file."""
    lines = [f"{option}={value}" for option, value in options.items()]
    return "\n".join([f"[{name}]", *lines, ""])


def history_files(folder: Path, test: TestPlan) -> list[list[Path]]:
    """The histogram logs of each job, one for each of its threads."""
    found, thread = [], 1
    for job in test.jobs:
        numbers = range(thread, thread + job.threads)
        found.append([folder / f"{HISTORY}_clat_hist.{number}.log" for number in numbers])
        thread += job.threads
    return found
