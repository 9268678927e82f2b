"""The design `compare`: levels of one factor, interleaved."""

from __future__ import annotations

from typing import ClassVar

from loadstone.experiments.designs.base import Design, Pair, against_first, distinct, level_name
from loadstone.spec.design import CompareDesign
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change, Variant


class Compare(Design):
    """Each level against the first; a level that is named twice makes an A/A comparison."""

    kind: ClassVar[str] = "compare"
    about: ClassVar[str] = "levels of one factor, each against the first"

    def variants(self, experiment: Experiment) -> list[Variant]:
        """One per level."""
        design = experiment.design
        assert isinstance(design, CompareDesign)  # noqa: S101
        changes = [Change(factor=design.factor, level=level) for level in design.levels]
        names = distinct([level_name([change]) for change in changes])
        return [
            Variant(
                name=name,
                changes=[change],
                step=[change] if index else [],
                previous=names[0] if index else None,
            )
            for index, (name, change) in enumerate(zip(names, changes, strict=True))
        ]

    def pairs(self, experiment: Experiment) -> list[Pair]:
        """Each level against the first."""
        return against_first(self.variants(experiment))
