"""What the tables say was done since the load, to be held against what the driver counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from loadstone.targets.dialect import Dialect
from loadstone.workloads.oltp.population import (
    CUSTOMERS_PER_DISTRICT,
    DISTRICTS_PER_WAREHOUSE,
    ORDERS_PER_DISTRICT,
    Query,
)
from loadstone.workloads.oltp.sums import Sums


def read_counters(query: Query, dialect: Dialect) -> dict[str, float]:
    """The counters that `observe` reads: one query over the two smallest tables.

    Args:
        query: Runs one query.
        dialect: Of its engine.

    Returns:
        `next_order_ids`: sum of `d_next_o_id`; `warehouse_ytd`: sum of `w_ytd`.
    """
    next_order_ids, ytd_cents = query(
        "SELECT (SELECT sum(d_next_o_id) FROM district) AS next_order_ids, "
        f"(SELECT {dialect.cents('sum(w_ytd)')} FROM warehouse) AS ytd_cents"
    )[0]
    return {"next_order_ids": float(next_order_ids), "warehouse_ytd": int(ytd_cents) / 100}


@dataclass(frozen=True)
class LineTotals:
    """Order lines as rows, their quantity, and those supplied by another warehouse."""

    lines: int
    quantity: int
    remote: int


@dataclass(frozen=True)
class Ledger:
    """Everything done since the load, read from the data."""

    orders: int
    payments: int
    """Rows of history."""
    payments_of_customers: int
    """Rise of the customers' payment counters."""
    amount_paid: Decimal
    """All of history, the load's 10.00 per customer included."""
    least_payment: Decimal
    greatest_payment: Decimal
    deliveries: int
    """Orders that were delivered."""
    most_deliveries: int
    """In one district."""
    ordered: LineTotals
    """Lines of the orders since the load."""
    taken: LineTotals
    """The same by the counters of the stock."""
    misbooked: tuple[str, ...] = ()
    """Counters that do not fit row by row, whatever their totals are."""


_BY_ROW = {
    "payments": ("customer: customer payments", "history: customer payments"),
    "deliveries": ("customer: customer deliveries", "orders: customer deliveries"),
    "stock": ("stock: stock taken", "changed lines: stock taken"),
}
"""What is counted in rows of two tables: the weighted sums that are equal if each of them fits."""


def ledger_of(sums: Sums, warehouses: int) -> Ledger:
    """The ledger of a target without load.

    Args:
        sums: Of its tables.
        warehouses: Scale of the loaded database, which decides what the load left.
    """
    districts = warehouses * DISTRICTS_PER_WAREHOUSE
    loaded_customers = districts * CUSTOMERS_PER_DISTRICT
    customer, history = sums.of["customer"], sums.of["history"]
    return Ledger(
        orders=sums.of["orders"]["rows"] - districts * ORDERS_PER_DISTRICT,
        payments=history["rows"] - loaded_customers,
        payments_of_customers=customer["payments"] - loaded_customers,
        amount_paid=_money(history["cents"]),
        least_payment=_money(history["least cents"]),
        greatest_payment=_money(history["most cents"]),
        deliveries=customer["deliveries"],
        most_deliveries=customer["most deliveries"],
        ordered=_line_totals(sums.of["changed lines"]),
        taken=_line_totals(sums.of["stock"]),
        misbooked=tuple(what for what, equal in _BY_ROW.items() if sums.differ(*equal)),
    )


def _money(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)


def _line_totals(of: Mapping[str, int]) -> LineTotals:
    return LineTotals(lines=of["lines"], quantity=of["quantity"], remote=of["remote"])
