"""The content of a BI server: a star schema's dataset, charts, dashboards, and who may see what.

It names no engine and no BI server. Each target makes of it what it calls by these words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

ACTIONS = ("list", "open", "filter", "drill", "back")
"""What people do between log-in and log-out, as it is called in figures."""
LOG_IN, LOG_OUT = "log-in", "log-out"

ColumnKind = Literal["text", "integer", "decimal"]
ChartKind = Literal["big_number", "bar", "line", "table", "pie"]
Value = str | int
"""Of a column by which rows are chosen."""


@dataclass(frozen=True)
class Measure:
    """A figure that charts show."""

    name: str
    """Of its column in an answer."""
    expression: str
    """Portable SQL over the dataset's columns: `SUM(revenue)`."""


@dataclass(frozen=True)
class Filter:
    """A column by which people choose rows, and the values among which they choose."""

    column: str
    choices: tuple[Value, ...]


@dataclass(frozen=True)
class Chart:
    """A query and how its answer is drawn."""

    name: str
    """One word with dashes; no other chart of any dashboard has it."""
    title: str
    kind: ChartKind
    measures: tuple[Measure, ...]
    group_by: tuple[str, ...] = ()
    """Columns of the dataset, in the order of the answer's columns."""
    filters: tuple[tuple[str, Value], ...] = ()
    """Column and the value that it has in all rows: the chart's own, whatever people choose."""
    order_by: str = ""
    """A measure: its largest first. A column: ascending. Empty: by the grouping. What is equal is
    in the order of the grouping."""
    rows: int = 1000
    """The most rows of its answer."""


@dataclass(frozen=True)
class Drill:
    """A finer look at one chart: a person clicks at a value and sees what it is made of."""

    chart: str
    """Name of the chart."""
    group_by: tuple[str, ...]
    """Columns by which the rows of the clicked value are grouped."""
    clicked: Filter
    """The column of the chart at whose values people click."""


@dataclass(frozen=True)
class Dashboard:
    """Charts on one page, with a filter that all of them follow."""

    slug: str
    title: str
    charts: tuple[Chart, ...]
    filter: Filter
    drill: Drill

    @property
    def drilled(self) -> Chart:
        """The chart of the drill, by its finer grouping."""
        chart = next(each for each in self.charts if each.name == self.drill.chart)
        return replace(
            chart,
            name=f"{chart.name}-drilled",
            title=f"{chart.title}, in detail",
            kind="table",
            group_by=self.drill.group_by,
        )


@dataclass(frozen=True)
class Dataset:
    """A virtual dataset: the tables of the star joined, under names for people."""

    name: str
    columns: Mapping[str, ColumnKind]
    sql: str
    """Portable SELECT over the tables of the star, with these columns in this order."""
    restricted_by: str
    """Column of the region: who may see one region alone sees the rows that have it here."""


@dataclass(frozen=True)
class Account:
    """A person who may log in."""

    name: str
    region: str
    """The region whose rows the person sees; empty: all rows."""


@dataclass(frozen=True)
class Content:
    """All that a BI server is provisioned with."""

    dataset: Dataset
    dashboards: tuple[Dashboard, ...]
    regions: tuple[str, ...]
    accounts: tuple[Account, ...] = field(repr=False)

    @property
    def charts(self) -> Iterator[Chart]:
        """Those of all dashboards, and the drilled ones after them."""
        for dashboard in self.dashboards:
            yield from dashboard.charts
        for dashboard in self.dashboards:
            yield dashboard.drilled

    @cached_property
    def digest(self) -> str:
        """Equal for equal content; 12 letters."""
        told = json.dumps(asdict(self), sort_keys=True, default=_plain)
        return hashlib.sha256(told.encode()).hexdigest()[:12]


def _plain(value: Any) -> Any:
    return dict(value)


def accounts_of(number: int, regions: tuple[str, ...]) -> tuple[Account, ...]:
    """So many accounts: one of six sees all rows, the others one region each, in turn.

    Args:
        number: Of accounts, from 1 on.
        regions: That there are.
    """
    seen = ("", *regions)
    return tuple(Account(f"user{place + 1:06}", seen[place % len(seen)]) for place in range(number))


# -- what Loadstone provisions -----------------------------------------------------------------
REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")

REVENUE = Measure("revenue", "SUM(revenue)")
QUANTITY = Measure("quantity", "SUM(quantity)")
ORDERS = Measure("orders", "COUNT(DISTINCT order_id)")
LINES = Measure("order_lines", "COUNT(*)")

SALES = Dataset(
    name="sales",
    columns={
        "order_id": "integer",
        "ship_mode": "text",
        "priority": "text",
        "quantity": "decimal",
        "revenue": "decimal",
        "order_year": "integer",
        "order_month": "text",
        "region": "text",
        "nation": "text",
        "segment": "text",
        "customer": "text",
        "maker": "text",
        "brand": "text",
        "part_type": "text",
        "container": "text",
        "supplier_region": "text",
        "supplier_nation": "text",
    },
    sql=(
        "SELECT s.order_id AS order_id, s.ship_mode AS ship_mode, s.priority AS priority, "
        "s.quantity AS quantity, s.revenue AS revenue, d.order_year AS order_year, "
        "d.order_month AS order_month, c.region AS region, c.nation AS nation, "
        "c.segment AS segment, c.customer AS customer, p.maker AS maker, p.brand AS brand, "
        "p.part_type AS part_type, p.container AS container, u.region AS supplier_region, "
        "u.nation AS supplier_nation "
        "FROM sales s "
        "JOIN calendar d ON d.date_id = s.date_id "
        "JOIN customers c ON c.customer_id = s.customer_id "
        "JOIN parts p ON p.part_id = s.part_id "
        "JOIN suppliers u ON u.supplier_id = s.supplier_id"
    ),
    restricted_by="region",
)

_YEARS = Filter("order_year", tuple(range(1992, 1999)))
_MAKERS = Filter("maker", tuple(f"Manufacturer#{number}" for number in range(1, 6)))
_SEGMENTS = Filter("segment", ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"))
_SUPPLIER_REGIONS = Filter("supplier_region", REGIONS)


def _total(name: str, title: str, measure: Measure) -> Chart:
    return Chart(name, title, "big_number", (measure,))


_BY_REGION = Dashboard(
    slug="sales-by-region",
    title="Sales by region",
    charts=(
        _total("region-revenue", "Revenue", REVENUE),
        _total("region-orders", "Orders", ORDERS),
        Chart(
            "region-nations",
            "Revenue by nation",
            "bar",
            (REVENUE,),
            group_by=("nation",),
            order_by="revenue",
        ),
        Chart(
            "region-months",
            "Revenue by month",
            "line",
            (REVENUE,),
            group_by=("order_month",),
            order_by="order_month",
        ),
        Chart(
            "region-suppliers",
            "Revenue by region of the supplier",
            "pie",
            (REVENUE,),
            group_by=("supplier_region",),
            order_by="revenue",
        ),
        Chart(
            "region-segments",
            "Nations and segments",
            "table",
            (REVENUE, QUANTITY, LINES),
            group_by=("nation", "segment"),
            order_by="revenue",
            rows=50,
        ),
    ),
    filter=_YEARS,
    drill=Drill("region-suppliers", ("supplier_nation",), _SUPPLIER_REGIONS),
)

_PRODUCTS = Dashboard(
    slug="products",
    title="Products",
    charts=(
        _total("product-quantity", "Pieces sold", QUANTITY),
        _total("product-lines", "Order lines", LINES),
        Chart(
            "product-makers",
            "Revenue by maker",
            "pie",
            (REVENUE,),
            group_by=("maker",),
            order_by="revenue",
        ),
        Chart(
            "product-brands",
            "Revenue by brand",
            "bar",
            (REVENUE, QUANTITY),
            group_by=("brand",),
            order_by="revenue",
        ),
        Chart(
            "product-types",
            "The largest part types",
            "table",
            (REVENUE, QUANTITY, LINES),
            group_by=("part_type",),
            order_by="revenue",
            rows=25,
        ),
        Chart(
            "product-years",
            "Quantity by year and maker",
            "line",
            (QUANTITY,),
            group_by=("order_year", "maker"),
            order_by="order_year",
        ),
    ),
    filter=_SEGMENTS,
    drill=Drill("product-makers", ("part_type",), _MAKERS),
)

_CUSTOMERS = Dashboard(
    slug="customers",
    title="Customers",
    charts=(
        _total("customer-revenue", "Revenue", REVENUE),
        _total("customer-lines", "Order lines", LINES),
        Chart(
            "customer-segments",
            "Revenue by segment",
            "pie",
            (REVENUE,),
            group_by=("segment",),
            order_by="revenue",
        ),
        Chart(
            "customer-ranking",
            "The largest customers",
            "table",
            (REVENUE, LINES),
            group_by=("customer",),
            order_by="revenue",
            rows=25,
        ),
        Chart(
            "customer-shipping",
            "Ways of shipping, urgent orders",
            "bar",
            (LINES,),
            group_by=("ship_mode",),
            filters=(("priority", "1-URGENT"),),
            order_by="ship_mode",
        ),
        Chart(
            "customer-years",
            "Revenue by year and segment",
            "line",
            (REVENUE,),
            group_by=("order_year", "segment"),
            order_by="order_year",
        ),
    ),
    filter=_MAKERS,
    drill=Drill("customer-segments", ("nation",), _SEGMENTS),
)

DASHBOARDS = (_BY_REGION, _PRODUCTS, _CUSTOMERS)


def default_content(accounts: int) -> Content:
    """The content that Loadstone provisions, with so many accounts."""
    return Content(SALES, DASHBOARDS, REGIONS, accounts_of(accounts, REGIONS))
