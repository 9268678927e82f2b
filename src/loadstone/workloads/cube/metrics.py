"""The figures of the planning cube."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import pyarrow.parquet as pq

from loadstone.protocol.steps import ANSWERS, StepRun, steps_of
from loadstone.results.record import MetricValue
from loadstone.workloads.base import StepInfo
from loadstone.workloads.cube.cycle import (
    AGGREGATE,
    AGGREGATE_ALLOCATED,
    AGGREGATE_CONVERTED,
    ALLOCATE,
    CONVERT,
    LINES,
    NATIVE,
    RESET,
    RESTRUCTURE,
    RETRIEVE,
    STEPS,
    VOLUME,
    answer_name,
    rejects_path,
    steps_of_cycle,
)
from loadstone.workloads.cube.parameters import CubeParameters
from loadstone.workloads.measured import Measured, MetricSpec

Answer = list[tuple[str | None, ...]]

HEADLINE = "cycle_s"
GRIDS = "grids_per_s"
_TITLES = {
    RESET: "reset",
    NATIVE: "native load",
    LINES: "load of lines by rule",
    AGGREGATE: "aggregate",
    ALLOCATE: "allocate",
    AGGREGATE_ALLOCATED: "aggregate the allocated",
    CONVERT: "convert currencies",
    AGGREGATE_CONVERTED: "aggregate the converted",
    RESTRUCTURE: "dense restructure",
}


def _metric_name(step: str) -> str:
    return f"{step.replace('-', '_')}_s"


STEP_METRICS = {
    step: MetricSpec(_metric_name(step), _TITLES[step], "s", higher_is_better=False)
    for step in STEPS
}
STEP_INFOS = tuple(
    StepInfo(step, _TITLES[step], STEP_METRICS[step].name, "steps") for step in STEPS
)
METRICS = (
    MetricSpec(HEADLINE, "cycle, mean", "s", higher_is_better=False),
    MetricSpec("cycle_median_s", "cycle, median", "s", higher_is_better=False),
    MetricSpec("cycle_min_s", "cycle, shortest", "s", higher_is_better=False),
    MetricSpec("cycle_max_s", "cycle, longest", "s", higher_is_better=False),
    MetricSpec("cycle_cpu_s", "CPU of a cycle, mean", "s", higher_is_better=False),
    MetricSpec("parser_cpu_s", "of it the parser's", "s", higher_is_better=False),
    MetricSpec("peak_memory_mb", "most memory of the engine", "MB", higher_is_better=False),
    MetricSpec("read_mb", "read from disks in a cycle", "MB", higher_is_better=False),
    MetricSpec("written_mb", "written to disks in a cycle", "MB", higher_is_better=False),
    *STEP_METRICS.values(),
    MetricSpec("cells_loaded", "cells loaded", "cells", higher_is_better=True),
    MetricSpec("lines_rejected", "lines rejected", "lines", higher_is_better=False),
    MetricSpec("cells_stored", "cells at the end", "cells", higher_is_better=True),
    MetricSpec("blocks_loaded", "blocks loaded", "blocks", higher_is_better=True),
    MetricSpec("blocks_stored", "blocks at the end", "blocks", higher_is_better=True),
    MetricSpec(GRIDS, "grids retrieved", "grids/s", higher_is_better=True, follows_rate=True),
)


@dataclass(frozen=True)
class Cycle:
    """A cycle as it went: its steps by name."""

    number: int
    """From 1."""
    steps: dict[str, StepRun]

    def is_whole(self, parameters: CubeParameters) -> bool:
        """Whether all its steps were made and ended well."""
        expected = steps_of_cycle(hybrid=parameters.hybrid)
        return all(step in self.steps and self.steps[step].ended_well for step in expected)

    @property
    def span(self) -> tuple[float, float]:
        """When its first step began and its last one ended, on the trial's clock."""
        steps = self.steps.values()
        return min(step.from_s for step in steps), max(step.to_s for step in steps)

    @property
    def seconds(self) -> float:
        """The sum of its steps; what is asked between them is none of it."""
        return sum(step.seconds for step in self.steps.values())


def cycles_of(steps: Sequence[StepRun]) -> list[Cycle]:
    """The cycles of a trial: each begins with a reset."""
    found: list[Cycle] = []
    for step in steps:
        if step.operation == RESET:
            found.append(Cycle(len(found) + 1, {}))
        if step.operation in STEPS and found:
            found[-1].steps[step.operation] = step
    return found


def read_answer(folder: Path | None, name: str) -> Answer | None:
    """An answer that the runner kept; None if there is none."""
    path = None if folder is None else folder / ANSWERS / f"{name}.parquet"
    if path is None or not path.is_file():
        return None
    columns = [column.to_pylist() for column in pq.ParquetFile(path).read().columns]
    return list(zip(*columns, strict=True))


def metric_values(measured: Measured, parameters: CubeParameters) -> list[MetricValue]:
    """The figures of a trial; those of cycles that did not end well are left out."""
    cycles = [own for own in cycles_of(steps_of(measured.events)) if own.is_whole(parameters)]
    found = _of_cycles(cycles) if cycles else {}
    found |= _of_volume(measured.folder) | _of_rejects(measured.folder)
    if measured.duration_s > 0:
        found[GRIDS] = measured.operations.get(RETRIEVE, 0) / measured.duration_s
    return [spec.of(found[spec.name]) for spec in METRICS if spec.name in found]


def _of_cycles(cycles: Sequence[Cycle]) -> dict[str, float]:
    times_s = [own.seconds for own in cycles]
    found = {
        HEADLINE: fmean(times_s),
        "cycle_median_s": median(times_s),
        "cycle_min_s": min(times_s),
        "cycle_max_s": max(times_s),
    }
    for step in cycles[0].steps:
        found[STEP_METRICS[step].name] = fmean(own.steps[step].seconds for own in cycles)
    steps = [step for own in cycles for step in own.steps.values()]
    parser_s = sum(step.parser_cpu_s or 0.0 for step in steps) / len(cycles)
    if all(step.cpu_s is not None for step in steps):
        found["cycle_cpu_s"] = sum(step.cpu_s or 0.0 for step in steps) / len(cycles) + parser_s
    found["parser_cpu_s"] = parser_s
    if peaks := [step.peak_bytes for step in steps if step.peak_bytes is not None]:
        found["peak_memory_mb"] = max(peaks) / 1e6
    for name, of in (("read_mb", "read_bytes"), ("written_mb", "written_bytes")):
        moved = [getattr(step, of) for step in steps]
        if None not in moved:
            found[name] = sum(moved) / len(cycles) / 1e6
    return found


def _of_rejects(folder: Path | None) -> dict[str, float]:
    """Of the first cycle: a line is told by its file and its number."""
    if folder is None:
        return {}
    whole = rejects_path(folder, 1)
    found: set[tuple[str, ...]] = set()
    paths = [*folder.glob(whole.name), *folder.glob(f"{whole.stem}-*{whole.suffix}")]
    for path in paths:
        with path.open(newline="") as file:
            found |= {
                (path.name, row.get("file") or "", row["line"]) for row in csv.DictReader(file)
            }
    return {"lines_rejected": float(len(found))} if paths else {}


def _of_volume(folder: Path | None) -> dict[str, float]:
    """Before the aggregations and after them, of the first cycle."""
    found = {}
    for what, suffix in ((f"{VOLUME}-loaded", "loaded"), (VOLUME, "stored")):
        rows = read_answer(folder, answer_name(1, what))
        if rows is not None:
            found[f"cells_{suffix}"] = float(sum(int(row[2] or 0) for row in rows))
            found[f"blocks_{suffix}"] = float(sum(int(row[3] or 0) for row in rows))
    return found
