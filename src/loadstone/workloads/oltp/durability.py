"""Which acknowledged commits are not in the data any more.

Everything since the load is read once and compared as sets: a payment has no key of its own, so
that payments are counted by all that they wrote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

from loadstone.results.record import CheckResult
from loadstone.targets.database import Database
from loadstone.targets.dialect import Dialect
from loadstone.workloads.durability import Acknowledgement, CommitAudit
from loadstone.workloads.oltp import accounting
from loadstone.workloads.oltp.conditions import check_conditions
from loadstone.workloads.oltp.ledger import ledger_of
from loadstone.workloads.oltp.parameters import DELIVERY, NEW_ORDER, PAYMENT, OrderEntryParameters
from loadstone.workloads.oltp.population import (
    DELIVERED_PER_DISTRICT,
    FIXED_TABLES,
    ORDERS_PER_DISTRICT,
    Query,
    check_fixed_tables,
)
from loadstone.workloads.oltp.sums import read_sums

Key = tuple[int, ...]

_ORDERS = f"SELECT o_w_id, o_d_id, o_id, o_ol_cnt FROM orders WHERE o_id > {ORDERS_PER_DISTRICT}"
_LINES = f"""SELECT ol_w_id, ol_d_id, ol_o_id,
    count(*), sum(ol_number), sum(ol_number * ol_number) FROM order_line
    WHERE ol_o_id > {ORDERS_PER_DISTRICT} GROUP BY ol_w_id, ol_d_id, ol_o_id"""
_DELIVERED = f"""SELECT o_w_id, o_d_id, o_id FROM orders
    WHERE o_id > {DELIVERED_PER_DISTRICT} AND o_carrier_id IS NOT NULL"""
_UNDELIVERED = f"""SELECT DISTINCT ol_w_id, ol_d_id, ol_o_id FROM order_line
    WHERE ol_o_id > {DELIVERED_PER_DISTRICT} AND ol_delivery_d IS NULL"""
_LOADED_CENTS = 1000
"""What the one payment of each customer that the load writes amounts to (clause 4.3.3.1)."""


class OrderAudit(CommitAudit[Database]):
    """What a crash left of orders, payments and deliveries."""

    parameters: OrderEntryParameters

    def lost(
        self, target: Database, acknowledged: Sequence[Acknowledgement]
    ) -> list[Acknowledgement]:
        """New-orders, payments and deliveries that are not in the data, or not whole."""
        return lost_commits(target.query, target.dialect, acknowledged)

    def consistency(self, target: Database) -> list[CheckResult]:
        """The twelve consistency conditions, the stock, and the tables that nothing adds to."""
        warehouses = self.parameters.warehouses
        sums = read_sums(target.query, target.dialect)
        return [
            *check_conditions(target.query, target.dialect, sums),
            accounting.check_stock(ledger_of(sums, warehouses)),
            check_fixed_tables(sums.rows(*FIXED_TABLES), warehouses),
        ]


def lost_commits(
    query: Query, dialect: Dialect, acknowledged: Sequence[Acknowledgement]
) -> list[Acknowledgement]:
    """The acknowledged commits whose rows are missing or not whole, in the order given.

    Args:
        query: Runs one query.
        dialect: Of its engine.
        acknowledged: Since the data was loaded.
    """
    by_operation: dict[str, list[Acknowledgement]] = {}
    for each in acknowledged:
        by_operation.setdefault(each.operation, []).append(each)
    missing = [
        *_without_rows(by_operation.get(NEW_ORDER, []), lambda: _orders(query)),
        *_payments_missing(by_operation.get(PAYMENT, []), query, dialect),
        *_undelivered(by_operation.get(DELIVERY, []), query),
    ]
    return sorted(missing, key=lambda each: each.t_s)


def _without_rows(
    acknowledged: Sequence[Acknowledgement], there: Callable[[], Collection[Key]]
) -> list[Acknowledgement]:
    known = there() if acknowledged else ()
    return [each for each in acknowledged if each.keys not in known]


def _orders(query: Query) -> set[Key]:
    """New orders with all of their lines, each once."""
    lines = {_key(row[:3]): _key(row[3:]) for row in query(_LINES)}
    orders = ((_key(row), int(count)) for *row, count in query(_ORDERS))
    return {key for key, count in orders if lines.get(key) == _numbered(count)}


def _numbered(n: int) -> Key:
    """Of the numbers 1 to n: how many, their sum, and that of their squares."""
    return n, n * (n + 1) // 2, n * (n + 1) * (2 * n + 1) // 6


def _payments_missing(
    acknowledged: Sequence[Acknowledgement], query: Query, dialect: Dialect
) -> list[Acknowledgement]:
    """Of payments that wrote the same, the last acknowledged are taken for the missing ones."""
    left = _payments(query, dialect) if acknowledged else Counter[Key]()
    missing = []
    for each in acknowledged:
        left[each.keys] -= 1
        if left[each.keys] < 0:
            missing.append(each)
    return missing


def _payments(query: Query, dialect: Dialect) -> Counter[Key]:
    """Payments since the load: how often each was made."""
    keys = f"h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, {dialect.cents('h_amount')}"
    loaded = (
        f"CASE WHEN {dialect.cents('h_amount')} = {_LOADED_CENTS} "
        "AND h_c_w_id = h_w_id AND h_c_d_id = h_d_id THEN 1 ELSE 0 END"
    )
    rows = query(
        f"SELECT h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, cents, paid - loaded FROM ("
        f"SELECT {keys} AS cents, count(*) AS paid, max({loaded}) AS loaded "
        f"FROM history GROUP BY {keys}) AS payments WHERE paid > loaded"
    )
    return Counter({_key(row): int(count) for *row, count in rows})


def _undelivered(acknowledged: Sequence[Acknowledgement], query: Query) -> list[Acknowledgement]:
    """Deliveries of which an order has no carrier, or a line no date."""
    if not acknowledged:
        return []
    delivered = {_key(row) for row in query(_DELIVERED)} - {
        _key(row) for row in query(_UNDELIVERED)
    }
    return [
        each
        for each in acknowledged
        if any((each.keys[0], *order) not in delivered for order in each.keys[1])
    ]


def _key(row: Sequence[Any]) -> Key:
    return tuple(int(value) for value in row)
