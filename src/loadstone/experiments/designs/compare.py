"""The design `compare`: levels of one factor, interleaved."""

from __future__ import annotations

from typing import ClassVar

from loadstone.experiments.designs.base import (
    Design,
    Pair,
    Stages,
    against_first,
    distinct,
    level_name,
)
from loadstone.experiments.designs.interleaved import WithLooks
from loadstone.experiments.designs.looks import look_problems
from loadstone.spec.design import CompareDesign, looks_in
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change, Variant
from loadstone.spec.problems import Problem


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

    def problems(self, experiment: Experiment) -> list[Problem]:
        """Looks that cannot be."""
        return look_problems(self, experiment)

    def stages(self, experiment: Experiment, *, allow_unsafe: bool = False) -> Stages:
        """All at once, or up to the next look."""
        if not looks_in(experiment.design):
            return super().stages(experiment, allow_unsafe=allow_unsafe)
        return WithLooks(self, experiment, allow_unsafe=allow_unsafe)
