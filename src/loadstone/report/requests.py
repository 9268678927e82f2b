"""The requests that operations are made of, over the valid trials of each variant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from loadstone.report.model.requests import RequestFigures, RequestRow
from loadstone.report.reading import RecordedExperiment
from loadstone.results.record import LatencySummary, RequestSummary, TrialResult

_Key = tuple[str, str]
"""Operation and request."""


def request_rows(folder: RecordedExperiment) -> list[RequestRow]:
    """A row for each request of any variant, in the order in which trials have them.

    Times of trials are not averaged: their median is taken, and the highest of all.
    """
    made: dict[str, dict[_Key, list[RequestSummary]]] = {
        variant.name: _requests(trial.result for trial in folder.valid_trials_of(variant.name))
        for variant in folder.design.variants
    }
    keys = dict.fromkeys(key for of_variant in made.values() for key in of_variant)
    return [
        RequestRow(
            operation=operation,
            request=request,
            figures=[
                _figures(variant, of_variant[operation, request])
                for variant, of_variant in made.items()
                if (operation, request) in of_variant
            ],
        )
        for operation, request in keys
    ]


def _requests(results: Iterable[TrialResult]) -> dict[_Key, list[RequestSummary]]:
    found: dict[_Key, list[RequestSummary]] = {}
    for result in results:
        for operation in result.operations:
            for request in operation.requests:
                found.setdefault((operation.name, request.name), []).append(request)
    return found


def _figures(variant: str, trials: Sequence[RequestSummary]) -> RequestFigures:
    rates = [each.rate_per_s for each in trials if each.rate_per_s is not None]
    return RequestFigures(
        variant=variant,
        trials=len(trials),
        count=sum(each.count for each in trials),
        rate_per_s=median(rates) if rates else None,
        errors=_summed(each.errors for each in trials),
        resent=_summed(each.resent for each in trials),
        retried=_summed(each.retried for each in trials),
        marks=_summed(each.marks for each in trials),
        mean_ms=_of_times(trials, median, lambda at: at.mean_s),
        p50_ms=_of_times(trials, median, lambda at: at.p50_s),
        p95_ms=_of_times(trials, median, lambda at: at.p95_s),
        p99_ms=_of_times(trials, median, lambda at: at.p99_s),
        max_ms=_of_times(trials, max, lambda at: at.max_s),
    )


def _of_times(
    trials: Sequence[RequestSummary],
    combine: Callable[[list[float]], float],
    time_s: Callable[[LatencySummary], float],
) -> float | None:
    """Of the trials in which one ended well; None if in none."""
    found = [1e3 * time_s(each.service) for each in trials if each.service is not None]
    return combine(found) if found else None


def _summed(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return dict(sorted(total.items()))
