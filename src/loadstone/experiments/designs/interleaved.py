"""Blocks of some variants up to the next look, until every pair is decided by the headline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loadstone.experiments.designs.arrange import arrange
from loadstone.experiments.designs.base import Design, KnownStages, Pair
from loadstone.experiments.designs.deciding import compare
from loadstone.results.record import TrialResult
from loadstone.spec.design import looks_in
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan, Variant


class Interleaved:
    """One comparison of variants; without looks all its blocks are handed out at once."""

    def __init__(
        self,
        experiment: Experiment,
        variants: Sequence[Variant],
        pairs: Sequence[Pair],
        *,
        allow_unsafe: bool,
    ) -> None:
        """All pairs begin at the same block."""
        self._experiment = experiment
        self._variants = variants
        self._pairs = pairs
        self._allow_unsafe = allow_unsafe
        self._looks = looks_in(experiment.design) or (experiment.repeats,)
        self.made = 0
        """Blocks that were handed out."""

    def next(self, results: Sequence[TrialResult]) -> list[TrialPlan]:
        """The blocks up to the next look; none once every pair is decided."""
        if self.made == self._looks[-1] or (self.made and self._is_decided(results)):
            return []
        until = next(look for look in self._looks if look > self.made)
        plans = arrange(
            self._experiment.model_copy(update={"repeats": until - self.made}),
            self._variants,
            first_block=self._pairs[0].first_block + self.made,
            first_order=len(results) + 1,
            allow_unsafe=self._allow_unsafe,
        )
        self.made = until
        return plans

    def _is_decided(self, results: Sequence[TrialResult]) -> bool:
        undecided = (None, "not decided yet")
        return all(self.verdict(results, pair) not in undecided for pair in self._pairs)

    def verdict(self, results: Sequence[TrialResult], pair: Pair) -> str | None:
        """What the blocks so far say of a pair; None if they cannot be compared."""
        comparison = compare(self._experiment, results, pair, self.made)
        return None if comparison is None else comparison.verdict.value


class WithLooks(KnownStages):
    """Every variant in every block, until every pair is decided by the headline.

    Each pair is judged at its share of the family of its role.
    """

    def __init__(self, design: Design, experiment: Experiment, *, allow_unsafe: bool) -> None:
        families = design.families(experiment)
        pairs = [
            replace(pair, decided_among=families[pair.role]) for pair in design.pairs(experiment)
        ]
        super().__init__(design.variants(experiment), pairs, design.skipped(experiment))
        self._blocks = Interleaved(
            experiment, self._variants, self._pairs, allow_unsafe=allow_unsafe
        )

    def next(self, results: Sequence[TrialResult]) -> list[TrialPlan]:
        """The blocks up to the next look."""
        return self._blocks.next(results)
