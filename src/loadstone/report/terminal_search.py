"""A search on a terminal: every level that was tried, and what is to be known of the result."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from loadstone.experiments.searching import level_text
from loadstone.report.model.searching import LevelReport, SearchReport
from loadstone.report.terminal_limits import limits_of_level
from loadstone.report.text import number
from loadstone.units import format_duration

_MOST_LEVELS = 60


def search_tables(search: SearchReport) -> list[RenderableType]:
    """The levels in the order in which they were tried, the objective, and the remarks."""
    parts: list[RenderableType] = [_levels(search)]
    windows = f"in every window of {format_duration(search.window_s)}"
    terms = ", ".join(search.objective)
    approach = (
        "the first levels by raising the load of a running trial, the others by fresh trials"
        if search.approach == "raise"
        else "each level by a fresh trial"
    )
    parts.append(Text(f"\nObjective {windows}: {terms}; {approach}.", style="dim"))
    parts += [Text(f"note: {remark}", style="dim") for remark in search.remarks]
    return parts + limits_of_level(search.first_failure, search.unit)


def _levels(search: SearchReport) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column(search.unit, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name in ("achieved/s", "p95 ms", "p99 ms"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for level in search.levels[:_MOST_LEVELS]:
        table.add_row(*_cells(level))
    if len(search.levels) > _MOST_LEVELS:
        table.add_row(f"and {len(search.levels) - _MOST_LEVELS} more")
    return table


def _cells(level: LevelReport) -> list[str | Text]:
    verdict = Text("✓ holds", style="green") if level.holds else Text("✗ ", style="red")
    if not level.holds:
        verdict.append(level.reason, style="default")
    if not level.counts:
        verdict.append(" (does not count)", style="dim")
    times = [level.p95_ms, level.p99_ms]
    return [
        level_text(level.level),
        f"{level.kind}, raised" if level.raised else level.kind,
        number(level.achieved_per_s),
        *("" if value is None else number(value) for value in times),
        verdict,
    ]
