"""A load that went through levels, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from loadstone.report.graduated import level_of
from loadstone.report.model.graduated import (
    GraduatedReport,
    GraduatedVariant,
    LoadLevel,
    Spread,
)
from loadstone.report.terminal_table import figure_table
from loadstone.report.text import interval, number, percent, verdict
from loadstone.results.metrics import marked

NOT_STEADY = "*"
"""Behind response times that have no steady state."""
_FORMS = {
    "short": "the short form",
    "full": "the full form",
    "own": "levels or lengths are the experiment's own",
}


def graduated_tables(graduated: GraduatedReport) -> list[RenderableType]:
    """The configurations side by side, then the levels of each.

    Args:
        graduated: Of the document.
    """
    parts: list[RenderableType] = []
    if len(graduated.variants) > 1:
        parts += [Text(""), _side_by_side(graduated)]
    for variant in graduated.variants:
        parts += [Text(""), _levels(graduated, variant)]
        if any(level.watts is not None for level in variant.levels):
            parts += [Text(""), _power(graduated, variant)]
        parts += [Text(line, style="dim") for line in _below(graduated, variant)]
    if graduated.comparisons:
        parts += [Text(""), _compared(graduated)]
    parts += [Text(line) for line in graduated.said]
    return parts


# -- tables ------------------------------------------------------------------------------------
def _side_by_side(graduated: GraduatedReport) -> Table:
    table = figure_table(
        f"All levels, {graduated.unit} per watt",
        "configuration", "overall", "interval", "peak W", "idle W", "idle share", "proportional",
    )  # fmt: skip
    for variant in graduated.variants:
        overall = variant.overall
        table.add_row(
            marked(variant.variant, variant.mark),
            _median(overall),
            "" if overall is None else interval(overall.low, overall.high),
            _number(variant.peak_watts),
            _number(variant.idle_watts),
            _share(variant.idle_share),
            _number(variant.proportionality),
        )
    return table


def _levels(graduated: GraduatedReport, variant: GraduatedVariant) -> Table:
    counts = "" if variant.counts else ", of trials that do not count"
    table = _of_levels(
        f"Levels{_whose(graduated, variant)}, {graduated.unit}{counts}",
        "target", "achieved", "of due", "p50 ms", "p95 ms", "p99 ms",
    )  # fmt: skip
    for level in variant.levels:
        table.add_row(
            _name(level),
            _target(level),
            number(level.achieved_per_s.median),
            _share(level.achieved_share),
            *(_response(level, value) for value in (level.p50_ms, level.p95_ms, level.p99_ms)),
        )
    return table


def _power(graduated: GraduatedReport, variant: GraduatedVariant) -> Table:
    mark = variant.mark
    table = _of_levels(
        f"Power by level{_whose(graduated, variant)}, {variant.meter}",
        marked("W", mark), "interval", marked(f"{graduated.unit}/W", mark), "interval",
        marked("J/operation", mark),
    )  # fmt: skip
    for level in variant.levels:
        table.add_row(
            _name(level),
            _median(level.watts),
            _span(level.watts),
            _median(level.per_watt),
            _span(level.per_watt),
            _number(level.joules_per_operation),
        )
    return table


def _of_levels(title: str, *columns: str) -> Table:
    table = figure_table(title, "level", *columns)
    table.columns[0].no_wrap = True
    return table


def _compared(graduated: GraduatedReport) -> Table:
    table = figure_table(
        "Power at each level, judged together", "level", "against", "change", "verdict"
    )
    for each in graduated.comparisons:
        table.add_row(
            level_of(each),
            f"{each.candidate} / {each.baseline}",
            percent(each.effect_percent),
            verdict(each),
        )
    return table


# -- what is said below ------------------------------------------------------------------------
def _below(graduated: GraduatedReport, variant: GraduatedVariant) -> Iterator[str]:
    """What the levels came to, how the rate was found, and what a reader must know."""
    overall = variant.overall
    if overall is not None:
        span = _span(overall)
        yield (
            f"All levels: {number(overall.median)} "
            f"{marked(f'{graduated.unit} per watt', variant.mark)}"
            f"{f', {span}' if span else ''}, by {variant.meter}; {', '.join(_of_all(variant))}."
        )
    elif variant.reason:
        yield f"No figure of all levels: {variant.reason}."
    if variant.calibrated_per_s is None:
        yield f"Levels are fractions of the users; {_FORMS[variant.form]}."
    else:
        unrest = "" if variant.settled else ", but did not settle"
        yield (
            f"100 % is {number(variant.calibrated_per_s)} {graduated.unit}, "
            f"{variant.calibrated_by}{unrest}; {_FORMS[variant.form]}."
        )
    if any(not level.steady and level.p50_ms is not None for level in variant.levels):
        yield (
            f"{NOT_STEADY} no steady state: as much arrives as can be done, and what waits grows "
            "as long as the level lasts."
        )
    for level in variant.levels:
        if not level.holds:
            yield f"{level.name} does not hold: {'; '.join(level.reasons)}."


def _of_all(variant: GraduatedVariant) -> Iterator[str]:
    if variant.joules_per_operation is not None:
        yield f"{number(variant.joules_per_operation)} {marked('J', variant.mark)} an operation"
    if variant.idle_share is not None:
        yield f"active idle takes {100 * variant.idle_share:.0f} % of the highest power"
    if variant.proportionality is not None:
        yield f"proportionality {variant.proportionality:.2f}"


# -- cells -------------------------------------------------------------------------------------
def _whose(graduated: GraduatedReport, variant: GraduatedVariant) -> str:
    return f" of {variant.variant}" if len(graduated.variants) > 1 else ""


def _name(level: LoadLevel) -> Text:
    return Text(level.name, style="" if level.holds else "bold red")


def _target(level: LoadLevel) -> str:
    if level.users is not None:
        return f"{level.users:,} users"
    return _number(level.target_per_s)


def _response(level: LoadLevel, value: float | None) -> str:
    if value is None:
        return "-"
    return number(value) if level.steady else f"{number(value)}{NOT_STEADY}"


def _median(found: Spread | None) -> str:
    return "-" if found is None else number(found.median)


def _span(found: Spread | None) -> str:
    return "" if found is None else interval(found.low, found.high)


def _number(value: float | None) -> str:
    return "-" if value is None else number(value)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.3g} %"
