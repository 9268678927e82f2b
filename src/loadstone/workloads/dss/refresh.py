"""The rows of the refresh functions: new orders with their line items, and orders to delete.

Clause 2.5.2: each pair of refreshes inserts `SF * 1500` orders of one to seven line items, and
deletes as many. As in dbgen, order keys leave gaps: of every 32 the first eight are used at first.
A pair inserts keys that lie in the gaps, and deletes orders that the load made; no order is
inserted or deleted twice.

What is inserted are orders of the load, drawn by seed, with new keys: every distribution is the
load's, and each total agrees with its line items. The rows lie in tables of their own
(`refresh_orders`, `refresh_lineitem`, `refresh_delete`) before a run begins, so that both functions
are the same statements on every engine.
"""

from __future__ import annotations

from loadstone.targets.dialect import Dialect
from loadstone.targets.schema import Column, ColumnType, Table
from loadstone.workloads.dss.tables import LINEITEM, ORDERS

ORDERS_AT_1 = 1500
"""Orders of a pair at scale 1."""
INSERT, DELETE = "rf1", "rf2"
"""Names of the two functions among the operations."""

_PAIR = Column("pair", ColumnType("integer"))


def _staged(table: Table) -> Table:
    return Table(f"refresh_{table.name}", (_PAIR, *table.columns))


STAGED = (
    _staged(ORDERS),
    _staged(LINEITEM),
    Table(
        "refresh_delete",
        (
            _PAIR,
            ORDERS.columns[0],
            Column("o_sum", ColumnType("bigint")),
            Column("l_lines", ColumnType("integer")),
            Column("l_sum", ColumnType("bigint")),
        ),
    ),
)
"""Of an order that is deleted: `sums.summed` of its row, how many line items it has, and theirs."""


def orders_of(scale: float) -> int:
    """Orders that a pair inserts, and that it deletes; at least one."""
    return max(1, int(ORDERS_AT_1 * scale))


def loaded_key(number: int) -> int:
    """The key of an order of the load.

    Args:
        number: Of the order, from 1.
    """
    return number >> 3 << 5 | number & 7


def new_key(number: int) -> int:
    """A key in the gap behind that of an order of the load.

    Args:
        number: Of the order, from 1.
    """
    return loaded_key(number) + 8


def statements(function: str, pair: int, dialect: Dialect) -> tuple[str, ...]:
    """What a refresh function does, in one transaction where the engine has any.

    Args:
        function: `rf1` or `rf2`.
        pair: From 1.
        dialect: The engine's SQL.
    """
    if function == INSERT:
        return tuple(_insert(table, pair) for table in (ORDERS, LINEITEM))
    keys = ("refresh_delete.o_orderkey", f"refresh_delete WHERE pair = {pair}")
    return (
        dialect.delete_listed("lineitem", "l_orderkey", *keys),
        dialect.delete_listed("orders", "orders.o_orderkey", *keys),
    )


def _insert(table: Table, pair: int) -> str:
    columns = ", ".join(column.name for column in table.columns)
    return (
        f"INSERT INTO {table.name} ({columns}) "
        f"SELECT {columns} FROM refresh_{table.name} WHERE pair = {pair}"
    )
