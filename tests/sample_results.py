"""Writes a results folder as a real run would, from a seed: for tests of what reads results."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hdrh.histogram import HdrHistogram

from loadstone.experiments.designs import design_of
from loadstone.results.frames import FramesWriter
from loadstone.results.generator import GeneratorHealth
from loadstone.results.latency import merge, percentiles
from loadstone.results.machine_state import DriftRecord
from loadstone.results.record import (
    CheckResult,
    FactorReading,
    Fingerprint,
    LatencySummary,
    MetricValue,
    Notice,
    OperationSummary,
    PhaseTiming,
    Status,
    SteadyStateRecord,
    TrialResult,
    Wait,
)
from loadstone.results.taken import Cause, Taken
from loadstone.spec.design import CompareDesign, Design, LadderDesign, Rung
from loadstone.spec.model import Experiment, WorkloadSpec
from loadstone.spec.plans import TrialPlan
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec

MIX = {"new-order": 10, "payment": 10, "order-status": 1, "delivery": 1, "stock-level": 1}
MEDIAN_MS = {
    "new-order": 12.0,
    "payment": 4.0,
    "order-status": 2.0,
    "delivery": 25.0,
    "stock-level": 6.0,
}
LADDER_EFFECT = {
    "cache of 1 GB": 1.12,
    "more WAL": 1.28,
    "useless": 1.0,
    "no waiting for the disk": 2.1,
}
"""What each rung multiplies throughput by; the report must find it again."""


def ladder(repeats: int = 6) -> Experiment:
    """The experiment of the demo: four rungs, one useless and one unsafe."""
    return experiment(
        LadderDesign(
            rungs=[
                Rung(
                    name="cache of 1 GB",
                    change={"target.shared_buffers": "1GB"},
                    because="the default of 128 MB holds a fraction of the data",
                ),
                Rung(
                    name="more WAL",
                    change={"target.max_wal_size": "8GB", "target.checkpoint_timeout": "30min"},
                    several=True,
                    because="fewer checkpoints write fewer full pages",
                ),
                Rung(name="useless", change={"target.cursor_tuple_fraction": 0.2}),
                Rung(
                    name="no waiting for the disk",
                    change={"target.synchronous_commit": "off"},
                    because="commits return before their log is on disk",
                ),
            ],
            reference="linux-maximus",
        ),
        repeats,
        name="tuning-ladder",
        title="Tuning ladder of an order-entry database",
    )


def compare(repeats: int = 6) -> Experiment:
    """Two levels of one factor."""
    design = CompareDesign(factor="target.shared_buffers", levels=["128MB", "1GB"])
    return experiment(design, repeats, name="shared-buffers")


def experiment(design: Design, repeats: int, *, name: str, title: str = "") -> Experiment:
    """An experiment with the order-entry workload on PostgreSQL."""
    return Experiment(
        name=name,
        title=title,
        workload=WorkloadSpec(name="oltp", parameters={"warehouses": 10, "style": "procedures"}),
        target=TargetSpec(engine="postgresql", settings={"max_connections": 50}),
        profile=ProfileSpec(users=8, warm_up="5s", measure="20s"),
        design=design,
        repeats=repeats,
    )


@dataclass(frozen=True)
class Sample:
    """How the made-up trials behave."""

    effects: Mapping[str, float] = field(default_factory=dict)
    """Variant: factor on throughput of its own step."""
    statuses: Mapping[int, Status] = field(default_factory=dict)
    """Order of a trial: its status, where it is not valid."""
    noise: float = 0.008
    kernels: Mapping[str, str] = field(default_factory=dict)
    """Variant: kernel, where it is not the usual one."""
    tick_s: float = 1.0
    taken: Mapping[int, float] | None = None
    """Order of a trial: the share of the processors that others took; None: nobody saw."""
    thieves: Cause = "processors"
    stop_after: int | None = None
    """Trials after which the run was killed; the last is cut off in the middle."""


def write_results(root: Path, spec: Experiment, sample: Sample = Sample()) -> Path:
    """Writes `root/<experiment>` and returns it."""
    folder = root / spec.name
    folder.mkdir(parents=True)
    stages = design_of(spec).stages(spec, allow_unsafe=True)
    plans = stages.next([])
    (folder / "experiment.json").write_text(spec.model_dump_json(indent=1))
    design = {
        "variants": [variant.model_dump(mode="json") for variant in stages.variants],
        "pairs": [
            {"candidate": p.candidate, "baseline": p.baseline, "role": p.role} for p in stages.pairs
        ],
        "command": f"loadstone {spec.design.kind} {spec.name}.yaml --allow-unsafe",
    }
    (folder / "design.json").write_text(json.dumps(design))
    total: dict[str, float] = {}
    for variant in stages.variants:
        below = total.get(variant.previous or "", 1.0)
        total[variant.name] = below * sample.effects.get(variant.name, 1.0)
    for plan in plans[: sample.stop_after]:
        cut = plan.order == sample.stop_after
        _write_trial(folder / plan.trial, plan, total[plan.variant.name], sample, cut=cut)
    return folder


def _write_trial(folder: Path, plan: TrialPlan, speed: float, sample: Sample, *, cut: bool) -> None:
    rng = np.random.default_rng([plan.order, 7])
    speed *= float(np.exp(rng.normal(0, sample.noise)))
    share = (sample.taken or {}).get(plan.order, 0.0)
    speed *= 1.0 - share
    folder.mkdir()
    (folder / "plan.json").write_text(plan.model_dump_json(indent=1))
    (folder / "inventory.json").write_text(json.dumps(_inventory(plan, sample)))
    frames = _frames(plan, speed, rng, sample)
    writer = FramesWriter(folder / "frames.jsonl.zst")
    for frame in frames[: len(frames) // 2 if cut else None]:
        writer.write(frame)
    writer.close()
    if cut:
        whole = (folder / "frames.jsonl.zst").read_bytes()
        (folder / "frames.jsonl.zst").write_bytes(whole[:-40])
        result = _result(plan, [], speed).model_copy(
            update={"status": Status.RUNNING, "finished_at": None, "metrics": []}
        )
    else:
        _write_samples(folder / "samples.parquet", plan, speed, rng)
        result = _result(plan, frames, speed)
        status = sample.statuses.get(plan.order)
        if status is not None:
            result = result.model_copy(update={"status": status, **_why(status, result)})
    if sample.taken is not None:
        evidence = f"other programs (hog) used {2 * share:.2f} of 2 processors"
        taken = Taken(cause=sample.thieves, share=share, evidence=evidence)
        result = result.model_copy(update={"taken": [taken] if share else []})
    (folder / "result.json").write_text(result.model_dump_json(indent=1))


def _why(status: Status, result: TrialResult) -> dict[str, Any]:
    """What a trial of that status says for itself."""
    if status is Status.INVALID:
        wrong = CheckResult(
            name="district counters", passed=False, detail="1 district is off by 1: (3, 7)",
            source="TPC-C 3.3.2.1",
        )  # fmt: skip
        return {"checks": [*result.checks, wrong]}
    if status is Status.DISTURBED:
        drift = DriftRecord(
            before={"cpu_ms": 50.1}, after={"cpu_ms": 63.9}, moved_percent=27.5, disturbed=True
        )
        return {"drift": drift}
    failed = Notice(
        code="target-failed", severity="error", message="the server ended with signal 9",
        advice="look at its log",
    )  # fmt: skip
    return {"notices": [failed], "metrics": []}


def _phases(plan: TrialPlan) -> list[PhaseTiming]:
    warm, measure = plan.profile.warm_up, plan.profile.measure
    return [
        PhaseTiming(name="warm-up", kind="warm-up", from_s=0.25, to_s=0.25 + warm),
        PhaseTiming(name="measure", kind="measure", from_s=0.25 + warm, to_s=0.25 + warm + measure),
    ]


def _frames(
    plan: TrialPlan, speed: float, rng: np.random.Generator, sample: Sample
) -> list[dict[str, Any]]:
    frames: list[dict[str, Any]] = [
        {
            "frame": "hello", "t_s": 0.0, "version": 4, "driver": "0.1.0", "pid": 4711,
            "threads": 1, "workload": "oltp", "operations": list(MIX), "unix_time_s": 1.79e9,
            "nofile": 65536, "clock_resolution_ns": 1,
        }
    ]  # fmt: skip
    seq = 0
    for phase in _phases(plan):
        begin = phase.from_s
        while begin < phase.to_s - 1e-9:
            end = min(math.floor(begin / sample.tick_s + 1) * sample.tick_s, phase.to_s)
            stalled = max(0.0, min(end, 17) - max(begin, 15)) / (end - begin)
            slower = 1 - 0.6 * stalled if plan.variant.name == "baseline" else 1.0
            frames.append(_tick(phase, seq, (begin, end), speed * slower, rng))
            begin, seq = end, seq + 1
    frames.append(
        {
            "frame": "end", "t_s": begin, "reason": "completed", "error": None, "facts": {},
            "operations": {}, "cpu_user_s": 3.0, "cpu_system_s": 1.0, "max_rss_bytes": 9_000_000,
        }
    )  # fmt: skip
    return frames


def _tick(
    phase: PhaseTiming, seq: int, span: tuple[float, float], speed: float, rng: np.random.Generator
) -> dict[str, Any]:
    length = span[1] - span[0]
    operations = {}
    warm = 0.8 + 0.2 * min(1.0, span[0] / 5)
    for name, weight in MIX.items():
        count = int(rng.poisson(weight * 5 * speed * warm * length))
        response = rng.lognormal(math.log(MEDIAN_MS[name] / speed), 0.5, count)
        operations[name] = {
            "count": count,
            "rolled_back": count // 100 if name == "new-order" else 0,
            "errors": {"23505": 1} if name == "delivery" and seq == 13 else {},
            "retries": {"40001": 2} if name == "payment" and seq % 5 == 0 else {},
            **(
                {"response": _histogram(response * 1.1), "service": _histogram(response)}
                if count
                else {}
            ),
        }
    return {
        "frame": "tick", "t_s": span[1], "seq": seq, "phase": phase.name, "phase_kind": phase.kind,
        "from_s": span[0], "to_s": span[1], "operations": operations,
        "lag": _histogram(rng.lognormal(-3, 0.4, 50)), "late_starts": 0, "dropped": 0, "due": 0,
        "users": 8, "in_flight": 8, "queued": 0, "reconnects": 0,
        "cpu_user_s": 0.06 * length * speed, "cpu_system_s": 0.04 * length * speed,
        "rss_bytes": 9_000_000,
    }  # fmt: skip


def _histogram(values_ms: np.ndarray) -> str:
    histogram = HdrHistogram(1, 60_000_000_000, 3)
    values = np.maximum(1, (values_ms * 1e6).astype(np.int64))
    unit = np.maximum(0, np.floor(np.log2(values)).astype(np.int64) - 10)  # of its counter
    for value, count in zip(*np.unique(values >> unit << unit, return_counts=True), strict=True):
        histogram.record_value(int(value), int(count))
    return str(histogram.encode().decode())


def _result(plan: TrialPlan, frames: list[dict[str, Any]], speed: float) -> TrialResult:
    measured = [frame for frame in frames if frame.get("phase_kind") == "measure"]
    unsafe = [
        f"synchronous_commit={change.level}"
        for change in plan.variant.changes
        if change.factor == "target.synchronous_commit"
    ]
    return TrialResult(
        experiment=plan.experiment, trial=plan.trial, variant=plan.variant.name, block=plan.block,
        order=plan.order, status=Status.VALID, unsafe=unsafe,
        started_at=f"2026-11-20T10:{plan.order:02}:00Z",
        finished_at=f"2026-11-20T10:{plan.order:02}:31Z",
        metrics=_metrics(measured, plan) if measured else [],
        operations=[_operation(name, measured) for name in MIX] if measured else [],
        phases=_phases(plan) if measured else [],
        waits=_waits(),
        checks=[
            CheckResult(name=f"condition {number}", passed=True, detail="0 violations",
                        source=f"TPC-C 3.3.2.{number}")
            for number in range(1, 13)
        ],
        factors=[
            FactorReading(factor=change.factor, requested=change.level, read_back=change.level,
                          before="128MB" if "buffers" in change.factor else None,
                          unsafe="synchronous" in change.factor, how="restart")
            for change in plan.variant.changes
        ],
        fingerprint=Fingerprint(rows={"stock": 1_000_000, "customer": 300_000},
                                sums={"stock": "91234567"}, size_bytes=1_050_000_000,
                                digest="5f1c8a90"),
        steady_state=SteadyStateRecord(steady=plan.order != 3, trend_percent_per_min=1.2,
                                       trend_p=0.31, warm_up_left_s=0.0, detail="no trend"),
        drift=DriftRecord(before={"cpu_ms": 50.1, "memory_gb_per_s": 11.2, "disk_ms": 0.61},
                          after={"cpu_ms": 50.3, "memory_gb_per_s": 11.1, "disk_ms": 0.64},
                          moved_percent=2.1, disturbed=False),
        generator=GeneratorHealth(cpu_user_s=1.6, cpu_system_s=0.9, cpu_share=0.12 * speed,
                                  max_rss_bytes=9_100_000, lag_p99_s=0.00012, lag_p999_s=0.0004,
                                  nofile=65536),
        repeat_command=f"loadstone run results/{plan.experiment}/{plan.trial}/plan.json",
    )  # fmt: skip


def _metrics(measured: list[dict[str, Any]], plan: TrialPlan) -> list[MetricValue]:
    done = {n: sum(f["operations"][n]["count"] for f in measured) for n in MIX}
    seconds = plan.profile.measure
    return [
        MetricValue(name="new_orders_per_min", value=done["new-order"] / seconds * 60,
                    unit="new-orders/min", higher_is_better=True, label="new-orders"),
        MetricValue(name="transactions_per_s", value=sum(done.values()) / seconds,
                    unit="transactions/s", higher_is_better=True, label="transactions"),
        MetricValue(name="driver_cpu_us", value=101.0, unit="us", higher_is_better=False,
                    label="driver CPU per transaction"),
    ]  # fmt: skip


def _operation(name: str, measured: list[dict[str, Any]]) -> OperationSummary:
    ticks = [frame["operations"][name] for frame in measured]
    return OperationSummary(
        name=name,
        count=sum(tick["count"] for tick in ticks),
        rolled_back=sum(tick["rolled_back"] for tick in ticks),
        errors={"23505": 1} if name == "delivery" else {},
        retries={"40001": 8} if name == "payment" else {},
        response=_summary([tick["response"] for tick in ticks if tick["count"]]),
        service=_summary([tick["service"] for tick in ticks if tick["count"]]),
    )


def _summary(encoded: list[str]) -> LatencySummary:
    at = percentiles(merge(encoded), (50, 90, 95, 99, 99.9, 100))
    p50, p90, p95, p99, p999, slowest = at.values()
    return LatencySummary(
        count=100, mean_s=p50, p50_s=p50, p90_s=p90, p95_s=p95, p99_s=p99, p999_s=p999,
        max_s=slowest,
    )  # fmt: skip


def _waits() -> list[Wait]:
    rows = [("LWLock", "WALWrite", 900), ("IO", "WalSync", 620), ("", "CPU", 410),
            ("Lock", "transactionid", 130), ("IO", "DataFileRead", 75),
            ("Client", "ClientRead", 20)]  # fmt: skip
    total = sum(samples for _, _, samples in rows)
    return [
        Wait(kind=kind, event=event, samples=samples, share=samples / total)
        for kind, event, samples in rows
    ]


def _write_samples(path: Path, plan: TrialPlan, speed: float, rng: np.random.Generator) -> None:
    rows: list[tuple[float, str, str, float]] = []
    for second in range(int(plan.profile.warm_up + plan.profile.measure)):
        t_s = 0.3 + second
        busy = min(85.0, 30 + 12 * speed + rng.normal(0, 2))
        rows += [
            (t_s, "host", "cpu_user_percent", busy * 0.7),
            (t_s, "host", "cpu_system_percent", busy * 0.3),
            (t_s, "host", "cpu_iowait_percent", max(0.0, 9 / speed + rng.normal(0, 1))),
            (t_s, "host", "cpu_steal_percent", 0.0),
            (t_s, "host", "disk_read_bytes_per_s", 0.0),
            (t_s, "host", "disk_write_bytes_per_s", 2.2e7 * speed + rng.normal(0, 1e6)),
            (t_s, "host", "pressure_cpu_percent", 4 + rng.normal(0, 0.5)),
            (t_s, "host", "pressure_io_percent", max(0.0, 12 / speed + rng.normal(0, 1))),
            (t_s, "host", "pressure_memory_percent", 0.0),
            (t_s, "postgresql", "commits_per_s", 115 * speed + rng.normal(0, 4)),
            (t_s, "postgresql", "wal_bytes_per_s", 1.8e6 * speed + rng.normal(0, 1e5)),
            (t_s, "postgresql", "cache_hit_percent", 99.1),
            (t_s, "postgresql", "deadlocks_per_s", 0.0),
            (t_s, "loadstone", "memory_bytes", 180e6),
        ]
    columns = list(zip(*rows, strict=True))
    names = ["t_s", "probe", "metric", "value"]
    pq.write_table(
        pa.table(dict(zip(names, map(list, columns), strict=True))), path, write_page_checksum=True
    )


def _inventory(plan: TrialPlan, sample: Sample) -> dict[str, Any]:
    return {
        "host": {
            "hardware": {"model": "AMD EPYC 7B13", "cores": 2, "memory_bytes": 25_769_803_776},
            "kernel": sample.kernels.get(plan.variant.name, "6.1.0-30"),
            "sysctl": {"vm.dirty_ratio": 20, "vm.swappiness": 60},
            "mounts": {f"/results/{plan.experiment}/{plan.trial}": {"device": "254:0"}},
            "memory_available_bytes": 20_000_000_000 + plan.order,
            "disks": [{"name": "vda", "rota": False}, {"name": f"loop{plan.order}", "rota": True}],
        },
        "target": {
            "version": "PostgreSQL 18.4",
            "places": {"data": _place(plan.order)},
            "settings": {
                "max_connections": "50",
                **{
                    change.factor.partition(".")[2]: str(change.level)
                    for change in plan.variant.changes
                    if change.factor.startswith("target.")
                },
            },
        },
    }


def _place(order: int) -> dict[str, str]:
    """As a placement describes itself: on the next free device, in a folder of a random name."""
    folder = f"/var/tmp/loadstone-{order:012x}/places/data-{order:06x}"
    return {
        "device": f"/dev/loop{order}",
        "number": f"7:{order}",
        "image": f"{folder}/disk.img",
        "options": "noatime",
    }
