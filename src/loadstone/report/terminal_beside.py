"""What another program measured, beside our tests."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from loadstone.report.headline import figure_of
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.published import BesideReport
from loadstone.report.text import number, ratio


def beside_tables(document: ReportDocument) -> list[RenderableType]:
    """A table for each reference: its figures, and those of each configuration of ours."""
    parts: list[RenderableType] = []
    for report in document.beside:
        parts += [
            Text(""),
            Text(f"Beside {report.title}, {report.unit}", style="bold"),
            _table(document, report),
            *(Text(remark, style="dim") for remark in report.remarks),
        ]
    return parts


def _table(document: ReportDocument, report: BesideReport) -> Table:
    """Medians of ours, with their ratio to the other figure."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("test", overflow="fold")
    table.add_column("theirs", justify="right")
    for variant in document.variants:
        heading = "ours" if len(document.variants) == 1 else variant.name
        table.add_column(heading, justify="right", overflow="fold")
    for row in report.rows:
        name = Text(row.label, style="bold")
        if row.why:
            name.append(f"\n{row.why}", style="not bold dim")
        cells = [Text(number(row.value))]
        for variant in document.variants:
            figure = figure_of(variant, row.metric) if row.metric else None
            cell = Text("" if figure is None else number(figure.median))
            if figure is not None and row.value:
                cell.append(f"\n{ratio(figure.median / row.value)} times", style="dim")
            cells.append(cell)
        table.add_row(name, *cells)
    return table
