"""Placements by themselves beside the system on them, on a terminal."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from loadstone.report.headline import figure_of
from loadstone.report.model.baselines import (
    BaselineReport,
    PlacementReport,
    RankedDatabase,
    RankedTest,
)
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.variants import MetricInfo
from loadstone.report.terminal_wide import WideColumn, WidePart, WideTables
from loadstone.report.text import number, p_value


def baseline_tables(document: ReportDocument) -> list[RenderableType]:
    """Figures of each placement, then how well each test's ranks agree with a system's."""
    report = document.baseline
    if report is None:
        return []
    parts: list[RenderableType] = [
        Text(""),
        Text("Baseline and database: medians, and ranks", style="bold"),
        Text(f"each placement itself: {report.about}", style="dim"),
        _figures(document, report),
    ]
    for system in report.databases:
        parts.append(Text(f"\n{system.text}"))
        if system.tests:
            parts.append(_agreements(report, system))
    return parts


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")


def _figures(document: ReportDocument, report: BaselineReport) -> WideTables:
    """A line for each placement: the systems, then the tests; each with its rank."""
    unit = next((each.unit for each in document.metrics if each.name == report.metric), "")
    up = _goes_up(document, report.metric)
    columns = [
        _column(report, system.name or unit, _of_system(document, report, system), up)
        for system in report.databases
    ]
    for test in report.tests:
        own, heading = _of_test(report, test), f"{test.label}, {test.unit}"
        columns.append(_column(report, heading, own, test.higher_is_better is not False))
    places = report.placements
    missing = {row: each.missing for row, each in enumerate(places) if each.missing}
    return WideTables(
        [each.placement for each in places], [WidePart("", columns)], missing, "placement"
    )


def _column(
    report: BaselineReport, heading: str, figures: dict[str, float], higher_is_better: bool
) -> WideColumn:
    ranks = _ranks(figures, higher_is_better)
    return WideColumn(heading, [_cell(place, figures, ranks) for place in report.placements])


def _goes_up(document: ReportDocument, metric: str) -> bool:
    infos = (each for each in document.metrics if each.name == metric)
    return next((each.higher_is_better is not False for each in infos), True)


def _of_system(
    document: ReportDocument, report: BaselineReport, system: RankedDatabase
) -> dict[str, float]:
    known = {variant.name: variant for variant in document.variants}
    found = {
        placement: figure_of(known[name], report.metric)
        for placement, name in system.variants.items()
        if name in known
    }
    return {placement: each.median for placement, each in found.items() if each is not None}


def _of_test(report: BaselineReport, test: MetricInfo) -> dict[str, float]:
    return {
        place.placement: figure.median
        for place in report.placements
        for figure in place.figures
        if figure.metric == test.name
    }


def _ranks(column: dict[str, float], higher_is_better: bool) -> dict[str, int]:
    """The best has rank 1; equal ones share the better rank."""
    ordered = sorted(column.values(), reverse=higher_is_better)
    return {placement: ordered.index(value) + 1 for placement, value in column.items()}


def _cell(place: PlacementReport, column: dict[str, float], ranks: dict[str, int]) -> Text:
    if place.placement not in column:
        return Text("-", style="dim")
    text = Text(number(column[place.placement]))
    return text.append(f" ({ranks[place.placement]})", style="dim")


def _agreements(report: BaselineReport, system: RankedDatabase) -> Table:
    labels = {test.name: test.label for test in report.tests}
    table = _table()
    for name in ("test", "tau", "interval", "p", "p, Holm", "each block"):
        table.add_column(
            name, justify="left" if name == "test" else "right", no_wrap=name != "test"
        )
    for test in system.tests:
        table.add_row(labels[test.metric], *_cells(test), style="" if test.tau else "dim")
    return table


def _cells(test: RankedTest) -> list[str]:
    span = "" if test.low is None else f"{test.low:+.2f} to {test.high:+.2f}"
    ends = dict.fromkeys(f"{end(test.by_block):+.2f}" for end in (min, max) if test.by_block)
    tau = "no order" if test.tau is None else f"{test.tau:+.2f}"
    sure = (p_value(each).removeprefix("p ") for each in (test.p_value, test.p_adjusted))
    return [tau, span, *sure, " to ".join(ends)]
