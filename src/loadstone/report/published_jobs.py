"""Rows of ours in published tables of jobs: a load each, relative to what our experiment names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loadstone.report.model.jobs import JobsReport, JobsRow, JobsTable, RelativeFigure
from loadstone.report.model.published import PublishedRow
from loadstone.report.text import number
from loadstone.results.references.model import ReferenceColumn

JOBS = "jobs "
"""How a column asks for a figure of jobs: `jobs load`, `jobs count`, `jobs count pstm`,
`jobs compact` (of the only application), `jobs flow compact`."""


def job_rows(columns: Sequence[ReferenceColumn], jobs: JobsReport | None) -> Iterator[PublishedRow]:
    """A row for each load of ours that has a ratio in one of the columns.

    Args:
        columns: Of the published table.
        jobs: Of our experiment.
    """
    table = jobs.table if jobs is not None else None
    if table is None or not any(column.ours.startswith(JOBS) for column in columns):
        return
    for row in table.rows:
        figures = [_figure(column, row, table) for column in columns]
        if any(figure is not None for figure in figures):
            yield PublishedRow(
                label=f"this result: {_load(row)}",
                cells=[
                    _cell(column, row, figure)
                    for column, figure in zip(columns, figures, strict=True)
                ],
                own=True,
            )


def _load(row: JobsRow) -> str:
    return ", ".join(f"{count} {name}" for name, count in row.counts.items() if count)


def _cell(column: ReferenceColumn, row: JobsRow, figure: RelativeFigure | None) -> str:
    if figure is not None and figure.value is not None:
        return f"{figure.value:.2f}"  # as the published ones are
    match _words(column):
        case ["load"]:
            return number(100 * row.load_share)
        case ["count"]:
            return str(sum(row.counts.values()))
        case ["count", application]:
            return str(row.counts.get(application, 0))
        case _:
            return ""


def _figure(column: ReferenceColumn, row: JobsRow, table: JobsTable) -> RelativeFigure | None:
    """The ratio that a column asks for; None where it asks for none, or ours has several."""
    match _words(column):
        case [] | ["load"] | ["count", *_]:
            return None
        case [placement]:
            alone = [name for name, count in row.counts.items() if count]
            wanted = (alone[0], placement) if len(alone) == 1 else None
        case [application, placement]:
            wanted = (application, placement)
        case _:
            return None
    found = [
        cell
        for of, cell in zip(table.columns, row.cells, strict=True)
        if cell is not None and cell.value is not None
        if (of.application, of.placement.partition(" ")[0]) == wanted
    ]
    return found[0] if len(found) == 1 else None


def _words(column: ReferenceColumn) -> list[str]:
    return column.ours.removeprefix(JOBS).split() if column.ours.startswith(JOBS) else []
