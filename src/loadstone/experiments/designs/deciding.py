"""Whether a pair is decided, from the trials that were made so far."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum, isfinite, log
from typing import TYPE_CHECKING

from loadstone.experiments.designs.base import Pair
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

    figures = _figures(experiment, results, pair.first_block)
    both = figures.get(pair.candidate, {}), figures.get(pair.baseline, {})
    shared = both[0].keys() & both[1].keys()
    levels = {
        name: {block: own[block].value for block in own.keys() & shared}
        for name, own in figures.items()
        if all(isfinite(own[at].value) and own[at].value > 0 for at in own.keys() & shared)
    }
    if not shared or not {pair.candidate, pair.baseline} <= levels.keys():
        return None
    up_is_good = next(iter(both[0].values())).higher_is_better is not False
    stolen = {
        name: stolen_by_block(
            (each.block - pair.first_block + 1, each.taken)
            for each in results
            if each.variant == name and _counts(each, pair.first_block)
        )
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
) -> dict[str, dict[int, MetricValue]]:
    """Variant: block of its stage, from 1: the deciding metric of its valid trial.

    Of a trial and the one that was made in its place, where both count, it is the geometric mean.
    """
    name = judged_metrics(experiment)[0]
    found: dict[str, dict[int, list[MetricValue]]] = {}
    for result in results:
        if not _counts(result, first_block):
            continue
        for figure in all_metrics(result):
            if figure.name == name:
                block = result.block - first_block + 1
                found.setdefault(result.variant, {}).setdefault(block, []).append(figure)
    return {
        variant: {block: _mean(figures) for block, figures in own.items()}
        for variant, own in found.items()
    }


def _counts(result: TrialResult, first_block: int) -> bool:
    valid = result.status is Status.VALID and not result.no_ratio
    return valid and result.block >= first_block


def _mean(figures: Sequence[MetricValue]) -> MetricValue:
    if len(figures) == 1 or not all(each.value > 0 for each in figures):
        return figures[-1]
    logs = [log(each.value) for each in figures]
    return figures[0].model_copy(update={"value": exp(fsum(logs) / len(logs))})
