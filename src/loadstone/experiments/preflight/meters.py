"""Whether the meters of an experiment can be: their kinds and secrets, before one is looked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath

from loadstone.errors import LoadstoneError
from loadstone.experiments.power_metrics import metric_names
from loadstone.meters.registry import METERS, no_meter
from loadstone.spec.meters import MACHINE_ROOT
from loadstone.spec.model import Experiment
from loadstone.spec.problems import Path, Problem
from loadstone.spec.referred import referred
from loadstone.workloads.registry import kind_of


def meter_problems(experiment: Experiment) -> list[Problem]:
    """Kinds that there are not, references that lead nowhere, and a root that is no folder.

    Whether this machine has a meter is found out when it is opened, before the first trial.
    """
    problems = [*_of_root(experiment)]
    for number, spec in enumerate(experiment.meters):
        path: Path = ("meters", number)
        if spec.kind not in METERS:
            problems.append(Problem((*path, "kind"), no_meter(spec.kind)))
            continue
        reference = getattr(spec, "password", None)
        try:
            if reference is not None:
                referred(reference, "the password")
        except LoadstoneError as error:
            advice = f" ({error.advice})" if error.advice else ""
            problems.append(Problem((*path, "password"), f"{error.message}{advice}"))
    return problems


def _of_root(experiment: Experiment) -> Iterator[Problem]:
    root = experiment.meters_root
    if root == MACHINE_ROOT:
        return
    if not experiment.meters:
        yield Problem(("meters_root",), "would have no effect: there are no meters")
    elif not FilePath(root).is_dir():
        yield Problem(("meters_root",), f"{root} is not a folder")


def metrics_of_meters(experiment: Experiment) -> list[str]:
    """Names of the figures that its trials have besides, because it has meters."""
    return metric_names(kind_of(experiment.workload)) if experiment.meters else []


def needs_meter(experiment: Experiment, metric: str) -> bool:
    """Whether a metric would be there if the experiment had a meter."""
    return not experiment.meters and metric in metric_names(kind_of(experiment.workload))
