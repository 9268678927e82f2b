"""The design `ladder`: cumulative rungs, each against the one before and against the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from loadstone.experiments.designs.base import BASELINE, Design, Pair, Stages
from loadstone.experiments.designs.climb import Climb
from loadstone.experiments.model import Change, Experiment, LadderDesign, Rung, Variant
from loadstone.experiments.problems import Problem


class Ladder(Design):
    """Every rung stays, or only those that are better by verdict (`keep: better`)."""

    kind: ClassVar[str] = "ladder"
    about: ClassVar[str] = "cumulative rungs, each against the one before and the baseline"

    def variants(self, experiment: Experiment) -> list[Variant]:
        """The baseline and every rung on top of all before it."""
        variants = [Variant(name=BASELINE, changes=[], step=[])]
        for rung in _ladder(experiment).rungs:
            variants.append(on_top(variants[-1], rung))
        return variants

    def pairs(self, experiment: Experiment) -> list[Pair]:
        """Each rung against the one before, and against the baseline."""
        return rung_pairs(self.variants(experiment))

    def problems(self, experiment: Experiment) -> list[Problem]:
        """Two rungs of one name, or one that is called like the baseline."""
        seen = {BASELINE}
        problems = []
        for index, rung in enumerate(_ladder(experiment).rungs):
            if rung.name in seen:
                message = f"{rung.name!r} is taken: give each rung a name of its own"
                problems.append(Problem(("design", "rungs", index, "name"), message))
            seen.add(rung.name)
        return problems

    def stages(self, experiment: Experiment, *, allow_unsafe: bool = False) -> Stages:
        """All at once, or rung by rung when only better ones are kept."""
        if _ladder(experiment).keep == "all":
            return super().stages(experiment, allow_unsafe=allow_unsafe)
        first = self.variants(experiment)[0]
        return Climb(experiment, first, _ladder(experiment).rungs, on_top, allow_unsafe)

    def trials_planned(self, experiment: Experiment) -> int:
        """Of `keep: better`: a pair per rung and, at last, the baseline against what was kept."""
        ladder = _ladder(experiment)
        if ladder.keep == "all":
            return super().trials_planned(experiment)
        confirmation = 1 if len(ladder.rungs) > 1 else 0
        return 2 * experiment.repeats * (len(ladder.rungs) + confirmation)


def on_top(below: Variant, rung: Rung) -> Variant:
    """The variant of a rung: all of the one below it, and its own change."""
    step = [Change(factor=factor, level=level) for factor, level in rung.change.items()]
    merged = {change.factor: change for change in [*below.changes, *step]}
    return Variant(
        name=rung.name,
        changes=list(merged.values()),
        step=step,
        previous=below.name,
        because=rung.because,
    )


def rung_pairs(variants: Sequence[Variant]) -> list[Pair]:
    """Each rung against the one before, then each against the baseline."""
    before = [Pair(rung.name, below.name, "previous") for below, rung in pairwise(variants)]
    first = variants[0].name
    return [*before, *(Pair(rung.name, first, "baseline") for rung in variants[1:])]


def _ladder(experiment: Experiment) -> LadderDesign:
    assert isinstance(experiment.design, LadderDesign)  # noqa: S101
    return experiment.design
