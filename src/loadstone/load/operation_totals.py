"""An operation over an interval of load, and the requests that it is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from loadstone.protocol.frames import OperationTick, RequestTick, Tick
from loadstone.results.latency import merge, summarize_latency
from loadstone.results.record import OperationSummary, RequestSummary


@dataclass(frozen=True)
class RequestTotals:
    """A request of an operation. Histograms as in the frames, one for each tick."""

    name: str
    count: int = 0
    """Those that ended well."""
    errors: Mapping[str, int] = field(default_factory=dict)
    resent: Mapping[str, int] = field(default_factory=dict)
    service: tuple[str, ...] = ()
    retried: Mapping[str, int] = field(default_factory=dict)
    marks: Mapping[str, int] = field(default_factory=dict)

    def summary(self, duration_s: float) -> RequestSummary:
        """Its counts and percentiles, for the record.

        Args:
            duration_s: Length of the interval; 0: there is no rate.
        """
        return RequestSummary(
            name=self.name,
            count=self.count,
            errors=dict(self.errors),
            resent=dict(self.resent),
            retried=dict(self.retried),
            marks=dict(self.marks),
            rate_per_s=self.count / duration_s if duration_s > 0 else None,
            service=summarize_latency(merge(self.service)),
        )


@dataclass(frozen=True)
class OperationTotals:
    """One operation over an interval of load. Histograms as in the frames, one for each tick."""

    name: str
    count: int = 0
    rolled_back: int = 0
    errors: Mapping[str, int] = field(default_factory=dict)
    retries: Mapping[str, int] = field(default_factory=dict)
    response: tuple[str, ...] = ()
    service: tuple[str, ...] = ()
    requests: Mapping[str, RequestTotals] = field(default_factory=dict)

    def summary(self, duration_s: float = 0.0) -> OperationSummary:
        """Its counts and percentiles, for the record.

        Args:
            duration_s: Length of the interval, for the rates of its requests.
        """
        return OperationSummary(
            name=self.name,
            count=self.count,
            rolled_back=self.rolled_back,
            errors=dict(self.errors),
            retries=dict(self.retries),
            response=summarize_latency(merge(self.response)),
            service=summarize_latency(merge(self.service)),
            requests=[request.summary(duration_s) for request in self.requests.values()],
        )


def operation_totals(
    name: str, ticks: Iterable[Tick], requests: Sequence[str] = ()
) -> OperationTotals:
    """Adds up what ticks say of an operation.

    Args:
        name: Of the operation.
        ticks: Of one driver, in order.
        requests: Those that are listed even if none was made, in their order.
    """
    parts = [tick.operations[name] for tick in ticks if name in tick.operations]
    return OperationTotals(
        name=name,
        count=sum(part.count for part in parts),
        rolled_back=sum(part.rolled_back for part in parts),
        errors=_summed(part.errors for part in parts),
        retries=_summed(part.retries for part in parts),
        response=tuple(part.response for part in parts if part.response),
        service=tuple(part.service for part in parts if part.service),
        requests=_requests(parts, requests),
    )


def _requests(parts: Sequence[OperationTick], names: Sequence[str]) -> dict[str, RequestTotals]:
    made: dict[str, list[RequestTick]] = {name: [] for name in names}
    for part in parts:
        for name, request in part.requests.items():
            made.setdefault(name, []).append(request)
    return {
        name: RequestTotals(
            name=name,
            count=sum(each.count for each in ticks),
            errors=_summed(each.errors for each in ticks),
            resent=_summed(each.resent for each in ticks),
            service=tuple(each.service for each in ticks if each.service),
            retried=_summed(each.retried for each in ticks),
            marks=_summed(each.marks for each in ticks),
        )
        for name, ticks in made.items()
    }


def _summed(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Counts by class, by name of the class."""
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return dict(sorted(total.items()))
