"""The tests of a baseline in the shape that people know: a test a row, read and write across."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from loadstone.report.depths import depths_said
from loadstone.report.headline import figure_of, mean_of
from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.steps import StepsReport, StepTitle
from loadstone.report.model.variants import VariantReport
from loadstone.report.terminal_variants import STYLES, SYMBOLS
from loadstone.report.terminal_wide import WideColumn, WidePart, WideTables
from loadstone.report.text import interval, number, percent
from loadstone.results.metrics import all_metrics

BEST = "★"
_SCORE = "score"


def familiar_table(document: ReportDocument) -> list[RenderableType]:
    """The tests of the only configuration: median, and interval where there are several trials."""
    report = _tests_of(document)
    if report is None:
        return []
    unit = _unit(document, report)
    headings = [
        f"{column}{what}" for column in _columns(report) for what in (f", {unit}", " score")
    ]
    table = _table("test", headings)
    shown = False
    for title in dict.fromkeys(step.title for step in report.steps):
        of_row = {step.column: step for step in report.steps if step.title == title}
        cells = [
            _figure(document, metric)
            for column in _columns(report)
            for metric in _metrics(of_row.get(column))
        ]
        shown = shown or any(cell.plain for cell in cells)
        table.add_row(Text(title, style="bold"), *cells)
    said = depths_said(report.depths, unit)
    knees = [Text("\n" + "\n".join(said))] if said else []
    if not shown:
        return []
    return [Text(""), table, Text(""), _further(document, report), *knees]


def _further(document: ReportDocument, report: StepsReport) -> Table:
    """What else is told of each test: requests, service times, depth, processor time."""
    names = dict.fromkeys(name for step in report.steps for name in step.figures)
    known = [
        name
        for name in names
        if name != _SCORE
        and any(_figure(document, step.figures.get(name)).plain for step in report.steps)
    ]
    table = _table("test", known)
    for step in report.steps:
        cells = [_median(document, step.figures.get(name)) for name in known]
        table.add_row(Text(f"{step.title} {step.column}", style="bold"), *cells)
    return table


def _median(document: ReportDocument, metric: str | None) -> str:
    return _figure(document, metric).plain.partition("\n")[0]


def matrix_tables(document: ReportDocument) -> list[RenderableType]:
    """A table for each of read and write: a configuration a row, a test a column."""
    report = _tests_of(document)
    if report is None:
        return []
    parts = [
        WidePart(
            f"{column.capitalize()}, {_unit(document, report)}",
            [_column(document, report, step) for step in report.steps if step.column == column],
        )
        for column in _columns(report)
    ]
    unsafe = {row: "UNSAFE" for row, each in enumerate(document.variants) if each.unsafe}
    tables = WideTables([each.name for each in document.variants], parts, unsafe)
    return [tables, Text(""), Text(_legend(document, report), style="dim"), Text("")]


def _tests_of(document: ReportDocument) -> StepsReport | None:
    return document.steps if document.steps is not None and document.steps.has_columns else None


def _columns(report: StepsReport) -> list[str]:
    return list(dict.fromkeys(step.column for step in report.steps))


def _table(first: str, others: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", overflow="fold")
    return table


def _unit(document: ReportDocument, report: StepsReport) -> str:
    """That of the tests' figures; all have one."""
    metrics = {metric.name: metric for metric in document.metrics}
    return next((metrics[each.metric].unit for each in report.steps if each.metric in metrics), "")


def _metrics(step: StepTitle | None) -> tuple[str | None, str | None]:
    """Of all passes, and as the origin makes its figure of them."""
    return (None, None) if step is None else (step.metric, step.figures.get(_SCORE))


def _figure(document: ReportDocument, metric: str | None) -> Text:
    """Of the trials that count; where none does, of the last."""
    if metric is None:
        return Text("")
    figure = figure_of(document.variants[0], metric)
    if figure is None:
        last = document.trials[-1].result
        value = next((each.value for each in all_metrics(last) if each.name == metric), None)
        return Text("" if value is None else number(value), style="yellow")
    text = Text(number(figure.median))
    if span := interval(figure.low, figure.high):
        text.append(f"\n{span}", style="dim")
    return text


def _column(document: ReportDocument, report: StepsReport, step: StepTitle) -> WideColumn:
    cells = [_cell(report, variant, step.metric) for variant in document.variants]
    return WideColumn(step.title, cells)


def _cell(report: StepsReport, variant: VariantReport, metric: str) -> Text:
    """The mean that verdicts are about, marked; below it the change with its verdict."""
    figure = figure_of(variant, metric)
    if figure is None:
        return Text("-", style="dim")
    best = any(
        each.shown and each.variant == variant.name for each in report.best if each.metric == metric
    )
    text = Text(f"{BEST} " if best else "", style="bold" if best else "")
    text.append(number(mean_of(figure)))
    comparison = _comparison(report, variant.name, metric)
    if comparison is not None:
        verdict = comparison.verdict
        change = f"\n{SYMBOLS[verdict]} {percent(comparison.effect_percent)}"
        text.append(change, style=f"not bold {STYLES.get(verdict, 'dim')}")
    return text


def _comparison(report: StepsReport, variant: str, metric: str) -> ComparisonReport | None:
    """That with the baseline: of a ladder, not with the rung before."""
    own = [
        each
        for each in report.comparisons
        if each.metric == metric and each.candidate == variant and each.role != "previous"
    ]
    return next(iter(own), None)


def _legend(document: ReportDocument, report: StepsReport) -> str:
    words = (
        f'Means; below, the change against "{document.variants[0].name}": ▲ better, ▼ worse, '
        "= no detectable change, ? too few repeats. Corrected by Holm over each test's column."
    )
    if not report.best:
        return words
    shown = sum(each.shown for each in report.best)
    return (
        f"{words} {BEST} shown to be better than every other: in {shown} of {len(report.best)} "
        f"tests, all pairs judged together."
    )
