"""The design `run`: one configuration, repeated."""

from __future__ import annotations

from typing import ClassVar

from loadstone.experiments.designs.base import BASELINE, Design, Pair
from loadstone.experiments.model import Experiment, Variant


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
