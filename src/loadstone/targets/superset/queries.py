"""What the front end of Superset 6.1 asks for a chart: the body of a POST to `chart/data`.

Its plug-ins make a query of a chart's form. What is here was recorded from a browser, for the five
kinds of charts that Loadstone provisions; a test holds it against a browser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadstone.spec.dashboards import Chart, Dashboard, Filter
from loadstone.targets.superset import form_data
from loadstone.targets.superset.form_data import VIZ_TYPES, FormData, first_by_measure, measures

Condition = tuple[str, str, Any]
"""Column, operator, and the value or values: a template of a scenario may stand for one."""


def chosen(by: Filter, value: Any) -> Condition:
    """What the filter of a dashboard adds to each query: its column is one of the values."""
    return by.column, "IN", [value]


@dataclass(frozen=True)
class Place:
    """Where a chart stands, by the numbers that Superset gave."""

    dataset: int
    dashboard: int
    chart: int = 0


def of_chart(chart: Chart, at: Place, more: Sequence[Condition] = ()) -> dict[str, Any]:
    """The body for a chart of a dashboard.

    Args:
        chart: Its content.
        at: Where it stands.
        more: What the dashboard's filter adds.
    """
    return _body(chart, _form(chart, at, more), at, more)


def of_drill(chart: Chart, at: Place, clicked: Condition | None) -> dict[str, Any]:
    """The body for a chart in the window of a drill: as such it is none that was saved.

    Args:
        chart: With the grouping that the window shows.
        at: Where the chart stands that is drilled into.
        clicked: The value; None: the chart as a whole, to which one comes back.
    """
    form = _form(chart, at, ()) | {"slice_id": 0}
    body = _body(chart, form, at, ())
    if clicked is not None:
        column, _, value = clicked
        form["adhoc_filters"] = [*form["adhoc_filters"], form_data.chosen(column, value)]
        body["queries"][0]["filters"] += _conditions([clicked])
    return body


def of_choices(dashboard: Dashboard, filter_id: str, at: Place) -> dict[str, Any]:
    """The body for what the filter of a dashboard offers.

    Args:
        dashboard: Whose filter it is.
        filter_id: What it is called there.
        at: Dataset and dashboard.
    """
    column = dashboard.filter.column
    form = {
        "multiSelect": True,
        "enableEmptyFilter": False,
        "defaultToFirstItem": False,
        "inverseSelection": False,
        "searchAllOptions": False,
        "datasource": f"{at.dataset}__table",
        "groupby": [column],
        "adhoc_filters": [],
        "extra_filters": [],
        "extra_form_data": {},
        "metrics": ["count"],
        "row_limit": 1000,
        "showSearch": True,
        "url_params": {},
        "inView": True,
        "viz_type": "filter_select",
        "type": "NATIVE_FILTER",
        "dashboardId": at.dashboard,
        "native_filter_id": filter_id,
        **_ASKED,
    }
    query = {**_query([], [column], [], 1000), "orderby": [[column, True]]}
    return _enveloped(query, form, at)


# -- inside ------------------------------------------------------------------------------------
_ASKED: Mapping[str, Any] = {"force": False, "result_format": "json", "result_type": "full"}


def _form(chart: Chart, at: Place, more: Sequence[Condition]) -> FormData:
    return {
        **form_data.of_chart(chart, at.dataset),
        "slice_id": at.chart,
        "chart_id": at.chart,
        "dashboardId": at.dashboard,
        "url_params": {},
        "extra_filters": [],
        "extra_form_data": {"filters": _conditions(more)} if more else {},
        **_ASKED,
    }


def _body(chart: Chart, form: FormData, at: Place, more: Sequence[Condition]) -> dict[str, Any]:
    own = [(column, "==", value) for column, value in chart.filters]
    kind = VIZ_TYPES[chart.kind]
    columns, metrics = _COLUMNS[kind](chart), measures(chart)
    query = {
        "time_range": form_data.NO_TIME,
        **_query([*more, *own], columns, metrics, chart.rows),
        **_FURTHER[kind](chart),
    }
    return _enveloped(query, form, at)


def _enveloped(query: Mapping[str, Any], form: FormData, at: Place) -> dict[str, Any]:
    return {
        "datasource": {"id": at.dataset, "type": "table"},
        "force": False,
        "queries": [dict(query)],
        "form_data": form,
        "result_format": "json",
        "result_type": "full",
    }


def _query(
    conditions: Sequence[Condition], columns: Sequence[Any], metrics: Sequence[str], rows: int
) -> dict[str, Any]:
    return {
        "filters": _conditions(conditions),
        "extras": {"having": "", "where": ""},
        "applied_time_extras": {},
        "columns": list(columns),
        "metrics": list(metrics),
        "annotation_layers": [],
        "row_limit": rows,
        "series_limit": 0,
        "group_others_when_limit_reached": False,
        "order_desc": True,
        "url_params": {},
        "custom_params": {},
        "custom_form_data": {},
    }


def _conditions(conditions: Sequence[Condition]) -> list[dict[str, Any]]:
    return [{"col": column, "op": operator, "val": val} for column, operator, val in conditions]


# -- the columns of each kind ------------------------------------------------------------------
def _plain(chart: Chart) -> list[Any]:
    return list(chart.group_by)


def _along_axis(chart: Chart) -> list[Any]:
    """The first is an expression of its own kind: the axis."""
    axis = chart.group_by[0]
    base = {
        "columnType": "BASE_AXIS",
        "sqlExpression": axis,
        "label": axis,
        "expressionType": "SQL",
        "isColumnReference": True,
    }
    return [base, *chart.group_by[1:]]


_COLUMNS: Mapping[str, Callable[[Chart], list[Any]]] = {
    "big_number_total": _plain,
    "pie": _plain,
    "table": _plain,
    "echarts_timeseries_bar": _along_axis,
    "echarts_timeseries_line": _along_axis,
}


# -- what else each kind asks for --------------------------------------------------------------
def _largest_first(chart: Chart) -> dict[str, Any]:
    return {"orderby": [[measures(chart)[0], False]]}


def _of_number(_: Chart) -> dict[str, Any]:
    return {}


def _of_pie(chart: Chart) -> dict[str, Any]:
    """Shares of the whole are added on the server."""
    measure = measures(chart)[0]
    shares = {"columns": [measure], "rename_columns": [f"{measure}__contribution"]}
    ordered = _largest_first(chart) if first_by_measure(chart) else {}
    return {**ordered, "post_processing": [{"operation": "contribution", "options": shares}]}


def _of_table(chart: Chart) -> dict[str, Any]:
    by = chart.order_by if first_by_measure(chart) else measures(chart)[0]
    sorted_by = {"series_limit_metric": by} if first_by_measure(chart) else {}
    return {"orderby": [[by, False]], **sorted_by, "post_processing": [], "time_offsets": []}


def _of_series(chart: Chart) -> dict[str, Any]:
    """Rows become a table of the axis by the series, as the chart draws them."""
    axis, series, metrics = chart.group_by[0], list(chart.group_by[1:]), measures(chart)
    pivot = {
        "index": [axis],
        "columns": series,
        "aggregates": {metric: {"operator": "mean"} for metric in metrics},
        "drop_missing_columns": False,
    }
    steps: list[dict[str, Any]] = [{"operation": "pivot", "options": pivot}]
    if series and len(metrics) == 1:
        names = {"columns": {metrics[0]: None}, "level": 0, "inplace": True}
        steps.append({"operation": "rename", "options": names})
    if not series:
        steps.append({"operation": "sort", "options": _order(chart)})
    return {
        **_largest_first(chart),
        "series_columns": series,
        "time_offsets": [],
        "post_processing": [*steps, {"operation": "flatten"}],
    }


def _order(chart: Chart) -> dict[str, Any]:
    if first_by_measure(chart):
        return {"by": chart.order_by, "ascending": False}
    return {"is_sort_index": True, "ascending": True}


_FURTHER: Mapping[str, Callable[[Chart], dict[str, Any]]] = {
    "big_number_total": _of_number,
    "pie": _of_pie,
    "table": _of_table,
    "echarts_timeseries_bar": _of_series,
    "echarts_timeseries_line": _of_series,
}
