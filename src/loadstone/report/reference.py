"""Published results beside ours."""

from __future__ import annotations

from loadstone.report.model.published import (
    PublishedReport,
    PublishedRow,
    PublishedTable,
    ReferenceReport,
    ReferenceRung,
)
from loadstone.report.text import number
from loadstone.results.references import Reference, list_references, load_reference
from loadstone.results.references.model import Cell, ReferenceTable


def reference_report(name: str) -> ReferenceReport | None:
    """The published ladder of that name as ratios; None if it is no ladder.

    Raises:
        WrongInputError: If there is no reference of that name.
    """
    reference = load_reference(name)
    return _ladder(reference) if reference.kind == "ladder" else None


def _ladder(reference: Reference) -> ReferenceReport:
    table = reference.tables[0]
    unit = table.column(reference.metric).unit
    rungs: list[ReferenceRung] = []
    for row in table.rows:
        value = row.values.get(reference.metric)
        if not isinstance(value, int | float):
            continue
        rungs.append(
            ReferenceRung(
                name=row.name,
                change=row.label,
                value=float(value),
                unit=unit,
                ratio_to_previous=float(value) / rungs[-1].value if rungs else None,
                ratio_to_baseline=float(value) / (rungs[0].value if rungs else float(value)),
            )
        )
    return ReferenceReport(
        name=reference.name,
        title=reference.title,
        source=f"{reference.source} ({reference.date})",
        hardware=reference.hardware,
        rungs=rungs,
    )


def published_reports(workload: str) -> list[PublishedReport]:
    """The published tables of that kind of work. Ladders stand beside a ladder that names them."""
    known = [load_reference(name) for name in list_references()]
    return [
        PublishedReport(
            name=reference.name,
            title=reference.title,
            source=f"{reference.source} ({reference.date})",
            hardware=reference.hardware,
            tables=[_table(table) for table in reference.tables],
            remarks=reference.remarks,
        )
        for reference in known
        if reference.kind == "table" and workload in reference.workloads
    ]


def _table(table: ReferenceTable) -> PublishedTable:
    return PublishedTable(
        title=table.title,
        columns=[
            f"{column.label}, {column.unit}" if column.unit else column.label
            for column in table.columns
        ],
        rows=[
            PublishedRow(
                label=row.label,
                cells=[_cell(row.values.get(column.name)) for column in table.columns],
            )
            for row in table.rows
        ],
    )


def _cell(value: Cell) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case str():
            return value
        case _:
            return number(value)
