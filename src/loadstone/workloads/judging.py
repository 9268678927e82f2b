"""What the verdicts of an experiment are about.

Load that arrives at a rate is all served as long as the system keeps up. Throughput is that rate
then, whatever is changed; what can change is how long operations take.
"""

from __future__ import annotations

from loadstone.results.graduated import CALIBRATED, OVERALL
from loadstone.results.metrics import RESPONSE_P95
from loadstone.results.power import WATTS
from loadstone.spec.base import Level
from loadstone.spec.design import SweepDesign
from loadstone.spec.model import Experiment
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.registry import workload_of

COMPARING = ("compare", "ladder", "sweep")
"""Designs that have verdicts."""


def judged_metrics(experiment: Experiment) -> list[str]:
    """Names of the metrics that verdicts are about, the headline first."""
    named = experiment.named_metrics or _of_levels(experiment)
    held = [name for name in references_of(experiment) if name not in named]
    if named or held:
        return [*named, *held]
    return [headline_of(experiment) or workload_of(experiment.workload).judged_metric()]


def references_of(experiment: Experiment) -> dict[str, dict[str, Level]]:
    """The metrics that a sweep holds against a cell of their own: the levels of that cell.

    Factors that are left out have the level of the cell that is compared.
    """
    design = experiment.design
    if not isinstance(design, SweepDesign) or not design.relative_to:
        return {}
    workload = workload_of(experiment.workload)
    return {workload.metric_called(word): levels for word, levels in design.relative_to.items()}


def headline_of(experiment: Experiment) -> str | None:
    """The metric that all trials are judged by; None: what the workload of each says.

    Where several metrics have a reference each, no one of them is in all trials: a cell of one
    application has no figure of another.
    """
    if experiment.named_metrics:
        return experiment.named_metrics[0]
    if of_levels := _of_levels(experiment):
        return of_levels[0]
    if experiment.design.kind == "scale":
        return workload_of(experiment.workload).search.curve_metric
    held = references_of(experiment)
    if len(held) == 1:
        return next(iter(held))
    compares = experiment.design.kind in COMPARING
    return RESPONSE_P95 if compares and answers_to_rate(experiment) else None


def _of_levels(experiment: Experiment) -> list[str]:
    """Of a graduated load: the figure of all levels, and the watts of each; none of others.

    Without a meter it is the rate at 100 %, where that is measured.
    """
    profile = experiment.profile
    if profile.graduated is None:
        return []
    if experiment.meters:
        return [OVERALL, *(f"{phase.name} {WATTS}" for phase in profile.measured)]
    return [CALIBRATED] if profile.calibrates else []


def answers_to_rate(experiment: Experiment) -> bool:
    """Whether operations fall due at a rate, and their response times are measured."""
    workload = workload_of(experiment.workload)
    return _has_rate(workload, experiment) and not workload.is_stepwise


def offered_rates(experiment: Experiment) -> list[str]:
    """The metrics among those named that are the offered rate while the system keeps up."""
    workload = workload_of(experiment.workload)
    if experiment.design.kind not in COMPARING or not _has_rate(workload, experiment):
        return []
    offered = {spec.name for spec in workload.metrics if spec.follows_rate}
    phases = [f"{phase.name} " for phase in experiment.profile.phases]
    scoped = offered | {f"{phase}{name}" for phase in phases for name in offered}
    return [name for name in experiment.named_metrics if name in scoped]


def _has_rate(workload: AnyWorkload, experiment: Experiment) -> bool:
    """An open load, or a workload that makes arrivals of its own."""
    return workload.loaded(experiment.profile).load == "open" or workload.search.over == "rate"
