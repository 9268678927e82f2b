"""What earlier trials on the same data took beside their load."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.results.finding import experiment_folders
from loadstone.results.record import Status, StepTime
from loadstone.results.trial_files import EXPERIMENT_FILE, RESULT_FILE, read_model, read_result
from loadstone.spec.model import Experiment
from loadstone.workloads.registry import workload_of

_LOAD = "load"
_ONCE = frozenset({_LOAD, "load the data"})
"""What is no cost of each trial beside its load."""
_MOST = 50
"""Of the latest experiments, and of the trials of one, so many are looked at."""


@dataclass(frozen=True)
class Around:
    """What a trial took beside its load, on average, and where that was read."""

    experiment: str
    steps: list[StepTime]
    load_s: float | None = None
    """What its load took."""

    @property
    def seconds(self) -> float:
        """All steps together."""
        return sum(step.seconds for step in self.steps)


def around_earlier(experiment: Experiment, results: Path) -> Around | None:
    """Of the latest trials of the same workload on the same data and server; None without any.

    Args:
        experiment: That is planned.
        results: Folder of all results.
    """
    folders = sorted(experiment_folders(results), key=_began, reverse=True)
    for folder in folders[:_MOST]:
        try:
            earlier = read_model(folder / EXPERIMENT_FILE, Experiment)
            if _data(earlier) == _data(experiment) and (took := _took(folder)):
                steps = [step for step in took if step.name not in _ONCE]
                loads = [step.seconds for step in took if step.name == _LOAD]
                return Around(folder.name, steps, loads[0] if loads else None)
        except WrongInputError:
            continue
    return None


def _began(folder: Path) -> float:
    return (folder / EXPERIMENT_FILE).stat().st_mtime


def _data(experiment: Experiment) -> tuple[object, ...]:
    workload, target = workload_of(experiment.workload), experiment.target
    return workload.name, workload.data_key(), target.engine, target.server


def _took(folder: Path) -> list[StepTime]:
    """Of the trials that ran to their end, each step on average: some have steps that others lack.

    A cluster is made anew only where a trial has other settings than the one before it.
    """
    found = []
    for path in sorted(folder.glob(f"*/{RESULT_FILE}"), reverse=True)[:_MOST]:
        result = read_result(path.parent)
        if result.took and result.status in (Status.VALID, Status.DISTURBED, Status.INVALID):
            found.append(result.took)
    sums: dict[str, float] = {}
    for step in (step for took in reversed(found) for step in took):
        sums[step.name] = sums.get(step.name, 0.0) + step.seconds
    return [StepTime(name=name, seconds=sum_s / len(found)) for name, sum_s in sums.items()]
