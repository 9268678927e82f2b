"""The designs there are."""

from __future__ import annotations

from loadstone.experiments.designs.base import Design, Stages
from loadstone.experiments.designs.baselines import BaselinesBefore, baselines
from loadstone.experiments.designs.compare import Compare
from loadstone.experiments.designs.crash import Crash, CrashesAfter
from loadstone.experiments.designs.graduate import Graduate
from loadstone.experiments.designs.ladder import Ladder
from loadstone.experiments.designs.run import Run
from loadstone.experiments.designs.scale import Scale
from loadstone.experiments.designs.search import Search
from loadstone.experiments.designs.sweep import Sweep
from loadstone.spec.design import CrashDesign
from loadstone.spec.model import Experiment

DESIGNS: dict[str, Design] = {
    design.kind: design
    for design in (Run(), Compare(), Ladder(), Sweep(), Crash(), Search(), Scale(), Graduate())
}


def design_of(experiment: Experiment) -> Design:
    """The design that arranges an experiment."""
    return DESIGNS[experiment.design.kind]


def stages_of(experiment: Experiment, *, allow_unsafe: bool = False) -> Stages:
    """The trials of an experiment: baselines and those of its design, then crashes."""
    stages = design_of(experiment).stages(experiment, allow_unsafe=allow_unsafe)
    if experiment.baseline is not None:
        stages = BaselinesBefore(experiment, stages)
    if experiment.durability is None:
        return stages
    return CrashesAfter(experiment, experiment.durability, stages, allow_unsafe)


def trials_of(experiment: Experiment) -> int:
    """Trials at most, baselines and crashes included, without repeats of disturbed ones."""
    planned = design_of(experiment).trials_planned(experiment) + baselines_of(experiment)
    return (
        planned if isinstance(experiment.design, CrashDesign) else planned + crashes_of(experiment)
    )


def baselines_of(experiment: Experiment, blocks: int | None = None) -> int:
    """Baselines of placements among them.

    Args:
        experiment: Whose.
        blocks: In so many; default: in all that there can be.
    """
    placements = baselines(experiment, design_of(experiment).variants(experiment))
    return len(placements) * (experiment.repeats if blocks is None else blocks)


def crashes_of(experiment: Experiment) -> int:
    """Crash trials among them, at most."""
    if isinstance(experiment.design, CrashDesign):
        return design_of(experiment).trials_planned(experiment)
    if experiment.durability is None:
        return 0
    return experiment.crashes * len(design_of(experiment).variants(experiment))
