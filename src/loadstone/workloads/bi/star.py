"""The star schema: order lines as facts, with calendar, customers, parts and suppliers around."""

from __future__ import annotations

from loadstone.targets.dialect import Dialect
from loadstone.targets.schema import Column, ColumnType, ForeignKey, Table
from loadstone.workloads.dss.sums import row_sum
from loadstone.workloads.dss.tables import Indexes, keyed

_INTEGER, _BIGINT = ColumnType("integer"), ColumnType("bigint")
_PIECES, _MONEY = ColumnType("decimal", 15, 2), ColumnType("decimal", 18, 4)


def _text(size: int) -> ColumnType:
    return ColumnType("varchar", size)


def _columns(**types: ColumnType) -> tuple[Column, ...]:
    return tuple(Column(name, kind) for name, kind in types.items())


def _to(table: str, column: str) -> ForeignKey:
    return ForeignKey(f"sales_{column}_fk", (column,), table, (column,))


CALENDAR = Table(
    "calendar",
    _columns(date_id=_INTEGER, order_year=_INTEGER, order_month=_text(7)),
    ("date_id",),
)
CUSTOMERS = Table(
    "customers",
    _columns(
        customer_id=_INTEGER,
        customer=_text(25),
        nation=_text(25),
        region=_text(25),
        segment=_text(10),
    ),
    ("customer_id",),
)
PARTS = Table(
    "parts",
    _columns(
        part_id=_INTEGER,
        maker=_text(25),
        brand=_text(10),
        part_type=_text(25),
        container=_text(10),
        part_size=_INTEGER,
    ),
    ("part_id",),
)
SUPPLIERS = Table(
    "suppliers",
    _columns(supplier_id=_INTEGER, supplier=_text(25), nation=_text(25), region=_text(25)),
    ("supplier_id",),
)
SALES = Table(
    "sales",
    _columns(
        order_id=_BIGINT,
        line_number=_INTEGER,
        date_id=_INTEGER,
        customer_id=_INTEGER,
        part_id=_INTEGER,
        supplier_id=_INTEGER,
        ship_mode=_text(10),
        priority=_text(15),
        quantity=_PIECES,
        revenue=_MONEY,
    ),
    ("order_id", "line_number"),
    (
        _to("calendar", "date_id"),
        _to("customers", "customer_id"),
        _to("parts", "part_id"),
        _to("suppliers", "supplier_id"),
    ),
)
STAR = (CALENDAR, CUSTOMERS, PARTS, SUPPLIERS, SALES)
"""In the order of their references."""

QUERIES = {
    "calendar": "SELECT CAST(strftime(d, '%Y%m%d') AS integer) AS date_id, "
    "CAST(year(d) AS integer) AS order_year, strftime(d, '%Y-%m') AS order_month "
    "FROM (SELECT unnest(generate_series(min(o_orderdate), max(o_orderdate), INTERVAL 1 DAY)) "
    "AS d FROM orders) ORDER BY date_id",
    "customers": "SELECT c_custkey AS customer_id, c_name AS customer, n_name AS nation, "
    "r_name AS region, c_mktsegment AS segment FROM customer "
    "JOIN nation ON n_nationkey = c_nationkey JOIN region ON r_regionkey = n_regionkey "
    "ORDER BY customer_id",
    "parts": "SELECT p_partkey AS part_id, p_mfgr AS maker, p_brand AS brand, "
    "p_type AS part_type, p_container AS container, p_size AS part_size FROM part "
    "ORDER BY part_id",
    "suppliers": "SELECT s_suppkey AS supplier_id, s_name AS supplier, n_name AS nation, "
    "r_name AS region FROM supplier JOIN nation ON n_nationkey = s_nationkey "
    "JOIN region ON r_regionkey = n_regionkey ORDER BY supplier_id",
    "sales": "SELECT l_orderkey AS order_id, l_linenumber AS line_number, "
    "CAST(strftime(o_orderdate, '%Y%m%d') AS integer) AS date_id, o_custkey AS customer_id, "
    "l_partkey AS part_id, l_suppkey AS supplier_id, l_shipmode AS ship_mode, "
    "o_orderpriority AS priority, l_quantity AS quantity, "
    "CAST(l_extendedprice * (1 - l_discount) AS decimal(18, 4)) AS revenue "
    "FROM lineitem JOIN orders ON o_orderkey = l_orderkey ORDER BY order_id, line_number",
}
"""Table: what DuckDB makes it of, from the eight tables of `dss`."""


def star(indexes: Indexes) -> list[Table]:
    """The tables with as many keys and indexes."""
    return [keyed(table, indexes) for table in STAR]


def summed(dialect: Dialect) -> dict[str, str]:
    """Table: an integer expression over a row, of all its numbers.

    Texts have no part in it: what they are, the answers of all charts tell.
    """
    return {table.name: row_sum(table, dialect) for table in STAR}
