"""What the parts of a system took of the machine, on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import RenderableType
from rich.text import Text

from loadstone.report.model.document import ReportDocument
from loadstone.report.model.parts import PartFigures
from loadstone.report.terminal_table import figure_table
from loadstone.report.terminal_wide import WideColumn, WidePart, WideTables
from loadstone.report.text import number
from loadstone.results.record import TrialResult
from loadstone.units import format_size


def part_table(result: TrialResult) -> list[RenderableType]:
    """The parts of one trial over its measured load; nothing of a system without parts."""
    if not result.parts:
        return []
    table = figure_table(
        f"What the parts took, {result.trial}",
        "part", "of 1 CPU", "memory", "at most", "quota", "used up",
    )  # fmt: skip
    for part in result.parts:
        sizes = [_size(part.memory_bytes), _size(part.most_memory_bytes)]
        quota = "" if part.quota is None else f"{part.quota:g}"
        table.add_row(
            part.name, _percent(part.cpu_percent), *sizes, quota, _percent(part.throttled_percent)
        )
    return [Text(""), table]


def part_tables(document: ReportDocument) -> list[RenderableType]:
    """The parts of several variants: a part of the table for each variant."""
    rows = document.parts
    if not rows:
        return []
    parts = [
        WidePart(variant.name, [_column(document, variant.name, *column) for column in _COLUMNS])
        for variant in document.variants
        if any(each.variant == variant.name for row in rows for each in row.figures)
    ]
    return [
        Text("What the parts took, medians of the trials", style="bold"),
        WideTables([row.part for row in rows], parts, first="part"),
        Text(""),
    ]


_COLUMNS: Sequence[tuple[str, Callable[[PartFigures], str]]] = (
    ("of 1 CPU", lambda each: _percent(each.cpu_percent)),
    ("memory", lambda each: _size(each.memory_bytes)),
    ("quota used up", lambda each: _percent(each.throttled_percent)),
)


def _column(
    document: ReportDocument, variant: str, heading: str, value: Callable[[PartFigures], str]
) -> WideColumn:
    cells = []
    for row in document.parts:
        own = next((each for each in row.figures if each.variant == variant), None)
        cells.append(Text("" if own is None else value(own)))
    return WideColumn(heading, cells)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{number(value)} %"


def _size(value: float | None) -> str:
    return "" if value is None else format_size(round(value))
