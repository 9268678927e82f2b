"""The design `run`: one configuration, repeated."""

from __future__ import annotations

from typing import ClassVar

from loadstone.experiments.designs.base import BASELINE, Design, Pair
from loadstone.spec.design import RunDesign
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Variant


class Run(Design):
    """Nothing is varied."""

    kind: ClassVar[str] = "run"
    about: ClassVar[str] = "one configuration, repeated"

    def variants(self, experiment: Experiment) -> list[Variant]:
        """The base alone."""
        return [Variant(name=BASELINE, changes=[], step=[])]

    def pairs(self, experiment: Experiment) -> list[Pair]:
        """Nothing to compare."""
        return []

    def first_block(self, experiment: Experiment) -> int:
        """As the file says: a trial can be made again with the load of its own block."""
        design = experiment.design
        return design.first_block if isinstance(design, RunDesign) else 1
