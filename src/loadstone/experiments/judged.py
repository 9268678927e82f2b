"""Whether a trial has the figure that it is judged by; without it nothing was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence

from loadstone.experiments.outcome import TrialOutcome
from loadstone.results.record import MetricValue, Notice


def without_figure(outcome: TrialOutcome, figures: Sequence[MetricValue]) -> list[Notice]:
    """An error if the figure is missing, or counts what did not happen; none of other trials.

    A crash trial has no figures, and the figure of a level of a search is the level.

    Args:
        outcome: Of a trial that came to its end.
        figures: All that it has.
    """
    plan = outcome.plan
    ended_early = outcome.failure is not None or outcome.interrupted
    if ended_early or plan.crash is not None or plan.level is not None:
        return []
    name = outcome.judged_metric
    if not any(each.name == name and math.isfinite(each.value) for each in figures):
        return [
            _error(
                f"this trial has no figure of what it is judged by: {_label(outcome, name)}",
                "the other notices say what failed; measure longer, or choose another --metric",
            )
        ]
    if outcome.load.log.measured().count == 0 and not outcome.load.outages:
        return [
            _error(
                "no operation ended well while the load was measured",
                "measure longer than an operation takes; the target's log may say why none ended",
            )
        ]
    return []


def _label(outcome: TrialOutcome, name: str) -> str:
    return next((each.label for each in outcome.workload.metrics if each.name == name), name)


def _error(message: str, advice: str) -> Notice:
    return Notice(code="no-figure", severity="error", message=message, advice=advice)
