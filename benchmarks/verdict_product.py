"""Comparisons made by the product itself: `oltp` on PostgreSQL, with `loadstone compare`.

Each has its own server, data and seed. Equal levels are those of a setting that cannot matter. A
slowdown is planted in the load driver, in per cent of the response time that a first run shows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

ALONE, BESIDE = "order-entry", "order-entry-beside"
METRIC = "new_orders_per_min"
SETTING = "gin_fuzzy_search_limit"
"""Of searches in an index of a kind that order entry does not have."""
USERS = 4
DELAY_US = 2000.0
"""That every operation is held up where a slowdown is planted; of the slower level more."""
TURN_S = 0.05
"""The other program computes and rests for so long in turn."""
_OTHER = f"""
import time
while True:
    until = time.monotonic() + {TURN_S}
    while time.monotonic() < until:
        pass
    time.sleep({TURN_S})
"""
_OPTIONS = (
    *("--param", "warehouses=1", "--users", str(USERS), "--warm-up", "500ms", "--measure", "1s"),
    *("--set", "synchronous_commit=off", "--allow-unsafe", "--json", "--quiet"),
)
HOW = (
    f"Order entry: `loadstone compare oltp` on PostgreSQL, {USERS} users, 1 warehouse, trials of "
    f"1 s, asynchronous commit, judged by {METRIC}. Equal levels are two of `{SETTING}`, which no "
    "statement of it asks for; a slowdown is `profile.delay`, in per cent of the response time. "
    f"Beside: another program computes for {1000 * TURN_S:g} ms and rests as long."
)


def compared(
    load: str, slower_percent: float, seed: int, blocks: int
) -> dict[str, list[tuple[float, float]]]:
    """The figures of a comparison: by metric, baseline and candidate of each complete block."""
    factor, levels = _levels(slower_percent)
    with _other_program(load == BESIDE):
        document = _loadstone(
            "compare", "oltp", "--factor", factor, "--levels", ",".join(levels),
            "--metric", METRIC, "--repeats", str(blocks), "--seed", str(seed),
        )  # fmt: skip
    (said,) = document["comparisons"]
    names = said["baseline"], said["candidate"]
    figures: dict[int, dict[str, float]] = {}
    for trial in document["trials"]:
        result = trial["result"]
        if result["status"] == "valid":
            figures.setdefault(result["block"], {})[result["variant"]] = _figure(result)
    pairs = [(own[names[0]], own[names[1]]) for own in figures.values() if len(own) == len(names)]
    return {METRIC: pairs}


def _levels(slower_percent: float) -> tuple[str, tuple[str, str]]:
    """Factor and levels; the first is the baseline."""
    if not slower_percent:
        return f"target.{SETTING}", ("0", "1000")
    more_us = slower_percent / 100.0 * _response_us()
    return "profile.delay", (f"{DELAY_US:g}us", f"{DELAY_US + more_us:.1f}us")


@lru_cache(maxsize=1)
def _response_us() -> float:
    """The mean response time of an operation under the delay that both levels have."""
    with tempfile.TemporaryDirectory(prefix="loadstone-bench-") as folder:
        file = Path(folder) / "pilot.yaml"
        file.write_text(
            "version: 1\nname: pilot\nworkload: {name: oltp}\ntarget: {engine: postgresql}\n"
            f"profile: {{delay: {DELAY_US:g}us}}\n",
            encoding="utf-8",
        )
        document = _loadstone("run", str(file), "--repeats", "5")
    throughput = [_figure(trial["result"], "transactions_per_s") for trial in document["trials"]]
    return 1e6 * USERS * len(throughput) / sum(throughput)


def _figure(result: Mapping[str, Any], name: str = METRIC) -> float:
    return next(float(each["value"]) for each in result["metrics"] if each["name"] == name)


def _loadstone(*words: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="loadstone-bench-") as folder:
        told = subprocess.run(
            [sys.executable, "-m", "loadstone.cli.main", *words, *_OPTIONS, "--results", folder],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "LOADSTONE_STATE": str(Path(folder) / "state")},
        )
    if not told.stdout:
        raise SystemExit(told.stderr)
    document: dict[str, Any] = json.loads(told.stdout)
    return document


@contextmanager
def _other_program(wanted: bool) -> Iterator[None]:
    """Runs it for as long as the block lasts, if it is wanted."""
    if not wanted:
        yield
        return
    with subprocess.Popen([sys.executable, "-c", _OTHER]) as process:
        try:
            yield
        finally:
            process.kill()
