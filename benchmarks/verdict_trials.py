"""Verdicts asked of the real driver: equal levels, and slowdowns that were planted.

An experiment is blocks of two trials of `noop`, made as the product makes them: one seed for the
load of a block, a drawn order within it; or a comparison of order entry that the product makes. The
figures are written as soon as an experiment is complete, so a run that was ended goes on where it
stood.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.driving import closed, drive, plan
from benchmarks.verdict_product import ALONE, BESIDE, METRIC, compared
from loadstone.experiments.designs.arrange import shuffled
from loadstone.spec.plans import Variant, trial_seed

SERVICE_TIME_US = 2000.0
USERS = 4
RATE_PER_S = 400.0
WARM_UP_S = 0.2
MEASURE_S = 0.5
OPEN, MEDIAN = "open", "open, by the median"
FIGURES = {
    OPEN: "mean_response_s",
    MEDIAN: "p50_response_s",
    "closed": "operations_per_s",
    ALONE: METRIC,
    BESIDE: METRIC,
}
"""What is judged, and by which figure. Of an open load that keeps up, the rate is given."""
OF_DRIVER = (OPEN, "closed")
"""Those of the load driver alone."""
LOADS = (*OF_DRIVER, ALONE, BESIDE)
"""Those that are made. What is judged by the median are the trials of `OPEN`."""


@dataclass(frozen=True)
class Experiment:
    """What was made once."""

    load: str
    slower_percent: float
    seed: int


@dataclass(frozen=True)
class Made:
    """An experiment with its figures: one of each level for each block that is complete."""

    load: str
    slower_percent: float
    seed: int
    blocks: int
    seconds: float
    figures: dict[str, list[tuple[float, float]]]

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """What is judged, baseline and candidate of each block."""
        return [(a, b) for a, b in self.figures.get(FIGURES[self.load], [])]


def wanted(
    loads: Sequence[str], slower_percents: Sequence[float], seeds: range
) -> Iterator[Experiment]:
    """All kinds of one seed before the next seed, so that a part of the run is a fair part."""
    for seed in seeds:
        for load in loads:
            for slower_percent in slower_percents:
                yield Experiment(load, slower_percent, seed)


def make(experiments: Iterator[Experiment], blocks: int, records: Path) -> list[Made]:
    """Makes those that the file does not have yet, and adds each as a line.

    Returns:
        All that the file has, in its order.
    """
    made = read(records)
    done = {(each.load, each.slower_percent, each.seed, each.blocks) for each in made}
    with records.open("a", encoding="utf-8") as lines:
        for each in experiments:
            if (each.load, each.slower_percent, each.seed, blocks) in done:
                continue
            one = _make(each, blocks)
            made.append(one)
            lines.write(json.dumps(asdict(one)) + "\n")
            lines.flush()
            print(f"{each} took {one.seconds:.0f} s", file=sys.stderr, flush=True)
    return made


def read(records: Path) -> list[Made]:
    """The experiments of a file; a last line that was cut off is left out."""
    if not records.exists():
        return []
    lines = records.read_text(encoding="utf-8").split("\n")
    if lines[-1]:
        records.write_text("".join(line + "\n" for line in lines[:-1]), encoding="utf-8")
    return [Made(**json.loads(line)) for line in lines[:-1]]


def _make(experiment: Experiment, blocks: int) -> Made:
    began = time.monotonic()
    figures = (
        _driven(experiment, blocks)
        if experiment.load in OF_DRIVER
        else compared(experiment.load, experiment.slower_percent, experiment.seed, blocks)
    )
    return Made(
        **asdict(experiment), blocks=blocks, seconds=time.monotonic() - began, figures=figures
    )


def _driven(experiment: Experiment, blocks: int) -> dict[str, list[tuple[float, float]]]:
    """The figures of an experiment of the load driver, by name."""
    slower = 1.0 + experiment.slower_percent / 100.0
    variants = [Variant(name=name, changes=[], step=[]) for name in ("baseline", "candidate")]
    figures: dict[str, list[tuple[float, float]]] = {}
    for block in range(1, blocks + 1):
        own: dict[str, dict[str, float]] = {}
        for variant in shuffled(experiment.seed, block, variants):
            service_time_us = SERVICE_TIME_US * (slower if variant.name == "candidate" else 1.0)
            own[variant.name] = _trial(
                experiment.load, service_time_us, trial_seed(experiment.seed, block)
            )
        for name in own["baseline"].keys() & own["candidate"].keys():
            pair = (own["baseline"][name], own["candidate"][name])
            figures.setdefault(name, []).append(pair)
    return figures


def _trial(load: str, service_time_us: float, seed: int) -> dict[str, float]:
    """The figures of one trial of the real driver; none if it could not do anything."""
    arriving: dict[str, Any] = {
        "model": "open",
        "rate_per_s": {"from": RATE_PER_S, "to": RATE_PER_S},
        "arrival": "poisson",
        "sessions": 64,
        "queue": 10_000,
    }
    workload = {"name": "noop", "parameters": {"service_time_us": service_time_us}}
    measured = drive(
        plan(
            workload,
            arriving if load == OPEN else closed(USERS),
            measure_s=MEASURE_S,
            warm_up_s=WARM_UP_S,
            seed=seed,
        )
    ).measured()
    response = measured.response()
    if response is None:
        return {}
    return {
        "operations_per_s": measured.count / measured.duration_s,
        "mean_response_s": response.mean_s,
        "p50_response_s": response.p50_s,
    }
