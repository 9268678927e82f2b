"""The twelve consistency conditions of order entry (TPC-C revision 5.11, clauses 3.3.2.1 to 12).

Each is one set-based query for the rows that violate it, in SQL that every engine speaks. The
queries over large tables are run only where the sums of `sums.py` do not show that there are no
such rows. All hold on a loaded database and after any number of transactions. Two depend on how the
data was loaded: 3.3.2.10 and 3.3.2.12 need balances that begin as the generator of clause 4.3.3
sets them (one payment of 10.00 per customer, lines of delivered orders at 0.00). The text of
3.3.2.11 (orders less new-orders is 2,100) holds on a loaded database only, because every delivery
takes a row out of NEW-ORDER; here the deliveries that the district's customers received are counted
in, which is the same where there were none and goes on holding where there were some.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from loadstone.results.record import CheckResult
from loadstone.targets.dialect import Dialect
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.oltp.population import DELIVERED_PER_DISTRICT, Query
from loadstone.workloads.oltp.sums import Sums


@dataclass(frozen=True)
class Money:
    """A column of a violating row that is an amount, and what it is called."""

    expression: str
    name: str

    def shown(self, value: Any) -> str:
        """The amount, read as cents."""
        return f"{self.name}={Decimal(int(value)).scaleb(-2)}"


@dataclass(frozen=True)
class Condition:
    """One consistency condition.

    Attributes:
        clause: Of the specification.
        holds: The condition in words.
        columns: What a violating row shows, its keys first; with `AS` if it is no plain column.
        violations: `FROM ...` of the query for the violating rows.
        equal: Weighted sums, as `Sums.differ` takes them: if none differs, no row violates the
            condition. None are given where the query itself is quick.
    """

    clause: str
    holds: str
    columns: tuple[str | Money, ...]
    violations: str
    equal: tuple[tuple[str, ...], ...] = ()

    @property
    def spec(self) -> CheckSpec:
        """What it holds: every row of the tables that it names."""
        source = f"TPC-C 5.11, clause {self.clause}"
        return CheckSpec(f"consistency {self.clause}", self.holds, source)

    def sql(self, dialect: Dialect) -> str:
        """One row: how many rows violate the condition, then the first of them; or no row."""
        columns = (
            f"{dialect.cents(column.expression)} AS {column.name}_cents"
            if isinstance(column, Money)
            else column
            for column in self.columns
        )
        return (
            "SELECT count(*) OVER () AS violations, found.* FROM "
            f"(SELECT {', '.join(columns)} {self.violations}) AS found "
            "ORDER BY 2, 3 LIMIT 1"
        )

    def check(self, query: Query, dialect: Dialect, sums: Sums) -> CheckResult:
        """Runs the query, unless the sums make it needless."""
        holds = bool(self.equal) and not any(sums.differ(*each) for each in self.equal)
        rows = [] if holds else query(self.sql(dialect))
        detail = f"{self.holds}: 0 violations" if not rows else self._describe(rows[0])
        return self.spec.of(passed=not rows, detail=detail)

    def _describe(self, row: tuple[Any, ...]) -> str:
        shown = (_shown(*each) for each in zip(self.columns, row[1:], strict=True))
        return f"{self.holds}: {row[0]:,} violations, for example {', '.join(shown)}"


def _shown(column: str | Money, value: Any) -> str:
    if isinstance(column, Money):
        return column.shown(value)
    return f"{column.split(' AS ')[-1]}={value}"


_DELIVERED = """(
    SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS delivered
    FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
    WHERE ol_delivery_d IS NOT NULL
    GROUP BY o_w_id, o_d_id, o_c_id
) AS d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id"""

_TAKINGS = ("warehouse: warehouse takings", "district: warehouse takings")
_PAID = ("district: district takings", "history: district takings")
_LINES = ("order_line: order lines", "orders: order lines")

CONDITIONS = (
    Condition(
        "3.3.2.1",
        "w_ytd = sum(d_ytd) for each warehouse",
        ("w_id", Money("w_ytd", "w_ytd"), Money("coalesce(ytd, 0)", "sum_d_ytd")),
        """FROM warehouse
        LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS ytd FROM district GROUP BY d_w_id) AS d
            ON d_w_id = w_id
        WHERE w_ytd <> coalesce(ytd, 0)""",
    ),
    Condition(
        "3.3.2.2",
        "d_next_o_id - 1 = max(o_id) = max(no_o_id) for each district",
        ("d_w_id", "d_id", "d_next_o_id", "max_o_id", "max_no_o_id"),
        """FROM district
        LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS max_o_id
                   FROM orders GROUP BY o_w_id, o_d_id) AS o
            ON o_w_id = d_w_id AND o_d_id = d_id
        LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS max_no_o_id
                   FROM new_order GROUP BY no_w_id, no_d_id) AS n
            ON no_w_id = d_w_id AND no_d_id = d_id
        WHERE d_next_o_id - 1 <> coalesce(max_o_id, 0) OR d_next_o_id - 1 <> max_no_o_id""",
    ),
    Condition(
        "3.3.2.3",
        "max(no_o_id) - min(no_o_id) + 1 = rows in new_order for each district",
        ("no_w_id", "no_d_id", "min_no_o_id", "max_no_o_id", "new_orders"),
        """FROM (SELECT no_w_id, no_d_id, min(no_o_id) AS min_no_o_id,
                     max(no_o_id) AS max_no_o_id, count(*) AS new_orders
              FROM new_order GROUP BY no_w_id, no_d_id) AS n
        WHERE max_no_o_id - min_no_o_id + 1 <> new_orders""",
    ),
    Condition(
        "3.3.2.4",
        "sum(o_ol_cnt) = rows in order_line for each district",
        (
            "d_w_id",
            "d_id",
            "coalesce(ordered, 0) AS sum_o_ol_cnt",
            "coalesce(ol_rows, 0) AS order_lines",
        ),
        """FROM district
        LEFT JOIN (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS ordered
                   FROM orders GROUP BY o_w_id, o_d_id) AS o
            ON o_w_id = d_w_id AND o_d_id = d_id
        LEFT JOIN (SELECT ol_w_id, ol_d_id, count(*) AS ol_rows
                   FROM order_line GROUP BY ol_w_id, ol_d_id) AS l
            ON ol_w_id = d_w_id AND ol_d_id = d_id
        WHERE coalesce(ordered, 0) <> coalesce(ol_rows, 0)""",
        equal=(_LINES,),
    ),
    Condition(
        "3.3.2.5",
        "o_carrier_id is null if and only if the order has a row in new_order",
        ("o_w_id", "o_d_id", "o_id", "o_carrier_id", "no_o_id"),
        """FROM orders
        LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
        WHERE (o_carrier_id IS NULL AND no_o_id IS NULL)
           OR (o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL)""",
        equal=(("orders: order undelivered", "new_order: order undelivered"),),
    ),
    Condition(
        "3.3.2.6",
        "o_ol_cnt = rows in order_line for each order",
        ("o_w_id", "o_d_id", "o_id", "o_ol_cnt", "coalesce(ol_rows, 0) AS order_lines"),
        """FROM orders
        LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS ol_rows
                   FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) AS l
            ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
        WHERE o_ol_cnt <> coalesce(ol_rows, 0)""",
        equal=(_LINES,),
    ),
    Condition(
        "3.3.2.7",
        "ol_delivery_d is null if and only if o_carrier_id of its order is null",
        ("o_w_id", "o_d_id", "o_id", "ol_number", "o_carrier_id", "ol_delivery_d"),
        """FROM orders
        JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
        WHERE (o_carrier_id IS NULL AND ol_delivery_d IS NOT NULL)
           OR (o_carrier_id IS NOT NULL AND ol_delivery_d IS NULL)""",
        equal=(_LINES,),
    ),
    Condition(
        "3.3.2.8",
        "w_ytd = sum(h_amount) for each warehouse",
        ("w_id", Money("w_ytd", "w_ytd"), Money("coalesce(paid, 0)", "sum_h_amount")),
        """FROM warehouse
        LEFT JOIN (SELECT h_w_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id) AS h
            ON h_w_id = w_id
        WHERE w_ytd <> coalesce(paid, 0)""",
        equal=(_TAKINGS, _PAID),
    ),
    Condition(
        "3.3.2.9",
        "d_ytd = sum(h_amount) for each district",
        ("d_w_id", "d_id", Money("d_ytd", "d_ytd"), Money("coalesce(paid, 0)", "sum_h_amount")),
        """FROM district
        LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS paid
                   FROM history GROUP BY h_w_id, h_d_id) AS h
            ON h_w_id = d_w_id AND h_d_id = d_id
        WHERE d_ytd <> coalesce(paid, 0)""",
        equal=(_PAID,),
    ),
    Condition(
        "3.3.2.10",
        "c_balance = sum(ol_amount) delivered - sum(h_amount) for each customer",
        (
            "c_w_id",
            "c_d_id",
            "c_id",
            Money("c_balance", "c_balance"),
            Money("coalesce(delivered, 0)", "sum_ol_amount"),
            Money("coalesce(paid, 0)", "sum_h_amount"),
        ),
        f"""FROM customer
        LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS paid
                   FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS h
            ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id
        LEFT JOIN {_DELIVERED}
        WHERE c_balance <> coalesce(delivered, 0) - coalesce(paid, 0)""",
        equal=(
            (
                "customer: customer balance",
                "changed lines: customer delivered",
                "-history: customer paid",
            ),
        ),
    ),
    Condition(
        "3.3.2.11",
        f"orders - new-orders = {DELIVERED_PER_DISTRICT} + deliveries received by the customers, "
        "for each district",
        (
            "d_w_id",
            "d_id",
            "coalesce(o_rows, 0) AS all_orders",
            "coalesce(no_rows, 0) AS new_orders",
            "coalesce(delivered, 0) AS deliveries",
        ),
        f"""FROM district
        LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS o_rows
                   FROM orders GROUP BY o_w_id, o_d_id) AS o
            ON o_w_id = d_w_id AND o_d_id = d_id
        LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS no_rows
                   FROM new_order GROUP BY no_w_id, no_d_id) AS n
            ON no_w_id = d_w_id AND no_d_id = d_id
        LEFT JOIN (SELECT c_w_id, c_d_id, sum(c_delivery_cnt) AS delivered
                   FROM customer GROUP BY c_w_id, c_d_id) AS c
            ON c_w_id = d_w_id AND c_d_id = d_id
        WHERE coalesce(o_rows, 0) - coalesce(no_rows, 0) - coalesce(delivered, 0)
              <> {DELIVERED_PER_DISTRICT}""",
        equal=(
            (
                "orders: district orders",
                "new_order: district undelivered",
                "customer: district deliveries",
                "district: district loaded deliveries",
            ),
        ),
    ),
    Condition(
        "3.3.2.12",
        "c_balance + c_ytd_payment = sum(ol_amount) delivered for each customer",
        (
            "c_w_id",
            "c_d_id",
            "c_id",
            Money("c_balance", "c_balance"),
            Money("c_ytd_payment", "c_ytd_payment"),
            Money("coalesce(delivered, 0)", "sum_ol_amount"),
        ),
        f"""FROM customer
        LEFT JOIN {_DELIVERED}
        WHERE c_balance + c_ytd_payment <> coalesce(delivered, 0)""",
        equal=(("customer: customer receipts", "changed lines: customer delivered"),),
    ),
)


def check_conditions(query: Query, dialect: Dialect, sums: Sums) -> list[CheckResult]:
    """Checks all twelve.

    Args:
        query: Runs one query.
        dialect: Of its engine.
        sums: Of the same data.
    """
    return [condition.check(query, dialect, sums) for condition in CONDITIONS]
