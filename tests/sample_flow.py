"""Output of Flow as a short run leaves it, written by hand, and the record of its job."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from loadstone.applications.base import FinishedJob
from loadstone.job.record import JobRecord, RankRecord

BEGAN_S = 1_700_000_000.0
RUN_S = 20.0
FIELDS = {"FOPT": 1e5, "FGPT": 2e7, "FWIT": 3e5, "FPR": 280.0, "WBHP:P1": 180.0}
"""Vector: its value at the last report step."""


def report_text(
    *,
    steps: int,
    reached: int,
    processes: int | None = 1,
    started_s: float = BEGAN_S + 1,
    ended: bool = True,
) -> str:
    """What a .PRT file has of it."""
    started = datetime.fromtimestamp(started_s, UTC)
    lines = [
        "Flow Version     =  2022.10",
        f"Simulation started on {started:%d-%m-%Y} at {started:%H:%M:%S} hrs",
    ]
    lines += [
        f"Report step {step:>2}/{steps} at day {30 * step}/{30 * steps}, date = 01-Jan-2020"
        for step in range(reached)
    ]
    if ended:
        lines.append("================    End of simulation     ===============")
        if processes is not None:
            lines.append(f"Number of MPI processes: {processes:>9}")
    return "\n".join(lines) + "\n"


def write_output(
    folder: Path,
    *,
    steps: int,
    factors: Mapping[str, float] | None = None,
    report: str | None = None,
    restart: int | None = None,
    written_s: float = BEGAN_S + RUN_S - 1,
    vectors: Sequence[str] = tuple(FIELDS),
) -> None:
    """Summary, report and restart of so many report steps, each of two time steps.

    Args:
        folder: It is made.
        steps: In the summary.
        factors: Vector: its values are multiplied by it.
        report: Text of the .PRT file; default: of a whole run.
        restart: Last step of the restart file; default: the last one.
        written_s: When the files were written.
        vectors: That the summary has.
    """
    import numpy as np
    import resfo

    folder.mkdir(parents=True, exist_ok=True)
    names = ["TIME", *(vector.partition(":")[0] for vector in vectors)]
    wells = [":+:+:+:+", *(vector.partition(":")[2] or ":+:+:+:+" for vector in vectors)]
    head = [("KEYWORDS", np.array(names, "S8")), ("WGNAMES ", np.array(wells, "S8"))]
    resfo.write(folder / "CASE.SMSPEC", head)
    rows: list[tuple[str, object]] = []
    for step in range(1, steps + 1):
        rows.append(("SEQHDR  ", np.array([0], np.int32)))
        for share in (0.5, 1.0):
            at = (step - 1 + share) / steps
            values = [FIELDS[name] * at * (factors or {}).get(name, 1.0) for name in vectors]
            rows.append(("MINISTEP", np.array([len(rows)], np.int32)))
            rows.append(("PARAMS  ", np.array([30 * steps * at, *values], np.float32)))
    resfo.write(folder / "CASE.UNSMRY", rows)
    last = steps if restart is None else restart
    states = [("SEQNUM  ", np.array([step], np.int32)) for step in range(last + 1)]
    resfo.write(folder / "CASE.UNRST", states)
    text = report_text(steps=steps, reached=steps) if report is None else report
    (folder / "CASE.PRT").write_text(text)
    for path in folder.iterdir():
        os.utime(path, (written_s, written_s))


def record(ranks: int = 1, **fields: object) -> JobRecord:
    """Of a job that ended well."""
    told: dict[str, object] = {
        "name": "job-1",
        "application": "flow",
        "host": "n1",
        "boot_id": "a",
        "arrived_epoch_s": BEGAN_S - 3,
        "arrived_monotonic_s": 7.0,
        "began_epoch_s": BEGAN_S,
        "began_monotonic_s": 10.0,
        "run_s": RUN_S,
        "ranks": [
            RankRecord(rank=rank, host="n1", cpus=[0, 1], world=ranks, pid=100 + rank)
            for rank in range(ranks)
        ],
    }
    return JobRecord(**{**told, **fields})  # type: ignore[arg-type]


def finished(
    output: Path, given: Path, *, ranks: int = 1, reference: Path | None = None, **fields: object
) -> FinishedJob:
    """A job as a check sees it."""
    return FinishedJob(output, record(ranks, **fields), ranks, given, reference)
