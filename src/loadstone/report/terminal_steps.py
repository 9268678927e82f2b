"""The steps of one configuration: their times over the trials, and what they used."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from loadstone.load.totals import MEASURE
from loadstone.report.headline import figure_of
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.steps import StepTitle
from loadstone.report.model.trials import StepReport, TrialReport
from loadstone.report.terminal_matrix import familiar_table
from loadstone.report.text import interval, number
from loadstone.units import format_size

Column = dict[str, str]
"""A column of the table: operation and its cell."""


def step_table(document: ReportDocument, trial: TrialReport) -> list[RenderableType]:
    """A row for each step, a column for each figure that is known of one.

    Args:
        document: Of an experiment with a single configuration.
        trial: Whose steps tell what they used.
    """
    if document.steps is None:
        return []
    if document.steps.has_columns:
        return familiar_table(document)
    steps = document.steps.steps
    used = _used(trial)
    columns = {name: cells for name, cells in {**_times(document, steps), **used}.items() if cells}
    if not columns:
        return []
    use = f", and what they used in {trial.result.trial}" if any(used.values()) else ""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("step", overflow="fold")
    for name in columns:
        table.add_column(name, justify="right", overflow="fold")
    for step in steps:
        cells = [column.get(step.operation, "") for column in columns.values()]
        if any(cells):
            table.add_row(step.operation, *cells)
    return [Text(""), Text(f"Steps: time in s{use}", style="bold"), table]


def _times(document: ReportDocument, steps: Sequence[StepTitle]) -> dict[str, Column]:
    """Of the trials that count; where none does, of the last."""
    variant, last = document.variants[0], document.trials[-1].result
    figures = {step.operation: figure_of(variant, step.metric) for step in steps}
    known = {operation: figure for operation, figure in figures.items() if figure is not None}
    if any(figure.n > 1 for figure in known.values()):
        return {
            "minimum": {name: number(min(figure.values)) for name, figure in known.items()},
            "median": {name: number(figure.median) for name, figure in known.items()},
            "interval": {name: interval(each.low, each.high) for name, each in known.items()},
        }
    if known:
        return {"time": {name: number(figure.median) for name, figure in known.items()}}
    values = {step.operation: last.metric(step.metric) for step in steps}
    return {"time": {name: number(each.value) for name, each in values.items() if each}}


def _used(trial: TrialReport) -> dict[str, Column]:
    """Of the measured phase; of a step that was made several times, their mean and most memory."""
    begin_s = min((span.from_s for span in trial.phases if span.kind == MEASURE), default=0.0)
    runs: dict[str, list[StepReport]] = {}
    for step in trial.steps:
        if step.kind != "explain" and step.error is None and step.to_s > begin_s:
            runs.setdefault(step.operation, []).append(step)
    columns: dict[str, Column] = {"CPU s": {}, "memory": {}, "read": {}, "spilled": {}}
    for operation, own in runs.items():
        if cpu := [step.cpu_s for step in own if step.cpu_s is not None]:
            columns["CPU s"][operation] = f"{fmean(cpu):.2f}"
        if peaks := [step.peak_bytes for step in own if step.peak_bytes is not None]:
            columns["memory"][operation] = format_size(max(peaks))
        if read := [step.read_bytes for step in own if step.read_bytes is not None]:
            columns["read"][operation] = format_size(fmean(read))
        if spilled := [step.spilled_bytes for step in own if step.spilled_bytes is not None]:
            columns["spilled"][operation] = format_size(fmean(spilled))
    return columns
