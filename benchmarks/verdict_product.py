"""Verdicts asked of the product itself: `oltp` on PostgreSQL, with a setting that cannot matter.

Each experiment is a `loadstone compare` of its own, with its own server, data and seed. A second
kind runs beside a program that uses a processor for half of the time. What an experiment said is
written as soon as it has ended, so a run that was ended goes on where it stood.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import log
from pathlib import Path

from benchmarks.table import Aim, Report, median
from benchmarks.verdict_truth import LEVEL, UNLIKELY, distribution, likely

SETTING = "gin_fuzzy_search_limit"
"""Of searches in an index of a kind that order entry does not have."""
LEVELS = "0,1000"
BLOCKS = 5
USERS = 4
MEASURE_S = 1.0
TURN_S = 0.05
"""The other program computes and rests for so long in turn."""
BESIDE = f"""
import time
while True:
    until = time.monotonic() + {TURN_S}
    while time.monotonic() < until:
        pass
    time.sleep({TURN_S})
"""


@dataclass(frozen=True)
class Asked:
    """What a comparison of the product said."""

    beside: bool
    seed: int
    seconds: float
    trials: int
    disturbed: int
    p: float
    low: float
    high: float
    verdict: str
    detectable_percent: float
    """What it would have found."""


def ask(seeds: range, records: Path) -> list[Asked]:
    """Makes the comparisons that the file does not have yet; returns all that it has."""
    lines = records.read_text(encoding="utf-8").splitlines() if records.exists() else []
    asked = [Asked(**json.loads(line)) for line in lines]
    done = {(each.beside, each.seed) for each in asked}
    wanted = [(beside, seed) for seed in seeds for beside in (False, True)]
    with records.open("a", encoding="utf-8") as file:
        for beside, seed in wanted:
            if (beside, seed) not in done:
                with _other_program(beside):
                    asked.append(_ask(seed, beside=beside))
                file.write(json.dumps(asdict(asked[-1])) + "\n")
                file.flush()
                print(asked[-1], file=sys.stderr, flush=True)
    return asked


def false_claims(asked: Sequence[Asked]) -> Report:
    """Claims, whether p-values are uniform, and how often intervals hold 1."""
    rows: list[list[str]] = []
    aims: list[Aim] = []
    for beside in (False, True):
        group = [each for each in asked if each.beside == beside]
        if not group:
            continue
        kind = "beside another program" if beside else "alone"
        row, claims = distribution([each.p for each in group])
        covered = sum(log(each.low) <= 0.0 <= log(each.high) for each in group)
        rows.append([
            f"{kind}, {len(group)}", *row, f"{100 * covered / len(group):.1f} %",
            f"{median([each.detectable_percent for each in group]):.2g} %",
            f"{sum(each.disturbed for each in group)} of {sum(each.trials for each in group)}",
            f"{median([each.seconds for each in group]):.0f}",
        ])  # fmt: skip
        least, most = likely(len(group))
        aims.append(
            Aim(f"false claims, {kind}", claims, "", f"{least} to {most}", least <= claims <= most)
        )
    return Report(
        title="How often the verdicts are right: order entry",
        how=f"`loadstone compare oltp` on PostgreSQL, `{SETTING}` of {LEVELS}, which no "
        f"statement of it asks for: {BLOCKS} blocks, {USERS} users, 1 warehouse, trials of "
        f"{MEASURE_S:g} s, asynchronous commit. Each comparison has its own server and seed. The "
        f"other program computes for {1000 * TURN_S:g} ms and rests as long. The aim holds in "
        f"{100 * (1 - UNLIKELY):g} of 100 runs in which every p-value is right. "
        "`python -m benchmarks.verdicts product --seeds 0:60`.",
        header=("comparisons", f"claims at {LEVEL:g}", "median p", "first decile of p", "uniform",
                "intervals with 1", "could find", "disturbed", "seconds each"),
        rows=rows,
        aims=aims,
    )  # fmt: skip


def _ask(seed: int, *, beside: bool) -> Asked:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="loadstone-bench-") as folder:
        told = subprocess.run(
            [sys.executable, "-m", "loadstone.cli.main", "compare", "oltp", "--json", "--quiet",
             "--factor", f"target.{SETTING}", "--levels", LEVELS, "--param", "warehouses=1",
             "--users", str(USERS), "--warm-up", "500ms", "--measure", f"{MEASURE_S:g}s",
             "--metric", "new_orders_per_min", "--repeats", str(BLOCKS), "--seed", str(seed),
             "--set", "synchronous_commit=off", "--allow-unsafe", "--results", folder],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "LOADSTONE_STATE": str(Path(folder) / "state")},
        )  # fmt: skip
    if not told.stdout:
        raise SystemExit(told.stderr)
    document = json.loads(told.stdout)
    (said,) = document["comparisons"]
    statuses = [trial["result"]["status"] for trial in document["trials"]]
    return Asked(
        beside=beside,
        seed=seed,
        seconds=time.monotonic() - began,
        trials=len(statuses),
        disturbed=statuses.count("disturbed"),
        p=said["p_value"],
        low=said["low"],
        high=said["high"],
        verdict=said["verdict"],
        detectable_percent=said["least_detectable_percent"],
    )


@contextmanager
def _other_program(wanted: bool) -> Iterator[None]:
    """Runs it for as long as the block lasts, if it is wanted."""
    if not wanted:
        yield
        return
    with subprocess.Popen([sys.executable, "-c", BESIDE]) as process:
        try:
            yield
        finally:
            process.kill()
