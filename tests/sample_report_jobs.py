"""Trials of jobs on a cluster with known run times: records, folders, documents for the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from sample_trials import result_of

from loadstone.experiments.designs import design_of, stages_of
from loadstone.report.document import build_document
from loadstone.report.gantt import gantt_report
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.jobs import (
    JobsColumn,
    JobsReport,
    JobsRow,
    JobsTable,
    JobsVariant,
    JobTimes,
    RelativeFigure,
)
from loadstone.report.model.trials import Series
from loadstone.results.folder import ExperimentFolder
from loadstone.results.jobs import ClusterNode, IoPhase, JobEntry, JobsRecord
from loadstone.results.record import MetricValue
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan

NODES, SLOTS = 2, 2
HOUR_S = 3600.0
Counts = Mapping[str, int]


def entry(name: str = "ls-1", application: str = "pstm", **fields: Any) -> JobEntry:
    """A job that waited 1 s, was launched in 0.2 s and ran for 10 s on the first node."""
    return JobEntry(
        **{
            "name": name,
            "application": application,
            "placement": "compact",
            "nodes": ["n1"],
            "ranks": 2,
            "state": "ended",
            "submitted_s": 1.0,
            "arrived_s": 2.0,
            "gate_open_s": 2.5,
            "began_s": 2.8,
            "ended_s": 12.8,
            "seen_s": 13.0,
            "waiting_s": 1.0,
            "launch_s": 0.2,
            "stage_s": 0.1,
            "run_s": 10.0,
            "late_s": 0.2,
            "cpu_s": 18.0,
            "read_mib": 240.0,
            "written_mib": 240.0,
            **fields,
        }
    )


def record(
    counts: Counts, placement: str = "compact", run_s: float = 10.0, **fields: Any
) -> JobsRecord:
    """As many jobs of each application at once as are asked for, all as long.

    Args:
        counts: Jobs by application, each of two ranks.
        placement: Of all of them.
        run_s: Of each.
        fields: Of the record.
    """
    nodes = [f"n{at + 1}" for at in range(NODES)]
    named = [(name, at) for name, count in counts.items() for at in range(count)]
    jobs = [
        entry(
            f"ls-ab-{name}-{at}",
            name,
            placement=placement,
            nodes=nodes if placement == "distributed" else [nodes[place % NODES]],
            ended_s=2.8 + run_s,
            run_s=run_s,
        )
        for place, (name, at) in enumerate(named)
    ]
    return JobsRecord(
        **{
            "asked": len(jobs),
            "at_once": len(jobs),
            "reached": True,
            "overlap_s": run_s,
            "placement_proved": True,
            "storage": "local",
            "asked_of": dict(counts),
            "jobs_label": ", ".join(f"{count} {name}" for name, count in counts.items()),
            "load_share": 2 * len(jobs) / (NODES * SLOTS),
            "jobs": jobs,
            "nodes": [ClusterNode(name=name, slots=SLOTS) for name in nodes],
            **fields,
        }
    )


def metrics(of: JobsRecord) -> list[MetricValue]:
    """Throughput per job, of all and of each application."""
    runs = {name: [j for j in of.jobs if j.application == name] for name in of.applications}
    named = {"throughput_per_job": of.jobs}
    named |= {f"throughput_per_job_{name}": own for name, own in runs.items()}
    return [
        MetricValue(
            name=name, value=HOUR_S / fmean(job.run_s or 0 for job in own), unit="1/h",
            higher_is_better=True,
        )
        for name, own in named.items()
    ]  # fmt: skip


def experiment(factors: Mapping[str, Sequence[Any]], **fields: Any) -> Experiment:
    """A sweep over factors of jobs on plain processes."""
    relative_to = fields.pop("relative_to", {})
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "cluster",
            "workload": {"name": "jobs", "parameters": {"ranks": 2}},
            "target": {"engine": "local"},
            "design": {"kind": "sweep", "factors": factors, "relative_to": relative_to},
            "repeats": 5,
            **fields,
        }
    )


def written(
    results: Path, spec: Experiment, made: Callable[[TrialPlan], JobsRecord]
) -> ExperimentFolder:
    """A folder whose trials all have a record of jobs.

    Args:
        results: Where it is written.
        spec: The experiment.
        made: The record of a trial.
    """
    folder = ExperimentFolder.create(results, spec.name)
    folder.write_experiment(spec)
    design = design_of(spec)
    pairs = [asdict(pair) for pair in design.pairs(spec)]
    folder.write_design(design.variants(spec), pairs, "loadstone run jobs.yaml")
    for plan in stages_of(spec).next([]):
        with folder.trial(plan) as trial:
            own = made(plan)
            result = result_of(plan, metrics(own))
            trial.write_result(result.model_copy(update={"jobs": own}))
    return folder


def document(
    results: Path, spec: Experiment, made: Callable[[TrialPlan], JobsRecord]
) -> ReportDocument:
    """The report of `written`."""
    return build_document(written(results, spec, made).path)


def levels_of(plan: TrialPlan) -> dict[str, Any]:
    """The levels of a trial's cell, by the last word of the factor."""
    return {change.factor.rpartition(".")[2]: change.level for change in plan.variant.changes}


# -- for the page ------------------------------------------------------------------------------
def clustered(base: ReportDocument) -> ReportDocument:
    """A mixed load with intervals, one load that was not reached, and jobs over nodes.

    Args:
        base: Its first three variants become the configurations; its trials get jobs and links.
    """
    names = [variant.name for variant in base.variants[:3]]
    columns = [
        JobsColumn(application=of, placement=placement, label=f"{of}, {placement}")
        for of in ("flow", "pstm")
        for placement in ("compact (1x2)", "distributed (2x1)")
    ]

    def figure(of: str, value: float | None, **fields: Any) -> RelativeFigure:
        return RelativeFigure(variant=names[0], application=of, value=value, **fields)

    near = {"low": 1.28, "high": 1.36, "reference": names[0]}
    unreached = "4 asked, 2 ran at a time (reason: Resources)"
    rows = [
        JobsRow(
            counts={"flow": 1, "pstm": 0},
            load_share=0.25,
            cells=[
                figure("flow", 1.0, reference=names[0]),
                figure("flow", 1.32, **near),
                None,
                None,
            ],
        ),
        JobsRow(
            counts={"flow": 2, "pstm": 0},
            load_share=0.5,
            cells=[
                figure("flow", 0.97, low=0.9, high=1.04, reference=names[0]),
                figure("flow", 1.19, low=1.1, high=1.28, reference=names[0]),
                None,
                None,
            ],
        ),
        JobsRow(
            counts={"flow": 2, "pstm": 2},
            load_share=1.0,
            cells=[
                None,
                figure("flow", None, reason=unreached),
                None,
                figure("pstm", 1.02, low=0.95, high=1.09, reference=names[0]),
            ],
        ),
    ]
    jobs = JobsReport(
        variants=[_variant(name, names.index(name), unreached) for name in names],
        table=JobsTable(applications=["flow", "pstm"], columns=columns, rows=rows),
        relative_to=[f'flow: 1.00 is the throughput per job of "{names[0]}".'],
        said=[f'"{names[2]}": {unreached}. No relative figure is made of such a load.'],
    )
    trials = [trial.model_copy(update=_shown(trial)) for trial in base.trials]
    return base.model_copy(update={"jobs": jobs, "trials": trials})


def _variant(name: str, at: int, unreached: str) -> JobsVariant:
    times = [
        JobTimes(
            application=of, placement="compact (1x2)", jobs=12, waiting_s=1.25, launch_s=0.2,
            stage_s=0.1, run_s=12.5 + at, late_s=0.25, cpu_s=24.0, read_mib=240.0,
            written_mib=None,
        )
        for of in ("flow", "pstm")
    ]  # fmt: skip
    return JobsVariant(
        variant=name, trials=6, counts=at != 1, load="2 flow, 2 pstm", load_share=1.0, asked=4,
        at_once=2 if at == 2 else 4, unreached=unreached if at == 2 else "", placement_proved=True,
        storage=("local", "sshfs")[at % 2], makespan_s=13.0, times=times,
    )  # fmt: skip


def _shown(trial: Any) -> dict[str, Any]:
    """Jobs over nodes, one of which failed, and what crossed the links."""
    own = record({"flow": 1, "pstm": 1}, io=[_io("flow", 0.0), _io("flow", 0.5)])
    failed = own.jobs[-1].model_copy(
        update={
            "name": "ls-ab-pstm-1",
            "arrived_s": 14.0,
            "began_s": 14.5,
            "ended_s": 20.0,
            "state": "failed",
            "reason": "exit code 3",
        }
    )
    lost = entry("ls-ab-pstm-9", arrived_s=None, began_s=None, ended_s=None, seen_s=None,
                 nodes=[], state="held", reason="JobHeldUser")  # fmt: skip
    own = own.model_copy(update={"jobs": [*own.jobs, failed, lost]})
    seconds = [0.5 + at for at in range(24)]
    links: dict[str, list[float | None]] = {
        f"{way}_bytes_per_s:{node.name}": [1e6 * (1 + at % 5) for at in range(24)]
        for way in ("to", "from")
        for node in own.nodes
    }
    target = Series(t_s=seconds, columns={**links, "jobs_running": [3.0] * 24})
    return {
        "gantt": gantt_report(own, 0.0),
        "target": target,
        "result": trial.result.model_copy(update={"jobs": own}),
    }


def _io(application: str, begin: float) -> IoPhase:
    return IoPhase(
        application=application, from_share=begin, to_share=begin + 0.5, read_mib=200.0,
        written_mib=210.0, reads=4000, writes=5000, read_mib_per_s=40.0, written_mib_per_s=42.0,
        writes_per_s=1000.0,
    )  # fmt: skip
