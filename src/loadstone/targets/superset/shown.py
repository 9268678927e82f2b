"""What answers of Superset showed of charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loadstone.errors import TargetError
from loadstone.results.answers import KeptAnswer
from loadstone.spec.dashboards import Chart, Content, Value
from loadstone.targets.bi import Shown

Row = Mapping[str, Any]


def shown(content: Content, kept: KeptAnswer) -> Shown | None:
    """Reads an answer that the load has kept.

    Args:
        content: That was provisioned.
        kept: Of a request of `actions`.

    Returns:
        None if it is no answer of a chart.

    Raises:
        TargetError: If an answer of a chart has no rows that can be read.
    """
    slug, slash, name = kept.request.partition("/")
    chart = next((each for each in content.charts if each.name == name), None)
    if not slash or chart is None:
        return None
    try:
        result = kept.answer["result"][0]
        rows, conditions = result["data"], kept.body["queries"][0]["filters"]
        cached = result["is_cached"] is True
    except (KeyError, IndexError, TypeError) as error:
        raise TargetError(f"the answer of {slug}/{name} has no rows that can be read") from error
    return Shown(chart.name, _where(chart, conditions), _rows(chart, rows), cached)


def _where(chart: Chart, conditions: Sequence[Mapping[str, Any]]) -> dict[str, Value]:
    """What the person chose: every condition but the chart's own."""
    own = dict(chart.filters)
    found: dict[str, Value] = {}
    for each in conditions:
        value = each["val"][0] if each["op"] == "IN" else each["val"]
        if own.get(each["col"]) != value:
            found[each["col"]] = value
    return found


def _rows(chart: Chart, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """As they were asked for: lines of several series were turned into a column each."""
    names = [*chart.group_by, *(each.name for each in chart.measures)]
    if not _is_turned(chart):
        return [{name: row.get(name) for name in names} for row in rows]
    axis, series = chart.group_by
    measure = chart.measures[0].name
    return [
        {axis: row.get(axis), series: column, measure: value}
        for row in rows
        for column, value in row.items()
        if column != axis and value is not None
    ]


def _is_turned(chart: Chart) -> bool:
    return chart.kind in ("bar", "line") and len(chart.group_by) > 1
