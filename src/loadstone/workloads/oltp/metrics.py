"""The figures of order entry and how they are made from what was measured."""

from __future__ import annotations

from loadstone.results.record import MetricValue
from loadstone.workloads.measured import Measured, MetricSpec
from loadstone.workloads.oltp.parameters import NEW_ORDER, OrderEntryParameters

HEADLINE = "new_orders_per_min"

METRICS = (
    MetricSpec(HEADLINE, "new-orders", "new-orders/min", True, follows_rate=True),
    MetricSpec("transactions_per_s", "transactions", "transactions/s", True, follows_rate=True),
    MetricSpec("rollback_percent", "new-orders rolled back", "%", False),
    MetricSpec("retries_per_1000", "retries per 1,000 transactions", "retries", False),
    MetricSpec("errors", "errors", "errors", False),
    MetricSpec("driver_cpu_us", "driver CPU per transaction", "us", False),
    MetricSpec("server_cpu_us", "server CPU per transaction", "us", False),
    MetricSpec(
        "new_orders_per_server_cpu_s", "new-orders per server CPU second", "new-orders/s", True
    ),
    MetricSpec("terminal_efficiency_percent", "of what the terminals' waits allow", "%", True),
)


def new_orders_committed(measured: Measured) -> tuple[float, float]:
    """New-orders that were committed, and the seconds in which they were.

    By the district counters between the two observations; by the driver's account of the measured
    phase where those cannot be read under load.
    """
    begin, end = measured.begin, measured.end
    if not begin.counters or not end.counters:
        done = measured.operations.get(NEW_ORDER, 0) - measured.rolled_back.get(NEW_ORDER, 0)
        return done, measured.duration_s
    counter = "next_order_ids"
    return end.counters[counter] - begin.counters[counter], end.t_s - begin.t_s


def metric_values(parameters: OrderEntryParameters, measured: Measured) -> list[MetricValue]:
    """The figures of a measured phase; one that has no meaning there is left out."""
    committed, during_s = new_orders_committed(measured)
    per_min = committed / during_s * 60 if during_s > 0 else 0.0
    transactions = sum(measured.operations.values())
    values: dict[str, float] = {
        HEADLINE: per_min,
        "transactions_per_s": transactions / measured.duration_s,
        "errors": measured.errors,
    }
    if transactions:
        values |= _per_transaction(measured, transactions)
    if new_orders := measured.operations.get(NEW_ORDER, 0):
        values["rollback_percent"] = measured.rolled_back.get(NEW_ORDER, 0) / new_orders * 100
    possible_per_min = parameters.most_new_orders_per_min(measured.users)
    if measured.specified_waits and possible_per_min:
        values["terminal_efficiency_percent"] = per_min / possible_per_min * 100
    return [spec.of(values[spec.name]) for spec in METRICS if spec.name in values]


def _per_transaction(measured: Measured, transactions: int) -> dict[str, float]:
    values = {
        "retries_per_1000": measured.retries / transactions * 1000,
        "driver_cpu_us": measured.driver_cpu_s / transactions * 1e6,
    }
    if measured.server_cpu_s:
        values["server_cpu_us"] = measured.server_cpu_s / transactions * 1e6
        committed, _ = new_orders_committed(measured)
        values["new_orders_per_server_cpu_s"] = committed / measured.server_cpu_s
    return values
