"""The figures of people at dashboards: those of the web, and what came from caches."""

from __future__ import annotations

from collections.abc import Collection

from loadstone.results.record import MetricValue
from loadstone.workloads.http import metrics as web
from loadstone.workloads.measured import Measured, MetricSpec

HEADLINE = web.HEADLINE
CACHED = "cached"
"""The mark of an answer that came from the server's cache."""
_CACHED_PERCENT = MetricSpec("cached_percent", "charts from the cache", "%", True)
METRICS = (*web.METRICS, _CACHED_PERCENT)


def metric_values(measured: Measured, actions: Collection[str]) -> list[MetricValue]:
    """The figures of measured load; one that has no meaning there is left out.

    Args:
        measured: A phase, or all of them; longer than no time.
        actions: Names of those that people come to.
    """
    values = web.metric_values(measured, actions)
    marked = [
        request
        for tick in measured.ticks
        for operation in tick.operations.values()
        for request in operation.requests.values()
        if CACHED in request.marks
    ]
    if answered := sum(each.count for each in marked):
        cached = sum(each.marks[CACHED] for each in marked)
        values.append(_CACHED_PERCENT.of(100.0 * cached / answered))
    return values
