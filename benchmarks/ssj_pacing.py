"""What the load generator costs in a JVM: paced transactions beside the same ones in a plain loop.

Both run in one JVM, in turn, so that code that was compiled for one serves the other.

    python -m benchmarks ssj
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.driving import closed
from benchmarks.table import Aim, Report, median, spread
from loadstone.journal import Journal
from loadstone.load.driver import Driver
from loadstone.load.totals import LoadLog, LoadTotals
from loadstone.protocol.frames import PROTOCOL_VERSION, parse_frame
from loadstone.protocol.programs import Program
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.jvm import Jvm
from loadstone.workloads.ssj.parameters import SsjParameters

ROUNDS = 5
WARM_UP_S, MEASURE_S = 5.0, 10.0
QUEUE_S = 10.0
LEAST_RATIO = 0.97


def measure() -> Report:
    """Loop, paced, loop, paced: each pair has a ratio."""
    with _jvm() as (target, program):
        told = target.inventory()
        _load(program, closed(_workers()), bare=True)  # until what matters is compiled
        pairs = [_pair(program) for _ in range(ROUNDS)]
    loops, paced = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    ratios = [mine / loop for loop, mine in pairs]
    return Report(
        title="Pacing in the JVM",
        how=f"Workload `ssj` in one JVM ({told['java']['version']}, {told['collector']}), a worker "
        f"for each of {_workers()} processors; transactions for each second of the JVM's processor "
        f"time, over {MEASURE_S:g} s, {ROUNDS} pairs in turn: median and range. Paced: they become "
        "due at the rate that the loop before reached, and are timed.",
        header=("transactions/s of a core", "median (range)"),
        rows=(
            ("in a plain loop, counted", spread(loops)),
            ("paced at 100 %, timed", spread(paced)),
        ),
        aims=(
            Aim(
                "paced, of the plain loop",
                median(ratios),
                "",
                f">= {LEAST_RATIO}",
                median(ratios) >= LEAST_RATIO,
            ),
        ),
    )


def _pair(program: Program) -> tuple[float, float]:
    """Transactions of a second of processor time: in a loop, and paced at what that reached."""
    loop = _load(program, closed(_workers()), bare=True)
    rate = loop.count / loop.duration_s
    paced = {
        "model": "open",
        "rate_per_s": {"from": rate, "to": rate},
        "arrival": "poisson",
        "sessions": _workers(),
        "queue": int(QUEUE_S * rate),
    }
    return _per_core(loop), _per_core(_load(program, paced, bare=False))


def _per_core(load: LoadTotals) -> float:
    return load.count / (load.cpu_user_s + load.cpu_system_s)


def _load(program: Program, load: dict[str, Any], *, bare: bool) -> LoadTotals:
    log = LoadLog()
    phases = [("warm-up", WARM_UP_S), ("measure", MEASURE_S)]
    plan = {
        "version": PROTOCOL_VERSION,
        "seed": 1,
        "workload": {
            "name": "ssj",
            "role": "run",
            "parameters": SsjParameters(bare=bare).program(),
        },
        "phases": [
            {
                "name": name,
                "kind": name,
                "duration_s": duration_s,
                "load": load,
                "backlog": "discard",
            }
            for name, duration_s in phases
        ],
    }
    with Driver(plan, lambda frame: log.add(parse_frame(frame)), program=program) as driver:
        driver.wait()
    return log.measured()


def _workers() -> int:
    return SsjParameters().warehouses


@contextmanager
def _jvm() -> Iterator[tuple[Jvm, Program]]:
    spec = TargetSpec(
        engine="jvm",
        settings={"jvms": 1, "heap": "1g", "collector": "G1", "warehouses": _workers()},
    )
    with (
        tempfile.TemporaryDirectory(prefix="loadstone-benchmark-") as notes,
        Journal(Path(notes) / "journal.jsonl", "python -m benchmarks") as journal,
    ):
        target = Jvm(spec, TargetContext(journal, "benchmark"))
        try:
            target.open()
            target.empty(spec)
            yield target, target.connection().handing_over
        finally:
            target.close()
