"""Writes results of `storage` as a real run would, from a seed: for tests of what reads them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from loadstone.experiments.designs import design_of
from loadstone.results.frames import FramesWriter
from loadstone.results.record import (
    LatencySummary,
    MeasuredPhaseRecord,
    MetricValue,
    OperationSummary,
    PhaseTiming,
    Status,
    TrialResult,
)
from loadstone.results.samples import SAMPLES_LINES
from loadstone.spec.design import CompareDesign, Design, RunDesign
from loadstone.spec.model import Experiment, WorkloadSpec
from loadstone.spec.plans import TrialPlan
from loadstone.spec.target import TargetSpec
from loadstone.workloads.storage.profiles import PROFILES
from loadstone.workloads.storage.tests import StorageTest

USUAL_MB_PER_S = {
    "SEQ1M Q8T1": 2000.0, "SEQ1M Q1T1": 1200.0, "RND4K Q32T1": 400.0, "RND4K Q1T1": 40.0,
}  # fmt: skip


def compared(*levels: str, repeats: int = 6) -> Experiment:
    """Placements of the same folder, each against the first."""
    return baseline(CompareDesign(factor="storage.data", levels=list(levels)), repeats, "matrix")


def alone(repeats: int = 1, name: str = "disk") -> Experiment:
    """One configuration."""
    return baseline(RunDesign(), repeats, name)


def baseline(design: Design, repeats: int, name: str) -> Experiment:
    """The four tests of CrystalDiskMark 8 for reads, then for writes."""
    return Experiment(
        name=name,
        workload=WorkloadSpec(name="storage", parameters={"profile": "cdm8"}),
        target=TargetSpec(engine="folder"),
        design=design,
        repeats=repeats,
    )


@dataclass(frozen=True)
class Sample:
    """How the made-up trials behave."""

    effects: Mapping[str, float] = field(default_factory=dict)
    """Variant, or `VARIANT: TEST`: factor on its rates."""
    noise: float = 0.01
    inventory: Mapping[str, Any] = field(default_factory=lambda: {"host": {"kernel": "6.18"}})


def write_storage(root: Path, spec: Experiment, sample: Sample = Sample()) -> Path:
    """Writes `root/<experiment>` and returns it."""
    folder = root / spec.name
    folder.mkdir(parents=True)
    stages = design_of(spec).stages(spec, allow_unsafe=True)
    plans = stages.next([])
    (folder / "experiment.json").write_text(spec.model_dump_json())
    design = {
        "variants": [variant.model_dump(mode="json") for variant in stages.variants],
        "pairs": [
            {"candidate": p.candidate, "baseline": p.baseline, "role": p.role} for p in stages.pairs
        ],
        "command": f"loadstone {spec.design.kind} {spec.name}.yaml",
    }
    (folder / "design.json").write_text(json.dumps(design))
    for plan in plans:
        _write_trial(folder / plan.trial, plan, sample)
    return folder


def _write_trial(folder: Path, plan: TrialPlan, sample: Sample) -> None:
    folder.mkdir()
    rng = np.random.default_rng([plan.order, 11])
    (folder / "plan.json").write_text(plan.model_dump_json())
    (folder / "inventory.json").write_text(json.dumps(sample.inventory))
    (folder / SAMPLES_LINES).write_text("")
    writer = FramesWriter(folder / "frames.jsonl.zst")
    for frame in _frames():
        writer.write(frame)
    writer.close()
    tests = PROFILES["cdm8"].tests
    effects = sample.effects
    name = plan.variant.name
    measured = [
        _phase(
            test,
            effects.get(f"{name}: {test.name}", effects.get(name, 1.0))
            * math.exp(rng.normal(0.0, sample.noise)),
        )
        for test in tests
    ]
    result = TrialResult(
        experiment=plan.experiment,
        trial=plan.trial,
        variant=name,
        block=plan.block,
        order=plan.order,
        status=Status.VALID,
        started_at=f"2026-11-26T10:{plan.order:02}:00Z",
        finished_at=f"2026-11-26T10:{plan.order:02}:50Z",
        metrics=[_rate("baseline_mb_per_s", "baseline", "MB/s", 800.0)],
        operations=[each for phase in measured for each in phase.operations],
        phases=[
            PhaseTiming(name=test.name, kind="measure", from_s=5.0 * at, to_s=5.0 * at + 5.0)
            for at, test in enumerate(tests)
        ],
        measured=measured,
        judged_by="baseline_mb_per_s",
    )
    (folder / "result.json").write_text(result.model_dump_json())


def _frames() -> list[dict[str, Any]]:
    operations = [test.operation for test in PROFILES["cdm8"].tests]
    return [
        {
            "frame": "hello", "t_s": 0.0, "version": 4, "driver": "0.1.0", "pid": 4711,
            "threads": 1, "workload": "storage", "operations": operations, "unix_time_s": 1.79e9,
            "nofile": 65536, "clock_resolution_ns": 1,
        },
        {
            "frame": "end", "t_s": 40.0, "reason": "completed", "error": None, "facts": {},
            "operations": {}, "cpu_user_s": 3.0, "cpu_system_s": 1.0, "max_rss_bytes": 9_000_000,
        },
    ]  # fmt: skip


def _phase(test: StorageTest, speed: float) -> MeasuredPhaseRecord:
    label, _, what = test.name.rpartition(" ")
    (job,) = test.jobs
    rate = USUAL_MB_PER_S[label] * (0.8 if what == "write" else 1.0) * speed
    mean_s = job.depth * job.threads * job.block_bytes / (rate * 1e6)
    times = LatencySummary(
        count=1000, mean_s=mean_s, p50_s=mean_s, p90_s=2 * mean_s, p95_s=2.5 * mean_s,
        p99_s=4 * mean_s, p999_s=8 * mean_s, max_s=9 * mean_s,
    )  # fmt: skip
    return MeasuredPhaseRecord(
        name=test.name,
        duration_s=5.0,
        metrics=[
            _rate("mb_per_s", "bytes moved", "MB/s", rate),
            _rate("ios_per_s", "requests", "IO/s", rate * 1e6 / job.block_bytes),
            _rate("score", "score", "MB/s", 1.05 * rate),
            MetricValue(name="service_p50_ms", value=mean_s * 1e3, unit="ms"),
        ],
        operations=[
            OperationSummary(name=test.operation, count=1000, response=times, service=times)
        ],
    )


def _rate(name: str, label: str, unit: str, value: float) -> MetricValue:
    return MetricValue(name=name, value=value, unit=unit, higher_is_better=True, label=label)
