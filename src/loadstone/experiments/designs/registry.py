"""The designs there are."""

from __future__ import annotations

from loadstone.experiments.designs.base import Design
from loadstone.experiments.designs.compare import Compare
from loadstone.experiments.designs.ladder import Ladder
from loadstone.experiments.designs.run import Run
from loadstone.experiments.designs.sweep import Sweep
from loadstone.experiments.model import Experiment

DESIGNS: dict[str, Design] = {
    design.kind: design for design in (Run(), Compare(), Ladder(), Sweep())
}


def design_of(experiment: Experiment) -> Design:
    """The design that arranges an experiment."""
    return DESIGNS[experiment.design.kind]
