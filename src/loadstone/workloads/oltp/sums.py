"""All that the checks need to know of the tables, in one pass over each.

Most conditions say that rows of two tables belong together one by one: each order has as many lines
as it says. Instead of joining them, both sides are summed with a weight for each key, and the sums
are compared modulo a prime. If the rows match, so do the sums. If they do not, the sums differ but
for one time in about two thousand million: two faults that make up for each other have different
weights. This is the fingerprint of a multiset (Wegman and Carter, "New hash functions and their use
in authentication and set equality", 1981). Only where sums differ is a join needed, to name rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loadstone.targets.dialect import Dialect
from loadstone.workloads.oltp.population import (
    DELIVERED_PER_DISTRICT,
    ORDERS_PER_DISTRICT,
    Query,
)

_PRIME = 2_147_483_647
"""Weights are below it, so that a product of two such numbers has 62 bits."""
_FACTORS = (
    (32_749, (3_332_816_489, 2_474_365_301, 3_873_309_827)),
    (65_521, (3_995_234_293, 3_872_915_659, 2_320_913_743)),
)
"""Two primes, and what warehouse, district and row are multiplied with: primes of 32 bits whose
remainders are near half of the modulus, so that no run of keys in a row has weights in a line."""
_OPEN = 31
"""A line without a date counts as so many more: more than an order has lines."""
_QUANTITY, _REMOTE = 1_009, 1_000_003
"""What tells quantities and remote lines from the lines of an item."""
_NEW = f"ol_o_id > {ORDERS_PER_DISTRICT}"


def weight(warehouse: str, district: str = "0", row: str = "0") -> str:
    """SQL: the weight of a key, an integer of 31 bits."""
    parts = (
        f"(1 + ({a} * {warehouse} + {b} * {district} + {c} * {row}) % {modulus})"
        for modulus, (a, b, c) in _FACTORS
    )
    return f"({' * '.join(parts)})"


def _times(key: str, amount: str) -> str:
    """SQL: the weight times an amount of any size, which may be negative."""
    return f"({key} * (({amount}) % {_PRIME}) % {_PRIME})"


@dataclass(frozen=True)
class Sums:
    """What one pass over each table gave: table: name: value.

    The names of weighted sums begin with what has the weight: `order ...`.
    """

    of: Mapping[str, Mapping[str, int]]

    def rows(self, *tables: str) -> dict[str, int]:
        """Table: its rows."""
        return {table: self.of[table]["rows"] for table in tables}

    def differ(self, left: str, *right: str) -> bool:
        """Whether a weighted sum is another than all those on the right together.

        Args:
            left: As `table: name`.
            right: The same; with `-` before it what is subtracted.
        """
        signed = sum(
            -self._value(each[1:]) if each.startswith("-") else self._value(each) for each in right
        )
        return (self._value(left) - signed) % _PRIME != 0

    def _value(self, place: str) -> int:
        table, _, name = place.partition(": ")
        return self.of[table][name]


def read_sums(query: Query, dialect: Dialect) -> Sums:
    """Reads each table once; of ORDER-LINE once more what the load changed, joined with its order.

    Args:
        query: Runs one query, on a target without load.
        dialect: Of its engine.
    """
    return Sums({table: _read(query, *of(dialect)) for table, of in _TABLES.items()})


def _read(query: Query, columns: Mapping[str, str], source: str) -> dict[str, int]:
    row = query(f"SELECT {', '.join(columns.values())} FROM {source}")[0]
    return {name: int(value or 0) for name, value in zip(columns, row, strict=True)}


# -- tables ------------------------------------------------------------------------------------
_Pass = tuple[dict[str, str], str]


def _warehouse(dialect: Dialect) -> _Pass:
    takings = _times(weight("w_id"), dialect.cents("w_ytd"))
    return {"rows": "count(*)", "warehouse takings": f"sum({takings})"}, "warehouse"


def _district(dialect: Dialect) -> _Pass:
    own, cents = weight("d_w_id", "d_id"), dialect.cents("d_ytd")
    return {
        "rows": "count(*)",
        "warehouse takings": f"sum({_times(weight('d_w_id'), cents)})",
        "district takings": f"sum({_times(own, cents)})",
        "district loaded deliveries": f"sum({own} * {DELIVERED_PER_DISTRICT})",
    }, "district"


def _customer(dialect: Dialect) -> _Pass:
    own = weight("c_w_id", "c_d_id", "c_id")
    balance, receipts = dialect.cents("c_balance"), dialect.cents("c_balance + c_ytd_payment")
    of_district = f"""(SELECT count(*) AS customers, sum(c_payment_cnt) AS payments,
        sum(c_delivery_cnt) AS deliveries,
        sum({weight("c_w_id", "c_d_id")} * c_delivery_cnt) AS of_district,
        sum({own} * c_payment_cnt) AS paid, sum({own} * c_delivery_cnt) AS delivered,
        sum({_times(own, balance)}) AS balance, sum({_times(own, receipts)}) AS receipts
        FROM customer GROUP BY c_w_id, c_d_id) AS districts"""
    return {
        "rows": "sum(customers)",
        "payments": "sum(payments)",
        "deliveries": "sum(deliveries)",
        "most deliveries": "max(deliveries)",
        "district deliveries": "sum(of_district)",
        "customer payments": "sum(paid)",
        "customer deliveries": "sum(delivered)",
        "customer balance": "sum(balance)",
        "customer receipts": "sum(receipts)",
    }, of_district


def _history(dialect: Dialect) -> _Pass:
    cents, customer = dialect.cents("h_amount"), weight("h_c_w_id", "h_c_d_id", "h_c_id")
    return {
        "rows": "count(*)",
        "cents": dialect.cents("sum(h_amount)"),
        "least cents": dialect.cents("min(h_amount)"),
        "most cents": dialect.cents("max(h_amount)"),
        "district takings": f"sum({_times(weight('h_w_id', 'h_d_id'), cents)})",
        "customer payments": f"sum({customer})",
        "customer paid": f"sum({_times(customer, cents)})",
    }, "history"


def _new_order(_: Dialect) -> _Pass:
    return {
        "rows": "count(*)",
        "order undelivered": f"sum({weight('no_w_id', 'no_d_id', 'no_o_id')})",
        "district undelivered": f"sum({weight('no_w_id', 'no_d_id')})",
    }, "new_order"


def _orders(_: Dialect) -> _Pass:
    own, customer = weight("o_w_id", "o_d_id", "o_id"), weight("o_w_id", "o_d_id", "o_c_id")
    since_load = f"o_id > {DELIVERED_PER_DISTRICT} AND o_carrier_id IS NOT NULL"
    lines = f"o_ol_cnt * CASE WHEN o_carrier_id IS NULL THEN {_OPEN + 1} ELSE 1 END"
    return {
        "rows": "count(*)",
        "order lines": f"sum({own} * {lines})",
        "order undelivered": f"sum(CASE WHEN o_carrier_id IS NULL THEN {own} ELSE 0 END)",
        "district orders": f"sum({weight('o_w_id', 'o_d_id')})",
        "customer deliveries": f"sum(CASE WHEN {since_load} THEN {customer} ELSE 0 END)",
    }, "orders"


def _order_line(_: Dialect) -> _Pass:
    own = weight("ol_w_id", "ol_d_id", "ol_o_id")
    dated = f"CASE WHEN ol_delivery_d IS NULL THEN {_OPEN + 1} ELSE 1 END"
    return {"order lines": f"sum({own} * {dated})"}, "order_line"


def _changed_lines(dialect: Dialect) -> _Pass:
    """New ones, and delivered ones that cost something: those of the load cost nothing."""
    customer, item = weight("o_w_id", "o_d_id", "o_c_id"), weight("ol_supply_w_id", row="ol_i_id")
    paid = "ol_delivery_d IS NOT NULL AND ol_amount <> 0"
    remote = "CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END"
    taken = f"1 + {_QUANTITY} * ol_quantity + {_REMOTE} * {remote}"

    def new(value: str) -> str:
        return f"sum(CASE WHEN {_NEW} THEN {value} ELSE 0 END)"

    amount = _times(customer, dialect.cents("ol_amount"))
    return {
        "lines": new("1"),
        "quantity": new("ol_quantity"),
        "remote": new(remote),
        "stock taken": new(_times(item, taken)),
        "customer delivered": f"sum(CASE WHEN {paid} THEN {amount} ELSE 0 END)",
    }, (
        "order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id "
        f"WHERE {_NEW} OR ({paid})"
    )


def _stock(dialect: Dialect) -> _Pass:
    quantity = dialect.unscaled("s_ytd", 0)
    taken = f"s_order_cnt + {_QUANTITY} * {quantity} + {_REMOTE} * s_remote_cnt"
    return {
        "rows": "count(*)",
        "lines": "sum(s_order_cnt)",
        "quantity": "sum(s_ytd)",
        "remote": "sum(s_remote_cnt)",
        "stock taken": f"sum({_times(weight('s_w_id', row='s_i_id'), taken)})",
    }, "stock"


def _item(_: Dialect) -> _Pass:
    return {"rows": "count(*)"}, "item"


_TABLES: Mapping[str, Callable[[Dialect], _Pass]] = {
    "warehouse": _warehouse,
    "district": _district,
    "customer": _customer,
    "history": _history,
    "new_order": _new_order,
    "orders": _orders,
    "order_line": _order_line,
    "changed lines": _changed_lines,
    "stock": _stock,
    "item": _item,
}
