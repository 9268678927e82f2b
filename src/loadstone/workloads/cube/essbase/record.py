"""What the log of a kit says, as the records of an experiment: a log is a trial.

Only what the log tells is recorded. There is no generator and no probe, no start state was
compared and no answer was checked: those parts of the record are empty, and notices say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from statistics import fmean, median
from typing import Any

from loadstone.errors import WrongInputError
from loadstone.protocol.steps import TOLD
from loadstone.results.record import MetricValue, Notice, PhaseTiming, Status, TrialResult
from loadstone.spec.model import Experiment, WorkloadSpec
from loadstone.spec.plans import TrialPlan, Variant, trial_seed
from loadstone.spec.target import TargetSpec
from loadstone.workloads.cube.cycle import CYCLES
from loadstone.workloads.cube.essbase.log import CycleLog
from loadstone.workloads.cube.metrics import HEADLINE, METRICS, STEP_METRICS

WORKLOAD, ENGINE = "cube", "essbase"
_KNOBS = ("cycles", "load_threads", "calc_threads", "alloc_tasks")


def experiment_of(logs: Sequence[CycleLog], name: str, server: str) -> Experiment:
    """One configuration, of which each log is a trial.

    Args:
        logs: Of the same kit.
        name: Of the experiment.
        server: Where it ran, for the record.

    Raises:
        WrongInputError: If the logs are of different kits, two are of the same run, or the name is
            none.
    """
    first, *others = logs
    runs: dict[datetime, Path] = {}
    for log in logs:
        if log.began_at in runs:
            raise WrongInputError(
                f"{log.path} is of the same run as {runs[log.began_at]}",
                advice="a repeat is another run of cycle.mxl, with a log of its own",
            )
        runs[log.began_at] = log.path
    for other in others:
        if other.facts != first.facts:
            raise WrongInputError(
                f"{other.path} is of another kit than {first.path}: {_differing(first, other)}",
                advice="import them one by one, and compare the two results",
            )
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,79}", name):
        raise WrongInputError(
            f"{name!r} is no name of a result",
            advice="give --name: small letters, digits, dots, dashes and underscores",
        )
    return Experiment(
        name=name,
        title=f"Essbase, imported from {', '.join(log.path.name for log in logs)}",
        workload=WorkloadSpec(
            name=WORKLOAD,
            parameters={
                "scale": first.facts["scale"],
                **{knob: int(first.facts[knob]) for knob in _KNOBS},
                "hybrid": bool(first.facts["hybrid"]),
            },
        ),
        target=TargetSpec(engine=ENGINE, server=server),
        repeats=len(logs),
        metric=HEADLINE,
        seed=int(first.facts["seed"]),
    )


def plan_of(experiment: Experiment, number: int) -> TrialPlan:
    """The plan of a trial, as far as the kit tells it.

    Args:
        experiment: It belongs to.
        number: Of the trial, from 1.
    """
    return TrialPlan(
        experiment=experiment.name,
        trial=f"b{number:02d}-1-{ENGINE}",
        variant=Variant(name=experiment.name, changes=[], step=[]),
        block=number,
        order=number,
        seed=trial_seed(experiment.seed, number),
        data_seed=experiment.seed,
        workload=experiment.workload,
        target=experiment.target,
        profile=experiment.profile,
        cache=experiment.cache,
    )


def result_of(plan: TrialPlan, log: CycleLog) -> TrialResult:
    """The record of a trial: times of the steps, each the mean over the cycles that are whole."""
    end_s = max(step.to_s for cycle in log.cycles for step in cycle.steps)
    return TrialResult(
        experiment=plan.experiment,
        trial=plan.trial,
        variant=plan.variant.name,
        block=plan.block,
        order=plan.order,
        status=Status.VALID,
        notices=_notices(log),
        started_at=log.began_at.isoformat(),
        finished_at=(log.began_at + timedelta(seconds=end_s)).isoformat(),
        metrics=_metrics(log),
        phases=[PhaseTiming(name=CYCLES, kind="measure", from_s=0.0, to_s=end_s)],
    )


def frames_of(log: CycleLog) -> Iterator[Mapping[str, Any]]:
    """Each step of each whole cycle, as a runner would have told it."""
    for cycle in log.cycles:
        for step in cycle.steps:
            yield {
                "frame": "event",
                "t_s": step.to_s,
                "kind": "workload",
                "name": TOLD,
                "phase": CYCLES,
                "phase_kind": "measure",
                "data": {
                    "stream": CYCLES,
                    "operation": step.step,
                    "step": "work",
                    "from_s": step.from_s,
                    "to_s": step.from_s + step.seconds,
                },
            }


def inventory_of(log: CycleLog) -> dict[str, Any]:
    """What the log tells of the system: little."""
    return {"import": {"maxl_shell": log.release or "not said", **log.facts}}


def _metrics(log: CycleLog) -> list[MetricValue]:
    """The figures of the workload that a log tells."""
    cycles_s = [cycle.seconds for cycle in log.cycles]
    found = {
        HEADLINE: fmean(cycles_s),
        "cycle_median_s": median(cycles_s),
        "cycle_min_s": min(cycles_s),
        "cycle_max_s": max(cycles_s),
    }
    for place, step in enumerate(_steps(log)):
        times_s = [cycle.steps[place].seconds for cycle in log.cycles]
        found[STEP_METRICS[step].name] = fmean(times_s)
    return [spec.of(found[spec.name]) for spec in METRICS if spec.name in found]


def _steps(log: CycleLog) -> list[str]:
    """Of each of its whole cycles."""
    return [step.step for step in log.cycles[0].steps]


def _notices(log: CycleLog) -> list[Notice]:
    whole = len(log.cycles)
    found = [
        Notice(
            code="imported",
            severity="warning",
            message="the times are those of a log that Loadstone did not write: no answer was "
            "checked, no start state compared, and nothing of the machine was recorded",
            advice="check the data as the README of the kit says, and keep the server's settings "
            "with the log",
        ),
        Notice(
            code="imported-unknown",
            severity="info",
            message="the log has no retrieval, so that the profile of the plan was not run; not "
            "known are the state of the caches, which the plan calls warm, and the time zone of "
            "the time stamps",
        ),
    ]
    coarse = [
        step
        for place, step in enumerate(_steps(log))
        if any(cycle.steps[place].server_s is None for cycle in log.cycles)
    ]
    if coarse:
        found.append(
            Notice(
                code="imported-resolution",
                severity="info",
                message=f"times of {', '.join(coarse)} are differences of time stamps in whole "
                "seconds: each may be wrong by up to a second",
                advice="compare steps that take a minute or more, or raise the scale",
            )
        )
    if log.clock_set:
        found.append(
            Notice(
                code="imported-clock",
                severity="warning",
                message="the clock was set meanwhile; what the server says a calculation took "
                "counts: " + "; ".join(log.clock_set),
            )
        )
    if log.left_out:
        found.append(
            Notice(
                code="imported-cycles",
                severity="warning",
                message=f"{whole} whole cycle{'' if whole == 1 else 's'} counted; left out: "
                + "; ".join(log.left_out),
            )
        )
    return found


def _differing(first: CycleLog, other: CycleLog) -> str:
    keys = [key for key in first.facts if other.facts.get(key) != first.facts[key]]
    own = [f"{key} {other.facts.get(key, 0):g} and {first.facts[key]:g}" for key in keys]
    return ", ".join(own)
