"""How many rows a loaded database has (clause 4.3.3.1), and whether they are there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadstone.errors import TargetError
from loadstone.results.record import CheckResult
from loadstone.workloads.checked import CheckSpec

FIXED = CheckSpec(
    "no rows lost or added",
    "rows of the tables that no transaction adds to",
    source="TPC-C 5.11, clause 4.3.3.1",
)


Query = Callable[[str], Sequence[tuple[Any, ...]]]
"""Runs one query on the target and returns its rows."""

DISTRICTS_PER_WAREHOUSE = 10
CUSTOMERS_PER_DISTRICT = 3000
ORDERS_PER_DISTRICT = 3000
UNDELIVERED_PER_DISTRICT = 900
DELIVERED_PER_DISTRICT = ORDERS_PER_DISTRICT - UNDELIVERED_PER_DISTRICT
ITEMS = 100_000
FIXED_TABLES = ("warehouse", "district", "customer", "item", "stock")
LEAST_LINES, MOST_LINES = 5, 15
"""Lines of an order, both drawn alike."""


@dataclass(frozen=True)
class RowRange:
    """Rows that a table may have; `least` = `most` where the number is fixed."""

    least: int
    most: int

    def __contains__(self, rows: int) -> bool:
        return self.least <= rows <= self.most

    def __str__(self) -> str:
        return f"{self.least:,}" if self.least == self.most else f"{self.least:,}..{self.most:,}"


def expected_rows(warehouses: int) -> dict[str, RowRange]:
    """Table: rows after the load (clause 4.3.3.1).

    The lines of an order are uniform in 5..15, so their total scatters by sqrt(10 n) over n
    orders; the range is six of these either side.
    """
    districts = warehouses * DISTRICTS_PER_WAREHOUSE
    orders = districts * ORDERS_PER_DISTRICT
    fixed = {
        "warehouse": warehouses,
        "district": districts,
        "customer": districts * CUSTOMERS_PER_DISTRICT,
        "history": districts * CUSTOMERS_PER_DISTRICT,
        "new_order": districts * UNDELIVERED_PER_DISTRICT,
        "orders": orders,
        "item": ITEMS,
        "stock": warehouses * ITEMS,
    }
    mean_lines, spread = orders * (LEAST_LINES + MOST_LINES) // 2, int(6 * (10 * orders) ** 0.5)
    return {
        **{table: RowRange(rows, rows) for table, rows in fixed.items()},
        "order_line": RowRange(mean_lines - spread, mean_lines + spread),
    }


def count_rows(query: Query, tables: Mapping[str, object] | Sequence[str]) -> dict[str, int]:
    """Table: rows it has now."""
    return {table: int(query(f"SELECT count(*) FROM {table}")[0][0]) for table in tables}


def check_fixed_tables(rows: Mapping[str, int], warehouses: int) -> CheckResult:
    """The tables to which no transaction adds rows still have those of the load.

    Args:
        rows: Table: those it has.
        warehouses: Scale of the load.
    """
    expected = {table: expected_rows(warehouses)[table] for table in FIXED_TABLES}
    found = ", ".join(f"{table} {rows[table]:,} (loaded: {expected[table]})" for table in expected)
    return FIXED.of(
        passed=all(rows[table] in expected[table] for table in expected),
        detail=found,
    )


def verify_population(query: Query, warehouses: int) -> dict[str, int]:
    """Counts the rows of a database that was just loaded.

    Returns:
        Table: rows.

    Raises:
        TargetError: If a table has a number of rows that clause 4.3.3.1 does not allow.
    """
    expected = expected_rows(warehouses)
    rows = count_rows(query, expected)
    wrong = [
        f"{table} has {rows[table]:,} rows and not {expected[table]}"
        for table in expected
        if rows[table] not in expected[table]
    ]
    if wrong:
        raise TargetError(
            f"the load of {warehouses} warehouses is not whole: {'; '.join(wrong)}",
            advice="look for errors in the server's log; the next run loads anew",
        )
    return rows
