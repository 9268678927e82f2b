"""The requests that operations are made of, and what phases that are not measured did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text

from loadstone.load.totals import MEASURE
from loadstone.report.foremost import foremost_of_trial, foremost_of_variants
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.requests import RequestFigures, RequestRow
from loadstone.report.terminal_table import figure_table
from loadstone.report.terminal_wide import WideColumn, WidePart, WideTables
from loadstone.report.text import milliseconds, number
from loadstone.results.record import PhaseTiming, RequestSummary, TrialResult
from loadstone.units import format_duration

_DRAIN = "drain"


def request_table(result: TrialResult, *, in_full: bool = True) -> list[RenderableType]:
    """Requests of a trial with their rates, times and errors; nothing if it has none.

    Args:
        result: Of the trial.
        in_full: All of them, by operation. Otherwise, of many, those that went wrong most often and
            those that took the most time in all.
    """
    every = [(each.name, request) for each in result.operations for request in each.requests]
    if not every:
        return []
    rows = every if in_full else foremost_of_trial(every)
    table = figure_table(
        f"Requests, service time in ms, {result.trial}",
        "request", "count", "per s", "mean", "p50", "p95", "p99", "max",
    )  # fmt: skip
    for operation, request in rows:
        rate = "" if request.rate_per_s is None else number(request.rate_per_s)
        name = Text(f"{operation} / {request.name}")
        if said := _bad(request):
            name.append(f"\n  {said}", style="yellow")
        if request.marks:
            name.append(f"\n  {marks_said(request.marks, request.count)}", style="dim")
        table.add_row(name, f"{request.count:,}", rate, *_times(request))
    return [Text(""), table, *_rest(len(rows), len(every), result.experiment)]


def phase_table(result: TrialResult) -> list[RenderableType]:
    """What a trial did beside its measured phases, where users left or operations failed."""
    told = [each for each in result.phases if _is_told(each)]
    if not told:
        return []
    table = figure_table(
        f"Phases that are not measured, {result.trial}", "phase", "length", "operations", "errors"
    )
    for phase in told:
        name = Text(phase.name)
        if phase.errors:
            name.append(f"\n  errors: {classes_said(phase.errors)}", style="yellow")
        length = format_duration(round(phase.to_s - phase.from_s, 1))
        table.add_row(name, length, f"{phase.count:,}", f"{sum(phase.errors.values()):,}")
    return [Text(""), table]


def request_tables(document: ReportDocument, *, in_full: bool = True) -> list[RenderableType]:
    """The requests of several variants: a part for each variant, all with the same rows.

    Args:
        document: The report.
        in_full: As of `request_table`.
    """
    every = document.requests
    if not every:
        return []
    rows = every if in_full else foremost_of_variants(every)
    known = {each.variant for row in rows for each in row.figures}
    parts = [
        WidePart(variant.name, [_column(rows, variant.name, *column) for column in _COLUMNS])
        for variant in document.variants
        if variant.name in known
    ]
    names = [f"{row.operation} / {row.request}" for row in rows]
    failed = [
        f"{row.operation} / {row.request}, {each.variant}: {said}"
        for row in rows
        for each in row.figures
        if (said := _bad(each))
    ]
    marked = [
        f"{row.operation} / {row.request}, {each.variant}: {marks_said(each.marks, each.count)}"
        for row in rows
        for each in row.figures
        if each.marks
    ]
    told: list[RenderableType] = [Text("\n".join(failed), style="yellow"), Text("")]
    counted: list[RenderableType] = [Text("\n".join(marked), style="dim"), Text("")]
    return [
        Text("Requests: service time in ms, medians of the trials", style="bold"),
        WideTables(names, parts, first="request"),
        *_rest(len(rows), len(every), document.name),
        Text(""),
        *(told if failed else []),
        *(counted if marked else []),
    ]


def classes_said(counts: Mapping[str, int]) -> str:
    """Counts by class, the most frequent first: `status_500 12, reset 3`."""
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{name} {count:,}" for name, count in ranked)


def _rest(shown: int, every: int, experiment: str) -> list[RenderableType]:
    """Which requests a table has, if not all."""
    if shown == every:
        return []
    said = (
        f"the {shown} of {every} requests that went wrong most often, or took the most time in "
        f"all; loadstone show {experiment} has every one"
    )
    return [Text(said, style="dim")]


def _is_told(phase: PhaseTiming) -> bool:
    return phase.kind != MEASURE and (phase.kind == _DRAIN or bool(phase.errors))


def marks_said(marks: Mapping[str, int], count: int) -> str:
    """Which share of the answers that ended well had each mark: `cached 81.3 %`.

    Args:
        marks: How many had each.
        count: Of all answers.
    """
    return ", ".join(
        f"{name} {100.0 * had / count if count else 0.0:.1f} %"
        for name, had in sorted(marks.items())
    )


def _bad(request: RequestSummary | RequestFigures) -> str:
    told = (
        ("errors", request.errors),
        ("sent once more", request.resent),
        ("tried again", request.retried),
    )
    said = [f"{what}: {classes_said(counts)}" for what, counts in told if counts]
    return "; ".join(said)


def _times(request: RequestSummary) -> list[str]:
    at = request.service
    if at is None:
        return [""] * 5
    return [milliseconds(v) for v in (at.mean_s, at.p50_s, at.p95_s, at.p99_s, at.max_s)]


_COLUMNS: Sequence[tuple[str, Callable[[RequestFigures], float | None]]] = (
    ("per s", lambda each: each.rate_per_s),
    ("p50", lambda each: each.p50_ms),
    ("p95", lambda each: each.p95_ms),
    ("p99", lambda each: each.p99_ms),
    ("errors", lambda each: float(sum(each.errors.values()))),
)


def _column(
    rows: Sequence[RequestRow],
    variant: str,
    heading: str,
    value: Callable[[RequestFigures], float | None],
) -> WideColumn:
    cells = []
    for row in rows:
        own = next((each for each in row.figures if each.variant == variant), None)
        found = None if own is None else value(own)
        cells.append(Text("-", style="dim") if found is None else Text(number(found)))
    return WideColumn(heading, cells)
