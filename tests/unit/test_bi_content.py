"""The content of a BI server, and the queries of its charts, answered by DuckDB."""

from __future__ import annotations

from collections import Counter

import duckdb
import pytest

from loadstone.spec.dashboards import (
    DASHBOARDS,
    REGIONS,
    SALES,
    Account,
    Chart,
    Measure,
    default_content,
)
from loadstone.spec.dashboards_sql import chart_sql, choices_sql, literal

_ROWS = """
SELECT * FROM (VALUES
  (1, 'AIR', '1-URGENT', 2.00, 10.5000, 1992, '1992-01', 'ASIA', 'CHINA'),
  (1, 'SHIP', '1-URGENT', 3.00, 20.2500, 1992, '1992-01', 'ASIA', 'JAPAN'),
  (2, 'AIR', '5-LOW', 1.00, 5.0000, 1993, '1993-07', 'EUROPE', 'FRANCE'),
  (3, 'AIR', '5-LOW', 4.00, 20.2500, 1993, '1993-08', 'EUROPE', 'ROMANIA')
) t(order_id, ship_mode, priority, quantity, revenue, order_year, order_month, region, nation)
"""
_SMALL = type(SALES)("sales", SALES.columns, _ROWS, "region")
_REVENUE = Measure("revenue", "SUM(revenue)")


def _asked(sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        return connection.execute(sql).fetchall()


def _chart(*group_by: str, order_by: str = "", rows: int = 100, **more: object) -> Chart:
    return Chart("c", "C", "table", (_REVENUE,), group_by, order_by=order_by, rows=rows, **more)  # type: ignore[arg-type]


def test_each_dashboard_has_six_charts_a_filter_and_a_drill() -> None:
    content = default_content(10)
    assert len(content.dashboards) == 3
    names = Counter(chart.name for chart in content.charts)
    assert set(names.values()) == {1}
    for dashboard in content.dashboards:
        assert len(dashboard.charts) == 6
        assert dashboard.drilled.name == f"{dashboard.drill.chart}-drilled"
        assert dashboard.drill.clicked.column in next(
            chart.group_by for chart in dashboard.charts if chart.name == dashboard.drill.chart
        )


def test_every_column_that_charts_use_is_one_of_the_dataset() -> None:
    for chart in default_content(1).charts:
        assert set(chart.group_by) <= set(SALES.columns)
        assert {column for column, _ in chart.filters} <= set(SALES.columns)
        ordered = {*chart.group_by, *(measure.name for measure in chart.measures), ""}
        assert chart.order_by in ordered
    for dashboard in DASHBOARDS:
        assert dashboard.filter.column in SALES.columns


def test_one_of_six_accounts_sees_all_and_the_others_share_the_regions() -> None:
    accounts = default_content(12).accounts
    assert Counter(account.region for account in accounts) == dict.fromkeys(("", *REGIONS), 2)
    assert accounts[0] == Account("user000001", "")
    assert len({account.name for account in accounts}) == 12


def test_equal_content_has_one_digest_and_another_number_of_accounts_has_another() -> None:
    assert default_content(7).digest == default_content(7).digest
    assert default_content(7).digest != default_content(8).digest


def test_a_chart_groups_and_orders_with_the_largest_first_and_ties_by_group() -> None:
    rows = _asked(chart_sql(_SMALL, _chart("nation", order_by="revenue")))
    assert [str(name) for name, _ in rows] == ["JAPAN", "ROMANIA", "CHINA", "FRANCE"]


def test_a_chart_by_a_column_is_ascending_and_has_no_more_rows_than_it_may() -> None:
    rows = _asked(chart_sql(_SMALL, _chart("order_month", order_by="order_month", rows=2)))
    assert [name for name, _ in rows] == ["1992-01", "1993-07"]


def test_a_chart_without_groups_is_one_figure() -> None:
    ((revenue,),) = _asked(chart_sql(_SMALL, _chart()))
    assert float(str(revenue)) == 56.0


@pytest.mark.parametrize(
    ("where", "revenue"),
    [
        ({"region": "ASIA"}, 30.75),
        ({"order_year": 1993}, 25.25),
        ({"region": "EUROPE", "order_year": 1992}, None),
    ],
)
def test_what_is_chosen_restricts_the_rows(
    where: dict[str, str | int], revenue: float | None
) -> None:
    ((found,),) = _asked(chart_sql(_SMALL, _chart(), where=where))
    assert (None if found is None else float(str(found))) == revenue


def test_a_filter_of_the_chart_and_a_condition_hold_besides() -> None:
    chart = _chart("ship_mode", order_by="ship_mode", filters=(("priority", "1-URGENT"),))
    rows = _asked(chart_sql(_SMALL, chart, where={"region": "ASIA"}, conditions=["quantity > 2"]))
    assert [name for name, _ in rows] == ["SHIP"]


def test_a_filter_offers_the_values_that_a_person_may_see_in_order() -> None:
    offered = choices_sql(_SMALL, DASHBOARDS[0].filter, conditions=["region = 'EUROPE'"])
    assert _asked(offered) == [(1993,)]


def test_a_quote_in_a_value_is_doubled_and_a_number_has_none() -> None:
    assert literal("it's") == "'it''s'"
    assert literal(1995) == "1995"
