"""Designs: the configurations of an experiment, the pairs to compare, the order of the trials."""

from loadstone.experiments.designs.arrange import repeated
from loadstone.experiments.designs.base import Design, Pair, Stages
from loadstone.experiments.designs.registry import DESIGNS, design_of

__all__ = ["DESIGNS", "Design", "Pair", "Stages", "design_of", "repeated"]
