"""Whether charts showed what is in the warehouse, to a person who may see it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from loadstone.errors import TargetError
from loadstone.results.answers import KeptAnswer
from loadstone.results.record import CheckResult
from loadstone.spec.dashboards import Chart, Content
from loadstone.spec.dashboards_sql import chart_sql
from loadstone.targets.bi import BiServer, Shown
from loadstone.targets.database import Database
from loadstone.workloads.checked import CheckSpec

VALUES = CheckSpec(
    "charts show the warehouse",
    "of a sample of the answers that the load got: every group and every measure of a chart is "
    "that of the same query on the warehouse, over the rows that this person may see and had "
    "chosen, without a row too many or too few, in the chart's order; numbers agree to 9 digits",
)
_DIGITS = 1e-9
_MOST_SAID = 3


@dataclass
class Findings:
    """What came out of answers that were looked at."""

    looked_at: int = 0
    charts: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    """Of each answer that is wrong: whose, of which chart, and what differs."""


class Expected:
    """The rows that charts must show, asked of the warehouse once for each question."""

    def __init__(self, warehouse: Database, content: Content) -> None:
        self._warehouse = warehouse
        self._content = content
        self._known: dict[str, list[dict[str, Any]]] = {}

    def rows(self, chart: Chart, shown: Shown, region: str) -> list[dict[str, Any]]:
        """By name, the groups and measures of each row, in the chart's order.

        Args:
            chart: Of the content.
            shown: What the person had chosen.
            region: The one that the person sees; empty: all.
        """
        dataset = self._content.dataset
        where = {**shown.where, **({dataset.restricted_by: region} if region else {})}
        sql = chart_sql(dataset, chart, where=where)
        if sql not in self._known:
            names = [*chart.group_by, *(each.name for each in chart.measures)]
            found = self._warehouse.query(sql)
            self._known[sql] = [dict(zip(names, row, strict=True)) for row in found]
        return self._known[sql]


def check_values(
    target: BiServer, content: Content, kept: Sequence[KeptAnswer], sample: int
) -> CheckResult:
    """The answers of a trial against the warehouse, which nobody has changed since.

    Args:
        target: Running, without load.
        content: That it was provisioned with.
        kept: Answers of its load, in the order in which they were drawn.
        sample: How many of them are looked at.
    """
    found = _examined(target, content, kept, sample)
    asked = f"{found.looked_at:,} answers of {len(found.charts)} charts"
    if not found.looked_at:
        return VALUES.of(passed=False, detail="no answer of a chart was kept")
    detail = asked
    if found.wrong:
        said = "; ".join(found.wrong[:_MOST_SAID])
        detail = f"{len(found.wrong):,} of {asked} are wrong: {said}"
    return VALUES.of(passed=not found.wrong, detail=detail)


def _examined(
    target: BiServer, content: Content, kept: Iterable[KeptAnswer], sample: int
) -> Findings:
    charts = {each.name: each for each in content.charts}
    regions = {each.name: each.region for each in content.accounts}
    expected = Expected(target.warehouse(), content)
    found = Findings()
    for answer in kept:
        if found.looked_at == sample:
            break
        if answer.is_too_long:
            continue
        try:
            shown = target.shown(content, answer)
        except TargetError as error:
            found.looked_at += 1
            found.wrong.append(f"{answer.request} of {answer.username}: {error.message}")
            continue
        if shown is None:
            continue
        found.looked_at += 1
        found.charts.add(shown.chart)
        chart = charts[shown.chart]
        rows = expected.rows(chart, shown, regions[answer.username])
        if fault := difference(chart, shown.rows, rows):
            found.wrong.append(f"{shown.chart} of {answer.username}: {fault}")
    return found


def difference(
    chart: Chart, shown: Sequence[Mapping[str, Any]], expected: Sequence[Mapping[str, Any]]
) -> str:
    """In what the rows of an answer differ from those that it must have; empty: in nothing.

    Rows with equal values of what orders the chart may come in any order among themselves.
    """
    if len(shown) != len(expected):
        return f"it has {len(shown):,} rows, and {len(expected):,} are right"
    wanted = {_group(chart, row): row for row in expected}
    for row in shown:
        group = _group(chart, row)
        if group not in wanted:
            return f"it has a row of {_told(group)}, which does not belong there"
        for name in (each.name for each in chart.measures):
            value, right = row.get(name), wanted[group][name]
            if not _equal(value, right):
                return f"{name}{_of(group)} is {value}, and {right} is right"
    if len({_group(chart, row) for row in shown}) != len(shown):
        return "it has a row twice"
    return _disorder(chart, shown, expected)


def _disorder(
    chart: Chart, shown: Sequence[Mapping[str, Any]], expected: Sequence[Mapping[str, Any]]
) -> str:
    if not chart.order_by:
        return ""
    for place, (row, right) in enumerate(zip(shown, expected, strict=True), 1):
        if not _equal(row.get(chart.order_by), right[chart.order_by]):
            return f"row {place} is {_told(_group(chart, row))}: it is not in its order"
    return ""


def _group(chart: Chart, row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row.get(column)) for column in chart.group_by)


def _told(group: tuple[str, ...]) -> str:
    return ", ".join(group) or "the whole"


def _of(group: tuple[str, ...]) -> str:
    return f" of {_told(group)}" if group else ""


def _equal(one: Any, other: Any) -> bool:
    """Numbers agree to some digits, however they are written; nothing agrees with nothing only."""
    if one is None or other is None:
        return one is other
    try:
        return math.isclose(float(Decimal(str(one))), float(Decimal(str(other))), rel_tol=_DIGITS)
    except ArithmeticError:
        return str(one) == str(other)
