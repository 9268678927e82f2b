"""Published tables in which figures of ours stand, on a terminal."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from loadstone.report.model.document import ReportDocument
from loadstone.report.model.published import PublishedTable


def published_tables(document: ReportDocument) -> list[RenderableType]:
    """Each table with rows of ours, with where it is from; the page has the others, too."""
    parts: list[RenderableType] = []
    for report in document.published:
        tables = [table for table in report.tables if any(row.own for row in table.rows)]
        if not tables:
            continue
        parts += [Text(""), Text(f"Beside {report.title}", style="bold")]
        parts += [_table(table) for table in tables]
        said = (report.caveat, report.power, report.source)
        parts += [Text(each, style="dim") for each in said if each]
    return parts


def _table(published: PublishedTable) -> Table:
    """Its columns as lines: they are many, and its rows are few."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column(published.title.lower(), overflow="fold")
    for row in published.rows:
        style = "bold" if row.own else None
        table.add_column(row.label, justify="right", overflow="fold", style=style)
    for place, column in enumerate(published.columns):
        table.add_row(column, *(row.cells[place] or "-" for row in published.rows))
    return table
