"""What the tables say was done since the load, to be held against what the driver counted."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from loadstone.targets.dialect import Dialect
from loadstone.workloads.oltp.population import (
    CUSTOMERS_PER_DISTRICT,
    DISTRICTS_PER_WAREHOUSE,
    ORDERS_PER_DISTRICT,
    Query,
)

_ORDERS = "SELECT count(*) FROM orders"
_CUSTOMERS = """SELECT sum(payments), sum(deliveries), max(deliveries) FROM
    (SELECT sum(c_payment_cnt) AS payments, sum(c_delivery_cnt) AS deliveries
     FROM customer GROUP BY c_w_id, c_d_id) AS of_district"""
_STOCK = "SELECT sum(s_order_cnt), sum(s_ytd), sum(s_remote_cnt) FROM stock"
_LINES = f"""SELECT count(*), coalesce(sum(ol_quantity), 0),
    coalesce(sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END), 0)
    FROM order_line WHERE ol_o_id > {ORDERS_PER_DISTRICT}"""


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


def read_ledger(query: Query, dialect: Dialect, warehouses: int) -> Ledger:
    """Reads the ledger of a target without load.

    Args:
        query: Runs one query.
        dialect: Of its engine.
        warehouses: Scale of the loaded database, which decides what the load left.
    """
    districts = warehouses * DISTRICTS_PER_WAREHOUSE
    loaded_customers = districts * CUSTOMERS_PER_DISTRICT
    amounts = ", ".join(dialect.cents(f"{each}(h_amount)") for each in ("sum", "min", "max"))
    history, paid, least, greatest = query(f"SELECT count(*), {amounts} FROM history")[0]
    payments, deliveries, most_deliveries = query(_CUSTOMERS)[0]
    return Ledger(
        orders=int(query(_ORDERS)[0][0]) - districts * ORDERS_PER_DISTRICT,
        payments=int(history) - loaded_customers,
        payments_of_customers=int(payments) - loaded_customers,
        amount_paid=_money(paid),
        least_payment=_money(least),
        greatest_payment=_money(greatest),
        deliveries=int(deliveries),
        most_deliveries=int(most_deliveries),
        ordered=_line_totals(query, _LINES),
        taken=_line_totals(query, _STOCK),
    )


def _money(cents: int) -> Decimal:
    return Decimal(int(cents)).scaleb(-2)


def _line_totals(query: Query, sql: str) -> LineTotals:
    lines, quantity, remote = query(sql)[0]
    return LineTotals(lines=int(lines), quantity=int(quantity), remote=int(remote))
