"""Designs: the configurations of an experiment, the pairs to compare, the order of the trials."""

from loadstone.experiments.designs.arrange import repeated
from loadstone.experiments.designs.base import Design, Pair, Stages
from loadstone.experiments.designs.registry import (
    DESIGNS,
    baselines_of,
    crashes_of,
    design_of,
    stages_of,
    trials_of,
)

__all__ = [
    "DESIGNS",
    "Design",
    "Pair",
    "Stages",
    "baselines_of",
    "crashes_of",
    "design_of",
    "repeated",
    "stages_of",
    "trials_of",
]
