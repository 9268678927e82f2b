"""A published ladder beside ours."""

from __future__ import annotations

from loadstone.report.model.published import ReferenceReport, ReferenceRung
from loadstone.results.references import Reference, load_reference


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
