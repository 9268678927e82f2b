"""The stages of a ladder that keeps only what is better.

Each stage interleaves the best so far with the next rung, in blocks of two. The rung is kept when
the verdict over the trials of that stage says "better"; the next one is built on what was kept.
A decision is one of several, and a later one depends on it, so each is made at the level
alpha / rungs (Bonferroni), by the headline; where verdicts are about several metrics, all of them
share alpha: the chance that any useless rung is kept stays below alpha. A last stage
interleaves the baseline with what was kept, so that the gain of the whole is a fair comparison too.
With looks, a stage ends at the first that decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from loadstone.experiments.designs.base import Pair, Stages
from loadstone.experiments.designs.interleaved import Interleaved
from loadstone.results.record import SkippedRung, TrialResult
from loadstone.spec.design import Rung
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan, Variant

OnTop = Callable[[Variant, Rung], Variant]


class Climb(Stages):
    """Rung by rung."""

    def __init__(
        self,
        experiment: Experiment,
        baseline: Variant,
        rungs: Sequence[Rung],
        on_top: OnTop,
        *,
        families: Mapping[str, int],
        allow_unsafe: bool,
        skipped: Sequence[SkippedRung] = (),
    ) -> None:
        """`families`: as `Design.families` has them."""
        self._experiment = experiment
        self._baseline = baseline
        self._best = baseline
        self._rungs = list(rungs)
        self._on_top = on_top
        self._families = families
        self._allow_unsafe = allow_unsafe
        self._skipped = list(skipped)
        self._variants = [baseline]
        self._pairs: list[Pair] = []
        self._kept: dict[str, bool] = {}
        self._stage: Interleaved | None = None
        self._confirmed = False
        self._blocks = 0

    @property
    def variants(self) -> list[Variant]:
        """The baseline and every rung that was tried or is being tried."""
        return list(self._variants)

    @property
    def pairs(self) -> list[Pair]:
        """Each rung against the best before it, and at last the whole against the baseline."""
        return list(self._pairs)

    @property
    def kept(self) -> dict[str, bool] | None:
        """The fate of every rung that was decided."""
        return dict(self._kept)

    @property
    def skipped(self) -> list[SkippedRung]:
        """Rungs that are not tried, because this machine cannot."""
        return self._skipped

    def next(self, results: Sequence[TrialResult]) -> list[TrialPlan]:
        """Goes on with the stage; at its end decides on the rung, and begins the next."""
        if self._stage is not None:
            if plans := self._stage.next(results):
                return plans
            self._end(self._stage, results)
        if len(self._kept) < len(self._rungs):
            candidate = self._on_top(self._best, self._rungs[len(self._kept)])
            self._variants.append(candidate)
            return self._begin(candidate, self._best, "previous", results)
        if self._confirmed or self._best is self._baseline:
            return []
        self._confirmed = True
        if self._best.previous == self._baseline.name:  # its own stage was that comparison already
            own = next(pair for pair in self._pairs if pair.candidate == self._best.name)
            self._pairs.append(replace(own, role="baseline"))
            return []
        return self._begin(self._best, self._baseline, "baseline", results)

    def _begin(
        self,
        candidate: Variant,
        below: Variant,
        role: Literal["previous", "baseline"],
        results: Sequence[TrialResult],
    ) -> list[TrialPlan]:
        pair = Pair(candidate.name, below.name, role, self._families[role], self._blocks + 1)
        self._pairs.append(pair)
        self._stage = Interleaved(
            self._experiment, [below, candidate], [pair], allow_unsafe=self._allow_unsafe
        )
        return self._stage.next(results)

    def _end(self, stage: Interleaved, results: Sequence[TrialResult]) -> None:
        self._stage = None
        self._blocks += stage.made
        if len(self._kept) < len(self._rungs):
            candidate = self._variants[-1]
            better = stage.verdict(results, self._pairs[-1]) == "better"
            self._kept[candidate.name] = better
            if better:
                self._best = candidate
