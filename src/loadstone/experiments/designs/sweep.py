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
        """One per cell; the first has the first level of every factor.

        Each has all its levels in its name. Of one factor at a time only the first has: the others
        are called by the level that differs.
        """
        design = experiment.design
        assert isinstance(design, SweepDesign)  # noqa: S101
        full = design.matrix == "full"
        cells = _full(design) if full else _one_at_a_time(design)
        steps = [[change for change in cell if change not in cells[0]] for cell in cells]
        names = distinct(
            [
                level_name(cell if full else step or cell)
                for cell, step in zip(cells, steps, strict=True)
            ]
        )
        return [
            Variant(
                name=name,
                changes=cell,
                step=step,
                previous=names[0] if index else None,
            )
            for index, (name, cell, step) in enumerate(zip(names, cells, steps, strict=True))
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
