"""Charts as Superset has them: the form that a person fills in to make one.

The front end makes the query of a chart from it, see `queries`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from loadstone.spec.dashboards import Chart, Value

FormData = dict[str, Any]

VIZ_TYPES = {
    "big_number": "big_number_total",
    "bar": "echarts_timeseries_bar",
    "line": "echarts_timeseries_line",
    "pie": "pie",
    "table": "table",
}
"""Kind of a chart: its type of Superset's."""
NO_TIME = "No filter"


def of_chart(chart: Chart, dataset: int) -> FormData:
    """The form of a chart.

    Args:
        chart: Its content.
        dataset: Number of the dataset.
    """
    kind = VIZ_TYPES[chart.kind]
    return {
        "datasource": f"{dataset}__table",
        "viz_type": kind,
        "adhoc_filters": [chosen(column, value) for column, value in chart.filters],
        "row_limit": chart.rows,
        "time_range": NO_TIME,
        **_OWN[kind](chart),
    }


def chosen(column: str, value: Value | str) -> dict[str, Any]:
    """The condition that a column has one value."""
    return {
        "expressionType": "SIMPLE",
        "clause": "WHERE",
        "operator": "==",
        "operatorId": "EQUALS",
        "subject": column,
        "comparator": value,
    }


def measures(chart: Chart) -> list[str]:
    """The names of its measures, which are metrics of the dataset."""
    return [each.name for each in chart.measures]


def first_by_measure(chart: Chart) -> bool:
    """Whether the largest comes first, by a measure."""
    return chart.order_by in measures(chart)


# -- inside ------------------------------------------------------------------------------------
def _big_number(chart: Chart) -> FormData:
    return {"metric": measures(chart)[0]}


def _pie(chart: Chart) -> FormData:
    return {
        "groupby": list(chart.group_by),
        "metric": measures(chart)[0],
        "sort_by_metric": first_by_measure(chart),
    }


def _table(chart: Chart) -> FormData:
    return {
        "query_mode": "aggregate",
        "groupby": list(chart.group_by),
        "metrics": measures(chart),
        "all_columns": [],
        "percent_metrics": [],
        "order_desc": True,
        "timeseries_limit_metric": chart.order_by if first_by_measure(chart) else None,
    }


def _series(chart: Chart) -> FormData:
    return {
        "x_axis": chart.group_by[0],
        "groupby": list(chart.group_by[1:]),
        "metrics": measures(chart),
        "xAxisForceCategorical": True,
        "x_axis_sort": chart.order_by or chart.group_by[0],
        "x_axis_sort_asc": not first_by_measure(chart),
        "order_desc": True,
        "truncate_metric": True,
        "show_empty_columns": True,
    }


_OWN: Mapping[str, Callable[[Chart], FormData]] = {
    "big_number_total": _big_number,
    "pie": _pie,
    "table": _table,
    "echarts_timeseries_bar": _series,
    "echarts_timeseries_line": _series,
}
