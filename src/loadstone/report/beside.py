"""Figures of other programs beside our tests, where both made the same test."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.report.model.published import BesideReport, BesideRow
from loadstone.report.reading import RecordedExperiment, damaged
from loadstone.results.references.imported import imported_references
from loadstone.results.references.model import Cell, Reference, ReferenceRow
from loadstone.workloads.base import AnyWorkload, StepInfo

_APART = "apart"
"""Column of a reference: why a figure stands beside no test."""


def beside_reports(folder: RecordedExperiment, workload: AnyWorkload | None) -> list[BesideReport]:
    """The references that were imported among the same results, of that kind of work.

    Args:
        folder: Of the experiment; what is wrong with a reference is added to its notices.
        workload: None of one that this Loadstone cannot read.
    """
    if workload is None:
        return []
    steps = [step for step in workload.steps() if step.facts]
    if not steps:
        return []
    references, broken = imported_references(folder.path.parent)
    folder.notices.extend(damaged(what) for what in broken)
    return [
        _report(reference, steps)
        for reference in references
        if workload.name in reference.workloads
    ]


def _report(reference: Reference, steps: Sequence[StepInfo]) -> BesideReport:
    table = reference.tables[0]
    return BesideReport(
        name=reference.name,
        title=reference.title,
        hardware=reference.hardware,
        unit=table.column(reference.metric).unit,
        rows=[row for each in table.rows for row in _row(each, reference.metric, steps)],
        remarks=[text for text in (reference.load, *reference.remarks) if text],
    )


def _row(row: ReferenceRow, metric: str, steps: Sequence[StepInfo]) -> list[BesideRow]:
    value = row.values.get(metric)
    if not isinstance(value, int | float):
        return []
    apart = row.values.get(_APART)
    equal = None if apart else next((step for step in steps if _is_equal(step, row.values)), None)
    why = (
        str(apart) if apart else "" if equal else "no test has its access, block, depth and threads"
    )
    own = equal.figures.get(metric, equal.metric) if equal else None
    return [BesideRow(label=row.label, value=value, metric=own, why=why)]


def _is_equal(step: StepInfo, values: dict[str, Cell]) -> bool:
    """All that makes the test what it is, and nothing that only the other has."""
    return all(values.get(name) == fact for name, fact in step.facts.items()) and (
        "read_percent" in step.facts or values.get("read_percent") is None
    )
