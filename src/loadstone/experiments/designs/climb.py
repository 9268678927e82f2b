"""The stages of a ladder that keeps only what is better.

Each stage interleaves the best so far with the next rung, in blocks of two. The rung is kept when
the verdict over the trials of that stage says "better"; the next one is built on what was kept.
A decision is one of several, and a later one depends on it, so each is made at the level
alpha / rungs (Bonferroni), by the headline; where verdicts are about several metrics, all of them
share alpha: the chance that any useless rung is kept stays below alpha. A last stage
interleaves the baseline with what was kept, so that the gain of the whole is a fair comparison too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isfinite

from loadstone.experiments.designs.arrange import arrange
from loadstone.experiments.designs.base import Pair, Stages
from loadstone.results.record import MetricValue, SkippedRung, Status, TrialResult
from loadstone.spec.design import Rung
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan, Variant
from loadstone.workloads.judging import judged_metrics

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
        allow_unsafe: bool,
        skipped: Sequence[SkippedRung] = (),
    ) -> None:
        self._experiment = experiment
        self._baseline = baseline
        self._best = baseline
        self._rungs = list(rungs)
        self._on_top = on_top
        self._allow_unsafe = allow_unsafe
        self._skipped = list(skipped)
        self._variants = [baseline]
        self._pairs: list[Pair] = []
        self._kept: dict[str, bool] = {}
        self._decisions = len(self._rungs) * len(judged_metrics(experiment))
        self._candidate: Variant | None = None
        self._confirmed = False
        self._blocks = 0
        self._trials = 0

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
        """Decides on the rung that was tried, and hands out the next stage."""
        if self._candidate is not None:
            self._decide(self._candidate, results)
            self._candidate = None
        if len(self._kept) < len(self._rungs):
            self._candidate = self._on_top(self._best, self._rungs[len(self._kept)])
            self._variants.append(self._candidate)
            self._pairs.append(
                Pair(self._candidate.name, self._best.name, "previous", self._decisions)
            )
            return self._stage(self._best, self._candidate)
        if self._confirmed or self._best is self._baseline:
            return []
        self._confirmed = True
        whole = Pair(self._best.name, self._baseline.name, "baseline")
        if self._best.previous == self._baseline.name:  # its own stage was that comparison already
            self._pairs.append(replace(whole, decided_among=len(self._rungs)))
            return []
        self._pairs.append(whole)
        return self._stage(self._baseline, self._best)

    def _decide(self, candidate: Variant, results: Sequence[TrialResult]) -> None:
        own = [each for each in results if each.block > self._blocks - self._experiment.repeats]
        better = is_better(
            _figures(own, self._best.name, self._experiment),
            _figures(own, candidate.name, self._experiment),
            alpha=1 - self._experiment.confidence,
            decided_among=self._decisions,
        )
        self._kept[candidate.name] = better
        if better:
            self._best = candidate

    def _stage(self, below: Variant, above: Variant) -> list[TrialPlan]:
        plans = arrange(
            self._experiment,
            [below, above],
            first_block=self._blocks + 1,
            first_order=self._trials + 1,
            allow_unsafe=self._allow_unsafe,
        )
        self._blocks += self._experiment.repeats
        self._trials += len(plans)
        return plans


def is_better(
    baseline: Mapping[int, MetricValue],
    candidate: Mapping[int, MetricValue],
    *,
    alpha: float,
    decided_among: int,
) -> bool:
    """Whether the candidate's trials are better by verdict.

    Args:
        baseline: Block: the figure of its valid trial.
        candidate: As `baseline`.
        alpha: Chance of a false claim over all decisions.
        decided_among: How many there are.
    """
    from loadstone.results.statistics import Verdict, judge, within_blocks

    shared = baseline.keys() & candidate.keys()
    figures = [own[block] for own in (baseline, candidate) for block in shared]
    if not figures or not all(isfinite(each.value) and each.value > 0 for each in figures):
        return False  # a verdict is about a ratio
    levels = {
        name: {block: own[block].value for block in shared}
        for name, own in (("baseline", baseline), ("candidate", candidate))
    }
    (comparison,) = judge(
        [within_blocks(levels, "candidate", "baseline")],
        higher_is_better=[figures[0].higher_is_better is not False],
        alpha=alpha,
        decided_among=decided_among,
    )
    return comparison.verdict is Verdict.BETTER


def _figures(
    results: Sequence[TrialResult], variant: str, experiment: Experiment
) -> dict[int, MetricValue]:
    """Block: the deciding metric of the valid trial of a variant."""
    from loadstone.results.metrics import all_metrics

    name = judged_metrics(experiment)[0]
    return {
        result.block: figure
        for result in results
        if result.variant == variant and result.status is Status.VALID
        for figure in all_metrics(result)
        if figure.name == name
    }
