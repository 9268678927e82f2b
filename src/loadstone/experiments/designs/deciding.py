"""Whether a pair is decided, from the trials that were made so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from loadstone.experiments.designs.base import Pair
from loadstone.results.by_block import means_by_block
from loadstone.results.metrics import all_metrics
from loadstone.results.record import MetricValue, Status, TrialResult
from loadstone.results.taken import stolen_by_block
from loadstone.spec.design import looks_in
from loadstone.spec.model import Experiment
from loadstone.workloads.judging import judged_metrics

if TYPE_CHECKING:
    from loadstone.results.statistics import Comparison


def compare(
    experiment: Experiment, results: Sequence[TrialResult], pair: Pair, made: int
) -> Comparison | None:
    """The verdict on a pair by the headline, from the trials of its stage.

    Args:
        experiment: Gives metric, confidence, margin and looks.
        results: Of all trials so far.
        pair: Two of the variants of the stage, and where that began.
        made: Blocks of the stage that were made.

    Returns:
        None if the two cannot be compared: no block has both, or a figure is not above 0.
    """
    from loadstone.results.statistics import Member, judge_family

    counted: dict[str, list[tuple[int, TrialResult, MetricValue]]] = {}
    for result, figure in _figures(experiment, results, pair.first_block):
        at = result.block - pair.first_block + 1
        counted.setdefault(result.variant, []).append((at, result, figure))
    figures = {
        name: means_by_block((at, figure.value) for at, _, figure in own)
        for name, own in counted.items()
    }
    shared = figures.get(pair.candidate, {}).keys() & figures.get(pair.baseline, {}).keys()
    levels = {
        name: {at: own[at] for at in own.keys() & shared}
        for name, own in figures.items()
        if all(isfinite(own[at]) and own[at] > 0 for at in own.keys() & shared)
    }
    if not shared or not {pair.candidate, pair.baseline} <= levels.keys():
        return None
    up_is_good = counted[pair.candidate][0][2].higher_is_better is not False
    stolen = {
        name: stolen_by_block((at, result.taken) for at, result, _ in counted[name])
        for name in levels
    }
    (comparison,) = judge_family(
        [Member(levels, pair.candidate, pair.baseline, made, up_is_good, stolen)],
        looks=looks_in(experiment.design),
        alpha=1.0 - experiment.confidence,
        decided_among=pair.decided_among,
        margin_percent=experiment.margin,
    )
    return comparison


def _figures(
    experiment: Experiment, results: Sequence[TrialResult], first_block: int
) -> Iterator[tuple[TrialResult, MetricValue]]:
    """The deciding metric of each valid trial of the stage that has it."""
    name = judged_metrics(experiment)[0]
    for result in results:
        valid = result.status is Status.VALID and not result.no_ratio
        if valid and result.block >= first_block:
            yield from ((result, figure) for figure in all_metrics(result) if figure.name == name)
