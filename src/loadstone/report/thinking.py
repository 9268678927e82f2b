"""How long users think, and what that leaves for a system to change."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.load.moments import Moments, mixed, moments_of_wait
from loadstone.load.profiles import pacing_of
from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.reading import RecordedExperiment, RecordedTrial
from loadstone.results.metrics import RESPONSE_P95
from loadstone.results.record import Notice

_LITTLE = 0.05
"""Of a user's time, spent with waiting for answers."""


def think_time_s(trial: RecordedTrial) -> float | None:
    """Mean wait of a user between two operations, each as often as it was made.

    Returns:
        None of an open load, and where the waits are not known before.
    """
    workload = trial.workload
    if workload is None:
        return None
    profile = workload.loaded(trial.plan.profile)
    if profile.load != "closed":
        return None
    pacing = pacing_of(profile, workload.pacing())
    named = pacing.get("operations", {})
    counts = {each.name: each.count for each in trial.result.operations if each.count}
    parts: list[tuple[Moments, float]] = []
    for name, count in (counts or {"": 1}).items():
        wait = moments_of_wait(named.get(name, pacing["default"]))
        if wait is None:
            return None
        parts.append((wait, count))
    return mixed(parts).mean_s


def thinking_notices(
    folder: RecordedExperiment, comparisons: Sequence[ComparisonReport], metric: str
) -> list[Notice]:
    """That a verdict is about a rate which users decide by thinking, not the system.

    By Little's law the rate of N closed users is N / (think time + response time).

    Args:
        folder: Of the experiment.
        comparisons: Its verdicts.
        metric: That they are about.
    """
    baselines = {each.baseline for each in comparisons if each.metric == metric}
    trials = [trial for name in baselines for trial in folder.valid_trials_of(name)]
    labels = [label for trial in trials if (label := _label_of_rate(trial, metric))]
    shares = [share for trial in trials if (share := _waiting_share(trial)) is not None]
    if not labels or not shares or max(shares) >= _LITTLE:
        return []
    share = max(shares)
    return [
        Notice(
            code="thinking",
            severity="warning",
            message=f"users thought for {1 - share:.2%} of their time: a system that answered at "
            f"once would raise the rate of {labels[0]} by {share / (1 - share):.2%}",
            advice=f"judge by a response time (--metric {RESPONSE_P95}), or let users think less",
        )
    ]


def _label_of_rate(trial: RecordedTrial, metric: str) -> str | None:
    """Of a metric that counts what users do; None of another."""
    workload = trial.workload
    known = () if workload is None else workload.metrics
    found = (spec.label for spec in known if spec.name == metric and spec.follows_rate)
    return next(found, None)


def _waiting_share(trial: RecordedTrial) -> float | None:
    """Of a user's time; None where it is not known, or nobody thinks."""
    think_s = think_time_s(trial)
    answered = [each for each in trial.result.operations if each.response and each.count]
    if not think_s or not answered:
        return None
    waited_s = sum(each.response.mean_s * each.count for each in answered if each.response)
    response_s = waited_s / sum(each.count for each in answered)
    return response_s / (think_s + response_s)
