"""The driver's counts held against the data: nothing acknowledged is lost, nothing done twice.

An operation that ended in an error is in doubt: a connection can be lost after the server committed
and before it said so. So each count is a range from what ended well to that plus the errors.
"""

from __future__ import annotations

from collections.abc import Mapping

from loadstone.results.record import CheckResult
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.measured import Measured
from loadstone.workloads.oltp.ledger import Ledger
from loadstone.workloads.oltp.parameters import DELIVERY, NEW_ORDER, PAYMENT
from loadstone.workloads.oltp.population import (
    DISTRICTS_PER_WAREHOUSE,
    UNDELIVERED_PER_DISTRICT,
)

NEW_ORDERS = CheckSpec(
    "new-orders are all there",
    "driver's new-orders without rollbacks = rise of the district counters = new rows in orders",
    source="TPC-C 5.11, clause 2.4.2.2",
)
PAYMENTS = CheckSpec(
    "payments are all there",
    "driver's payments = new rows in history = rise of the customers' payment counters, and "
    "the last two for each customer",
    source="TPC-C 5.11, clause 2.5.2.2",
)
AMOUNTS = CheckSpec(
    "payments add up",
    "rise of w_ytd = amounts of the new rows in history, each from 1.00 to 5,000.00",
    source="TPC-C 5.11, clauses 2.5.1.3 and 2.5.2.2",
)
DELIVERIES = CheckSpec(
    "deliveries are all there",
    "orders delivered = ten for each delivery; 1 % may be skipped (2.7.4.2), and more once "
    "a district can have run dry; each customer's delivery counter = its orders delivered since "
    "the load",
    source="TPC-C 5.11, clauses 2.7.4.2 and 3.3.2.11",
)
STOCK = CheckSpec(
    "stock matches the orders",
    "lines, quantity and remote lines of the new orders = rise of s_order_cnt, s_ytd, "
    "s_remote_cnt, in all and for each item of each warehouse",
    source="TPC-C 5.11, clause 2.4.2.2",
)
CHECKS = (NEW_ORDERS, PAYMENTS, AMOUNTS, DELIVERIES, STOCK)
MOST_SKIPPED = 0.01
"""Share of a delivery's districts that may be skipped unreported (clause 2.7.4.2)."""


def done(measured: Measured, operation: str) -> int:
    """Operations of the whole trial that ended well and were not rolled back."""
    rolled_back = measured.total_rolled_back.get(operation, 0)
    return measured.total_operations.get(operation, 0) - rolled_back


def check_new_orders(
    before: Mapping[str, float], after: Mapping[str, float], ledger: Ledger, measured: Measured
) -> CheckResult:
    """The district counters and the order rows rose by exactly the new-orders that were done."""
    counted = done(measured, NEW_ORDER)
    risen = round(after["next_order_ids"] - before["next_order_ids"])
    fits = counted <= risen <= counted + measured.total_errors
    return NEW_ORDERS.of(
        passed=fits and ledger.orders == risen,
        detail=f"the driver counted {_range(counted, measured.total_errors)}, the district "
        f"counters rose by {risen:,}, orders grew by {ledger.orders:,} rows",
    )


def check_payments(ledger: Ledger, measured: Measured) -> CheckResult:
    """History and each customer's counter grew by exactly the payments that were done."""
    counted = done(measured, PAYMENT)
    fits = counted <= ledger.payments <= counted + measured.total_errors
    return PAYMENTS.of(
        passed=fits
        and ledger.payments == ledger.payments_of_customers
        and "payments" not in ledger.misbooked,
        detail=f"the driver counted {_range(counted, measured.total_errors)}, history grew by "
        f"{ledger.payments:,} rows, the customers' payment counters by "
        f"{ledger.payments_of_customers:,}{_by_row(ledger, 'payments', 'customer by customer')}",
    )


def check_amounts(
    before: Mapping[str, float], after: Mapping[str, float], ledger: Ledger
) -> CheckResult:
    """The warehouses took in what history says was paid, and each payment was a possible one."""
    taken_in = round(after["warehouse_ytd"] - before["warehouse_ytd"], 2)
    paid = round(float(ledger.amount_paid) - before["warehouse_ytd"], 2)
    possible = ledger.least_payment >= 1 and ledger.greatest_payment <= 5000
    return AMOUNTS.of(
        passed=taken_in == paid and possible,
        detail=f"w_ytd rose by {taken_in:,.2f}, history holds {paid:,.2f} in new payments, each "
        f"from {ledger.least_payment} to {ledger.greatest_payment} (allowed: 1.00 to 5000.00)",
    )


def check_deliveries(ledger: Ledger, measured: Measured) -> CheckResult:
    """Each delivery delivered one order in each district of its warehouse, or found none there.

    Each customer's counter rose by the orders that were delivered.

    A district can have run dry only after its 900 undelivered orders of the load were delivered;
    if none came that far, no more than one or 1 % may have been skipped.
    """
    counted = done(measured, DELIVERY)
    most = (counted + measured.total_errors) * DISTRICTS_PER_WAREHOUSE
    may_have_run_dry = ledger.most_deliveries >= UNDELIVERED_PER_DISTRICT
    asked = counted * DISTRICTS_PER_WAREHOUSE
    least = 0.0 if may_have_run_dry else asked - max(1.0, asked * MOST_SKIPPED)
    bounds = f"{least:,.0f} to {most:,}" + (" as a district may have run dry" * may_have_run_dry)
    return DELIVERIES.of(
        passed=least <= ledger.deliveries <= most and "deliveries" not in ledger.misbooked,
        detail=f"the driver counted {_range(counted, measured.total_errors)}, of "
        f"{DISTRICTS_PER_WAREHOUSE} districts each; {ledger.deliveries:,} orders were delivered "
        f"(allowed: {bounds}){_by_row(ledger, 'deliveries', 'customer by customer')}",
    )


def check_stock(ledger: Ledger) -> CheckResult:
    """The counters of each item rose by exactly the lines of the orders since the load.

    An item may stand on two lines of one order: an update that takes it once shows here.
    """
    ordered, taken = ledger.ordered, ledger.taken
    return STOCK.of(
        passed=ordered == taken and "stock" not in ledger.misbooked,
        detail=f"order lines: {ordered.lines:,} with quantity {ordered.quantity:,}, "
        f"{ordered.remote:,} of them remote; stock counters: {taken.lines:,}, "
        f"{taken.quantity:,} and {taken.remote:,}{_by_row(ledger, 'stock', 'item by item')}",
    )


def _range(counted: int, in_doubt: int) -> str:
    return f"{counted:,}" if not in_doubt else f"{counted:,} to {counted + in_doubt:,}"


def _by_row(ledger: Ledger, what: str, how: str) -> str:
    return f"; {how} they do not fit" if what in ledger.misbooked else ""
