"""How much an experiment scattered when it was made earlier on this machine, and what a trial cost.

This is the one place that reads earlier results for a plan.
"""

from __future__ import annotations

import math
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from loadstone.errors import LoadstoneError
from loadstone.experiments.designs import design_of
from loadstone.protocol.frames import Tick
from loadstone.report.figures import NotComparableError, metric_infos, to_compare
from loadstone.report.model.variants import MetricInfo
from loadstone.report.reading import RecordedExperiment, RecordedTrial, read_experiment
from loadstone.results.finding import experiment_folders
from loadstone.results.frames import parsed_frames
from loadstone.results.latency import merge, percentiles
from loadstone.results.record import Status
from loadstone.results.statistics.contrasts import Blocks
from loadstone.results.statistics.planning import Made, Scatter, scatter_of, variance_within
from loadstone.results.taken import stolen_by_block
from loadstone.results.trial_files import EXPERIMENT_FILE, is_running, read_model
from loadstone.spec.model import Experiment
from loadstone.workloads.registry import workload_of

LOADING = "load the data"
"""The step of a trial that is made once for all of them."""
PLENTY_FREEDOM = 32
"""Older experiments are not read once there are so many degrees of freedom."""
_SHORTEST_TICK_S = 0.5
_PERCENTILE = re.compile(r"(?:response_|(?P<operation>.+) )p(?P<rank>\d+(?:\.\d+)?)(?:_ms)?")


@dataclass(frozen=True)
class Earlier:
    """What earlier results tell."""

    experiments: list[str]
    """Names of their folders, the latest first."""
    metric: MetricInfo
    scatter: Scatter
    measured_s: float
    """Mean of what their trials measured."""
    beside_s: float
    """Mean of what a trial took beyond that; without loading the data once."""


def earlier_scatter(experiment: Experiment, metric: str, results: Path) -> Earlier | None:
    """What the latest results of the same experiment tell, made on this machine and ended.

    Same is what its trials do: workload, target, load, settings and variants. Repeats, name, seed
    and the length of the measured phase may differ.

    Args:
        experiment: That is planned.
        metric: By which it is judged.
        results: Folder of all results.

    Returns:
        None if nothing is known; trials of one block and variant know nothing.
    """
    read: list[_Read] = []
    found: Scatter | None = None
    for folder in _latest_first(results):
        with suppress(LoadstoneError, NotComparableError):
            if _same(read_model(folder / EXPERIMENT_FILE, Experiment), experiment):
                one = _Read.of(read_experiment(folder), metric)
                if one.made.within or not _may_be_longer(experiment, one):
                    found, read = scatter_of([each.made for each in [*read, one]]), [*read, one]
        if found is not None and found.freedom >= PLENTY_FREEDOM:
            break
    if found is None:
        return None
    return Earlier(
        experiments=[each.name for each in read],
        metric=read[0].metric,
        scatter=found,
        measured_s=fmean(each.made.measured_s for each in read),
        beside_s=fmean(each.beside_s for each in read),
    )


def length_is_free(experiment: Experiment) -> bool:
    """Whether `measure` says how long a trial measures: not where steps have their own length."""
    decides = workload_of(experiment.workload).decides
    return "measure" not in decides and not experiment.profile.phases


def _may_be_longer(experiment: Experiment, one: _Read) -> bool:
    """Whether its trials measured another time than planned, and nothing tells what that does."""
    return length_is_free(experiment) and one.planned_s != experiment.profile.measured_s


def _latest_first(results: Path) -> list[Path]:
    began = {path: (path / EXPERIMENT_FILE).stat().st_mtime for path in experiment_folders(results)}
    return sorted(began, key=lambda path: began[path], reverse=True)


def _same(earlier: Experiment, planned: Experiment) -> bool:
    return _made_of(earlier) == _made_of(planned)


def _made_of(experiment: Experiment) -> tuple[object, ...]:
    """All that decides what a trial does, but how long it measures."""
    workload, free = workload_of(experiment.workload), length_is_free(experiment)
    variants = design_of(experiment).variants(experiment)
    return (
        workload.name,
        workload.parameters,
        experiment.target,
        experiment.profile.model_copy(update={"measure": 0.0}) if free else experiment.profile,
        experiment.host,
        experiment.cache,
        experiment.reload,
        experiment.outage,
        [variant.changes for variant in variants],
    )


@dataclass(frozen=True)
class _Read:
    """What one earlier experiment tells."""

    name: str
    metric: MetricInfo
    made: Made
    planned_s: float
    beside_s: float

    @classmethod
    def of(cls, folder: RecordedExperiment, metric: str) -> _Read:
        """Of a folder that has trials of this machine.

        Raises:
            NotComparableError: If its trials tell nothing, or are still being made.
        """
        if any(is_running(trial.path) for trial in folder.trials):
            raise NotComparableError("it is being made")
        trials = [
            trial
            for trial in folder.with_all().trials
            if not trial.is_crash
            and trial.result.status in (Status.VALID, Status.DISTURBED)
            and _of_this_machine(trial)
        ]
        info = next((each for each in metric_infos(trials) if each.name == metric), None)
        if info is None or not all(trial.result.took for trial in trials):
            raise NotComparableError("it has no such figure, or does not say what a trial took")
        made = made_of(folder, trials, info)
        workload = workload_of(folder.experiment.workload)
        reloads = folder.experiment.reload or workload.rebuilds
        return cls(
            name=folder.path.name,
            metric=info,
            made=made,
            planned_s=folder.experiment.profile.measured_s,
            beside_s=fmean(_took_s(trial, reloads=reloads) for trial in trials) - made.measured_s,
        )


def made_of(
    folder: RecordedExperiment, trials: Sequence[RecordedTrial], metric: MetricInfo
) -> Made:
    """The figures of some trials of an experiment, for what they tell of their scatter.

    Args:
        folder: Of the experiment.
        trials: One at least.
        metric: By which they are judged.
    """
    levels: dict[str, Blocks] = {}
    stolen: dict[str, Blocks] = {}
    for variant in folder.design.variants:
        own = [trial for trial in trials if trial.result.variant == variant.name]
        with suppress(NotComparableError):
            levels[variant.name] = to_compare(own, metric, variant.name)
        stolen[variant.name] = stolen_by_block((one.result.block, one.result.taken) for one in own)
    return Made(levels, fmean(map(_measured_s, trials)), list(_within(trials, metric)), stolen)


def _of_this_machine(trial: RecordedTrial) -> bool:
    host = trial.inventory.get("host")
    return isinstance(host, dict) and host.get("name") == socket.gethostname()


def _measured_s(trial: RecordedTrial) -> float:
    return math.fsum(
        phase.to_s - phase.from_s for phase in trial.result.phases if phase.kind == "measure"
    )


def _took_s(trial: RecordedTrial, *, reloads: bool) -> float:
    took = trial.result.took
    return math.fsum(step.seconds for step in took if reloads or step.name != LOADING)


def _within(trials: Sequence[RecordedTrial], metric: MetricInfo) -> Iterator[float]:
    """What the ticks of each trial tell of its figure; nothing where they have no such figure."""
    for trial in trials:
        if trial.plan.profile.phases:
            continue
        ticks = [
            frame
            for frame in parsed_frames(trial.path)
            if isinstance(frame, Tick)
            and frame.phase_kind == "measure"
            and frame.duration_s > _SHORTEST_TICK_S
            and not frame.late
        ]
        series = _series(ticks, metric, trial)
        if ticks and series:
            seconds = fmean(tick.duration_s for tick in ticks)
            variance = variance_within(series, seconds)
            if variance is not None:
                yield variance


def _series(ticks: Sequence[Tick], metric: MetricInfo, trial: RecordedTrial) -> list[float]:
    """The metric at each tick: a rate or a percentile; empty of other metrics."""
    workload = trial.workload
    if workload is None or workload.is_stepwise:
        return []
    judged = workload.charts().judged
    if named := _PERCENTILE.fullmatch(metric.name):
        operation = named["operation"]
        names = (operation,) if operation else judged
        return [_percentile(tick, names, float(named["rank"])) for tick in ticks]
    counted, _, per = metric.unit.partition("/")
    if per not in ("s", "min") or metric.name not in {each.name for each in workload.metrics}:
        return []
    own = tuple({name for tick in ticks for name in tick.operations if f"{name}s" == counted})
    return [_count(tick, own or judged) / tick.duration_s for tick in ticks]


def _count(tick: Tick, names: Sequence[str]) -> int:
    return sum(each.count for name, each in tick.operations.items() if not names or name in names)


def _percentile(tick: Tick, names: Sequence[str], rank: float) -> float:
    """NaN of a tick without a response."""
    texts = [
        each.response
        for name, each in tick.operations.items()
        if each.response and (not names or name in names)
    ]
    return percentiles(merge(texts), (rank,)).get(rank, math.nan)
