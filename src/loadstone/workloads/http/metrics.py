"""The figures of a web application's load, from what the driver told of each second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from loadstone.protocol.frames import OperationTick, Tick
from loadstone.results.latency import merge, summarize_latency
from loadstone.results.record import MetricValue
from loadstone.workloads.measured import Measured, MetricSpec

HEADLINE = "transactions_per_s"
METRICS = (
    MetricSpec(HEADLINE, "transactions", "transactions/s", True, follows_rate=True),
    MetricSpec("response_mean_ms", "response time, mean", "ms", False),
    MetricSpec("errors_percent", "transactions that failed", "%", False),
    MetricSpec("requests_per_s", "requests", "requests/s", True, follows_rate=True),
    MetricSpec("requests_resent", "requests sent again", "requests", False),
    MetricSpec("requests_retried", "tries of requests beyond the first", "tries", False),
    MetricSpec("driver_cpu_us", "driver CPU per transaction", "us", False),
)


def of_operations(ticks: Iterable[Tick], names: Collection[str]) -> list[OperationTick]:
    """What each tick tells of operations of these names."""
    return [told for tick in ticks for name, told in tick.operations.items() if name in names]


def errors_of(ticks: Iterable[Tick], names: Collection[str]) -> Counter[str]:
    """Class of an error: how many operations of these names failed by it."""
    found = Counter[str]()
    for told in of_operations(ticks, names):
        found.update(told.errors)
    return found


def retried_of(ticks: Iterable[Tick]) -> Counter[str]:
    """Class of an error: how often a request was tried again after it."""
    found = Counter[str]()
    for told in (each for tick in ticks for each in tick.operations.values()):
        for request in told.requests.values():
            found.update(request.retried)
    return found


def resent_of(ticks: Iterable[Tick]) -> Counter[str]:
    """What was wrong with a connection: how many requests were sent again because of it."""
    found = Counter[str]()
    for told in (each for tick in ticks for each in tick.operations.values()):
        for request in told.requests.values():
            found.update(request.resent)
    return found


def metric_values(measured: Measured, transactions: Collection[str]) -> list[MetricValue]:
    """The figures of measured load; one that has no meaning there is left out.

    Log-ins and log-outs are no transactions. Their requests are among the requests.

    Args:
        measured: A phase, or all of them; longer than no time.
        transactions: Names of those that the scenario has.
    """
    own = of_operations(measured.ticks, transactions)
    done = sum(measured.operations.get(name, 0) for name in transactions)
    failed = errors_of(measured.ticks, transactions).total()
    every = [told for tick in measured.ticks for told in tick.operations.values()]
    requests = [request for told in every for request in told.requests.values()]
    ended = sum(each.count + sum(each.errors.values()) for each in requests)
    values: dict[str, float] = {
        HEADLINE: done / measured.duration_s,
        "requests_per_s": ended / measured.duration_s,
        "requests_resent": resent_of(measured.ticks).total(),
        "requests_retried": retried_of(measured.ticks).total(),
    }
    if done + failed:
        values["errors_percent"] = 100.0 * failed / (done + failed)
    response = summarize_latency(merge(told.response for told in own if told.response))
    if response is not None:
        values["response_mean_ms"] = response.mean_s * 1e3
    if done:
        values["driver_cpu_us"] = measured.driver_cpu_s / done * 1e6
    found = [spec.of(values[spec.name]) for spec in METRICS if spec.name in values]
    return [*found, *_rates(measured, transactions)]


def _rates(measured: Measured, transactions: Collection[str]) -> list[MetricValue]:
    """Of each transaction, where there are several; their percentiles every record has."""
    if len(transactions) < 2:
        return []
    return [
        MetricSpec(
            f"{name} per_s", f"{name}, transactions", "transactions/s", True, follows_rate=True
        ).of(measured.operations.get(name, 0) / measured.duration_s)
        for name in transactions
    ]
