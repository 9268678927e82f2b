"""The table of rungs: figure, ratios, verdict."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from loadstone.report.headline import figure_of, mean_of
from loadstone.report.model import (
    ChangeText,
    ComparisonReport,
    Figure,
    ReportDocument,
    VariantReport,
)
from loadstone.report.text import (
    detectable,
    interval,
    level,
    number,
    p_value,
    percent,
    percent_interval,
    ratio,
    ratio_interval,
)

_SYMBOLS = {"better": "▲", "worse": "▼", "no detectable change": "=", "too few repeats": "?"}
_STYLES = {"better": "green", "worse": "red"}
_FIRST = {"ladder": "rung", "compare": "level", "sweep": "cell"}


def variants_table(document: ReportDocument) -> Table:
    """One row per variant; each cell has the figure and, below it, its interval."""
    is_ladder = document.design == "ladder"
    metric = next((m for m in document.metrics if m.name == document.metric), None)
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold", expand=False)
    table.add_column(_FIRST.get(document.design, "run"), overflow="fold", min_width=16)
    table.add_column(metric.unit if metric else document.metric, justify="right", no_wrap=True)
    if document.comparisons:
        if is_ladder:
            table.add_column("to previous", justify="right", no_wrap=True)
        table.add_column("x baseline", justify="right", no_wrap=True)
        table.add_column("verdict", min_width=15, max_width=15)
    for variant in document.variants:
        cells = [_name(variant), _figure(document, variant)]
        if document.comparisons:
            cells += _comparison_cells(document, variant, is_ladder=is_ladder)
        table.add_row(*cells)
    return table


def _name(variant: VariantReport) -> Text:
    text = Text(variant.name, style="bold")
    for mark in _marks(variant):
        text.append(f"\n {mark}", style="not bold yellow")
    return text


def _marks(variant: VariantReport) -> list[str]:
    marks = []
    if variant.unsafe:
        marks.append("UNSAFE")
    if variant.several:
        marks.append("several changes")
    if variant.kept is False:
        marks.append("not kept")
    return marks


def steps_list(document: ReportDocument) -> Text:
    """What each variant changes, one line each; empty for a design without steps."""
    text = Text()
    for variant in document.variants:
        if variant.step:
            changes = ", ".join(_change(change) for change in variant.step)
            text.append(f"\n{variant.name}: ", style="bold").append(changes)
        if variant.unsafe:
            text.append(f" (UNSAFE: {', '.join(variant.unsafe)})", style="yellow")
    return text


def _change(change: ChangeText) -> str:
    name = change.factor.partition(".")[2] or change.factor
    return f"{name} {level(change.before)} → {level(change.after)}"


def _figure(document: ReportDocument, variant: VariantReport) -> Text:
    figure = figure_of(variant, document.metric)
    if figure is None:
        return Text("no valid trial", style="red")
    if document.comparisons:
        text = Text(number(mean_of(figure)))
        text.append(f"\nmedian {number(figure.median)}", style="dim")
        return text.append(f"\n{_trials(variant, figure)}", style="dim")
    text = Text(number(figure.median))
    if span := interval(figure.low, figure.high):
        text.append(f"\n{span}", style="dim")
    kind = ", range" if figure.interval_is_range else ""
    return text.append(f"\n{_trials(variant, figure)}{kind}", style="dim")


def _trials(variant: VariantReport, figure: Figure) -> str:
    disturbed = f", {variant.disturbed} disturbed" if variant.disturbed else ""
    return f"n {figure.n}{disturbed}"


def _comparison_cells(
    document: ReportDocument, variant: VariantReport, *, is_ladder: bool
) -> list[Text]:
    own = {c.role: c for c in document.comparisons if c.candidate == variant.name}
    total = own.get("baseline") or own.get("pair")
    step = own.get("previous") if is_ladder else total
    cells = [_step(step)] if is_ladder else []
    return [*cells, _total(total), _verdict(step)]


def _step(comparison: ComparisonReport | None) -> Text:
    if comparison is None:
        return Text("")
    text = Text(percent(comparison.effect_percent))
    return text.append(f"\n{percent_interval(comparison.low, comparison.high)}", style="dim")


def _total(comparison: ComparisonReport | None) -> Text:
    if comparison is None:
        return Text("")
    text = Text(ratio(comparison.ratio, comparison.low, comparison.high))
    return text.append(f"\n{ratio_interval(comparison.low, comparison.high)}", style="dim")


def _verdict(comparison: ComparisonReport | None) -> Text:
    if comparison is None:
        return Text("")
    verdict = comparison.verdict
    text = Text(f"{_SYMBOLS[verdict]} {verdict}", style=_STYLES.get(verdict, ""))
    text.append(f"\n{p_value(comparison.p_adjusted)}", style="not bold dim")
    found = comparison.least_detectable_percent
    if verdict == "no detectable change" and found is not None:
        span = comparison.least_detectable_range
        text.append(f"\ndetects {detectable(found, span)}", style="dim")
    if verdict == "too few repeats" and comparison.repeats_needed:
        text.append(f"\nneeds {comparison.repeats_needed}", style="dim")
    return text
