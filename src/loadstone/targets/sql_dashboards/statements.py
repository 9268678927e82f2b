"""What people do at dashboards, as statements of a database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loadstone.spec.dashboards import LOG_IN, Chart, Content, Dashboard, Filter
from loadstone.spec.dashboards_sql import chart_sql, choices_sql
from loadstone.targets.bi import Actions

CONDITION = "mine"
"""Column of the file of accounts: the condition of the rows that a person may see."""
_MINE = f"${{{CONDITION}:sql}}"
_CHOICE = "dashboard"


def actions_of(content: Content) -> Actions:
    """The statements of each action.

    A dashboard opens with a query for each chart and one for what its filter offers. A filter asks
    all charts again. A drill asks one chart in its finer grouping, and back asks it as it was.
    """
    return Actions(
        form="statements",
        steps={
            LOG_IN: [_account()],
            "list": [_catalogue()],
            "open": [_each(content, lambda one: {"steps": _opened(content, one)}, draw=True)],
            "filter": [_each(content, lambda one: _filtered(content, one))],
            "drill": [_each(content, lambda one: _drilled(content, one))],
            "back": [_each(content, lambda one: {"steps": [_back(content, one)]})],
        },
    )


def _account() -> dict[str, Any]:
    sql = "SELECT region FROM accounts WHERE username = ${username}"
    return {"name": "account", "sql": sql, "rows": {"min": 1, "max": 1}}


def _catalogue() -> dict[str, Any]:
    sql = "SELECT slug, title, charts FROM dashboards ORDER BY title"
    return {"name": "dashboards", "sql": sql, "rows": {"min": 1}}


def _each(
    content: Content, alternative: Callable[[Dashboard], dict[str, Any]], *, draw: bool = False
) -> dict[str, Any]:
    """A step for the dashboard that a person has open, or draws."""
    return {
        "one_of": _CHOICE,
        "draw": draw,
        "of": [alternative(dashboard) for dashboard in content.dashboards],
    }


def _opened(content: Content, dashboard: Dashboard) -> list[dict[str, Any]]:
    choices = choices_sql(content.dataset, dashboard.filter, conditions=[_MINE])
    return [
        *(_chart(content, dashboard, chart) for chart in dashboard.charts),
        {"name": f"{dashboard.slug}/{dashboard.filter.column} choices", "sql": choices},
    ]


def _filtered(content: Content, dashboard: Dashboard) -> dict[str, Any]:
    chosen = dashboard.filter
    return {
        "pick": _pick(chosen),
        "steps": [_chart(content, dashboard, chart, chosen) for chart in dashboard.charts],
    }


def _drilled(content: Content, dashboard: Dashboard) -> dict[str, Any]:
    clicked = dashboard.drill.clicked
    return {
        "pick": _pick(clicked),
        "steps": [_chart(content, dashboard, dashboard.drilled, clicked)],
    }


def _back(content: Content, dashboard: Dashboard) -> dict[str, Any]:
    whole = next(each for each in dashboard.charts if each.name == dashboard.drill.chart)
    return _chart(content, dashboard, whole)


def _chart(
    content: Content, dashboard: Dashboard, chart: Chart, chosen: Filter | None = None
) -> dict[str, Any]:
    conditions = [_MINE]
    if chosen is not None:
        conditions.append(f"{chosen.column} = ${{{chosen.column}}}")
    sql = chart_sql(content.dataset, chart, conditions=conditions)
    return {
        "name": f"{dashboard.slug}/{chart.name}",
        "sql": sql,
        "rows": {"max": chart.rows if chart.group_by else 1},
    }


def _pick(chosen: Filter) -> dict[str, Any]:
    return {chosen.column: {"of": list(chosen.choices)}}
