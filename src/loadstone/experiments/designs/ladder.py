"""The design `ladder`: cumulative rungs, each against the one before and against the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from loadstone.errors import LoadstoneError
from loadstone.experiments.designs.base import BASELINE, Design, Pair, Stages
from loadstone.experiments.designs.climb import Climb
from loadstone.experiments.designs.interleaved import WithLooks
from loadstone.experiments.designs.looks import look_problems
from loadstone.factors.in_force import unavailable_in
from loadstone.factors.registry import apply_changes
from loadstone.results.record import SkippedRung
from loadstone.spec.design import LadderDesign, Rung
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change, Variant
from loadstone.spec.problems import Problem
from loadstone.workloads.judging import judged_metrics


class Ladder(Design):
    """Every rung stays, or only those that are better by verdict (`keep: better`)."""

    kind: ClassVar[str] = "ladder"
    about: ClassVar[str] = "cumulative rungs, each against the one before and the baseline"

    def variants(self, experiment: Experiment) -> list[Variant]:
        """The baseline and every rung that this machine can climb, on top of all before it."""
        variants = [_first()]
        for rung in sort_out(experiment)[0]:
            variants.append(on_top(variants[-1], rung))
        return variants

    def skipped(self, experiment: Experiment) -> list[SkippedRung]:
        """The rungs that it cannot climb."""
        return sort_out(experiment)[1]

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
        return problems + look_problems(self, experiment)

    def stages(self, experiment: Experiment, *, allow_unsafe: bool = False) -> Stages:
        """All at once, or rung by rung when only better ones are kept."""
        ladder = _ladder(experiment)
        rungs, skipped = sort_out(experiment)
        if ladder.keep == "better":
            return Climb(
                experiment,
                _first(),
                rungs,
                on_top,
                families=self.families(experiment),
                allow_unsafe=allow_unsafe,
                skipped=skipped,
            )
        if not ladder.looks:
            return super().stages(experiment, allow_unsafe=allow_unsafe)
        return WithLooks(self, experiment, allow_unsafe=allow_unsafe)

    def families(self, experiment: Experiment) -> dict[str, int]:
        """Of `keep: better` all rungs, and the whole against the baseline, by each metric."""
        if _ladder(experiment).keep == "all":
            return super().families(experiment)
        metrics = len(judged_metrics(experiment))
        return {"previous": len(sort_out(experiment)[0]) * metrics, "baseline": metrics}

    def levels_per_block(self, experiment: Experiment) -> int:
        """Of `keep: better` a rung and the best before it."""
        if _ladder(experiment).keep == "all":
            return super().levels_per_block(experiment)
        return 2

    def trials_planned(self, experiment: Experiment) -> int:
        """Of `keep: better`: a pair per rung and, at last, the baseline against what was kept."""
        ladder = _ladder(experiment)
        if ladder.keep == "all":
            return super().trials_planned(experiment)
        rungs = len(sort_out(experiment)[0])
        confirmation = 1 if rungs > 1 else 0
        return 2 * experiment.repeats * (rungs + confirmation)


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


def sort_out(experiment: Experiment) -> tuple[list[Rung], list[SkippedRung]]:
    """The rungs that this machine can climb, and those that it cannot.

    Each is looked at on top of those before it: a disk queue is no factor once the data lie in
    memory. What the base itself lacks is no reason to skip a rung; such an experiment is refused.
    """
    possible: list[Rung] = []
    skipped: list[SkippedRung] = []
    below = _first()
    known = _lacking(experiment, below)
    for rung in _ladder(experiment).rungs:
        candidate = on_top(below, rung)
        lacking = _lacking(experiment, candidate)
        reasons = [
            f"{factor} is {reason}" for factor, reason in lacking.items() if factor not in known
        ]
        if reasons:
            change, reason = dict(rung.change), "; ".join(reasons)
            skipped.append(SkippedRung(name=rung.name, change=change, reason=reason))
        else:
            possible.append(rung)
            below = candidate
    return possible, skipped


def _lacking(experiment: Experiment, variant: Variant) -> dict[str, str]:
    try:
        return unavailable_in(apply_changes(experiment, variant.changes))
    except LoadstoneError:
        return {}  # it is wrong, and whoever checks the experiment says how


def _first() -> Variant:
    return Variant(name=BASELINE, changes=[], step=[])


def rung_pairs(variants: Sequence[Variant]) -> list[Pair]:
    """Each rung against the one before, then each against the baseline."""
    before = [Pair(rung.name, below.name, "previous") for below, rung in pairwise(variants)]
    first = variants[0].name
    return [*before, *(Pair(rung.name, first, "baseline") for rung in variants[1:])]


def _ladder(experiment: Experiment) -> LadderDesign:
    assert isinstance(experiment.design, LadderDesign)  # noqa: S101
    return experiment.design
