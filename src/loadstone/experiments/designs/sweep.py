"""The design `sweep`: a matrix of factors and levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import ClassVar

from loadstone.experiments.designs.base import Design, Pair, against_first, distinct, level_name
from loadstone.spec.base import Level
from loadstone.spec.design import SweepDesign
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change, Variant
from loadstone.spec.problems import Path, Problem, near
from loadstone.workloads.judging import judged_metrics, references_of


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
        """Each cell against the first, or against the one that is named for a figure."""
        variants, named = self.variants(experiment), references_of(experiment)
        others = any(metric not in named for metric in judged_metrics(experiment))
        return [
            *(against_first(variants) if others else []),
            *(
                Pair(each.name, reference.name, "baseline", metric=metric)
                for metric, levels in named.items()
                for each in variants
                if (reference := _reference(each, levels, variants)) not in (None, each)
            ),
        ]

    def problems(self, experiment: Experiment) -> list[Problem]:
        """Cells that figures are to be held against, and that the matrix does not have."""
        design = experiment.design
        assert isinstance(design, SweepDesign)  # noqa: S101
        found = []
        for figure, levels in design.relative_to.items():
            path: Path = ("design", "relative_to", figure)
            wrong = [
                Problem((*path, factor), text)
                for factor, level in levels.items()
                if (text := _no_level(design, factor, level))
            ]
            found += wrong
            variants = self.variants(experiment)
            if not wrong and any(_reference(each, levels, variants) is None for each in variants):
                message = "not every cell has such a one: a matrix of one factor at a time has few"
                found.append(Problem(path, f"{message} (matrix: full)"))
        return found


def _no_level(design: SweepDesign, factor: str, level: Level) -> str:
    """Why a level is of no cell; empty if it is of some."""
    if factor not in design.factors:
        return f"the sweep has no such factor; {near(factor, design.factors)}"
    if level not in design.factors[factor]:
        return (
            f"{level!r} is none of its levels; {near(str(level), map(str, design.factors[factor]))}"
        )
    return ""


def _reference(
    cell: Variant, levels: Mapping[str, Level], variants: Sequence[Variant]
) -> Variant | None:
    """The cell that another is held against: with these levels, and its own of other factors."""
    wanted = {change.factor: change.level for change in cell.changes} | dict(levels)
    return next(
        (
            each
            for each in variants
            if {change.factor: change.level for change in each.changes} == wanted
        ),
        None,
    )


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
