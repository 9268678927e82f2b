"""Jobs on a cluster, on a terminal: relative throughput by load, what jobs took, each job."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from loadstone.report.model.jobs import (
    GanttBar,
    GanttReport,
    JobsReport,
    JobsTable,
    JobsVariant,
    JobTimes,
    RelativeFigure,
)
from loadstone.report.terminal_table import figure_table
from loadstone.report.text import number, ratio, ratio_interval

NO_RATIO = "none"
"""Of a load that was not reached, or whose times are no measure: the lines below say why."""


def jobs_tables(jobs: JobsReport) -> list[RenderableType]:
    """Relative throughput in the shape in which it is published, then what jobs took.

    Args:
        jobs: Of the document.
    """
    parts: list[RenderableType] = []
    if jobs.table is not None:
        parts += [Text(""), _relative(jobs.table)]
        parts += [Text(line, style="dim") for line in jobs.relative_to]
    parts += [Text(line, style="yellow") for line in jobs.said]
    parts += [Text(""), _times(jobs)]
    return [*parts, *(Text(line, style="dim") for line in jobs.physics)]


def job_tables(trial: str, gantt: GanttReport | None) -> list[RenderableType]:
    """Each job of a trial.

    Args:
        trial: Its name.
        gantt: Its jobs; None of a trial of another kind.
    """
    if gantt is None:
        return []
    table = figure_table(
        f"Jobs of {trial}, s",
        "job", "nodes", "waited", "launch", "staging", "run", "late", "CPU", "MiB read",
        "written",
    )  # fmt: skip
    for bar in gantt.bars:
        table.add_row(_job(bar), ", ".join(bar.nodes), *map(_seconds, _figures(bar)))
    return [Text(""), table, *(Text(line, style="yellow") for line in gantt.unplaced)]


# -- relative throughput -----------------------------------------------------------------------
def _relative(table: JobsTable) -> Table:
    mixed = len(table.applications) > 1
    heads = [f"{name} jobs" for name in table.applications] if mixed else ["jobs"]
    made = figure_table(
        "Throughput per job, relative; interval below",
        "load",
        *heads,
        *(column.label for column in table.columns),
    )
    for row in table.rows:
        counts = [str(row.counts[name]) for name in table.applications]
        made.add_row(f"{100 * row.load_share:.0f} %", *counts, *map(_cell, row.cells))
    return made


def _cell(figure: RelativeFigure | None) -> Text:
    if figure is None:
        return Text("")
    if figure.value is None:
        return Text(NO_RATIO, style="dim")
    text = Text(ratio(figure.value, figure.low, figure.high))
    if span := ratio_interval(figure.low, figure.high):
        text.append(f"\n{span}", style="dim")
    return text


# -- what jobs took ----------------------------------------------------------------------------
def _times(jobs: JobsReport) -> Table:
    """Medians over all jobs of all trials, a row for each application of a configuration."""
    several = len(jobs.variants) > 1
    table = figure_table(
        "What a job took, s: medians over all jobs",
        "configuration" if several else "load",
        "at once", "makespan", "waited", "launch", "staging", "run", "late", "CPU",
    )  # fmt: skip
    for variant in jobs.variants:
        for times in variant.times:
            table.add_row(_name(variant, times, several=several), *_row(variant, times))
    return table


def _name(variant: JobsVariant, times: JobTimes, *, several: bool) -> Text:
    text = Text(variant.variant if several else variant.load, style="bold")
    if len(variant.times) > 1 or not several:
        text.append(f"\n {times.application}, {times.placement}", style="not bold dim")
    if not variant.counts:
        text.append("\n does not count", style="not bold yellow")
    return text


def _row(variant: JobsVariant, times: JobTimes) -> Iterator[str]:
    yield f"{variant.at_once} of {variant.asked}" if variant.asked else str(variant.at_once)
    figures: tuple[Callable[[JobTimes], float | None], ...] = (
        lambda of: of.waiting_s,
        lambda of: of.launch_s,
        lambda of: of.stage_s,
        lambda of: of.run_s,
        lambda of: of.late_s,
        lambda of: of.cpu_s,
    )
    yield _seconds(variant.makespan_s)
    for figure in figures:
        yield _seconds(figure(times))


def _job(bar: GanttBar) -> Text:
    text = Text(bar.label)
    if bar.application not in bar.label:
        text.append(f" {bar.application}", style="dim")
    if bar.state != "ended":
        reason = f" ({bar.reason})" if bar.reason else ""
        text.append(f"\n {bar.state}{reason}", style="yellow")
    return text


def _figures(bar: GanttBar) -> list[float | None]:
    return [
        bar.waiting_s, bar.launch_s, bar.stage_s, bar.run_s, bar.late_s, bar.cpu_s, bar.read_mib,
        bar.written_mib,
    ]  # fmt: skip


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return number(value) if value >= 0.1 or value == 0 else f"{value:.2f}"
