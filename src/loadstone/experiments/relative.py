"""A search that holds each trial against its first level: `throughput >= 0.95 of reference`.

The first level is measured again before every stage of the search, so that a machine that grows
slower does not look like a system that is full. The reference is the geometric mean of all of its
trials so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum, log

from loadstone.experiments.outcome import TrialOutcome
from loadstone.load.objective import parse_objective
from loadstone.results.record import LevelReason, TrialResult, WorstFigure


def reference_of(results: Sequence[TrialResult], level: float, metric: str) -> float | None:
    """What a level has of the figure that trials are judged by: the geometric mean of its trials.

    Args:
        results: Of all trials so far.
        level: The first of the search.
        metric: Name of the figure.

    Returns:
        None where no trial in which that level held has one that a ratio can be made of.
    """
    known = [
        found.value
        for result in results
        if is_of_level(result, level) and result.levels[0].holds
        if (found := result.metric(metric)) is not None and found.value > 0
    ]
    return exp(fsum(map(log, known)) / len(known)) if known else None


def is_of_level(result: TrialResult, level: float) -> bool:
    """Whether a trial of a search was of that level alone."""
    return [record.level for record in result.levels] == [level]


def relative_reasons(
    outcome: TrialOutcome, no_ratio: str
) -> tuple[list[LevelReason], list[WorstFigure]]:
    """What speaks against a level because it is held against the first, and its relative figure.

    Args:
        outcome: Of a trial of a search, which has ended.
        no_ratio: Why no ratio may be made of its figures; empty: one may.
    """
    level = outcome.plan.level
    terms = [] if level is None else parse_objective(level.objective)
    terms = [term for term in terms if term.is_relative]
    if level is None or not terms:
        return [], []
    if no_ratio:
        return [LevelReason(cause="achieved", text=no_ratio)], []
    measured = outcome.measured()
    found = outcome.workload.measure(measured) if measured is not None else []
    value = next((each.value for each in found if each.name == outcome.judged_metric), None)
    if not value:
        text = f"there is no {outcome.judged_metric.replace('_', ' ')} of it"
        return [LevelReason(cause="failed", text=text)], []
    if level.reference is None:
        return [], []  # it is the first level
    share = round(value / level.reference, 9)  # the mean of equal figures is off by a rounding
    figures = [WorstFigure(term=each.text, value=share, unit=each.unit, at_s=0.0) for each in terms]
    reasons = [
        LevelReason(cause="objective", text=f"{each.text}: was {share:.3g}")
        for each in terms
        if not each.holds(share)
    ]
    return reasons, figures
