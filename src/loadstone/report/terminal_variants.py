"""The tables of rungs, one for each metric: figure, ratios, verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from loadstone.report.figures import own_means
from loadstone.report.headline import figure_of, mean_of
from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.variants import ChangeText, Figure, MetricInfo, VariantReport
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
    verdict,
)

SYMBOLS = {
    "better": "▲",
    "worse": "▼",
    "equivalent": "≈",
    "no detectable change": "=",
    "too few repeats": "?",
    "not decided yet": "?",
}
STYLES = {"better": "green", "worse": "red"}
_FIRST = {"ladder": "rung", "compare": "level", "sweep": "cell"}


def variants_tables(document: ReportDocument) -> list[RenderableType]:
    """A table for each metric that verdicts are about, with its name above where there are more."""
    known = {metric.name: metric for metric in document.metrics}
    names = document.judged or [document.metric]
    parts: list[RenderableType] = []
    for name in names:
        metric = known.get(name) or MetricInfo(name=name, label=name, unit=name)
        if len(names) > 1:
            parts.append(Text(f"{metric.label}, {metric.unit}", style="bold"))
        parts += [_table(document, metric), *([Text("")] if name != names[-1] else [])]
    return parts


def _table(document: ReportDocument, metric: MetricInfo) -> Table:
    """One row per variant; each cell has the figure and, below it, its interval."""
    is_ladder = document.design == "ladder"
    compared = [each for each in document.comparisons if each.metric == metric.name]
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold", expand=False)
    table.add_column(_FIRST.get(document.design, "run"), overflow="fold", min_width=16)
    table.add_column(metric.unit, justify="right", no_wrap=True)
    if compared:
        if is_ladder:
            table.add_column("to previous", justify="right", no_wrap=True)
        table.add_column("x baseline", justify="right", no_wrap=True)
        table.add_column("verdict", min_width=15, max_width=15)
    figures = {variant.name: figure_of(variant, metric.name) for variant in document.variants}
    for variant in document.variants:
        cells = [_name(variant), _figure(variant, figures[variant.name], compared=bool(compared))]
        if compared:
            own = [each for each in compared if each.candidate == variant.name]
            cells += _comparison_cells(own, figures, is_ladder=is_ladder)
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


def _figure(variant: VariantReport, figure: Figure | None, *, compared: bool) -> Text:
    if figure is None:
        said = "has none" if variant.figures else "no valid trial"
        return Text(said, style="dim" if variant.figures else "red")
    if compared:
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
    own: Sequence[ComparisonReport], figures: Mapping[str, Figure | None], *, is_ladder: bool
) -> list[Text]:
    by_role = {each.role: each for each in own}
    total = by_role.get("baseline") or by_role.get("pair")
    step = by_role.get("previous") if is_ladder else total
    cells = [_step(step, figures)] if is_ladder else []
    return [*cells, _total(total, figures), _verdict(step)]


def _step(comparison: ComparisonReport | None, figures: Mapping[str, Figure | None]) -> Text:
    if comparison is None:
        return Text("")
    text = Text(percent(comparison.effect_percent))
    text.append(f"\n{percent_interval(comparison.low, comparison.high)}", style="dim")
    return text.append(_means(comparison, figures), style="dim")


def _total(comparison: ComparisonReport | None, figures: Mapping[str, Figure | None]) -> Text:
    if comparison is None:
        return Text("")
    text = Text(ratio(comparison.ratio, comparison.low, comparison.high))
    text.append(f"\n{ratio_interval(comparison.low, comparison.high)}", style="dim")
    if comparison.baseline != next(iter(figures)):
        text.append(f"\nof {comparison.baseline}", style="dim")
    return text.append(_means(comparison, figures), style="dim")


def _means(comparison: ComparisonReport, figures: Mapping[str, Figure | None]) -> str:
    """What a change is of, where the figures of the table are of other trials and contradict it."""
    own = own_means(comparison, figures[comparison.baseline], figures[comparison.candidate])
    return f"\n{number(own[0])} → {number(own[1])}" if own else ""


def _verdict(comparison: ComparisonReport | None) -> Text:
    if comparison is None:
        return Text("")
    kind = comparison.verdict
    text = Text(f"{SYMBOLS[kind]} {verdict(comparison)}", style=STYLES.get(kind, ""))
    if comparison.p_adjusted is not None:
        text.append(f"\n{p_value(comparison.p_adjusted)}", style="not bold dim")
    if comparison.look is not None:
        look = comparison.look
        text.append(f"\n{look.after} of {look.planned[-1]} blocks", style="not bold dim")
    found = comparison.least_detectable_percent
    if kind == "no detectable change" and found is not None:
        span = comparison.least_detectable_range
        text.append(f"\ndetects {detectable(found, span)}", style="dim")
    if kind == "too few repeats" and comparison.repeats_needed:
        text.append(f"\nneeds {comparison.repeats_needed}", style="dim")
    return text
