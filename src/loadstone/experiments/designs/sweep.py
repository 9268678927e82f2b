"""The design `sweep`: a matrix of factors and levels."""

from __future__ import annotations

from itertools import product
from typing import ClassVar

from loadstone.experiments.designs.base import Design, Pair, against_first, distinct, level_name
from loadstone.spec.design import SweepDesign
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change, Variant


class Sweep(Design):
    """All combinations, or one factor at a time around the first levels."""

    kind: ClassVar[str] = "sweep"
    about: ClassVar[str] = "a matrix of factors and levels, full or one at a time"

    def variants(self, experiment: Experiment) -> list[Variant]:
        """One per cell; the first has the first level of every factor."""
        design = experiment.design
        assert isinstance(design, SweepDesign)  # noqa: S101
        cells = _full(design) if design.matrix == "full" else _one_at_a_time(design)
        names = distinct([level_name(cell) for cell in cells])
        return [
            Variant(
                name=name,
                changes=cell,
                step=[change for change in cell if change not in cells[0]],
                previous=names[0] if index else None,
            )
            for index, (name, cell) in enumerate(zip(names, cells, strict=True))
        ]

    def pairs(self, experiment: Experiment) -> list[Pair]:
        """Each cell against the first."""
        return against_first(self.variants(experiment))


def _full(design: SweepDesign) -> list[list[Change]]:
    columns = [
        [Change(factor=factor, level=level) for level in levels]
        for factor, levels in design.factors.items()
    ]
    return [list(cell) for cell in product(*columns)]


def _one_at_a_time(design: SweepDesign) -> list[list[Change]]:
    base = {factor: levels[0] for factor, levels in design.factors.items()}
    cells = [base]
    for factor, levels in design.factors.items():
        cells += [{**base, factor: level} for level in levels[1:]]
    return [[Change(factor=name, level=cell[name]) for name in cell] for cell in cells]
