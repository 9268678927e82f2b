"""The queries of charts and filters, in SQL that every engine understands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loadstone.spec.dashboards import Chart, Dataset, Filter, Value


def chart_sql(
    dataset: Dataset,
    chart: Chart,
    *,
    where: Mapping[str, Value] | None = None,
    conditions: Sequence[str] = (),
) -> str:
    """The query of a chart: its groups in their order, then its measures.

    Args:
        dataset: Over which it goes.
        chart: Of any dashboard, or a drilled one.
        where: Column of the dataset: the value that it has in all rows, besides the chart's own.
        conditions: Further ones, as SQL.
    """
    groups = ", ".join(chart.group_by)
    told = [*chart.group_by, *(f"{each.expression} AS {each.name}" for each in chart.measures)]
    sql = f"SELECT {', '.join(told)} {_rows(dataset, chart.filters, where or {}, conditions)}"
    if not groups:
        return sql
    return f"{sql} GROUP BY {groups} ORDER BY {_order(chart)} LIMIT {chart.rows}"


def choices_sql(dataset: Dataset, chosen_by: Filter, *, conditions: Sequence[str] = ()) -> str:
    """The query for what a filter offers: the values that its column has, in order.

    Args:
        dataset: Over which it goes.
        chosen_by: The filter.
        conditions: Of the rows that are looked at, as SQL.
    """
    column, rows = chosen_by.column, _rows(dataset, (), {}, conditions)
    return f"SELECT DISTINCT {column} {rows} ORDER BY {column}"


def literal(value: Value) -> str:
    """A value as SQL has it; a text in quotes."""
    if isinstance(value, int):
        return str(value)
    doubled = value.replace("'", "''")
    return f"'{doubled}'"


def _rows(
    dataset: Dataset,
    filters: Sequence[tuple[str, Value]],
    where: Mapping[str, Value],
    conditions: Sequence[str],
) -> str:
    fixed = [f"{column} = {literal(value)}" for column, value in (*filters, *where.items())]
    told = " AND ".join([*fixed, *conditions])
    rows = f"FROM ({dataset.sql}) {dataset.name}_dataset"
    return f"{rows} WHERE {told}" if told else rows


def _order(chart: Chart) -> str:
    """What comes first is by `order_by`; what is equal there, by the grouping."""
    measures = {each.name for each in chart.measures}
    first = f"{chart.order_by} DESC" if chart.order_by in measures else chart.order_by
    rest = [column for column in chart.group_by if column != chart.order_by]
    return ", ".join([*filter(None, [first]), *rest])
